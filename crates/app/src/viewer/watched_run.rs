//! Run as shown in the page, in progress or not.

use super::jsonl_tail::JsonlTail;
use super::solids::{SolidView, poses, solids};
use super::wire::encode_particles;
use crate::export::bodies::vertex_normals;
use crate::runner::StepLine;
use crate::runner::statistics::{BodyMeasures, CouplingMeasures};
use crate::surface;
use crate::surface::solids::Mesh;
use meniscus_scene::text::load_kept;
use meniscus_scene::{AnyScene, Color, MovingMesh};
use meniscus_store::cache::{self, BodyLoad};
use meniscus_store::error::{Error, Kind};
use meniscus_store::layout::surfaces;
use meniscus_store::lock::{self, Holder};
use meniscus_store::manifest::{Manifest, State};
use meniscus_store::opened_run::no_run;
use meniscus_store::regular_file;
use meniscus_store::run_folder::RunFolder;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::array::from_fn;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Name of a body, and the magnitudes of the forces of liquid, contacts and joints on it.
type BodyForces = (String, [f64; 3]);

/// Bodies whose forces are plotted: the first ones.
const PLOTTED_BODIES: usize = 16;

/// A line of `timings.jsonl`.
#[derive(Clone, Debug, Deserialize)]
struct TimingLine {
    frame: u32,
    time: f64,
    phases: Map<String, Value>,
}

/// Folder of a run, watched.
#[derive(Debug)]
pub struct Watched {
    path: PathBuf,
    assets: Option<PathBuf>,
    manifest: Manifest,
    scene_text: String,
    /// Scene, if its meshes are available.
    scene: Option<AnyScene>,
    solids: Vec<SolidView>,
    /// Cloth and soft bodies.
    cloth: Vec<MovingMesh>,
    /// Poses of the solids by frame, for the frames read so far.
    poses: Mutex<BTreeMap<u32, Vec<[f32; 12]>>>,
    /// Forces on bodies by frame, for the frames read so far.
    forces: Mutex<BTreeMap<u32, Vec<BodyForces>>>,
    liquid_color: Option<Color>,
    solids_missing: Option<String>,
    lines: Mutex<(JsonlTail<StepLine>, JsonlTail<TimingLine>)>,
}

impl Watched {
    /// Opens the folder of a run. `assets` is the folder of the original scene file, if it refers to
    /// meshes.
    ///
    /// # Errors
    /// If it contains no run, or one of another version of the program.
    pub fn open(path: &Path, assets: Option<&Path>) -> Result<Self, Error> {
        let manifest = Manifest::read(path)?.ok_or_else(|| no_run(path))?;
        let folder = RunFolder::of_run(path);
        let scene_text = regular_file::read_text(&folder.scene())
            .map_err(|e| Error::io("read", &folder.scene(), &e))?;
        let scene = scene_of(&folder.scene(), &scene_text, assets);
        let (scene, solids_missing) = match scene {
            Ok(scene) => (Some(scene), None),
            Err(why) => (None, Some(why)),
        };
        let (solids, cloth, liquid_color) = match &scene {
            Some(AnyScene::Two(scene)) => (solids(scene), Vec::new(), scene.liquid_color),
            Some(AnyScene::Three(scene)) => {
                (solids(scene), scene.moving_meshes(), scene.liquid_color)
            }
            None => Default::default(),
        };
        Ok(Watched {
            path: path.into(),
            assets: assets.map(Path::to_path_buf),
            manifest,
            scene_text,
            scene,
            solids,
            cloth,
            poses: Mutex::default(),
            forces: Mutex::default(),
            liquid_color,
            solids_missing,
            lines: Mutex::new((
                JsonlTail::new(folder.statistics()),
                JsonlTail::new(folder.timings()),
            )),
        })
    }

    /// Folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the folder again.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn again(&self) -> Result<Self, Error> {
        Watched::open(&self.path, self.assets.as_deref())
    }

    /// Dimension, 2 or 3.
    pub fn dimension(&self) -> usize {
        self.manifest.settings.dimension
    }

    /// Width of a cell of the simulation.
    pub fn cell_width(&self) -> f64 {
        self.manifest.settings.dx
    }

    /// Longest side of the domain.
    pub fn longest_side(&self) -> f64 {
        let sides = self.manifest.settings.domain.iter();
        sides.copied().fold(0.0, f64::max)
    }

    /// Whether the folder still contains the same run as when it was opened.
    pub fn is_current(&self) -> bool {
        match Manifest::read(&self.path) {
            Ok(Some(manifest)) => manifest.scene_hash == self.manifest.scene_hash,
            _ => true,
        }
    }

    /// Data that does not change during the run.
    pub fn about(&self) -> Value {
        let manifest = &self.manifest;
        json!({
            "folder": self.path.display().to_string(),
            "scene": manifest.scene,
            "version": manifest.version,
            "settings": manifest.settings,
            "threads": manifest.threads,
            "sceneText": self.scene_text,
            "sceneHash": manifest.scene_hash,
            "solids": self.solids.iter().map(|solid| &solid.about).collect::<Vec<_>>(),
            "cloth": self.cloth.iter().map(|mesh| json!({
                "name": mesh.name,
                "color": mesh.color.map(Color::parts),
            })).collect::<Vec<_>>(),
            "liquidColor": self.liquid_color.map(Color::parts),
            "solidsMissing": self.solids_missing,
            // Number of rigid bodies; zero in runs with liquid, which have `bodies`.
            "rigid": (self.scene.as_ref().filter(|scene| scene.is_rigid())).map_or(0, AnyScene::bodies),
            "bodies": self.scene.as_ref().map_or(0, AnyScene::bodies),
        })
    }

    /// Data that changes during the run: its state, frames, statistics and timings by step.
    pub fn now(&self) -> Value {
        // The lock is read first: a run that ends in between is then done, not killed.
        let held = lock::holder(&self.path) != Holder::Nobody;
        let manifest = match Manifest::read(&self.path) {
            Ok(Some(manifest)) => manifest,
            _ => self.manifest.clone(),
        };
        let state = match (held, manifest.state) {
            (true, _) => "running",
            (false, State::Running) => "killed",
            (false, State::Done) => "done",
            (false, State::Failed) => "failed",
            (false, State::Interrupted) => "interrupted",
        };
        let frames = cache::frames_in(&self.path).unwrap_or_default();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        json!({
            "state": state,
            "error": manifest.error,
            "warnings": manifest.warnings(),
            "notes": manifest.notes(),
            "sceneHash": manifest.scene_hash,
            "framesAsked": manifest.frames,
            "wallSeconds": manifest.wall_seconds,
            "poses": self.poses(&frames),
            "forces": self.forces(&frames),
            "frames": frames,
            "surfaces": self.surfaces(),
            "steps": step_columns(lines.0.lines()),
            "timings": timing_columns(lines.1.lines()),
        })
    }

    /// Poses of the solids, as `{"frame": N, "solids": [...]}` for each frame in which they differ from those of the frame
    /// before. Damaged frames are skipped.
    fn poses(&self, frames: &[u32]) -> Value {
        let mut known = self.poses.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|frame, _| frames.binary_search(frame).is_ok());
        if self.solids.is_empty() {
            return json!([]);
        }
        for &frame in frames {
            if known.contains_key(&frame) {
                continue;
            }
            let path = cache::frame_path(&self.path, frame);
            let found = match &self.scene {
                Some(AnyScene::Two(scene)) => {
                    cache::read_bodies(&path).map(|bodies| poses(scene, &self.solids, &bodies))
                }
                Some(AnyScene::Three(scene)) => {
                    cache::read_bodies(&path).map(|bodies| poses(scene, &self.solids, &bodies))
                }
                None => continue,
            };
            if let Ok(found) = found {
                known.insert(frame, found);
            }
        }
        let mut last = None;
        let differing = known
            .iter()
            .filter(|(_, solids)| last.replace(*solids) != Some(*solids));
        differing
            .map(|(frame, solids)| json!({"frame": frame, "solids": solids}))
            .collect()
    }

    /// Forces on the first bodies, by name, as `[time, liquid, contact, joint]` for each frame, magnitudes in N. Damaged frames
    /// are skipped.
    fn forces(&self, frames: &[u32]) -> Value {
        let mut known = self.forces.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|frame, _| frames.binary_search(frame).is_ok());
        if self.scene.as_ref().map_or(0, AnyScene::bodies) == 0 {
            return json!({});
        }
        let rate = self.manifest.settings.frame_rate;
        for &frame in frames {
            if known.contains_key(&frame) {
                continue;
            }
            let path = cache::frame_path(&self.path, frame);
            let found = match self.dimension() {
                2 => cache::read_loads::<2>(&path).map(|loads| magnitudes(&loads)),
                _ => cache::read_loads::<3>(&path).map(|loads| magnitudes(&loads)),
            };
            if let Ok(found) = found {
                known.insert(frame, found);
            }
        }
        let mut by_name: BTreeMap<&str, Vec<[f64; 4]>> = BTreeMap::new();
        for (frame, loads) in known.iter() {
            let time = f64::from(*frame) / rate;
            for (name, [liquid, contact, joint]) in loads {
                let line = by_name.entry(name).or_default();
                line.push([time, *liquid, *contact, *joint]);
            }
        }
        json!(by_name)
    }

    /// Encoded particles of a frame, every `every`-th of them.
    ///
    /// # Errors
    /// If the frame does not exist or is damaged.
    pub fn particles(&self, number: u32, every: usize) -> Result<Vec<u8>, Error> {
        let path = cache::frame_path(&self.path, number);
        let bytes = cache::read_bytes(&path)?;
        let domain = &self.manifest.settings.domain;
        let encoded = if self.manifest.settings.dimension == 2 {
            cache::decode::<2>(&bytes)
                .map(|frame| (frame.number, encode_particles(&frame, sides(domain), every)))
        } else {
            cache::decode::<3>(&bytes)
                .map(|frame| (frame.number, encode_particles(&frame, sides(domain), every)))
        };
        match encoded {
            Ok((found, encoded)) if found == number => Ok(encoded),
            Ok((found, _)) => Err(Error::new(
                Kind::Storage,
                format!("{} holds frame {found}", path.display()),
            )),
            Err(cause) => Err(cache::damaged(&path, &cause)),
        }
    }

    /// Frames with a surface.
    pub fn surfaces(&self) -> Vec<u32> {
        surfaces::frames_in(&self.path).unwrap_or_default()
    }

    /// Encoded surface of a frame.
    ///
    /// # Errors
    /// If it does not exist or is damaged.
    pub fn surface(&self, number: u32) -> Result<Mesh, Error> {
        let found = surface::read(&self.path, number)?;
        // A 2D surface is upright in its file; here it is in the plane of the first two axes.
        let lie_down = |[x, y, z]: [f32; 3]| {
            if self.dimension() == 2 {
                [x, z, -y]
            } else {
                [x, y, z]
            }
        };
        Ok(Mesh {
            positions: found.positions.into_iter().map(lie_down).collect(),
            normals: found.normals.into_iter().map(lie_down).collect(),
            triangles: found.triangles,
        })
    }

    /// Number of pieces of cloth and soft bodies.
    pub fn cloth_count(&self) -> usize {
        self.cloth.len()
    }

    /// A piece of cloth or a soft body in a frame; without triangles if the frame has none that fits the scene.
    ///
    /// # Errors
    /// If the frame does not exist or is damaged.
    pub fn cloth(&self, piece: usize, number: u32) -> Result<Mesh, Error> {
        let path = cache::frame_path(&self.path, number);
        let bytes = cache::read_bytes(&path)?;
        let frame = cache::decode::<3>(&bytes).map_err(|cause| cache::damaged(&path, &cause))?;
        let Some(shown) = self.cloth.get(piece) else {
            return Ok(Mesh::default());
        };
        let found = frame
            .meshes
            .into_iter()
            .find(|mesh| mesh.name == shown.name && mesh.positions.len() == shown.vertices);
        Ok(found.map_or_else(Mesh::default, |mesh| Mesh {
            normals: vertex_normals(&mesh.positions, &shown.triangles),
            positions: mesh.positions,
            triangles: shown.triangles.clone(),
        }))
    }

    /// Number of particles in a frame, from its header.
    pub fn particle_count(&self, number: u32) -> u64 {
        cache::count_points(&cache::frame_path(&self.path, number)).unwrap_or(0)
    }

    /// Existing frames.
    pub fn frames(&self) -> Result<Vec<u32>, Error> {
        cache::frames_in(&self.path)
    }

    /// Visible solids.
    pub fn solids(&self) -> &[SolidView] {
        &self.solids
    }
}

/// Magnitudes of the forces of liquid, contacts and joints on the first bodies.
fn magnitudes<const D: usize>(loads: &[BodyLoad<D>]) -> Vec<BodyForces> {
    let size = |v: [f64; D]| v.iter().map(|c| c * c).sum::<f64>().sqrt();
    let of = |load: &BodyLoad<D>| {
        let liquid = load.liquid.map_or(0.0, |liquid| size(liquid.force));
        let forces = [liquid, size(load.contact_force), size(load.joint_force)];
        (load.name.clone(), forces)
    };
    loads.iter().take(PLOTTED_BODIES).map(of).collect()
}

fn sides<const D: usize>(domain: &[f64]) -> [f64; D] {
    from_fn(|axis| domain.get(axis).copied().unwrap_or(0.0))
}

/// Scene of a run, with the copies of its meshes. Runs of earlier versions have none: their meshes are built in, or in the
/// given folder, or beside `scene.toml`.
fn scene_of(path: &Path, text: &str, assets: Option<&Path>) -> Result<AnyScene, String> {
    load_kept(path, text, assets).ready().map(|(scene, _)| scene).map_err(|error| {
        let why = match (error.kind(), assets) {
            (Kind::Storage, _) => "a mesh copy is damaged; `meniscus verify` reports which".into(),
            (_, Some(folder)) => {
                let folder = folder.display();
                format!("meshes of the scene are missing from {folder} or were changed")
            }
            (_, None) => {
                "the scene refers to mesh files; pass the folder of its scene file as --assets DIR".into()
            }
        };
        format!("solids are not shown: {why}")
    })
}

/// Fraction of the liquid below the grid's resolution.
fn thin_share(line: &StepLine) -> f64 {
    let all = line.volume + line.thin_volume;
    if all > 0.0 {
        line.thin_volume / all
    } else {
        0.0
    }
}

fn step_columns(lines: &[StepLine]) -> Value {
    let column = |of: fn(&StepLine) -> f64| -> Vec<f64> { lines.iter().map(of).collect() };
    let mut columns = json!({
        "frame": lines.iter().map(|line| line.frame).collect::<Vec<_>>(),
        "time": column(|line| line.time),
        "particles": column(|line| line.particles as f64),
        "unknowns": column(|line| line.unknowns as f64),
        "separated": column(|line| line.separated_rows as f64),
        "outer": column(|line| line.outer_iterations as f64),
        "inner": column(|line| line.inner_iterations as f64),
        "residual": column(|line| line.residual),
        "volume": column(|line| line.volume),
        "thin": column(thin_share),
        "drift": column(|line| line.volume_drift),
        "speed": column(|line| line.max_speed),
        "energy": column(|line| line.kinetic_energy),
        "retries": column(|line| line.retries as f64),
        "solver": lines.last().map(|line| line.solver.as_str()),
        "converged": lines.iter().filter(|line| line.status == "converged").count(),
    });
    let bodies: Option<Vec<BodyMeasures>> = lines.iter().map(|line| line.bodies).collect();
    if let (Some(bodies), Some(columns)) = (bodies, columns.as_object_mut())
        && !lines.is_empty()
    {
        let column = |of: fn(&BodyMeasures) -> f64| bodies.iter().map(of).collect::<Vec<f64>>();
        for (name, values) in [
            ("contacts", column(|bodies| bodies.contacts as f64)),
            ("islands", column(|bodies| bodies.islands as f64)),
            ("positionError", column(|bodies| bodies.position_error)),
            ("penetration", column(|bodies| bodies.penetration)),
            ("potential", column(|bodies| bodies.potential_energy)),
        ] {
            columns.insert(name.into(), json!(values));
        }
    }
    let coupling: Option<Vec<CouplingMeasures>> = lines.iter().map(|line| line.coupling).collect();
    if let (Some(coupling), Some(columns)) = (coupling, columns.as_object_mut())
        && !lines.is_empty()
    {
        let column =
            |of: fn(&CouplingMeasures) -> f64| coupling.iter().map(of).collect::<Vec<f64>>();
        for (name, values) in [
            ("cycles", column(|coupling| coupling.cycles as f64)),
            (
                "smallSolves",
                column(|coupling| coupling.small_solves as f64),
            ),
            (
                "separatedVolume",
                column(|coupling| coupling.separated_volume),
            ),
            (
                "bodyEnergy",
                column(|coupling| coupling.body_kinetic_energy),
            ),
        ] {
            columns.insert(name.into(), json!(values));
        }
    }
    columns
}

fn timing_columns(lines: &[TimingLine]) -> Value {
    let mut phases: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (at, line) in lines.iter().enumerate() {
        for (phase, seconds) in &line.phases {
            let column = phases
                .entry(phase)
                .or_insert_with(|| vec![0.0; lines.len()]);
            column[at] = seconds.as_f64().unwrap_or(0.0);
        }
    }
    json!({
        "frame": lines.iter().map(|line| line.frame).collect::<Vec<_>>(),
        "time": lines.iter().map(|line| line.time).collect::<Vec<_>>(),
        "phases": phases,
    })
}
