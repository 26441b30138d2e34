//! Progress of work done frame by frame: a bar on a terminal, lines on a pipe, nothing with `--quiet`.

use super::output::print_line;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use meniscus_store::quantity::duration;
use std::io::IsTerminal;
use std::time::Instant;

/// Progress bar of `frames` frames, redrawn in place.
pub fn bar(frames: u32, template: &str) -> ProgressBar {
    let target = ProgressDrawTarget::stdout();
    let bar = ProgressBar::with_draw_target(Some(u64::from(frames)), target);
    bar.set_style(ProgressStyle::with_template(template).expect("a valid template"));
    bar
}

/// Frame counter.
pub struct Counter {
    what: &'static str,
    started: Instant,
    done: usize,
    frames: usize,
    shown: Shown,
}

enum Shown {
    Nowhere,
    Lines,
    Bar(ProgressBar),
}

impl Counter {
    /// Counter that names its items `name`.
    pub fn new(what: &'static str, quiet: bool) -> Self {
        let shown = if quiet {
            Shown::Nowhere
        } else if std::io::stdout().is_terminal() {
            let bar = bar(0, "{prefix} of frame {msg} {wide_bar} {eta} left");
            bar.set_prefix(what);
            Shown::Bar(bar)
        } else {
            Shown::Lines
        };
        Counter {
            what,
            started: Instant::now(),
            done: 0,
            frames: 0,
            shown,
        }
    }

    /// Sets the number of frames.
    pub fn begin(&mut self, frames: usize) {
        self.frames = frames;
        self.started = Instant::now();
        if let Shown::Bar(bar) = &self.shown {
            bar.set_length(frames as u64);
        }
    }

    /// Counts one finished frame.
    pub fn one(&mut self, number: u32, suffix: &str) {
        self.done += 1;
        match &self.shown {
            Shown::Nowhere => {}
            Shown::Bar(bar) => {
                bar.set_message(number.to_string());
                bar.set_position(self.done as u64);
            }
            Shown::Lines => {
                let each = self.started.elapsed().as_secs_f64() / self.done as f64;
                let left = duration(each * self.frames.saturating_sub(self.done) as f64);
                print_line(format_args!(
                    "{} of frame {number}, {} of {}, {left} left{suffix}",
                    self.what, self.done, self.frames
                ));
            }
        }
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}
