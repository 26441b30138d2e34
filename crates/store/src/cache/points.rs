//! Points as bytes: the section `PNTS`, one for each layer.
//!
//! A point's position is the number of its cell and, along each axis, which of [`STEPS_PER_CELL`] slices of the cell it lies
//! in; it comes back in the middle of the slice. The points are sorted by cell, so that the numbers of cells are mostly
//! small steps. Velocities are 16-bit fractions of the layer's largest along that axis, as differences from the point
//! before. The payload is:
//!
//! | bytes | what |
//! | --- | --- |
//! | 2 and more | name: length, then UTF-8 |
//! | 8 | width of a cell in metres, float |
//! | 12 | lowest cell that holds a point, three signed integers |
//! | 12 | cells from there to the highest one, both counted, three integers |
//! | 24 | largest speed along each axis, three floats |
//! | 1 | 1 if points have ids |
//! | 2 | number of scalars |
//! | 7 and more for each scalar | name; 0 for 16-bit fractions, 1 for exact values; largest magnitude, float |
//! | 1 to 9 per point | steps between cells, LEB128 |
//! | 2 D per point | for each axis the low bytes and the high bytes of the slices |
//! | 2 D per point | the same of the velocities |
//! | 8 per point | ids, if there are any: eight planes of bytes |
//! | 2 or 4 per point and scalar | differences of fractions in two planes of bytes, or exact values in four |
//!
//! Bytes of a kind are together, which compresses well.

use super::CacheError;
use super::bytes::{Reader, SHORT, push_name};
use super::container::{Section, Tag};
use rayon::prelude::*;

/// Tag of the section.
pub const TAG: Tag = *b"PNTS";

/// A named set of points.
#[derive(Clone, Debug, PartialEq)]
pub struct PointLayer<const D: usize> {
    /// Name of the layer.
    pub name: String,
    /// Width of a cell of the simulation in metres; positions are stored to a part of it.
    pub spacing: f64,
    /// Positions in metres.
    pub positions: Vec<[f32; D]>,
    /// Velocities in metres per second, one for each position.
    pub velocities: Vec<[f32; D]>,
    /// Identifiers that a point keeps from frame to frame, one for each position.
    pub ids: Option<Vec<u64>>,
    /// Further attributes.
    pub scalars: Vec<Scalar>,
}

impl<const D: usize> PointLayer<D> {
    /// Particles of the liquid without further attributes.
    pub fn liquid(spacing: f64, positions: Vec<[f32; D]>, velocities: Vec<[f32; D]>) -> Self {
        PointLayer {
            name: super::LIQUID.into(),
            spacing,
            positions,
            velocities,
            ids: None,
            scalars: Vec::new(),
        }
    }

    /// Values of a scalar attribute, one for each position.
    pub fn scalar(&self, name: &str) -> Option<&[f32]> {
        let mut scalars = self.scalars.iter();
        scalars.find_map(|scalar| (scalar.name == name).then_some(&scalar.values[..]))
    }
}

/// A scalar attribute of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// Name of the attribute, such as `pressure`.
    pub name: String,
    /// How precisely it is stored.
    pub precision: Precision,
    /// Values, one for each point.
    pub values: Vec<f32>,
}

/// How precisely a scalar is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// To a 32767th of the largest magnitude.
    Relative,
    /// As it is.
    Exact,
}

/// Slices of a cell along an axis. A position is off by at most half a slice.
pub const STEPS_PER_CELL: u32 = 1024;
/// Stored velocities and relative scalars are multiples of the largest divided by this.
const STEPS: f64 = 32767.0;
/// More cells than this between the lowest and the highest point can't be numbered.
const MOST_CELLS: u128 = 1 << 62;
/// No position is farther from the origin than this many cells.
const FARTHEST_CELL: f64 = 1e9;

/// Where a point lies: its cell and its slice of that cell along each axis.
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

/// The points' cells as a box, and the number of a cell in it, last axis slowest.
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

    fn check(&self) -> Result<(), CacheError> {
        let cells: u128 = self.extent.iter().map(|&n| u128::from(n)).product();
        let top = |axis: usize| i64::from(self.lowest[axis]) + i64::from(self.extent[axis]);
        let inside = (0..3).all(|axis| top(axis) <= i64::from(i32::MAX));
        match cells > 0 && cells <= MOST_CELLS && inside {
            true => Ok(()),
            false => Err(CacheError::Field("extent")),
        }
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

/// The section of a layer.
pub(super) fn section<const D: usize>(layer: &PointLayer<D>) -> Result<Section, CacheError> {
    let count = layer.positions.len();
    if !(layer.spacing.is_finite() && layer.spacing > 0.0) {
        return Err(CacheError::Unwritable(
            "the width of a cell is not positive",
        ));
    }
    let lengths = [layer.velocities.len()]
        .into_iter()
        .chain(layer.ids.as_ref().map(Vec::len))
        .chain(layer.scalars.iter().map(|scalar| scalar.values.len()));
    if lengths.into_iter().any(|length| length != count) {
        return Err(CacheError::Unwritable(
            "positions and attributes differ in number",
        ));
    }
    let places: Vec<Place<D>> = layer
        .positions
        .par_iter()
        .map(|x| place(x, layer.spacing))
        .collect::<Result<_, _>>()?;
    let cells = CellBox::around(&places)?;
    let mut order: Vec<(u64, u32)> = Vec::with_capacity(count);
    for (i, place) in places.iter().enumerate() {
        let i = u32::try_from(i).map_err(|_| CacheError::Unwritable("there are too many"))?;
        order.push((cells.number(&place.cell), i));
    }
    // No two are equal, so that there is one order only.
    order.par_sort_unstable();

    let mut payload = Vec::with_capacity(128 + count * (1 + 4 * D));
    push_name(&mut payload, &layer.name)?;
    payload.extend(layer.spacing.to_le_bytes());
    payload.extend(cells.lowest.iter().flat_map(|v| v.to_le_bytes()));
    payload.extend(cells.extent.iter().flat_map(|v| v.to_le_bytes()));
    let mut fastest = [0.0f64; 3];
    for axis in 0..D {
        fastest[axis] = largest(layer.velocities.iter().map(|v| v[axis]))
            .ok_or(CacheError::Unwritable("a velocity is not a finite number"))?;
    }
    payload.extend(fastest.iter().flat_map(|v| v.to_le_bytes()));
    payload.push(u8::from(layer.ids.is_some()));
    let scalars = u16::try_from(layer.scalars.len());
    let scalars = scalars.map_err(|_| CacheError::Unwritable("there are too many attributes"))?;
    payload.extend(scalars.to_le_bytes());
    let mut units = Vec::new();
    for scalar in &layer.scalars {
        let unit = largest(scalar.values.iter().copied()).ok_or(CacheError::Unwritable(
            "an attribute is not a finite number",
        ))?;
        push_name(&mut payload, &scalar.name)?;
        payload.push(u8::from(scalar.precision == Precision::Exact));
        payload.extend((unit as f32).to_le_bytes());
        units.push(unit);
    }
    let mut previous = 0;
    for &(number, _) in &order {
        push_leb128(&mut payload, number - previous);
        previous = number;
    }
    let sorted = || order.iter().map(|&(_, i)| i as usize);
    let slices = |axis: usize| byte_planes(sorted().map(|i| places[i].slice[axis].to_le_bytes()));
    let velocities =
        |axis: usize| differences(sorted().map(|i| layer.velocities[i][axis]), fastest[axis]);
    let scalars = |k: usize| {
        let scalar = &layer.scalars[k];
        let values = sorted().map(|i| scalar.values[i]);
        match scalar.precision {
            Precision::Relative => differences(values, units[k]),
            Precision::Exact => byte_planes(values.map(f32::to_le_bytes)),
        }
    };
    let ids = || match &layer.ids {
        Some(ids) => byte_planes(sorted().map(|i| ids[i].to_le_bytes())),
        None => Vec::new(),
    };
    let columns: Vec<Vec<u8>> = (0..2 * D + 1 + layer.scalars.len())
        .into_par_iter()
        .map(|column| match column {
            axis if axis < D => slices(axis),
            column if column < 2 * D => velocities(column - D),
            column if column == 2 * D => ids(),
            column => scalars(column - 2 * D - 1),
        })
        .collect();
    for column in columns {
        payload.extend_from_slice(&column);
    }
    Ok(Section {
        tag: TAG,
        count: count as u64,
        payload,
    })
}

/// The layer in a section. Its points come sorted by cell.
pub(super) fn read<const D: usize>(
    count: u64,
    payload: &[u8],
) -> Result<PointLayer<D>, CacheError> {
    // Each point has at least one byte of cell, two of slice and two of velocity along each axis.
    if count.saturating_mul(1 + 4 * D as u64) > payload.len() as u64 {
        return Err(CacheError::Field("number of particles"));
    }
    let count = count as usize;
    let mut from = Reader(payload);
    let name = from.name()?;
    let spacing = from.f64()?;
    if spacing <= 0.0 {
        return Err(CacheError::Field("cell width"));
    }
    let mut cells = CellBox {
        lowest: [0; 3],
        extent: [0; 3],
    };
    for low in &mut cells.lowest {
        *low = from.u32()? as i32;
    }
    for extent in &mut cells.extent {
        *extent = from.u32()?;
    }
    cells.check()?;
    let fastest: [f64; 3] = from.vector()?;
    if fastest.iter().any(|speed| *speed < 0.0) {
        return Err(CacheError::Field("speed"));
    }
    let has_ids = from.u8()? != 0;
    let mut scalars = Vec::new();
    for _ in 0..from.u16()? {
        let name = from.name()?;
        let precision = match from.u8()? {
            0 => Precision::Relative,
            _ => Precision::Exact,
        };
        let unit = from.f32()?;
        if unit < 0.0 {
            return Err(CacheError::Field("attribute"));
        }
        scalars.push((name, precision, f64::from(unit)));
    }
    let numbers = cell_numbers(&mut from, count)?;
    let slices = from.take((2 * D).checked_mul(count).ok_or(SHORT)?)?;
    let mut positions = vec![[0.0f32; D]; count];
    for (i, position) in positions.iter_mut().enumerate() {
        let cell = cells.cell::<D>(numbers[i]).ok_or(OUTSIDE)?;
        for axis in 0..D {
            let along = &slices[2 * axis * count..];
            let slice = u16::from_le_bytes(plane_bytes(along, count, i));
            if u32::from(slice) >= STEPS_PER_CELL {
                return Err(CacheError::Payload("has a position outside its cell"));
            }
            let inside = (f64::from(slice) + 0.5) / f64::from(STEPS_PER_CELL);
            position[axis] = ((f64::from(cell[axis]) + inside) * spacing) as f32;
        }
    }
    let mut velocities = vec![[0.0f32; D]; count];
    for axis in 0..D {
        let along = fractions(from.take(2 * count)?, fastest[axis]);
        for (velocity, component) in velocities.iter_mut().zip(along) {
            velocity[axis] = component;
        }
    }
    let ids = match has_ids {
        true => {
            let planes = from.take(count.checked_mul(8).ok_or(SHORT)?)?;
            let id = |i: usize| u64::from_le_bytes(plane_bytes(planes, count, i));
            Some((0..count).map(id).collect())
        }
        false => None,
    };
    let scalars = scalars
        .into_iter()
        .map(|(name, precision, unit)| {
            let values = match precision {
                Precision::Relative => fractions(from.take(2 * count)?, unit).collect(),
                Precision::Exact => exact(from.take(count.checked_mul(4).ok_or(SHORT)?)?)?,
            };
            Ok(Scalar {
                name,
                precision,
                values,
            })
        })
        .collect::<Result<_, _>>()?;
    from.end()?;
    Ok(PointLayer {
        name,
        spacing,
        positions,
        velocities,
        ids,
        scalars,
    })
}

const BROKEN: CacheError = CacheError::Payload("has a broken cell list");
const OUTSIDE: CacheError = CacheError::Payload("names a cell that is not there");

/// The numbers of the points' cells.
fn cell_numbers(from: &mut Reader<'_>, count: usize) -> Result<Vec<u64>, CacheError> {
    let mut numbers = Vec::with_capacity(count);
    let mut number = 0u64;
    for _ in 0..count {
        let step = take_leb128(&mut from.0).ok_or(BROKEN)?;
        number = number.checked_add(step).ok_or(OUTSIDE)?;
        numbers.push(number);
    }
    Ok(numbers)
}

/// Values from differences of fractions of the largest.
fn fractions(planes: &[u8], largest: f64) -> impl Iterator<Item = f32> + '_ {
    let (count, unit) = (planes.len() / 2, largest / STEPS);
    let mut step = 0i16;
    (0..count).map(move |i| {
        let difference = u16::from_le_bytes(plane_bytes(planes, count, i));
        step = step.wrapping_add(unzigzag(difference));
        (f64::from(step) * unit) as f32
    })
}

/// Values as they are.
fn exact(planes: &[u8]) -> Result<Vec<f32>, CacheError> {
    let count = planes.len() / 4;
    let value = |i: usize| f32::from_le_bytes(plane_bytes(planes, count, i));
    let values: Vec<f32> = (0..count).map(value).collect();
    match values.iter().all(|value| value.is_finite()) {
        true => Ok(values),
        false => Err(CacheError::Payload("has a number that is not finite")),
    }
}

/// The largest size of some numbers, if all of them are finite.
fn largest(values: impl Iterator<Item = f32>) -> Option<f64> {
    let mut most = 0.0f64;
    for value in values {
        if !value.is_finite() {
            return None;
        }
        most = most.max(f64::from(value).abs());
    }
    Some(most)
}

/// Each value as a fraction of the largest, less the one before.
fn differences(values: impl Iterator<Item = f32>, largest: f64) -> Vec<u8> {
    let mut previous = 0i16;
    byte_planes(values.map(|value| {
        let step = quantised(f64::from(value), largest);
        let difference = step.wrapping_sub(previous);
        previous = step;
        zigzag(difference).to_le_bytes()
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

/// The first bytes of all values, then the second ones, and so on.
fn byte_planes<const N: usize>(values: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
    let values: Vec<[u8; N]> = values.collect();
    let plane = |k: usize| values.iter().map(move |bytes| bytes[k]);
    (0..N).flat_map(plane).collect()
}

/// The bytes of a value from planes of so many values.
fn plane_bytes<const N: usize>(planes: &[u8], count: usize, i: usize) -> [u8; N] {
    std::array::from_fn(|k| planes[k * count + i])
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
