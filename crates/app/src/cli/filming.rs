//! `meniscus preview`.

use super::arguments::PreviewArguments;
use super::counter::Counter;
use super::output::print_line;
use super::running::{STOP, stop_on_ctrl_c};
use crate::runner::with_threads;
use meniscus_render::filming::{self, Options, Progress};
use meniscus_store::error::Error;
use meniscus_store::quantity::{bytes, count};

/// Renders images and videos of one or two runs.
pub fn preview(arguments: &PreviewArguments) -> Result<(), Error> {
    stop_on_ctrl_c()?;
    let all = !(arguments.png || arguments.gif || arguments.mp4);
    let options = Options {
        frames: arguments.which.frames.unwrap_or_default(),
        size: arguments.size,
        style: arguments.style,
        camera: arguments.camera.clone(),
        png: arguments.png || all,
        gif: arguments.gif || all,
        mp4: arguments.mp4,
        slow: arguments.slow,
        out: arguments.out.clone(),
        assets: arguments.which.assets.clone(),
        stop: &STOP,
    };
    let mut counter = Counter::new("image", arguments.work.quiet);
    let (run, other) = (&arguments.run, arguments.other.as_deref());
    let filmed = with_threads(arguments.work.threads, || {
        filming::film(run, other, &options, &mut counter)
    });
    // Clear the bar before printing anything else.
    drop(counter);
    let filmed = filmed??;
    if arguments.work.quiet {
        return Ok(());
    }
    print_line(format_args!(
        "{}, written to {}:",
        count(filmed.pictures, "image"),
        filmed.folder.display()
    ));
    for (name, size) in &filmed.files {
        print_line(format_args!("  {name:14} {:>10}", bytes(*size)));
    }
    Ok(())
}

impl Progress for Counter {
    fn begin(&mut self, frames: usize) {
        Counter::begin(self, frames);
    }

    fn frame(&mut self, number: u32) {
        self.one(number, "");
    }
}
