//! How particles become bytes.
//!
//! A particle's position is the number of its cell and, along each axis, which of
//! [`STEPS_PER_CELL`] slices of the cell it lies in; it comes back in the middle of the slice. The
//! particles are sorted by cell, so that the numbers of cells are mostly small steps. Velocities are
//! 16-bit fractions of the frame's largest along that axis, as differences from the particle before.
//! The payload is: the steps between cells (LEB128), then for each axis the low bytes and the high
//! bytes of the slices, then the same of the velocities. Like with like packs well.

use super::Frame;
use super::container::{self, CacheError, Header, MOST_CELLS};
use rayon::prelude::*;

/// Slices of a cell along an axis. A position is off by at most half a slice.
pub const STEPS_PER_CELL: u32 = 1024;
/// Stored velocities are multiples of the frame's largest divided by this.
const VELOCITY_STEPS: f64 = 32767.0;
/// No position is farther from the origin than this many cells.
const FARTHEST_CELL: f64 = 1e9;

/// Where a particle lies: its cell and its slice of that cell along each axis.
#[derive(Clone, Copy)]
struct Place<const D: usize> {
    cell: [i32; D],
    slice: [u16; D],
}

fn place<const D: usize>(position: &[f32; D], dx: f64) -> Result<Place<D>, CacheError> {
    let mut place = Place {
        cell: [0; D],
        slice: [0; D],
    };
    for axis in 0..D {
        let x = f64::from(position[axis]) / dx;
        if !x.is_finite() {
            return Err(CacheError::Unwritable("a position is not a finite number"));
        }
        if x.abs() > FARTHEST_CELL {
            return Err(CacheError::Unwritable(
                "a position is too far from the origin",
            ));
        }
        let cell = x.floor();
        place.cell[axis] = cell as i32;
        let slice = ((x - cell) * f64::from(STEPS_PER_CELL)) as u32;
        place.slice[axis] = slice.min(STEPS_PER_CELL - 1) as u16;
    }
    Ok(place)
}

/// The particles' cells as a box, and the number of a cell in it, last axis slowest.
struct CellBox {
    lowest: [i32; 3],
    extent: [u32; 3],
}

impl CellBox {
    fn around<const D: usize>(places: &[Place<D>]) -> Result<Self, CacheError> {
        let mut lowest = [0i32; 3];
        let mut extent = [1u32; 3];
        for axis in 0..D {
            let along = || places.iter().map(|p| p.cell[axis]);
            let low = along().min().unwrap_or(0);
            let high = along().max().unwrap_or(0);
            lowest[axis] = low;
            extent[axis] = high.abs_diff(low) + 1;
        }
        let cells: u128 = extent.iter().map(|&n| u128::from(n)).product();
        if cells > MOST_CELLS {
            return Err(CacheError::Unwritable("positions are too far apart"));
        }
        Ok(CellBox { lowest, extent })
    }

    fn number<const D: usize>(&self, cell: &[i32; D]) -> u64 {
        (0..D).rev().fold(0, |number, axis| {
            let offset = u64::from(cell[axis].abs_diff(self.lowest[axis]));
            number * u64::from(self.extent[axis]) + offset
        })
    }

    fn cell<const D: usize>(&self, mut number: u64) -> Option<[i32; D]> {
        let mut cell = [0; D];
        for axis in 0..D {
            let extent = u64::from(self.extent[axis]);
            cell[axis] = (i64::from(self.lowest[axis]) + (number % extent) as i64) as i32;
            number /= extent;
        }
        (number == 0).then_some(cell)
    }
}

/// The bytes of a frame's file.
///
/// # Errors
/// If a number is not finite, or the particles are too far apart to number the cells between them.
pub fn encode<const D: usize>(frame: &Frame<D>) -> Result<Vec<u8>, CacheError> {
    if frame.positions.len() != frame.velocities.len() {
        return Err(CacheError::Unwritable(
            "positions and velocities differ in number",
        ));
    }
    let places: Vec<Place<D>> = frame
        .positions
        .par_iter()
        .map(|x| place(x, frame.dx))
        .collect::<Result<_, _>>()?;
    let cells = CellBox::around(&places)?;
    let mut order: Vec<(u64, u32)> = Vec::with_capacity(places.len());
    for (i, place) in places.iter().enumerate() {
        let i = u32::try_from(i).map_err(|_| CacheError::Unwritable("there are too many"))?;
        order.push((cells.number(&place.cell), i));
    }
    // No two are equal, so that there is one order only, whoever sorts.
    order.par_sort_unstable();

    let mut payload = Vec::with_capacity(places.len() * (1 + 4 * D));
    let mut previous = 0;
    for &(number, _) in &order {
        push_leb128(&mut payload, number - previous);
        previous = number;
    }
    let sorted = || order.iter().map(|&(_, i)| i as usize);
    let slices = |axis: usize| planes(sorted().map(|i| places[i].slice[axis]));
    let mut fastest = [0.0f64; 3];
    for axis in 0..D {
        fastest[axis] = largest(frame.velocities.iter().map(|v| f64::from(v[axis])))?;
    }
    let velocities = |axis: usize| {
        let mut previous = 0i16;
        planes(sorted().map(|i| {
            let step = quantised(f64::from(frame.velocities[i][axis]), fastest[axis]);
            let difference = step.wrapping_sub(previous);
            previous = step;
            zigzag(difference)
        }))
    };
    let columns: Vec<Vec<u8>> = (0..2 * D)
        .into_par_iter()
        .map(|column| match column {
            axis if axis < D => slices(axis),
            column => velocities(column - D),
        })
        .collect();
    for column in columns {
        payload.extend_from_slice(&column);
    }
    let header = Header {
        dimension: D as u32,
        number: frame.number,
        count: frame.positions.len() as u64,
        time: frame.time,
        dx: frame.dx,
        lowest: cells.lowest,
        extent: cells.extent,
        fastest,
    };
    container::seal(&header, &payload)
}

/// The frame in the bytes of a file. The particles come sorted by cell.
///
/// # Errors
/// Whatever the bytes are, a damaged file is an error that says what is wrong, never a panic.
pub fn decode<const D: usize>(bytes: &[u8]) -> Result<Frame<D>, CacheError> {
    let found = container::peek(bytes)?.dimension;
    if found as usize != D {
        return Err(CacheError::Dimension {
            wanted: D as u32,
            found,
        });
    }
    let (header, payload) = container::open(bytes)?;
    // Each particle has at least one byte of cell, two of slice and two of velocity along each axis.
    let least = header.count.saturating_mul(1 + 4 * D as u64);
    if least > payload.len() as u64 {
        return Err(CacheError::Field("number of particles"));
    }
    let count = header.count as usize;
    let cells = CellBox {
        lowest: header.lowest,
        extent: header.extent,
    };
    let planes_start = payload.len() - 4 * D * count;
    let (mut steps, columns) = payload.split_at(planes_start);

    let mut positions = vec![[0.0f32; D]; count];
    let mut number = 0u64;
    for (i, position) in positions.iter_mut().enumerate() {
        let outside = CacheError::Payload("names a cell that is not there");
        let step = take_leb128(&mut steps).ok_or(CacheError::Payload("has a broken cell list"))?;
        number = number.checked_add(step).ok_or(outside.clone())?;
        let cell = cells.cell::<D>(number).ok_or(outside)?;
        for axis in 0..D {
            let slice = read_planes(columns, axis, count, i);
            if u32::from(slice) >= STEPS_PER_CELL {
                return Err(CacheError::Payload("has a position outside its cell"));
            }
            let inside = (f64::from(slice) + 0.5) / f64::from(STEPS_PER_CELL);
            position[axis] = ((f64::from(cell[axis]) + inside) * header.dx) as f32;
        }
    }
    if !steps.is_empty() {
        return Err(CacheError::Payload("has a broken cell list"));
    }
    let mut velocities = vec![[0.0f32; D]; count];
    for axis in 0..D {
        let unit = header.fastest[axis] / VELOCITY_STEPS;
        let mut step = 0i16;
        for (i, velocity) in velocities.iter_mut().enumerate() {
            step = step.wrapping_add(unzigzag(read_planes(columns, D + axis, count, i)));
            velocity[axis] = (f64::from(step) * unit) as f32;
        }
    }
    Ok(Frame {
        number: header.number,
        time: header.time,
        dx: header.dx,
        positions,
        velocities,
    })
}

fn largest(values: impl Iterator<Item = f64>) -> Result<f64, CacheError> {
    let mut most = 0.0f64;
    for value in values {
        if !value.is_finite() {
            return Err(CacheError::Unwritable("a velocity is not a finite number"));
        }
        most = most.max(value.abs());
    }
    Ok(most)
}

fn quantised(value: f64, unit: f64) -> i16 {
    if unit == 0.0 {
        0
    } else {
        (value / unit * VELOCITY_STEPS).round() as i16
    }
}

/// Small differences of either sign become small numbers, so that their high bytes are zero.
fn zigzag(value: i16) -> u16 {
    ((value << 1) ^ (value >> 15)) as u16
}

fn unzigzag(value: u16) -> i16 {
    (value >> 1) as i16 ^ -((value & 1) as i16)
}

/// The low bytes of all values, then the high bytes.
fn planes(values: impl Iterator<Item = u16>) -> Vec<u8> {
    let values: Vec<u16> = values.collect();
    let low = values.iter().map(|v| v.to_le_bytes()[0]);
    let high = values.iter().map(|v| v.to_le_bytes()[1]);
    low.chain(high).collect()
}

fn read_planes(columns: &[u8], column: usize, count: usize, i: usize) -> u16 {
    let start = 2 * column * count;
    u16::from_le_bytes([columns[start + i], columns[start + count + i]])
}

fn push_leb128(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn take_leb128(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..63).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests;
