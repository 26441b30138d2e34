//! `meniscus mesh`.

use super::arguments::MeshArguments;
use super::counter::Counter;
use super::running::{STOP, stop_on_ctrl_c};
use super::say::say;
use crate::error::Error;
use crate::quantity::{bytes, count};
use crate::run::{Written, with_threads};
use crate::surface::{self, Watch};

/// Makes the surfaces of a run.
pub fn mesh(arguments: &MeshArguments) -> Result<(), Error> {
    let run = Written::open(&arguments.run)?;
    let scene = run.scene(arguments.which.assets.as_deref())?;
    stop_on_ctrl_c()?;
    let options = surface::Options {
        frames: arguments.which.frames.unwrap_or_default(),
        settings: arguments.how.settings(surface::Settings::default()),
        stop: &STOP,
    };
    let mut counter = Counter::new("surface", arguments.quiet);
    let made = with_threads(arguments.threads, || {
        surface::make(&run, &scene, &options, &mut counter)
    });
    // The bar goes before anything else is said.
    drop(counter);
    let made = made??;
    if !arguments.quiet {
        let kept = match made.kept {
            0 => String::new(),
            n => format!(" ({n} up to date)"),
        };
        say(format_args!(
            "{}{kept}, {}, in {}",
            count(made.made + made.kept, "surface"),
            bytes(made.bytes),
            made.folder.display()
        ));
    }
    Ok(())
}

impl Watch for Counter {
    fn begin(&mut self, frames: usize) {
        Counter::begin(self, frames);
    }

    fn frame(&mut self, number: u32, made: bool) {
        self.one(number, if made { "" } else { ", up to date" });
    }
}
