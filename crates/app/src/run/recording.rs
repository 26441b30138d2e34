//! One run from the first step to the last frame, and what it leaves behind however it ends.

use super::folder::RunFolder;
use super::line_file::LineFile;
use super::memory;
use super::progress::{Event, Progress};
use super::record::{Record, State};
use super::simulation::{Simulation, Step};
use super::statistics::StepLine;
use super::timings::Stopwatch;
use super::{Options, Summary};
use crate::cache::{self, Frame};
use crate::error::{Error, Kind};
use crate::preview::{GifWriter, View, draw};
use crate::problem_files;
use crate::scene::Scene;
use crate::whole_file;
use meniscus_liquid::StepFailure;
use meniscus_shapes::{Body, Shape};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Frames a second at which a preview is shown at most: what is filmed faster is seen in slow motion,
/// and no frame is left out.
const FASTEST_PREVIEW: f64 = 30.0;

/// Runs a scene in the thread pool of the caller.
pub(super) fn run<const D: usize>(
    scene: &Scene<D>,
    options: &Options<'_>,
    progress: &mut (dyn Progress + Send),
) -> Result<Summary, Error> {
    scene.check()?;
    memory::check(scene)?;
    let folder = RunFolder::open(&options.out, &scene.name)?;
    let simulation = Simulation::new(scene)?;
    let record = Record::begin(scene, rayon::current_num_threads());
    folder.begin(&record)?;
    let mut recording = Recording {
        scene,
        options,
        statistics: LineFile::create(&folder.statistics())?,
        timings: LineFile::create(&folder.timings())?,
        preview: GifWriter::new(
            picture_size(&scene.domain, options.preview_side),
            scene.frame_rate.min(FASTEST_PREVIEW),
        )?,
        folder,
        record,
        started: Instant::now(),
        simulation,
    };
    let end = recording.frames(progress);
    recording.close(end)
}

struct Recording<'a, const D: usize> {
    scene: &'a Scene<D>,
    options: &'a Options<'a>,
    folder: RunFolder,
    record: Record,
    statistics: LineFile,
    timings: LineFile,
    preview: GifWriter,
    started: Instant,
    simulation: Simulation<'a, D>,
}

impl<const D: usize> Recording<'_, D> {
    /// All frames, or as many as can be had.
    fn frames(&mut self, progress: &mut (dyn Progress + Send)) -> Result<(), Error> {
        progress.event(Event::Begin {
            frames: self.scene.frames,
            particles: self.simulation.liquid().particles().len(),
            threads: self.record.threads,
        });
        self.picture()?;
        let mut steps = 0;
        while self.simulation.frame() <= self.scene.frames {
            if self.options.stop.load(Ordering::Relaxed) {
                return Err(self.stopped());
            }
            let mut watch = Stopwatch::start();
            let step = match self.simulation.step(&mut watch) {
                Ok(step) => step,
                Err(failure) => return Err(self.failed(&failure)),
            };
            self.timings
                .push(&watch.line(step.frame, step.report.time))?;
            let line = StepLine::new(step.frame, &step.report);
            self.statistics.push(&line)?;
            self.record.steps += 1;
            steps += 1;
            progress.event(Event::Step(&line));
            if step.completes_frame {
                self.complete(&step)?;
                progress.event(Event::Frame {
                    number: step.frame,
                    steps,
                    last: &line,
                });
                steps = 0;
            }
        }
        Ok(())
    }

    /// Writes the frame that a step has completed.
    fn complete(&mut self, step: &Step) -> Result<(), Error> {
        let path = cache::frame_path(self.folder.root(), step.frame);
        let particles = self.simulation.liquid().particles();
        let frame = Frame {
            number: step.frame,
            time: step.report.time,
            dx: self.scene.dx(),
            positions: particles.position.clone(),
            velocities: particles.velocity.clone(),
        };
        let bytes = cache::encode(&frame).map_err(|cause| {
            Error::new(
                Kind::Numerical,
                format!("frame {} can't be kept: {cause}", step.frame),
            )
        })?;
        whole_file::write(&path, &bytes)?;
        self.record.frames_done = step.frame;
        self.record.wall_seconds = self.started.elapsed().as_secs_f64();
        self.record.write(self.folder.root())?;
        self.picture()
    }

    /// Adds the present state to the preview.
    fn picture(&mut self) -> Result<(), Error> {
        let particles = self.simulation.liquid().particles();
        let time = self.simulation.liquid().time();
        let caption = format!(
            "{}, {} walls, {time:.2} s",
            self.scene.name, self.scene.walls
        );
        let view = View {
            positions: &particles.position,
            velocities: &particles.velocity,
            radius: 0.5 * self.scene.dx(),
            bodies: self.visible_bodies(),
            time,
            domain: self.scene.domain,
            caption: Some(&caption),
        };
        let size = picture_size(&self.scene.domain, self.options.preview_side);
        self.preview.push(&draw(&view, size))
    }

    /// The solids to draw: the walls of the domain too, unless the liquid is in a container of its own.
    fn visible_bodies(&self) -> &[Body<D>] {
        let contained = self
            .scene
            .solids
            .iter()
            .any(|b| matches!(b.shape, Shape::Inverted(_)));
        if contained {
            &self.scene.solids
        } else {
            &self.simulation.scenery().bodies
        }
    }

    fn stopped(&self) -> Error {
        let done = self.record.frames_done;
        let kept = self.folder.root().display();
        Error::new(Kind::Interrupted, format!("stopped after frame {done}"))
            .with_remedy(format!("the frames so far and their preview are in {kept}"))
    }

    /// Keeps the pressure problem of a failed step for study, and says where it is.
    fn failed(&self, failure: &StepFailure<D>) -> Error {
        let reached = match self.record.frames_done {
            0 => "no frame was completed".into(),
            last => format!("frame {last} is the last good one"),
        };
        let what = format!(
            "frame {} failed at {:.4} s: {failure}; {reached}",
            self.simulation.frame(),
            self.simulation.liquid().time()
        );
        let error = Error::new(Kind::Numerical, what);
        let folder = self.folder.failed();
        match problem_files::write(&folder, &failure.problem) {
            Ok(()) => error.with_remedy(format!(
                "the pressure problem is in {} (A.mtx, b.mtx, lower.mtx, upper.mtx, grid.json); \
                 try another --solver, or another --resolution",
                folder.display()
            )),
            Err(second) => error.with_remedy(format!("its problem was lost: {second}")),
        }
    }

    /// Writes the preview and the last record, whatever has happened.
    fn close(mut self, end: Result<(), Error>) -> Result<Summary, Error> {
        let preview = self.preview.write(&self.folder.preview());
        let end = end.and(preview);
        self.record.wall_seconds = self.started.elapsed().as_secs_f64();
        (self.record.state, self.record.error) = match &end {
            Ok(()) => (State::Done, None),
            Err(e) if e.kind() == Kind::Interrupted => (State::Interrupted, None),
            Err(e) => (State::Failed, Some(e.to_string())),
        };
        let recorded = self.record.write(self.folder.root());
        // The first error is the one that matters.
        end.and(recorded)?;
        Ok(Summary {
            folder: self.folder,
            frames: self.record.frames_done,
            wall_seconds: self.record.wall_seconds,
        })
    }
}

/// Width and height of the preview: a flat domain fills its picture, a spatial one is seen in a square.
fn picture_size<const D: usize>(domain: &[f64; D], side: u32) -> (u32, u32) {
    if D == 3 {
        return (side, side);
    }
    let longest = domain.iter().copied().fold(0.0, f64::max);
    let along = |axis: usize| {
        let pixels = (f64::from(side) * domain[axis] / longest).round() as u32;
        pixels.clamp((side / 4).max(1), side)
    };
    (along(0), along(1))
}
