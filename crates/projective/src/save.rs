//! The state that later steps depend on, as bytes.

use std::fmt;

use crate::cloth::Cloth;
use crate::fluid::Fluid;
use crate::particles::Particles;
use crate::real::{Real, Vec4};
use crate::settings::Settings;

/// Name and version of the format.
const MAGIC: &[u8; 8] = b"MENPRJ01";

/// Why bytes are no state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateError(String);

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StateError {}

/// Bytes of one particle.
const fn particle_bytes<const D: usize, R: Real>() -> usize {
    (2 * D + 1) * R::BYTES + 8 + 4 + 4
}

impl<const D: usize, R: Real> Fluid<D, R> {
    /// The state.
    pub fn state(&self) -> Vec<u8> {
        let particles = &self.particles;
        let n = particles.len();
        let mut out = Vec::with_capacity(42 + n * particle_bytes::<D, R>());
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&[D as u8, R::BYTES as u8]);
        out.extend_from_slice(&self.time.to_le_bytes());
        out.extend_from_slice(&self.last_step.to_le_bytes());
        out.extend_from_slice(&self.next_id.to_le_bytes());
        out.extend_from_slice(&(n as u64).to_le_bytes());
        for i in 0..n {
            for axis in 0..D {
                particles.position[i].0[axis].write(&mut out);
            }
            for axis in 0..D {
                particles.velocity[i].0[axis].write(&mut out);
            }
            particles.multiplier[i].write(&mut out);
            out.extend_from_slice(&particles.id[i].to_le_bytes());
            out.extend_from_slice(&particles.birth[i].to_le_bytes());
            out.extend_from_slice(&particles.source[i].to_le_bytes());
        }
        if let Some(cloth) = &self.cloth {
            out.extend(cloth.state());
        }
        out
    }

    /// A liquid in a state.
    ///
    /// # Errors
    /// What is wrong with the settings or the state.
    pub fn restore(settings: Settings<D>, state: &[u8]) -> Result<Self, StateError> {
        Self::restore_with(settings, None, state)
    }

    /// A liquid in a state, with the cloth that it had.
    ///
    /// # Errors
    /// What is wrong with the settings or the state.
    pub fn restore_with(
        settings: Settings<D>,
        mut cloth: Option<Cloth>,
        state: &[u8],
    ) -> Result<Self, StateError> {
        let wrong = |what: &str| StateError(what.into());
        let mut fluid = Self::new(settings).map_err(|error| StateError(error.to_string()))?;
        let mut rest = state;
        let mut take = |len: usize| -> Result<&[u8], StateError> {
            let (head, tail) = rest
                .split_at_checked(len)
                .ok_or_else(|| wrong("the state of the particles ends early"))?;
            rest = tail;
            Ok(head)
        };
        if take(8)? != MAGIC || take(2)? != [D as u8, R::BYTES as u8] {
            return Err(wrong("it is not a state of particles of this dimension"));
        }
        fluid.time = f64::read(take(8)?);
        fluid.last_step = f64::read(take(8)?);
        let mut whole = || -> Result<u64, StateError> {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(take(8)?);
            Ok(u64::from_le_bytes(bytes))
        };
        fluid.next_id = whole()?;
        let n = whole()?;
        let of_cloth = cloth.as_ref().map_or(0, Cloth::state_len);
        let of_particles = usize::try_from(n)
            .ok()
            .and_then(|n| n.checked_mul(particle_bytes::<D, R>()))
            .filter(|len| rest.len().checked_sub(of_cloth) == Some(*len))
            .ok_or_else(|| wrong("it has not as many particles as it says"))?;
        let (rest, cloth_state) = rest.split_at(of_particles);
        if let Some(cloth) = &mut cloth {
            let is_finite = cloth.set_state(cloth_state);
            is_finite.ok_or_else(|| wrong("a vertex of cloth is not at a finite place"))?;
        }
        let mut particles = Particles::default();
        for bytes in rest.chunks_exact(particle_bytes::<D, R>()) {
            let number = |k: usize| R::read(&bytes[k * R::BYTES..]);
            let (mut x, mut v) = (Vec4::ZERO, Vec4::ZERO);
            for axis in 0..D {
                x.0[axis] = number(axis);
                v.0[axis] = number(D + axis);
            }
            let multiplier = number(2 * D);
            let numbers = x.0.iter().chain(&v.0).chain([&multiplier]);
            if !numbers.into_iter().all(|value| value.wide().is_finite()) {
                return Err(wrong("a particle is not at a finite place"));
            }
            let tail = &bytes[(2 * D + 1) * R::BYTES..];
            let (mut id, mut birth, mut source) = ([0; 8], [0; 4], [0; 4]);
            id.copy_from_slice(&tail[..8]);
            birth.copy_from_slice(&tail[8..12]);
            source.copy_from_slice(&tail[12..16]);
            particles.position.push(x);
            particles.velocity.push(v);
            particles.multiplier.push(multiplier);
            particles.id.push(u64::from_le_bytes(id));
            particles.birth.push(f32::from_le_bytes(birth));
            particles.source.push(u32::from_le_bytes(source));
        }
        let is_time = |t: f64| t.is_finite() && t >= 0.0;
        if !is_time(fluid.time) || !is_time(fluid.last_step) {
            return Err(wrong("its time is not a finite number"));
        }
        fluid.particles = particles;
        fluid.cloth = cloth;
        Ok(fluid)
    }
}
