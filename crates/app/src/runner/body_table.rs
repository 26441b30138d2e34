//! `bodies.csv`: positions, velocities and forces of rigid bodies, one line per body and frame. It grows with the frames of a
//! run. A run that is resumed writes it anew from the frames so far.

use meniscus_scene::Scene;
use meniscus_store::atomic_file;
use meniscus_store::cache::{self, BodyLoad, BodyState, Frame};
use meniscus_store::error::Error;
use meniscus_store::manifest::{Manifest, is_kept};
use meniscus_store::run_folder::RunFolder;
use std::fmt::Write;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const HEADER: &str = "\
# SI units: m, s, N, N m, rad/s, J. World axes. x, y, z and vx, vy, vz are those of the centre of mass, torques are about it. \
qw, qx, qy, qz is the rotation world from body. A body that was removed has no later lines. Forces are means over the last step before the frame; gravity is not among \
them. submerged_volume is what is below the surface of the liquid around the body, waterline_area what it cuts out of that \
surface; both are zero in scenes without liquid. In 2D y is up, z is zero, and masses, forces, volumes, areas and energies are \
per metre of depth.
frame,time,name,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,\
liquid_fx,liquid_fy,liquid_fz,liquid_tx,liquid_ty,liquid_tz,\
contact_fx,contact_fy,contact_fz,contact_tx,contact_ty,contact_tz,\
joint_fx,joint_fy,joint_fz,joint_tx,joint_ty,joint_tz,\
submerged_volume,waterline_area,kinetic_energy,contacts,penetration
";

/// Table of the frames of a run so far.
///
/// # Errors
/// If a frame can't be read.
pub fn of_frames<const D: usize>(run: &Path, manifest: &Manifest) -> Result<String, Error> {
    let mut text = String::from(HEADER);
    let frames = (0..=manifest.frames_done).filter(|&k| is_kept(&manifest.particles, k));
    for number in frames {
        text += &lines(&cache::read::<D>(&cache::frame_path(run, number))?);
    }
    Ok(text)
}

/// The table that a run should have; nothing if its frames have no rigid bodies.
///
/// # Errors
/// If a frame can't be read.
pub fn expected<const D: usize>(run: &Path, manifest: &Manifest) -> Result<Option<String>, Error> {
    let Some(first) = (0..=manifest.frames_done).find(|&k| is_kept(&manifest.particles, k)) else {
        return Ok(None);
    };
    let first = cache::read::<D>(&cache::frame_path(run, first))?;
    match first.loads.is_empty() {
        true => Ok(None),
        false => of_frames::<D>(run, manifest).map(Some),
    }
}

/// Writes the table of the frames so far, if the scene has rigid bodies.
///
/// # Errors
/// If a frame can't be read, or the table can't be written.
pub fn write<const D: usize>(
    scene: &Scene<D>,
    folder: &RunFolder,
    manifest: &Manifest,
) -> Result<(), Error> {
    if scene.bodies.is_empty() {
        return Ok(());
    }
    let text = of_frames::<D>(folder.root(), manifest)?;
    atomic_file::write(&folder.bodies(), text.as_bytes())
}

/// Lines of a frame, to be added to the table once the frame is on disk.
#[derive(Clone, Debug)]
pub struct NewLines {
    path: PathBuf,
    text: String,
}

impl NewLines {
    /// Those of a frame as decoded from its file.
    pub fn new<const D: usize>(folder: &RunFolder, frame: &Frame<D>) -> Self {
        NewLines {
            path: folder.bodies(),
            text: lines(frame),
        }
    }

    /// Adds them in one write, so that a reader never sees half a frame.
    ///
    /// # Errors
    /// If the table can't be written.
    pub fn append(&self) -> Result<(), Error> {
        let file = OpenOptions::new().append(true).open(&self.path);
        file.and_then(|mut file| file.write_all(self.text.as_bytes()))
            .map_err(|e| Error::io("write", &self.path, &e))
    }
}

fn lines<const D: usize>(frame: &Frame<D>) -> String {
    let mut text = String::new();
    for load in &frame.loads {
        if let Some(body) = frame.bodies.iter().find(|body| body.name == load.name) {
            line(&mut text, frame, body, load);
        }
    }
    text
}

fn line<const D: usize>(
    text: &mut String,
    frame: &Frame<D>,
    body: &BodyState<D>,
    load: &BodyLoad<D>,
) {
    let _ = write!(
        text,
        "{},{},{}",
        frame.number,
        frame.time,
        quoted(&load.name)
    );
    let (mut liquid, mut place) = ([[0.0; 3]; 2], [0.0; 2]);
    if let Some(load) = &load.liquid {
        liquid = [lifted(load.force), load.torque];
        place = [load.submerged_volume, load.waterline_area];
    }
    let numbers = [
        &lifted(load.center)[..],
        &quaternion(&body.rotation),
        &lifted(load.velocity),
        &body.angular_velocity,
        liquid.as_flattened(),
        &lifted(load.contact_force),
        &load.contact_torque,
        &lifted(load.joint_force),
        &load.joint_torque,
        &place,
        &[load.kinetic_energy],
    ];
    for number in numbers.into_iter().flatten() {
        let _ = write!(text, ",{number}");
    }
    let _ = writeln!(text, ",{},{}", load.contacts, load.penetration);
}

/// A vector in space.
fn lifted<const D: usize>(x: [f64; D]) -> [f64; 3] {
    std::array::from_fn(|axis| x.get(axis).copied().unwrap_or(0.0))
}

/// The unit quaternion of a rotation matrix, with a real part that is not negative.
pub fn quaternion<const D: usize>(rotation: &[[f64; D]; D]) -> [f64; 4] {
    let m = |i: usize, j: usize| match i < D && j < D {
        true => rotation[i][j],
        false => f64::from(u8::from(i == j)),
    };
    // Four times the square of each component; the largest is divided by.
    let squares = [
        1.0 + m(0, 0) + m(1, 1) + m(2, 2),
        1.0 + m(0, 0) - m(1, 1) - m(2, 2),
        1.0 - m(0, 0) + m(1, 1) - m(2, 2),
        1.0 - m(0, 0) - m(1, 1) + m(2, 2),
    ];
    let largest = (0..4).fold(
        0,
        |best, k| if squares[k] > squares[best] { k } else { best },
    );
    let (x, y, z) = (m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1));
    let (xy, xz, yz) = (m(0, 1) + m(1, 0), m(0, 2) + m(2, 0), m(1, 2) + m(2, 1));
    let q = match largest {
        0 => [squares[0], x, y, z],
        1 => [x, squares[1], xy, xz],
        2 => [y, xy, squares[2], yz],
        _ => [z, xz, yz, squares[3]],
    };
    let length = q.iter().map(|c| c * c).sum::<f64>().sqrt();
    let sign = if q[0] < 0.0 { -1.0 } else { 1.0 };
    // Not a negative zero.
    q.map(|c| sign * c / length + 0.0)
}

/// A name as a field of a CSV file.
fn quoted(name: &str) -> String {
    match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_shapes::Rotation;

    #[test]
    fn quaternions_are_those_of_the_rotation() {
        for (axis, degrees) in [
            ([0.0, 0.0, 1.0], 90.0),
            ([1.0, 0.0, 0.0], 180.0),
            ([0.6, 0.0, 0.8], 179.0),
            ([0.0, 1.0, 0.0], -60.0),
        ] {
            let half = f64::to_radians(0.5 * degrees);
            let turn = Rotation::from_axis_angle(axis, 2.0 * half);
            let found = quaternion(turn.matrix());
            let sign = half.cos().signum();
            let expected = [
                half.cos(),
                half.sin() * axis[0],
                half.sin() * axis[1],
                half.sin() * axis[2],
            ];
            for k in 0..4 {
                assert!(
                    (found[k] - sign * expected[k]).abs() < 1e-12,
                    "{found:?} {expected:?}"
                );
            }
        }
        let flat = quaternion(Rotation::<2>::from_angle(1.0).matrix());
        assert!((flat[0] - 0.5f64.cos()).abs() < 1e-12 && (flat[3] - 0.5f64.sin()).abs() < 1e-12);
    }

    #[test]
    fn names_with_commas_are_quoted() {
        assert_eq!(quoted("ball 1"), "ball 1");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(HEADER.lines().nth(1).unwrap().split(',').count(), 39);
    }
}
