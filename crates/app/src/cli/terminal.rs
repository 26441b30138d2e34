//! Progress of a run: a bar on a terminal, plain lines on a pipe, nothing with `--quiet`.

use super::counter::bar;
use super::output::print_line;
use super::time_left::TimeLeft;
use crate::runner::{Event, Progress, StepLine};
use indicatif::ProgressBar;
use meniscus_scene::AnyScene;
use meniscus_store::quantity::count;
use std::io::IsTerminal;

/// Kind of progress output that suits the terminal.
pub fn progress(scene: &AnyScene, quiet: bool) -> Box<dyn Progress + Send + '_> {
    if quiet {
        return Box::new(());
    }
    let template = "frame {pos} of {len} {wide_bar} {msg}  {prefix}";
    let is_terminal = std::io::stdout().is_terminal();
    Box::new(Terminal {
        scene,
        bar: is_terminal.then(|| bar(scene.frames(), template)),
        left: TimeLeft::new(scene),
        limit: None,
        visible: scene.visible_residual(),
    })
}

/// Text of a step in the progress line. `limit` is that of the volume drift, if it was exceeded; `visible` is the residual
/// of contacts above which errors become visible.
fn step_in_words(line: &StepLine, limit: Option<f64>, visible: f64) -> String {
    if let Some(bodies) = &line.bodies {
        let beyond = match bodies.unsolved_residual > visible {
            true => format!(
                " (warning: {} not solved)",
                count(bodies.unsolved_islands, "island")
            ),
            false => String::new(),
        };
        return format!(
            "{} {}/{} it, residual {:.1e}{beyond}, {}, position error {:.1e} m",
            line.solver,
            line.outer_iterations,
            line.inner_iterations,
            line.residual,
            count(bodies.contacts, "contact"),
            bodies.position_error
        );
    }
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
    if scene.bodies() > 0 {
        return format!(
            "{}: {}D, {}, {}",
            scene.name(),
            scene.dimension(),
            format_args!("rigid bodies: {}", scene.bodies()),
            count(threads, "thread")
        );
    }
    format!(
        "{}: {}D, {} along the longest side, {}, {}",
        scene.name(),
        scene.dimension(),
        count(scene.resolution(), "cell"),
        count(particles, "particle"),
        count(threads, "thread")
    )
}

/// Progress of a run: a bar redrawn in place, or one line per frame.
struct Terminal<'a> {
    scene: &'a AnyScene,
    bar: Option<ProgressBar>,
    left: TimeLeft,
    /// Limit of the volume drift, if the last frame exceeded it.
    limit: Option<f64>,
    /// Residual of contacts above which errors become visible, in m/s.
    visible: f64,
}

impl Terminal<'_> {
    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => print_line(format_args!("{text}")),
        }
    }
}

impl Progress for Terminal<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin {
                done,
                particles,
                threads,
                ..
            } => {
                self.left.begin(done);
                self.line(&opening(self.scene, particles, threads));
                if let Some(bar) = &self.bar {
                    bar.set_position(u64::from(done));
                    bar.tick();
                }
            }
            Event::Notice(text) => self.line(text),
            Event::Step(line) => {
                if let Some(bar) = &self.bar {
                    bar.set_message(step_in_words(line, self.limit, self.visible));
                }
            }
            Event::Frame {
                number,
                steps,
                last,
                drifted,
            } => {
                self.limit = drifted.then(|| self.scene.limits().max_drift);
                let left = self.left.frame(number);
                match &self.bar {
                    Some(bar) => {
                        bar.set_position(u64::from(number));
                        bar.set_prefix(format!("{left} left"));
                    }
                    None => self.line(&format!(
                        "frame {number} of {}, {left} left, {}, {}",
                        self.scene.frames(),
                        count(steps, "step"),
                        step_in_words(last, self.limit, self.visible)
                    )),
                }
            }
        }
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
