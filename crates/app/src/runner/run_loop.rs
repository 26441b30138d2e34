//! Loop of a run from its first step to its last frame, and its shutdown.

use super::body_record;
use super::body_table::{self, NewLines};
use super::drift;
use super::film::{Pictures, bodies, encoded};
use super::progress::{Event, Progress};
use super::resume::{self, Found, Place};
use super::resume_command::resume_command;
use super::scene_summary;
use super::simulation::{HeldScene, Simulation, Step};
use super::statistics::StepLine;
use super::steered::{Reload, Steered};
use super::timings::{PREVIEW, SURFACE, Stopwatch, WRITE};
use super::writer::{Frame, Writer};
use super::{Options, Summary};
use crate::problem_files;
use crate::surface::SurfaceEncoder;
use meniscus_scene::text::load_kept_with;
use meniscus_scene::{OnDrift, speeds};
use meniscus_sim::{Phases, StepError, StepFailure};
use meniscus_store::action_log::{Action, ActionLog};
use meniscus_store::atomic_file::{self, Filled};
use meniscus_store::cache;
use meniscus_store::checkpoint::{self, Account};
use meniscus_store::error::{Error, Kind};
use meniscus_store::jsonl::JsonlFile;
use meniscus_store::layout::surfaces;
use meniscus_store::manifest::DriftWarning;
use meniscus_store::manifest::{self, Manifest, State};
use meniscus_store::quantity::count;
use meniscus_store::run_folder::{self, RunFolder};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Run in progress.
pub(super) struct Runner<'a, const D: usize> {
    /// Scene of the start.
    scene: HeldScene<'a, D>,
    folder: RunFolder,
    manifest: Manifest,
    statistics: JsonlFile,
    timings: JsonlFile,
    pictures: Pictures<'a, D>,
    watch: Stopwatch,
    started: Instant,
    /// Wall-clock seconds before it was resumed.
    seconds_before: f64,
    simulation: Steered<'a, D>,
    steps_of_frame: u32,
    /// Whether there are steps after the last checkpoint.
    unsaved: bool,
    writer: Writer,
}

impl<'a, const D: usize> Runner<'a, D> {
    /// Starts a run from the beginning.
    pub fn begin(
        scene: HeldScene<'a, D>,
        options: &Options<'_>,
        folder: RunFolder,
        simulation: Simulation<'a, D>,
        repeated: Vec<Action>,
    ) -> Result<Self, Error> {
        let started = Instant::now();
        let mut watch = Stopwatch::start();
        let threads = rayon::current_num_threads();
        let manifest = scene_summary::manifest(&scene, options, threads);
        // Lists no frame yet: frame 0 is not on disk.
        let promises_nothing = Manifest {
            particles: Vec::new(),
            ..manifest.clone()
        };
        // Before the old files go: a run that has no checkpoint yet keeps its actions.
        let log = ActionLog::create(&folder.actions(), repeated)?;
        folder.begin(&promises_nothing, &options.scene_files())?;
        let reload = of_folder(&folder, options);
        let mut runner = Runner {
            statistics: JsonlFile::create(&folder.statistics())?,
            timings: JsonlFile::create(&folder.timings())?,
            pictures: Pictures::from_now_on(&scene)?,
            scene,
            watch: Stopwatch::start(),
            folder,
            manifest,
            started,
            seconds_before: 0.0,
            steps_of_frame: 0,
            unsaved: false,
            writer: Writer::default(),
            simulation: Steered::new(simulation, log, 0, reload)?,
        };
        runner.initial_frame(&mut watch)?;
        runner.watch = watch;
        Ok(runner)
    }

    /// Writes frame 0, the initial state, and then the manifest that lists it.
    fn initial_frame(&mut self, watch: &mut Stopwatch) -> Result<(), Error> {
        watch.begin(WRITE);
        let bytes = encoded(&self.scene, self.simulation.world(), 0)?;
        let root = self.folder.root();
        atomic_file::write(&cache::frame_path(root, 0), &bytes)?;
        watch.begin(SURFACE);
        let frame = self.decoded(0, &bytes)?;
        if let Some(surface) = self.surface(&bytes, frame.as_ref())? {
            surface.finish()?;
        }
        watch.begin(WRITE);
        body_table::write(&self.scene, &self.folder, &self.manifest)?;
        self.update_manifest();
        self.manifest.write(self.folder.root())?;
        watch.begin(PREVIEW);
        self.pictures.frame(0, frame.as_ref())?;
        watch.begin("");
        Ok(())
    }

    /// Resumes a run from a checkpoint.
    pub fn resume(
        scene: HeldScene<'a, D>,
        options: &Options<'_>,
        folder: RunFolder,
        mut found: Found<'a, D>,
        place: Place<'a, D>,
        progress: &mut (dyn Progress + Send),
    ) -> Result<Self, Error> {
        let Place {
            path,
            account,
            simulation,
        } = place;
        let kept = resume::kept(found.manifest.as_ref(), &scene);
        let done = account.frames_done;
        let seconds_before = found.manifest.as_ref().map_or(0.0, |r| r.wall_seconds);
        let mut manifest = Manifest {
            frames_done: done,
            steps: account.steps,
            wall_seconds: seconds_before,
            particles: manifest::keep(&kept, done + 1, scene.output.particles_every),
            statistics: account.statistics.clone(),
            drift: found.drift_until(done),
            branched_from: found
                .manifest
                .as_ref()
                .and_then(|r| r.branched_from.clone()),
            preview: found.manifest.and_then(|r| r.preview),
            ..scene_summary::manifest(&scene, options, rayon::current_num_threads())
        };
        let log = ActionLog::resume(
            &folder.actions(),
            std::mem::take(&mut found.actions),
            account.steps,
        )?;
        let reload = of_folder(&folder, options);
        manifest.actions = Some(log.prefix()).filter(|prefix| prefix.bytes > 0);
        if !scene.bodies.is_empty() {
            let bytes = account.statistics.bytes;
            body_record::add_first(&scene, &mut manifest, &folder.statistics(), bytes)?;
        }
        let timings = if account.timings.begins(&folder.timings()) {
            JsonlFile::resume(&folder.timings(), account.timings.bytes)?
        } else {
            progress.event(Event::Notice(
                "timings.jsonl is damaged: its intact part is kept",
            ));
            JsonlFile::salvage(&folder.timings(), account.timings.bytes)?
        };
        manifest.timings = timings.prefix();
        for damaged in &found.damaged {
            run_folder::remove(damaged)?;
        }
        folder.rewind(&manifest, &options.scene_files(), &path)?;
        body_table::write(&scene, &folder, &manifest)?;
        Ok(Runner {
            statistics: JsonlFile::resume(&folder.statistics(), account.statistics.bytes)?,
            timings,
            pictures: Pictures::at_the_end(&scene),
            scene,
            watch: Stopwatch::start(),
            folder,
            manifest,
            started: Instant::now(),
            seconds_before,
            steps_of_frame: account.steps_of_frame,
            unsaved: false,
            writer: Writer::default(),
            simulation: Steered::new(simulation, log, account.steps, reload)?,
        })
    }

    /// The simulation and its actions.
    pub fn steered(&self) -> &Steered<'a, D> {
        &self.simulation
    }

    /// The simulation, to be acted upon.
    pub fn steered_mut(&mut self) -> &mut Steered<'a, D> {
        &mut self.simulation
    }

    /// Steps since the last complete frame.
    pub fn steps_of_frame(&self) -> u32 {
        self.steps_of_frame
    }

    /// Whether all frames are simulated.
    pub fn is_complete(&self) -> bool {
        self.simulation.frame() > self.simulation.scene().frames
    }

    /// Simulates all remaining frames.
    pub fn frames(
        &mut self,
        stop: &AtomicBool,
        progress: &mut (dyn Progress + Send),
    ) -> Result<(), Error> {
        progress.event(Event::Begin {
            frames: self.scene.frames,
            done: self.manifest.frames_done,
            particles: self.simulation.world().cost().points,
            threads: self.manifest.threads,
        });
        while !self.is_complete() {
            if stop.load(Ordering::Relaxed) {
                return Err(self.stopped()?);
            }
            self.step(progress)?;
        }
        Ok(())
    }

    /// One step and its lines; its frame, if it completes one. Returns whether it does.
    ///
    /// # Errors
    /// If the run can't go on.
    pub fn step(
        &mut self,
        progress: &mut (dyn Progress + Send),
    ) -> Result<(StepLine, bool), Error> {
        self.simulation.repeat_due()?;
        let step = match self.simulation.step(&mut self.watch) {
            Ok(step) => step,
            Err(failure) => return Err(self.failed(&failure)),
        };
        let timing = self.watch.line(step.frame, step.report.time);
        self.watch.begin(WRITE);
        self.timings.push(&timing)?;
        let line = StepLine::new(step.frame, &step.report);
        self.statistics.push(&line)?;
        self.manifest.steps += 1;
        self.steps_of_frame += 1;
        self.unsaved = true;
        self.watch.begin("");
        progress.event(Event::Step(&line));
        for notice in body_record::add(&self.scene, &mut self.manifest, &line) {
            progress.event(Event::Notice(&notice));
        }
        if step.completes_frame {
            let steps = std::mem::take(&mut self.steps_of_frame);
            let drift = self.examine_drift(&step, progress)?;
            self.complete(step.frame)?;
            progress.event(Event::Frame {
                number: step.frame,
                steps,
                last: &line,
                drifted: drift.is_some(),
            });
            if drift.is_some_and(|drift| self.ends_with(&drift)) {
                return Err(self.drifted()?);
            }
        }
        Ok((line, step.completes_frame))
    }

    /// Writes the completed frame. Its files are filled here; another thread waits for the disk.
    fn complete(&mut self, frame: u32) -> Result<(), Error> {
        let scene = self.simulation.scene();
        let (output, frames) = (scene.output.clone(), scene.frames);
        self.watch.begin(WRITE);
        self.wait_for_writer()?;
        let root = self.folder.root();
        let particles = || -> Result<_, Error> {
            if !output.writes_particles(frame) {
                return Ok(None);
            }
            let bytes = encoded(self.simulation.scene(), self.simulation.world(), frame)?;
            let path = cache::frame_path(root, frame);
            let filled = atomic_file::fill(&path, |out| out.write_all(&bytes))?;
            Ok(Some((bytes, filled)))
        };
        let checkpoint = || -> Result<_, Error> {
            if !output.writes_checkpoint(frame, frames) {
                return Ok(None);
            }
            let path = checkpoint::path(root, frame);
            self.checkpoint(&path, frame).map(Some)
        };
        let (particles, checkpoint) = rayon::join(particles, checkpoint);
        let (bytes, particles) = particles?.unzip();
        let checkpoint = checkpoint?;
        self.watch.begin(SURFACE);
        let (decoded, surface) = match &bytes {
            Some(bytes) => {
                let decoded = self.decoded(frame, bytes)?;
                let surface = self.surface(bytes, decoded.as_ref())?;
                (decoded, surface)
            }
            None => (None, None),
        };
        self.watch.begin(WRITE);
        let bodies = (decoded.as_ref().filter(|_| !self.scene.bodies.is_empty()))
            .map(|frame| NewLines::new(&self.folder, frame));
        let run = root.into();
        self.unsaved &= checkpoint.is_none();
        self.manifest.frames_done = frame;
        self.update_manifest();
        self.writer.give(Frame {
            particles,
            bodies,
            surface,
            checkpoint,
            statistics: self.statistics.sync()?,
            actions: self.simulation.log().sync()?,
            output,
            manifest: self.manifest.clone(),
            run,
        })?;
        self.watch.begin(PREVIEW);
        self.pictures.frame(frame, decoded.as_ref())?;
        self.watch.begin("");
        Ok(())
    }

    /// Frame as decoded from the bytes of its file, once for the surface, the table of bodies and the preview.
    fn decoded(&self, number: u32, bytes: &[u8]) -> Result<Option<cache::Frame<D>>, Error> {
        let output = &self.scene.output;
        let has_bodies = !self.scene.bodies.is_empty();
        if !output.surface && !has_bodies && !self.pictures.needs(number) {
            return Ok(None);
        }
        let decoded = cache::decode(bytes);
        let damaged = |cause| Error::new(Kind::Storage, format!("a frame is damaged: {cause}"));
        decoded.map(Some).map_err(damaged)
    }

    /// Surface of a frame, if surfaces are requested. `particles` are the bytes of its file.
    fn surface(
        &self,
        particles: &[u8],
        frame: Option<&cache::Frame<D>>,
    ) -> Result<Option<Filled>, Error> {
        let output = &self.scene.output;
        let Some(frame) = frame.filter(|_| output.surface) else {
            return Ok(None);
        };
        let maker = SurfaceEncoder::new(
            &self.scene,
            &self.manifest.physics_hash,
            output.surface_settings,
        );
        let (bytes, _) = maker.file(particles, frame)?;
        let folder = self.folder.root().join(surfaces::FOLDER);
        std::fs::create_dir_all(&folder).map_err(|e| Error::io("create", &folder, &e))?;
        let path = surfaces::path(self.folder.root(), frame.number);
        atomic_file::fill(&path, |out| out.write_all(&bytes)).map(Some)
    }

    /// Waits until the last frame is on disk; if that fails, it does not count as done.
    fn wait_for_writer(&mut self) -> Result<(), Error> {
        let written = self.writer.wait();
        if written.is_err() {
            self.manifest.frames_done -= 1;
        }
        written
    }

    /// Fills the checkpoint after a frame.
    fn checkpoint(&self, path: &Path, frames_done: u32) -> Result<Filled, Error> {
        let world = self.simulation.world();
        let state = world.state();
        let state = checkpoint::State {
            dimension: world.dimension(),
            particles: world.cost().points,
            time: world.time(),
            length: state.len(),
            write: &|out| state.write(out),
        };
        checkpoint::fill(path, &self.account(frames_done), &state)
    }

    /// Account of the run so far.
    fn account(&self, frames_done: u32) -> Account {
        Account {
            frames_done,
            steps_of_frame: self.steps_of_frame,
            steps: self.manifest.steps,
            fixed: scene_summary::fixed(&self.scene),
            statistics: self.statistics.prefix(),
            timings: self.timings.prefix(),
        }
    }

    fn update_manifest(&mut self) {
        self.manifest.wall_seconds = self.seconds_before + self.started.elapsed().as_secs_f64();
        self.manifest.statistics = self.statistics.prefix();
        self.manifest.timings = self.timings.prefix();
        self.manifest.frames = self.simulation.scene().frames;
        self.manifest.actions =
            Some(self.simulation.log().prefix()).filter(|prefix| prefix.bytes > 0);
    }

    /// Checks the drift at the end of a frame: one beyond the limit is recorded, and the first is reported.
    fn examine_drift(
        &mut self,
        step: &Step,
        progress: &mut (dyn Progress + Send),
    ) -> Result<Option<DriftWarning>, Error> {
        let scene = self.simulation.scene();
        if scene.is_rigid() {
            return Ok(None);
        }
        let solids = scene.posed_solids(&bodies(self.simulation.world()))?;
        let report = (&step.report).into();
        let Some(warning) = drift::check_drift(scene, &solids, step.frame, &report) else {
            return Ok(None);
        };
        let before = self.manifest.drift.take();
        if before.is_none() {
            let message = format!("warning: {}", warning.message());
            progress.event(Event::Notice(&message));
        }
        self.manifest.drift = Some(match before {
            Some(before) => before.or_larger(warning.clone()),
            None => warning.clone(),
        });
        Ok(Some(warning))
    }

    /// Whether the drift is large enough to end the run.
    fn ends_with(&self, warning: &DriftWarning) -> bool {
        let limits = &self.simulation.scene().limits;
        limits.on_drift == OnDrift::Stop && warning.drift.abs() > limits.stop_drift()
    }

    /// Finishes the files of a run that lost too much liquid, and returns the error.
    fn drifted(&mut self) -> Result<Error, Error> {
        self.write_checkpoint()?;
        let recorded = self.manifest.drift.as_ref();
        let message = recorded.map_or(String::new(), DriftWarning::message);
        let remedy = recorded.map_or("", |warning| &warning.remedy);
        let command = resume_command(&self.manifest, self.folder.root());
        Ok(Error::new(Kind::Numerical, message).with_remedy(format!(
            "{remedy}; all frames are kept, and the run continues regardless with: {command} --set run.on_drift=warn"
        )))
    }

    /// Writes a checkpoint of the last step, if there is none.
    fn write_checkpoint(&mut self) -> Result<(), Error> {
        self.wait_for_writer()?;
        if self.unsaved {
            self.statistics.sync()?.wait()?;
            if let Some(actions) = self.simulation.log().sync()? {
                actions.wait()?;
            }
            let path = checkpoint::interrupted(self.folder.root());
            self.checkpoint(&path, self.manifest.frames_done)?
                .finish()?;
            self.unsaved = false;
        }
        Ok(())
    }

    /// Writes a checkpoint of the steps towards the next frame, and returns the error with the command to resume.
    pub fn stopped(&mut self) -> Result<Error, Error> {
        self.write_checkpoint()?;
        let steps = match self.steps_of_frame {
            0 => String::new(),
            n => format!(" and {}", count(n, "step")),
        };
        let done = self.manifest.frames_done;
        let command = resume_command(&self.manifest, self.folder.root());
        Ok(Error::new(
            Kind::Interrupted,
            format!("stopped after frame {done}{steps}"),
        )
        .with_remedy(format!("nothing is lost; continue with: {command}")))
    }

    /// Writes the problem of a failed step, and returns the error with its location.
    fn failed(&self, failure: &StepFailure) -> Error {
        let reached = match self.manifest.frames_done {
            0 => "no frame was completed".into(),
            last => format!("the last complete frame is {last}"),
        };
        let what = format!(
            "frame {} failed at {:.4} s: {failure}; {reached}",
            self.simulation.frame(),
            self.simulation.world().time()
        );
        let error = Error::new(Kind::Numerical, what);
        if let StepError::TooFast { speed } = failure.error
            && speed > speeds::FASTEST_PHYSICAL
        {
            return error.with_remedy(speeds::origin_of_speed(self.simulation.scene(), speed));
        }
        let Some(problem) = failure.problem.as_deref() else {
            return error.with_remedy("try a smaller time.cfl, or another --resolution");
        };
        let folder = self.folder.failed();
        match problem_files::write(&folder, problem) {
            Ok(()) => error.with_remedy(format!(
                "the {} is in {} ({}); {}",
                problem.name(),
                folder.display(),
                problem.files().join(", "),
                // Bodies alone have no solution where one is crushed.
                match (self.scene.is_rigid(), &failure.error) {
                    (true, StepError::NotFinite) => "choose less extreme masses, speeds and sizes",
                    (true, _) => "let the solids that move leave the body room",
                    (false, _) => "try another --solver, or another --resolution",
                }
            )),
            Err(second) => error.with_remedy(format!("its problem could not be written: {second}")),
        }
    }

    /// Writes the preview and the final manifest, however the run ended.
    pub fn close(mut self, end: Result<(), Error>) -> Result<Summary, Error> {
        let written = self.wait_for_writer();
        let end = end.and(written);
        let preview = self
            .pictures
            .write(&self.scene, &self.folder, &self.manifest, end.is_ok());
        let end = match preview {
            Ok(hash) => {
                self.manifest.preview = hash;
                end
            }
            Err(e) => end.and(Err(e)),
        };
        (self.manifest.state, self.manifest.error) = match &end {
            Ok(()) => (State::Done, None),
            Err(e) if e.kind() == Kind::Interrupted => (State::Interrupted, None),
            Err(e) => (State::Failed, Some(e.to_string())),
        };
        self.update_manifest();
        let recorded = self.manifest.write(self.folder.root());
        // The first error takes precedence.
        end.and(recorded)?;
        Ok(Summary {
            folder: self.folder,
            frames: self.manifest.frames_done,
            warnings: self.manifest.warnings(),
            notes: self.manifest.notes(),
            nothing_to_do: false,
            wall_seconds: self.manifest.wall_seconds,
        })
    }
}

/// The scene of a run as its folder has it, with some keys changed.
fn of_folder(folder: &RunFolder, options: &Options<'_>) -> Reload {
    let (path, text) = (folder.scene(), options.scene_text.clone());
    Arc::new(move |changes| {
        let (scene, _) = load_kept_with(&path, &text, changes, None).ready()?;
        Ok(scene)
    })
}
