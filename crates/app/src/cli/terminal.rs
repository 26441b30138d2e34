//! Progress of a run: a bar on a terminal, plain lines on a pipe, nothing with `--quiet`.

use super::output::print_line;
use super::time_left::TimeLeft;
use crate::runner::{Event, Progress, StepLine};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use meniscus_scene::AnyScene;
use meniscus_store::quantity::count;
use std::io::IsTerminal;

/// Kind of progress output that suits the terminal.
pub fn progress(scene: &AnyScene, quiet: bool) -> Box<dyn Progress + Send + '_> {
    if quiet {
        Box::new(())
    } else if std::io::stdout().is_terminal() {
        Box::new(Bar::new(scene))
    } else {
        Box::new(Lines::new(scene))
    }
}

/// Text of a step in the progress line. `limit` is that of the volume drift, if it was exceeded.
fn step_in_words(line: &StepLine, limit: Option<f64>) -> String {
    let squeezed = match &line.squeezed {
        Some(place) => {
            format!(", a solid compresses enclosed liquid near {place:.3?}: volume is lost")
        }
        None => String::new(),
    };
    let beyond = match limit {
        Some(limit) => format!(" (warning: beyond {} %)", 100.0 * limit),
        None => String::new(),
    };
    format!(
        "{} {}/{} it, residual {:.1e}, volume {:+.2} %{beyond}{squeezed}",
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

/// Progress bar, redrawn in place.
struct Bar<'a> {
    scene: &'a AnyScene,
    bar: ProgressBar,
    left: TimeLeft,
    /// Limit of the volume drift, if the last frame exceeded it.
    limit: Option<f64>,
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
            left: TimeLeft::new(scene),
            limit: None,
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
                self.left.begin(done);
                self.bar.set_position(u64::from(done));
                self.bar.println(opening(self.scene, particles, threads));
                self.bar.tick();
            }
            Event::Notice(text) => self.bar.println(text),
            Event::Step(line) => {
                self.bar.set_message(step_in_words(line, self.limit));
            }
            Event::Frame {
                number, drifted, ..
            } => {
                self.limit = drifted.then(|| self.scene.limits().max_drift);
                self.bar.set_position(u64::from(number));
                let left = self.left.frame(number);
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

/// One line per frame.
struct Lines<'a> {
    scene: &'a AnyScene,
    left: TimeLeft,
}

impl<'a> Lines<'a> {
    fn new(scene: &'a AnyScene) -> Self {
        Lines {
            scene,
            left: TimeLeft::new(scene),
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
                self.left.begin(done);
                print_line(format_args!("{}", opening(self.scene, particles, threads)));
            }
            Event::Notice(text) => print_line(format_args!("{text}")),
            Event::Step(_) => {}
            Event::Frame {
                number,
                steps,
                last,
                drifted,
            } => {
                let limit = drifted.then(|| self.scene.limits().max_drift);
                let frames = self.scene.frames();
                print_line(format_args!(
                    "frame {number} of {frames}, {} left, {}, {}",
                    self.left.frame(number),
                    count(steps, "step"),
                    step_in_words(last, limit)
                ));
            }
        }
    }
}
