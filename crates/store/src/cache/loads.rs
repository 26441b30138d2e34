//! Forces on rigid bodies as bytes: the section `LOAD`, in frames of scenes with such bodies.
//!
//! For each body: its name (length in two bytes, UTF-8), centre of mass, its velocity, force and torque of contacts, force
//! and torque of joints (torques as one number in the plane), kinetic energy and penetration as 64-bit floats, and the number
//! of contacts as 64 bits.

use super::CacheError;
use super::bytes::{Reader, push_name};
use super::container::{Section, Tag};

/// Tag of the section.
pub const TAG: Tag = *b"LOAD";

/// Forces on a rigid body over the last step before a frame, in world axes, torques about its centre of mass.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyLoad<const D: usize> {
    /// Name of the body in the scene.
    pub name: String,
    /// Centre of mass, in metres.
    pub center: [f64; D],
    /// Velocity of the centre of mass, in metres per second.
    pub velocity: [f64; D],
    /// Force of contacts, in N.
    pub contact_force: [f64; D],
    /// Torque of contacts, in N m; in the plane, only the last component.
    pub contact_torque: [f64; 3],
    /// Force of joints, in N.
    pub joint_force: [f64; D],
    /// Torque of joints, in N m; in the plane, only the last component.
    pub joint_torque: [f64; 3],
    /// Kinetic energy in J.
    pub kinetic_energy: f64,
    /// Deepest overlap at contacts that carry a force, in metres.
    pub penetration: f64,
    /// Contacts that carry a force.
    pub contacts: u64,
}

/// The section of some loads.
pub(super) fn section<const D: usize>(loads: &[BodyLoad<D>]) -> Result<Section, CacheError> {
    let first = if D == 2 { 2 } else { 0 };
    let mut payload = Vec::new();
    for load in loads {
        push_name(&mut payload, &load.name)?;
        let numbers = [
            &load.center[..],
            &load.velocity,
            &load.contact_force,
            &load.contact_torque[first..],
            &load.joint_force,
            &load.joint_torque[first..],
            &[load.kinetic_energy, load.penetration],
        ];
        for number in numbers.into_iter().flatten() {
            if !number.is_finite() {
                return Err(CacheError::Unwritable("a force is not finite"));
            }
            payload.extend(number.to_le_bytes());
        }
        payload.extend(load.contacts.to_le_bytes());
    }
    Ok(Section {
        tag: TAG,
        count: loads.len() as u64,
        payload,
    })
}

/// The loads in a section.
pub(super) fn read<const D: usize>(
    count: u64,
    payload: &[u8],
) -> Result<Vec<BodyLoad<D>>, CacheError> {
    let mut from = Reader(payload);
    let torque = |from: &mut Reader<'_>| match D {
        2 => Ok([0.0, 0.0, from.f64()?]),
        _ => from.vector(),
    };
    let mut loads = Vec::new();
    for _ in 0..count {
        loads.push(BodyLoad {
            name: from.name()?,
            center: from.vector()?,
            velocity: from.vector()?,
            contact_force: from.vector()?,
            contact_torque: torque(&mut from)?,
            joint_force: from.vector()?,
            joint_torque: torque(&mut from)?,
            kinetic_energy: from.f64()?,
            penetration: from.f64()?,
            contacts: from.u64()?,
        });
    }
    from.end()?;
    Ok(loads)
}
