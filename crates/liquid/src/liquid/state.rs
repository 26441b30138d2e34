//! State of a liquid as bytes: a liquid that was saved and restored continues to the same bits as one that was never
//! stopped.
//!
//! Little endian, in this order: time, length of the last step, whether the volume at the start is known and what it
//! was, drift, number of particles at the start; number of particles, their positions, their velocities, whether any
//! of them has a gradient and, if so, the gradients; length of the step of the last pressure, number of its cells, the cells, the pressures;
//! where there is more than one material: that of every particle;
//! if particles keep attributes: the next number, all numbers, times of birth, sources.

use std::fmt;
use std::io::{self, Write};

use super::Liquid;
use super::volume_target::VolumeTarget;
use crate::compiled::Compiled;
use crate::grid::tiles::Coord;
use crate::particles::Particles;
use crate::particles::attributes::Attributes;
use crate::particles::gradient::Gradient;
use crate::pressure::{PressureProjection, WarmStart};
use crate::settings::{Settings, SettingsError};

/// Cells are never farther from the origin than this.
const FARTHEST_CELL: i32 = 1 << 30;

/// Particles are never numbered beyond this.
const MOST_PARTICLES: u64 = 1 << 62;

/// Bytes that are written at once.
const BUFFER: usize = 1 << 15;

/// Why a state can't be restored.
#[derive(Clone, Debug, PartialEq)]
pub enum StateError {
    /// The settings are out of range.
    Settings(SettingsError),
    /// The bytes are not a state of a liquid with these settings.
    Malformed(&'static str),
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StateError::Settings(fault) => fault.fmt(f),
            StateError::Malformed(what) => write!(f, "it is no state of this liquid: {what}"),
        }
    }
}

impl std::error::Error for StateError {}

/// Everything of a liquid that later steps depend on, ready to be written.
pub struct State<'a, const D: usize> {
    /// Time, length of the last step.
    times: [f64; 2],
    volume_target: Option<VolumeTarget>,
    drift: f64,
    particles: &'a Particles<D>,
    /// Whether any particle has a gradient.
    spinning: bool,
    pressure: WarmStart<D>,
}

impl<const D: usize> Liquid<D> {
    /// The state, to be written.
    pub fn state(&self) -> State<'_, D> {
        // Every field is named, so that a new one does not compile before it is decided whether later steps
        // depend on it. Those left out are settings, which are given again, and what every step builds anew.
        let Liquid {
            settings: _,
            ports: _,
            particles,
            time,
            last_dt,
            volume_target,
            drift,
            grid: _,
            pressure,
        } = self;
        let spinning = particles.affine.iter().any(|g| *g != Gradient::NONE);
        State {
            times: [*time, *last_dt],
            volume_target: *volume_target,
            drift: *drift,
            particles,
            spinning,
            pressure: pressure.warm_start(),
        }
    }

    /// The liquid whose state was saved, continued with `settings`. The bytes must hold the state and nothing else.
    ///
    /// # Errors
    /// Whatever the bytes are, what can't be restored is an error, never a panic.
    pub fn restore(settings: Settings<D>, bytes: &[u8]) -> Result<Self, StateError> {
        (Compiled::get().restore)(settings, bytes)
    }

    pub(crate) fn restore_impl(settings: Settings<D>, bytes: &[u8]) -> Result<Self, StateError> {
        let size = settings.cells;
        let empty = Liquid::new(settings).map_err(StateError::Settings)?;
        let mut rest = Rest(bytes);
        let [time, last_dt] = rest.floats()?;
        let known = rest.flag()?;
        let [volume, drift] = rest.floats()?;
        let number = rest.count(0)?;

        let count = rest.count(8 * D)?;
        let position = rest.vectors(count, f32::from_le_bytes)?;
        let velocity = rest.vectors(count, f32::from_le_bytes)?;
        let affine = if rest.flag()? {
            rest.gradients(count)?
        } else {
            vec![Gradient::NONE; count]
        };
        let mut particles = Particles {
            position,
            velocity,
            affine,
            attributes: empty.particles.attributes.clone(),
            material: None,
        };

        let [dt] = rest.floats()?;
        let count = rest.count(4 * D + 8)?;
        let cells: Vec<Coord<D>> = rest.vectors(count, i32::from_le_bytes)?;
        let pressure: Vec<[f64; 1]> = rest.vectors(count, f64::from_le_bytes)?;
        let materials = empty.settings.physics.materials.len();
        if materials > 1 {
            let of = rest.take(particles.len())?;
            if of
                .iter()
                .any(|&material| usize::from(material) >= materials)
            {
                return Err(StateError::Malformed("a material is not in the scene"));
            }
            particles.material = Some(of.to_vec());
        }
        let attributes = match rest.0.is_empty() {
            true => None,
            false => Some(rest.attributes(particles.len())?),
        };
        if !rest.0.is_empty() {
            return Err(StateError::Malformed("there are bytes after its end"));
        }
        let finite = [time, last_dt, volume, drift, dt]
            .iter()
            .chain(pressure.as_flattened())
            .all(|x| x.is_finite());
        let near = |c: &i32| (-FARTHEST_CELL..FARTHEST_CELL).contains(c);
        if !finite || !particles.is_finite() {
            return Err(StateError::Malformed("a number is not finite"));
        }
        if !cells.as_flattened().iter().all(near) {
            return Err(StateError::Malformed("a cell is far outside"));
        }
        if particles.attributes.is_some() {
            particles.attributes = attributes.or(particles.attributes);
            // Of a state that has none, they begin here.
            particles.attribute_new(time, 0, 0);
        }
        let start = WarmStart {
            dt,
            cells,
            pressure: pressure.into_iter().flatten().collect(),
        };
        let pressure = PressureProjection::from_warm_start(start, size).ok_or(
            StateError::Malformed("a cell is outside of the domain, or twice there"),
        )?;
        Ok(Liquid {
            particles,
            time,
            last_dt,
            volume_target: known.then_some(VolumeTarget {
                volume,
                particles: number,
            }),
            drift,
            pressure,
            ..empty
        })
    }
}

impl<const D: usize> State<'_, D> {
    /// How many bytes it will be.
    pub fn len(&self) -> usize {
        let gradients = if self.spinning {
            Gradient::<D>::BYTES
        } else {
            0
        };
        let particles = self.particles.len() * (8 * D + gradients);
        let attributes = match &self.particles.attributes {
            Some(attributes) => 8 + attributes.id.len() * 16,
            None => 0,
        };
        let materials = self.particles.material.as_ref().map_or(0, Vec::len);
        let numbers = 8 * 8 + 2;
        numbers + particles + self.pressure.cells.len() * (4 * D + 8) + materials + attributes
    }

    /// False: there is always something to write.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the state without a copy of the particles.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Particles {
            position,
            velocity,
            affine,
            attributes,
            material,
        } = self.particles;
        let WarmStart {
            dt,
            cells,
            pressure,
        } = &self.pressure;
        put(out, &self.times, f64::to_le_bytes)?;
        out.write_all(&[self.volume_target.is_some().into()])?;
        let (volume, number) = self
            .volume_target
            .map_or((0.0, 0), |b| (b.volume, b.particles));
        put(out, &[volume, self.drift], f64::to_le_bytes)?;
        put(out, &[number as u64], u64::to_le_bytes)?;

        put(out, &[position.len() as u64], u64::to_le_bytes)?;
        put(out, position.as_flattened(), f32::to_le_bytes)?;
        put(out, velocity.as_flattened(), f32::to_le_bytes)?;
        out.write_all(&[self.spinning.into()])?;
        if self.spinning {
            let mut bytes = Vec::with_capacity(BUFFER);
            for some in affine.chunks(BUFFER / Gradient::<D>::BYTES) {
                bytes.clear();
                some.iter().for_each(|gradient| gradient.write(&mut bytes));
                out.write_all(&bytes)?;
            }
        }

        put(out, &[*dt], f64::to_le_bytes)?;
        put(out, &[cells.len() as u64], u64::to_le_bytes)?;
        put(out, cells.as_flattened(), i32::to_le_bytes)?;
        put(out, pressure, f64::to_le_bytes)?;
        if let Some(material) = material {
            out.write_all(material)?;
        }
        if let Some(attributes) = attributes {
            put(out, &[attributes.next_id], u64::to_le_bytes)?;
            put(out, &attributes.id, u64::to_le_bytes)?;
            put(out, &attributes.birth, f32::to_le_bytes)?;
            put(out, &attributes.source, u32::to_le_bytes)?;
        }
        Ok(())
    }
}

/// Writes numbers, of `N` bytes each.
fn put<T: Copy, const N: usize>(
    out: &mut dyn Write,
    values: &[T],
    to_bytes: fn(T) -> [u8; N],
) -> io::Result<()> {
    let mut bytes = [0; BUFFER];
    for values in values.chunks(BUFFER / N) {
        let bytes = &mut bytes[..N * values.len()];
        for (place, &value) in bytes.chunks_exact_mut(N).zip(values) {
            place.copy_from_slice(&to_bytes(value));
        }
        out.write_all(bytes)?;
    }
    Ok(())
}

/// The bytes that are not read yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], StateError> {
        let cut = self.0.split_at_checked(length);
        let (taken, rest) = cut.ok_or(StateError::Malformed("it ends early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn floats<const N: usize>(&mut self) -> Result<[f64; N], StateError> {
        Ok(self.vectors::<f64, 8, N>(1, f64::from_le_bytes)?[0])
    }

    fn flag(&mut self) -> Result<bool, StateError> {
        match self.take(1)? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(StateError::Malformed("a flag is neither set nor unset")),
        }
    }

    /// A number of things that take at least `each` bytes, which must be there before anything is allocated.
    fn count(&mut self, each: usize) -> Result<usize, StateError> {
        let count = self.vectors::<u64, 8, 1>(1, u64::from_le_bytes)?[0][0];
        usize::try_from(count)
            .ok()
            .filter(|n| {
                n.checked_mul(each)
                    .is_some_and(|total| total <= self.0.len())
            })
            .ok_or(StateError::Malformed("it ends early"))
    }

    fn attributes(&mut self, count: usize) -> Result<Attributes, StateError> {
        let [[next_id]] = self.vectors::<u64, 8, 1>(1, u64::from_le_bytes)?[..] else {
            return Err(StateError::Malformed("it ends early"));
        };
        let id: Vec<[u64; 1]> = self.vectors(count, u64::from_le_bytes)?;
        let birth: Vec<[f32; 1]> = self.vectors(count, f32::from_le_bytes)?;
        let source: Vec<[u32; 1]> = self.vectors(count, u32::from_le_bytes)?;
        let attributes = Attributes {
            id: id.into_flattened(),
            birth: birth.into_flattened(),
            source: source.into_flattened(),
            next_id,
        };
        let sound = next_id <= MOST_PARTICLES
            && attributes.id.iter().all(|&id| id < next_id)
            && attributes.birth.iter().all(|birth| birth.is_finite());
        match sound {
            true => Ok(attributes),
            false => Err(StateError::Malformed("an attribute is out of range")),
        }
    }

    fn gradients<const D: usize>(&mut self, count: usize) -> Result<Vec<Gradient<D>>, StateError> {
        let length = count.checked_mul(Gradient::<D>::BYTES);
        let taken = self.take(length.ok_or(StateError::Malformed("it ends early"))?)?;
        let gradients: Vec<_> = taken
            .chunks_exact(Gradient::<D>::BYTES)
            .map(Gradient::read)
            .collect();
        match gradients.iter().all(Gradient::is_sound) {
            true => Ok(gradients),
            false => Err(StateError::Malformed("a gradient has no unit")),
        }
    }

    fn vectors<T, const N: usize, const M: usize>(
        &mut self,
        count: usize,
        from_bytes: fn([u8; N]) -> T,
    ) -> Result<Vec<[T; M]>, StateError> {
        let length = count
            .checked_mul(N * M)
            .ok_or(StateError::Malformed("it ends early"))?;
        let taken = self.take(length)?;
        let number = |from: &[u8]| from_bytes(std::array::from_fn(|i| from[i]));
        Ok(taken
            .chunks_exact(N * M)
            .map(|vector| std::array::from_fn(|a| number(&vector[N * a..N * (a + 1)])))
            .collect())
    }
}
