//! Progress: a bar on a terminal, plain lines on a pipe, nothing when asked to be quiet.

use super::say::say;
use crate::quantity::{count, duration};
use crate::run::{Event, Progress, StepLine};
use crate::scene::AnyScene;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Instant;

/// The kind of progress that suits the terminal.
pub fn progress(scene: &AnyScene, quiet: bool) -> Box<dyn Progress + Send + '_> {
    if quiet {
        Box::new(())
    } else if std::io::stdout().is_terminal() {
        Box::new(Bar::new(scene))
    } else {
        Box::new(Lines::new(scene))
    }
}

/// What every line of progress says about a step.
fn step_in_words(line: &StepLine) -> String {
    let squeezed = match &line.squeezed {
        Some(place) => format!(
            ", a solid pushes into liquid that has no way out, near {place:.3?}: volume is lost"
        ),
        None => String::new(),
    };
    format!(
        "{} {}/{} it, residual {:.1e}, volume {:+.2} %{squeezed}",
        line.solver,
        line.outer_iterations,
        line.inner_iterations,
        line.residual,
        100.0 * line.volume_drift
    )
}

fn opening(scene: &AnyScene, particles: usize, threads: usize) -> String {
    format!(
        "{}: {}D, {} along the longest side, {}, {}",
        scene.name(),
        scene.dimension(),
        count(scene.resolution(), "cell"),
        count(particles, "particle"),
        count(threads, "thread")
    )
}

/// A bar that is redrawn in place.
struct Bar<'a> {
    scene: &'a AnyScene,
    bar: ProgressBar,
    /// Frames of an earlier part of the run.
    done: u32,
}

impl<'a> Bar<'a> {
    fn new(scene: &'a AnyScene) -> Self {
        let style = "frame {pos} of {len} {wide_bar} {msg}  {prefix}";
        let style =
            ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(
            Some(u64::from(scene.frames())),
            ProgressDrawTarget::stdout(),
        );
        bar.set_style(style);
        Bar {
            scene,
            bar,
            done: 0,
        }
    }
}

impl Progress for Bar<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin {
                done,
                particles,
                threads,
                ..
            } => {
                self.done = done;
                self.bar.set_position(u64::from(done));
                self.bar.println(opening(self.scene, particles, threads));
                self.bar.tick();
            }
            Event::Notice(text) => self.bar.println(text),
            Event::Step(line) => self.bar.set_message(step_in_words(line)),
            Event::Frame { number, .. } => {
                self.bar.set_position(u64::from(number));
                let left = time_left(
                    self.bar.elapsed().as_secs_f64(),
                    number - self.done,
                    self.scene.frames() - self.done,
                );
                self.bar.set_prefix(format!("{left} left"));
            }
        }
    }
}

impl Drop for Bar<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A line a frame.
struct Lines<'a> {
    scene: &'a AnyScene,
    started: Instant,
    /// Frames of an earlier part of the run.
    done: u32,
}

impl<'a> Lines<'a> {
    fn new(scene: &'a AnyScene) -> Self {
        Lines {
            scene,
            started: Instant::now(),
            done: 0,
        }
    }
}

impl Progress for Lines<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin {
                done,
                particles,
                threads,
                ..
            } => {
                self.done = done;
                say(format_args!("{}", opening(self.scene, particles, threads)));
            }
            Event::Notice(text) => say(format_args!("{text}")),
            Event::Step(_) => {}
            Event::Frame {
                number,
                steps,
                last,
            } => {
                let frames = self.scene.frames();
                let elapsed = self.started.elapsed().as_secs_f64();
                say(format_args!(
                    "frame {number} of {frames}, {} left, {}, {}",
                    time_left(elapsed, number - self.done, frames - self.done),
                    count(steps, "step"),
                    step_in_words(last)
                ));
            }
        }
    }
}

/// The time the frames to come will take if they take as long as those so far.
fn time_left(elapsed: f64, done: u32, frames: u32) -> String {
    duration(elapsed / f64::from(done.max(1)) * f64::from(frames - done.min(frames)))
}
