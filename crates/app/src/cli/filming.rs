//! `meniscus preview`.

use super::arguments::PreviewArguments;
use super::output::print_line;
use super::running::{STOP, stop_on_ctrl_c};
use crate::runner::with_threads;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use meniscus_render::filming::{self, Options, Progress};
use meniscus_store::error::Error;
use meniscus_store::quantity::{bytes, count, duration};
use std::io::IsTerminal;
use std::time::Instant;

/// Renders images and videos of one or two runs.
pub fn preview(arguments: &PreviewArguments) -> Result<(), Error> {
    stop_on_ctrl_c()?;
    let all = !(arguments.png || arguments.gif || arguments.mp4);
    let options = Options {
        frames: arguments.frames.unwrap_or_default(),
        size: arguments.size,
        style: arguments.style,
        camera: arguments.camera.clone(),
        png: arguments.png || all,
        gif: arguments.gif || all,
        mp4: arguments.mp4,
        slow: arguments.slow,
        out: arguments.out.clone(),
        assets: arguments.assets.clone(),
        stop: &STOP,
    };
    let mut watch: Box<dyn Progress + Send> = if arguments.quiet {
        Box::new(())
    } else if std::io::stdout().is_terminal() {
        Box::new(Bar(ProgressBar::hidden()))
    } else {
        Box::new(Lines::default())
    };
    let (run, other) = (&arguments.run, arguments.other.as_deref());
    let filmed = with_threads(arguments.threads, || {
        filming::film(run, other, &options, watch.as_mut())
    });
    // Clear the bar before printing anything else.
    drop(watch);
    let filmed = filmed??;
    if arguments.quiet {
        return Ok(());
    }
    print_line(format_args!(
        "{}, written to {}:",
        count(filmed.pictures, "picture"),
        filmed.folder.display()
    ));
    for (name, size) in &filmed.files {
        print_line(format_args!("  {name:14} {:>10}", bytes(*size)));
    }
    Ok(())
}

/// Progress bar, redrawn in place.
struct Bar(ProgressBar);

impl Progress for Bar {
    fn begin(&mut self, frames: usize) {
        let style = "picture {pos} of {len} {wide_bar} {eta} left";
        let style =
            ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
        let target = ProgressDrawTarget::stdout();
        self.0 = ProgressBar::with_draw_target(Some(frames as u64), target);
        self.0.set_style(style);
        self.0.tick();
    }

    fn frame(&mut self, _number: u32) {
        self.0.inc(1);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// One line per frame.
struct Lines {
    frames: usize,
    done: usize,
    started: Instant,
}

impl Default for Lines {
    fn default() -> Self {
        Lines {
            frames: 0,
            done: 0,
            started: Instant::now(),
        }
    }
}

impl Progress for Lines {
    fn begin(&mut self, frames: usize) {
        self.frames = frames;
    }

    fn frame(&mut self, number: u32) {
        self.done += 1;
        let each = self.started.elapsed().as_secs_f64() / self.done as f64;
        print_line(format_args!(
            "frame {number}, {} of {}, {} left",
            self.done,
            self.frames,
            duration(each * (self.frames - self.done) as f64)
        ));
    }
}
