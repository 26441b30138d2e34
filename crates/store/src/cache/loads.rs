//! Forces on rigid bodies as bytes: the section `LOAD`, in frames of scenes with such bodies.
//!
//! For each body: its name (length in two bytes, UTF-8), centre of mass, its velocity, force and torque of contacts, force
//! and torque of joints (torques as one number in the plane), kinetic energy and penetration as 64-bit floats, and the number
//! of contacts as 64 bits.
//!
//! In scenes with liquid the section `WETL` follows, for each of the same bodies: force and torque of the liquid, submerged
//! volume and waterline area as 64-bit floats.

use super::CacheError;
use super::bytes::{Reader, push_name};
use super::container::{Section, Tag};

/// Tag of the section.
pub const TAG: Tag = *b"LOAD";
/// Tag of the section of the forces of liquid.
pub const LIQUID_TAG: Tag = *b"WETL";

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
    /// Forces of the liquid; none in scenes without.
    pub liquid: Option<LiquidLoad<D>>,
}

/// Forces of the liquid on a rigid body, and its place in the liquid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiquidLoad<const D: usize> {
    /// Force, in N.
    pub force: [f64; D],
    /// Torque, in N m; in the plane, only the last component.
    pub torque: [f64; 3],
    /// Volume of the body below the surface of the liquid, in m³ (m² in the plane).
    pub submerged_volume: f64,
    /// Area that the body cuts out of that surface, in m² (m in the plane).
    pub waterline_area: f64,
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

/// The section of the forces of liquid; none if there is no liquid.
pub(super) fn liquid_section<const D: usize>(
    loads: &[BodyLoad<D>],
) -> Result<Option<Section>, CacheError> {
    let Some(liquids) = (loads.iter().map(|load| load.liquid)).collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let first = if D == 2 { 2 } else { 0 };
    let mut payload = Vec::new();
    for load in &liquids {
        let rest = [load.submerged_volume, load.waterline_area];
        let numbers = [&load.force[..], &load.torque[first..], &rest];
        for number in numbers.into_iter().flatten() {
            if !number.is_finite() {
                return Err(CacheError::Unwritable("a force is not finite"));
            }
            payload.extend(number.to_le_bytes());
        }
    }
    Ok(Some(Section {
        tag: LIQUID_TAG,
        count: liquids.len() as u64,
        payload,
    }))
}

/// Adds the forces of liquid in a section to the loads of the frame.
pub(super) fn read_liquid<const D: usize>(
    count: u64,
    payload: &[u8],
    loads: &mut [BodyLoad<D>],
) -> Result<(), CacheError> {
    if count != loads.len() as u64 {
        return Err(CacheError::Payload("has forces of liquid on other bodies"));
    }
    let mut from = Reader(payload);
    for load in loads {
        load.liquid = Some(LiquidLoad {
            force: from.vector()?,
            torque: torque::<D>(&mut from)?,
            submerged_volume: from.f64()?,
            waterline_area: from.f64()?,
        });
    }
    from.end()
}

fn torque<const D: usize>(from: &mut Reader<'_>) -> Result<[f64; 3], CacheError> {
    match D {
        2 => Ok([0.0, 0.0, from.f64()?]),
        _ => from.vector(),
    }
}

/// The loads in a section.
pub(super) fn read<const D: usize>(
    count: u64,
    payload: &[u8],
) -> Result<Vec<BodyLoad<D>>, CacheError> {
    let mut from = Reader(payload);
    let mut loads = Vec::new();
    for _ in 0..count {
        loads.push(BodyLoad {
            name: from.name()?,
            center: from.vector()?,
            velocity: from.vector()?,
            contact_force: from.vector()?,
            contact_torque: torque::<D>(&mut from)?,
            joint_force: from.vector()?,
            joint_torque: torque::<D>(&mut from)?,
            kinetic_energy: from.f64()?,
            penetration: from.f64()?,
            contacts: from.u64()?,
            liquid: None,
        });
    }
    from.end()?;
    Ok(loads)
}
