//! Export of the frames of a run.

use super::bodies::{BodyMeshes, MovingMeshes, spin};
use super::usd::{BodySample, Physics, Stage};
use super::{
    Cloud, CloudAttributes, Format, Layer, Options, Up, What, bgeo, disk_space, npz, obj, ply,
    volume, vtk,
};
use crate::surface::{self, Progress, Surface, solids, upright};
use meniscus_scene::text::load_run;
use meniscus_scene::{AnyScene, Scene};
use meniscus_store::atomic_file;
use meniscus_store::cache::{self, BodyState, Frame};
use meniscus_store::error::{Error, Kind};
use meniscus_store::export_list::ExportList;
use meniscus_store::layout::exports::{self, ALL_FRAMES};
use meniscus_store::layout::surfaces;
use meniscus_store::opened_run::OpenedRun;
use meniscus_store::quantity::count;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Result of an export.
#[derive(Clone, Debug)]
pub struct Exported {
    /// Output folder.
    pub folder: PathBuf,
    /// Number of frames.
    pub frames: usize,
    /// Total bytes.
    pub bytes: u64,
    /// Number of files of an earlier export that were replaced.
    pub replaced: usize,
}

/// Plan of an export.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Output folder.
    pub folder: PathBuf,
    /// Frames.
    pub frames: Vec<u32>,
    /// Layers.
    pub layers: Vec<Layer>,
    /// Up axis of the files.
    pub up: Up,
    /// Approximate bytes of all files.
    pub bytes: u64,
}

/// Determines the frames and layers to export, and checks the disk space.
///
/// # Errors
/// If there are no frames, the format does not support the content, or the disk is too small.
pub fn plan(run: &OpenedRun, options: &Options<'_>) -> Result<Plan, Error> {
    options.settings.check()?;
    let format = options.format;
    let frames = run.frames(&options.frames)?;
    let dimension = run.manifest.settings.dimension;
    let rigid = is_rigid(run, &frames);
    let what = options.what.unwrap_or(format.usual(rigid));
    let mut layers = format.layers(what, dimension, rigid)?;
    let has_bodies = || {
        frames
            .first()
            .is_some_and(|&first| body_count(run, first) > 0 || has_cloth(run, first))
    };
    // The one file of USD has them in any case, and OpenVDB files contain liquid only.
    let apart = !matches!(format, Format::Usd | Format::Vdb);
    if what == What::All && apart && !layers.contains(&Layer::Bodies) && has_bodies() {
        layers.push(Layer::Bodies);
    }
    check_names(options, &frames)?;
    let folder = match &options.out {
        Some(folder) => folder.clone(),
        None => super::folder(&run.root, format),
    };
    let per_cell = run.manifest.settings.particles_per_cell as u64;
    let mut bytes = 0;
    for &number in &frames {
        let particles = cache::count_points(&cache::frame_path(&run.root, number)).unwrap_or(0);
        let made = surface::count_vertices(&surfaces::path(&run.root, number));
        // A surface that is yet to be made has about as many vertices as a cube of the liquid has cells on its sides, and
        // more with splashes.
        let cells = (particles / per_cell.max(1)) as f64;
        let guess = (40.0 * cells.powf(2.0 / 3.0)) as u64;
        let vertices = made.unwrap_or(guess);
        let bodies = match layers.contains(&Layer::Bodies) {
            true => body_count(run, number),
            false => 0,
        };
        let of_layer = |&layer: &Layer| match layer {
            Layer::Bodies => disk_space::bytes_of_bodies(format, bodies),
            _ => disk_space::bytes(format, layer, particles, vertices, per_cell),
        };
        bytes += layers.iter().map(of_layer).sum::<u64>();
    }
    disk_space::check(&folder, bytes)?;
    Ok(Plan {
        folder,
        frames,
        layers,
        up: options.up.unwrap_or(format.usual_up()),
        bytes,
    })
}

/// Whether a run has rigid bodies and no liquid.
fn is_rigid(run: &OpenedRun, frames: &[u32]) -> bool {
    let Some(&first) = frames.first() else {
        return false;
    };
    let path = cache::frame_path(&run.root, first);
    if cache::count_points(&path).unwrap_or(0) > 0 {
        return false;
    }
    match run.manifest.settings.dimension {
        2 => cache::read::<2>(&path).is_ok_and(|frame| has_dry_bodies(&frame)),
        _ => cache::read::<3>(&path).is_ok_and(|frame| has_dry_bodies(&frame)),
    }
}

/// Whether a frame has rigid bodies in a scene without liquid.
fn has_dry_bodies<const D: usize>(frame: &cache::Frame<D>) -> bool {
    !frame.loads.is_empty() && frame.loads.iter().all(|load| load.liquid.is_none())
}

/// Whether a frame has cloth.
fn has_cloth(run: &OpenedRun, number: u32) -> bool {
    let path = cache::frame_path(&run.root, number);
    run.manifest.settings.dimension == 3
        && cache::read::<3>(&path).is_ok_and(|frame| !frame.meshes.is_empty())
}

/// Number of solids and bodies in a frame.
fn body_count(run: &OpenedRun, number: u32) -> u64 {
    let path = cache::frame_path(&run.root, number);
    let count = match run.manifest.settings.dimension {
        2 => cache::read_bodies::<2>(&path).map(|bodies| bodies.len()),
        _ => cache::read_bodies::<3>(&path).map(|bodies| bodies.len()),
    };
    count.unwrap_or(0) as u64
}

/// Checks that every frame has a valid number and a unique name.
fn check_names(options: &Options<'_>, frames: &[u32]) -> Result<(), Error> {
    let last = frames.last().copied().unwrap_or(0);
    if options.first_frame.checked_add(last).is_none() {
        return Err(Error::usage(format!(
            "--first-frame {} is too large: frame {last} would exceed the largest number",
            options.first_frame
        )));
    }
    let Some(name) = &options.name else {
        return Ok(());
    };
    let one_file = options.format == Format::Usd;
    match (one_file, name.has_frame()) {
        (true, true) => Err(Error::usage(
            "a USD file contains all frames: its name can't have {frame}",
        )),
        (false, false) => Err(Error::usage(
            "each frame is one file: the pattern needs {frame}, for example --name \"{scene}.{frame:04}\"",
        )),
        _ => Ok(()),
    }
}

/// Exports frames of a run according to a plan.
///
/// # Errors
/// If a file can't be written, or the export was stopped. Damaged frames are skipped and listed in the error, after all
/// others have been exported.
pub fn export(
    run: &OpenedRun,
    plan: &Plan,
    options: &Options<'_>,
    watch: &mut (dyn Progress + Send),
) -> Result<Exported, Error> {
    let needs_scene = options.format == Format::Usd || plan.layers != [Layer::Particles];
    let scene = match needs_scene {
        true => Some(load_run(run, options.assets.as_deref())?),
        false => None,
    };
    watch.begin(plan.frames.len());
    match (&scene, run.manifest.settings.dimension) {
        (Some(AnyScene::Two(scene)), _) => Job::new(run, plan, options, Some(scene)).run(watch),
        (Some(AnyScene::Three(scene)), _) => Job::new(run, plan, options, Some(scene)).run(watch),
        (None, 2) => Job::<2>::new(run, plan, options, None).run(watch),
        (None, _) => Job::<3>::new(run, plan, options, None).run(watch),
    }
}

/// Export in progress.
struct Job<'a, const D: usize> {
    run: &'a OpenedRun,
    plan: &'a Plan,
    options: &'a Options<'a>,
    scene: Option<&'a Scene<D>>,
    /// Meshes of solids and bodies, if they are written.
    meshes: Option<BodyMeshes>,
    moving: Option<MovingMeshes>,
    bytes: u64,
    replaced: usize,
    done: Vec<u32>,
    faults: Vec<Error>,
}

impl<'a, const D: usize> Job<'a, D> {
    fn new(
        run: &'a OpenedRun,
        plan: &'a Plan,
        options: &'a Options<'a>,
        scene: Option<&'a Scene<D>>,
    ) -> Self {
        let writes_meshes = plan.layers.contains(&Layer::Bodies)
            && !matches!(options.format, Format::Npz | Format::Usd);
        Job {
            run,
            plan,
            options,
            scene,
            meshes: scene.filter(|_| writes_meshes).map(BodyMeshes::of),
            moving: scene.map(MovingMeshes::of),
            bytes: 0,
            replaced: 0,
            done: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// Whether the file names or frame numbers are not the default ones.
    fn is_renamed(&self) -> bool {
        self.options.name.is_some() || self.options.first_frame != 0
    }

    fn run(mut self, watch: &mut (dyn Progress + Send)) -> Result<Exported, Error> {
        let folder = &self.plan.folder;
        fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, &e))?;
        if self.options.format == Format::Usd {
            self.one_file(watch)?;
        } else {
            self.one_file_per_frame(watch)?;
        }
        let others = count(self.done.len(), "other frame");
        cache::check_faults(&self.faults, &others, folder)?;
        Ok(Exported {
            folder: folder.clone(),
            frames: self.done.len(),
            bytes: self.bytes,
            replaced: self.replaced,
        })
    }

    fn one_file_per_frame(&mut self, watch: &mut (dyn Progress + Send)) -> Result<(), Error> {
        for layer in &self.plan.layers {
            let folder = self.plan.folder.join(layer.name());
            fs::create_dir_all(&folder).map_err(|e| Error::io("create", &folder, &e))?;
        }
        for &number in &self.plan.frames {
            self.stopped(number)?;
            let Some(frame) = self.frame(number) else {
                continue;
            };
            for &layer in &self.plan.layers {
                self.write(layer, &frame)?;
            }
            self.done.push(number);
            watch.frame(number, true);
        }
        if self.is_renamed() {
            for &layer in &self.plan.layers {
                let folder = self.plan.folder.join(layer.name());
                let mut list = ExportList::read(&folder);
                let named = self
                    .done
                    .iter()
                    .map(|&n| (self.file_name(layer, n), Some(n)));
                list.files.extend(named);
                list.write(&folder)?;
            }
        }
        if self.options.format == Format::Vtk && !self.done.is_empty() {
            for &layer in &self.plan.layers {
                self.write_series(layer)?;
            }
        }
        Ok(())
    }

    fn stopped(&self, number: u32) -> Result<(), Error> {
        if !self.options.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        Err(
            Error::new(Kind::Interrupted, format!("stopped before frame {number}")).with_remedy(
                format!("continue with the same command and --frames {number}-"),
            ),
        )
    }

    /// Reads a frame; a damaged one is recorded as a fault.
    fn frame(&mut self, number: u32) -> Option<Frame<D>> {
        cache::read(&cache::frame_path(&self.run.root, number))
            .map_err(|fault| self.faults.push(fault))
            .ok()
    }

    fn write(&mut self, layer: Layer, frame: &Frame<D>) -> Result<(), Error> {
        let (format, up) = (self.options.format, self.plan.up);
        let path = self.path(layer, frame.number);
        self.replaced += usize::from(path.exists());
        let title = format!(
            "meniscus frame {} at {} s, metres, {up} up",
            frame.number, frame.time
        );
        let (time, dx) = (frame.time, frame.spacing());
        match layer {
            Layer::Particles => {
                let cloud = cloud(frame, up);
                atomic_file::write_with(&path, |out: &mut dyn Write| match format {
                    Format::Vtk => vtk::write_cloud(out, &cloud, time),
                    Format::Bgeo => bgeo::write_cloud(out, &cloud),
                    Format::Npz => npz::write_cloud(out, &cloud, time, dx),
                    _ => ply::write_cloud(out, &cloud, &title),
                })?;
            }
            Layer::Surface => {
                let surface = self.surface(frame)?;
                atomic_file::write_with(&path, |out: &mut dyn Write| match format {
                    Format::Vtk => vtk::write_surface(out, &surface, &[], time),
                    Format::Bgeo => bgeo::write_surface(out, &surface, &[]),
                    Format::Npz => npz::write_surface(out, &surface, time, dx),
                    Format::Obj => obj::write_surface(out, &surface, &[], &title),
                    _ => ply::write_surface(out, &surface, &[], &title),
                })?;
            }
            Layer::Bodies if format == Format::Npz => {
                let cloth = self.moving.as_ref().map(|moving| moving.placed(frame, up));
                let (surface, parts) = cloth.unwrap_or_default();
                let written =
                    |out: &mut dyn Write| npz::write_bodies(out, frame, up, &surface, &parts);
                atomic_file::write_with(&path, written)?;
            }
            Layer::Bodies => {
                let (Some(scene), Some(meshes)) = (self.scene, &self.meshes) else {
                    return Err(Error::usage(
                        "bodies need the scene of the run, which can't be read",
                    ));
                };
                let (surface, parts) = meshes.placed(scene, frame, up);
                atomic_file::write_with(&path, |out: &mut dyn Write| match format {
                    Format::Vtk => vtk::write_surface(out, &surface, &parts, time),
                    Format::Bgeo => bgeo::write_surface(out, &surface, &parts),
                    Format::Obj => obj::write_surface(out, &surface, &parts, &title),
                    _ => ply::write_surface(out, &surface, &parts, &title),
                })?;
            }
            Layer::Volume => {
                let Some(scene) = self.scene else {
                    return Err(Error::usage(
                        "a volume needs the scene of the run, which can't be read",
                    ));
                };
                let volume = volume::of_frame(scene, frame, up)?;
                atomic_file::write_seeking(&path, |out| volume.write(out))?;
            }
        }
        self.bytes += size(&path)?;
        Ok(())
    }

    fn path(&self, layer: Layer, number: u32) -> PathBuf {
        let folder = self.plan.folder.join(layer.name());
        folder.join(self.file_name(layer, number))
    }

    fn file_name(&self, layer: Layer, number: u32) -> String {
        let (what, extension) = (layer.name(), self.options.format.extension());
        let shown = self.shown(number);
        match &self.options.name {
            Some(pattern) => {
                let name = pattern.name(&self.run.manifest.scene, what, shown);
                format!("{name}.{extension}")
            }
            None => format!("{what}_{shown:06}.{extension}"),
        }
    }

    /// Number of a frame in file names and time codes.
    fn shown(&self, number: u32) -> u32 {
        number + self.options.first_frame
    }

    /// Surface of a frame, read from its file or reconstructed, with the requested up axis.
    fn surface(&self, frame: &Frame<D>) -> Result<Surface, Error> {
        let path = surfaces::path(&self.run.root, frame.number);
        let mut surface = match (path.is_file(), self.scene) {
            (false, Some(scene)) => surface::of_frame(scene, frame, &self.options.settings)?,
            _ => surface::read(&self.run.root, frame.number)?,
        };
        let up = self.plan.up;
        up.vectors(&mut surface.positions);
        up.vectors(&mut surface.normals);
        up.vectors(&mut surface.velocities);
        Ok(surface)
    }

    /// Lists all existing frames of a layer, those of earlier exports included.
    fn write_series(&mut self, layer: Layer) -> Result<(), Error> {
        let folder = self.plan.folder.join(layer.name());
        let entries = fs::read_dir(&folder).map_err(|e| Error::io("read", &folder, &e))?;
        let rate = self.run.manifest.settings.frame_rate;
        let list = ExportList::read(&folder);
        // Files of one name pattern only: a frame must not be listed twice.
        let frame_of = |name: &str| match self.is_renamed() {
            true => list.frame(name),
            false if list.lists(name) => None,
            false => exports::frame_number(name),
        };
        let mut files: Vec<(u32, String)> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter_map(|name| frame_of(&name).map(|number| (number, name)))
            .filter(|(_, name)| name.ends_with(".vtp"))
            .collect();
        files.sort_unstable();
        let timed: Vec<(String, f64)> = files
            .into_iter()
            .map(|(number, name)| (name, f64::from(number) / rate))
            .collect();
        let path = folder.join(format!("{}.vtp.series", layer.name()));
        atomic_file::write(&path, vtk::series(&timed).as_bytes())?;
        self.bytes += size(&path)?;
        Ok(())
    }

    /// Writes all frames to one file.
    fn one_file(&mut self, watch: &mut (dyn Progress + Send)) -> Result<(), Error> {
        let name = match &self.options.name {
            Some(pattern) => {
                let what = match &self.plan.layers[..] {
                    [layer] => layer.name(),
                    _ => "all",
                };
                format!("{}.usdc", pattern.name(&self.run.manifest.scene, what, 0))
            }
            None => ALL_FRAMES.into(),
        };
        let path = self.plan.folder.join(&name);
        self.replaced += usize::from(path.exists());
        let Some(scene) = self.scene else {
            return Err(Error::usage(
                "solids need the scene of the run, which can't be read",
            ));
        };
        let moving = MovingMeshes::of(scene);
        let solids = solids::of_scene(scene);
        let shown: Vec<usize> = solids.iter().map(|mesh| mesh.solid).collect();
        let settings = &self.run.manifest.settings;
        let (rate, dx, up) = (settings.frame_rate, settings.dx, self.plan.up);
        // Particles fill a cell side by side, so their spacing follows from their number per cell.
        let side = (settings.particles_per_cell as f64).powf(-1.0 / D as f64);
        let mut trouble = None;
        let written = atomic_file::write_seeking(&path, |out| {
            let mut stage = Stage::new(out, up, rate, solids, Physics::of(scene, up))?;
            for &number in &self.plan.frames {
                if let Err(stopped) = self.stopped(number) {
                    trouble = Some(stopped);
                    return Err(io::ErrorKind::Interrupted.into());
                }
                let Some(frame) = self.frame(number) else {
                    continue;
                };
                let has = |layer: Layer| self.plan.layers.contains(&layer);
                let cloud = has(Layer::Particles).then(|| cloud(&frame, up));
                let surface = match has(Layer::Surface).then(|| self.surface(&frame)) {
                    Some(Err(error)) => {
                        trouble = Some(error);
                        return Err(io::ErrorKind::Interrupted.into());
                    }
                    other => other.transpose().unwrap_or_default(),
                };
                let matched = scene.match_bodies(&frame.bodies);
                let bodies: Vec<_> = shown
                    .iter()
                    .map(|&k| matched[k].map(|state| body_sample(state, &frame)))
                    .collect();
                stage.frame(
                    self.shown(number),
                    cloud.as_ref(),
                    surface.as_ref(),
                    &bodies,
                )?;
                let (surface, parts) = moving.placed(&frame, up);
                stage.cloth(self.shown(number), &surface, &parts)?;
                self.done.push(number);
                watch.frame(number, true);
            }
            stage.finish((side * dx) as f32).map(|_| ())
        });
        if let Some(error) = trouble {
            return Err(error);
        }
        written?;
        self.bytes += size(&path)?;
        if self.options.name.is_some() {
            let mut list = ExportList::read(&self.plan.folder);
            list.files.insert(name, None);
            list.write(&self.plan.folder)?;
        }
        Ok(())
    }
}

/// Pose and, of a rigid body, velocity in a frame.
fn body_sample<const D: usize>(state: &BodyState<D>, frame: &Frame<D>) -> BodySample {
    let load = frame.loads.iter().find(|load| load.name == state.name);
    BodySample {
        pose: solids::pose(state),
        twist: load.map(|load| [upright(load.velocity), spin(state).map(f64::to_degrees)]),
    }
}

/// Particles of a frame, upright and with the requested up axis.
fn cloud<const D: usize>(frame: &Frame<D>, up: Up) -> Cloud {
    let spatial = |v: &[f32; D]| up.vector(upright(v.map(f64::from)).map(|c| c as f32));
    Cloud {
        positions: frame.positions().iter().map(spatial).collect(),
        velocities: frame.velocities().iter().map(spatial).collect(),
        attributes: attributes(frame),
    }
}

fn attributes<const D: usize>(frame: &Frame<D>) -> Option<CloudAttributes> {
    let layer = frame.liquid()?;
    Some(CloudAttributes {
        ids: layer.ids.clone()?,
        ages: layer.scalar("age")?.to_vec(),
        sources: layer.scalar("source")?.iter().map(|&s| s as i32).collect(),
    })
}

fn size(path: &Path) -> Result<u64, Error> {
    let data = fs::metadata(path).map_err(|e| Error::io("read", path, &e))?;
    Ok(data.len())
}
