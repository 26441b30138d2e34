//! How particles become bytes.
//!
//! A particle's position is the number of its cell and, along each axis, which of
//! [`STEPS_PER_CELL`] slices of the cell it lies in; it comes back in the middle of the slice. The
//! particles are sorted by cell, so that the numbers of cells are mostly small steps. Velocities are
//! 16-bit fractions of the frame's largest along that axis, as differences from the particle before.
//! Pressures are stored alike, one for each cell that holds a particle. The payload is: the steps
//! between cells (LEB128), then for each axis the low bytes and the high bytes of the slices, then
//! the same of the velocities, then the same of the pressures if there are any. Like with like packs
//! well.

use super::Frame;
use super::container::{self, CacheError, Header, MOST_CELLS};
use rayon::prelude::*;

/// Slices of a cell along an axis. A position is off by at most half a slice.
pub const STEPS_PER_CELL: u32 = 1024;
/// Stored velocities and pressures are multiples of the frame's largest divided by this.
const STEPS: f64 = 32767.0;
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
    if ![0, frame.positions.len()].contains(&frame.pressures.len()) {
        return Err(CacheError::Unwritable(
            "positions and pressures differ in number",
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
        fastest[axis] = largest(frame.velocities.iter().map(|v| f64::from(v[axis])))
            .ok_or(CacheError::Unwritable("a velocity is not a finite number"))?;
    }
    let pressure = largest(frame.pressures.iter().map(|&p| f64::from(p)))
        .ok_or(CacheError::Unwritable("a pressure is not a finite number"))?;
    let velocities =
        |axis: usize| differences(sorted().map(|i| frame.velocities[i][axis]), fastest[axis]);
    let pressures = || {
        let cells = order.chunk_by(|a, b| a.0 == b.0);
        differences(
            cells.map(|cell| frame.pressures[cell[0].1 as usize]),
            pressure,
        )
    };
    let count = 2 * D + usize::from(pressure > 0.0);
    let columns: Vec<Vec<u8>> = (0..count)
        .into_par_iter()
        .map(|column| match column {
            axis if axis < D => slices(axis),
            column if column < 2 * D => velocities(column - D),
            _ => pressures(),
        })
        .collect();
    for column in columns {
        payload.extend_from_slice(&column);
    }
    let header = Header {
        dimension: D as u32,
        number: frame.number,
        pressure: pressure as f32,
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
    let (numbers, columns) = cell_numbers(&payload, count)?;
    let mut positions = vec![[0.0f32; D]; count];
    for (i, position) in positions.iter_mut().enumerate() {
        let cell = cells.cell::<D>(numbers[i]).ok_or(OUTSIDE)?;
        for axis in 0..D {
            let slice = read_planes(columns, axis, count, i);
            if u32::from(slice) >= STEPS_PER_CELL {
                return Err(CacheError::Payload("has a position outside its cell"));
            }
            let inside = (f64::from(slice) + 0.5) / f64::from(STEPS_PER_CELL);
            position[axis] = ((f64::from(cell[axis]) + inside) * header.dx) as f32;
        }
    }
    let per_cell = columns.get(4 * D * count..).ok_or(BROKEN)?;
    let pressures = cell_pressures(per_cell, &numbers, header.pressure).ok_or(BROKEN)?;
    let mut velocities = vec![[0.0f32; D]; count];
    for axis in 0..D {
        let unit = header.fastest[axis] / STEPS;
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
        pressures,
    })
}

const BROKEN: CacheError = CacheError::Payload("has a broken cell list");
const OUTSIDE: CacheError = CacheError::Payload("names a cell that is not there");

/// The numbers of the particles' cells, and what comes after them.
fn cell_numbers(payload: &[u8], count: usize) -> Result<(Vec<u64>, &[u8]), CacheError> {
    let mut rest = payload;
    let mut numbers = Vec::with_capacity(count);
    let mut number = 0u64;
    for _ in 0..count {
        let step = take_leb128(&mut rest).ok_or(BROKEN)?;
        number = number.checked_add(step).ok_or(OUTSIDE)?;
        numbers.push(number);
    }
    Ok((numbers, rest))
}

/// The pressure of each particle from those of the cells; none if there are none. Nothing else may be there.
fn cell_pressures(per_cell: &[u8], numbers: &[u64], largest: f32) -> Option<Vec<f32>> {
    if largest == 0.0 {
        return per_cell.is_empty().then(Vec::new);
    }
    let cells = numbers.chunk_by(|a, b| a == b).count();
    if per_cell.len() != 2 * cells {
        return None;
    }
    let unit = f64::from(largest) / STEPS;
    let mut pressures = Vec::with_capacity(numbers.len());
    let mut step = 0i16;
    for (cell, particles) in numbers.chunk_by(|a, b| a == b).enumerate() {
        step = step.wrapping_add(unzigzag(read_planes(per_cell, 0, cells, cell)));
        let pressure = (f64::from(step) * unit) as f32;
        pressures.extend(particles.iter().map(|_| pressure));
    }
    Some(pressures)
}

/// The largest size of some numbers, if all of them are finite.
fn largest(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut most = 0.0f64;
    for value in values {
        if !value.is_finite() {
            return None;
        }
        most = most.max(value.abs());
    }
    Some(most)
}

/// Each value as a fraction of the largest, less the one before.
fn differences(values: impl Iterator<Item = f32>, largest: f64) -> Vec<u8> {
    let mut previous = 0i16;
    planes(values.map(|value| {
        let step = quantised(f64::from(value), largest);
        let difference = step.wrapping_sub(previous);
        previous = step;
        zigzag(difference)
    }))
}

fn quantised(value: f64, unit: f64) -> i16 {
    if unit == 0.0 {
        0
    } else {
        (value / unit * STEPS).round() as i16
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
