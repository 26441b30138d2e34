//! `meniscus export`.

use super::arguments::{ExportArguments, UpName};
use super::counter::Counter;
use super::running::{STOP, stop_on_ctrl_c};
use super::say::say;
use super::sizes::bytes;
use crate::error::Error;
use crate::export::{self, Up};
use crate::run::{Written, with_threads};
use crate::surface;

/// Turns the frames of a run into files for other programs.
pub fn export(arguments: &ExportArguments) -> Result<(), Error> {
    let run = Written::open(&arguments.run)?;
    let options = export::Options {
        format: arguments.to,
        what: arguments.what,
        frames: arguments.which.frames.unwrap_or_default(),
        up: match arguments.up {
            UpName::Y => Up::Y,
            UpName::Z => Up::Z,
        },
        out: arguments.out.clone(),
        assets: arguments.which.assets.clone(),
        settings: surface::Settings::default(),
        stop: &STOP,
    };
    let plan = export::plan(&run, &options)?;
    stop_on_ctrl_c()?;
    if !arguments.quiet {
        say(format_args!(
            "{} frames, about {}, to {}",
            plan.frames.len(),
            bytes(plan.bytes),
            plan.folder.display()
        ));
    }
    let mut counter = Counter::new("export", arguments.quiet);
    let exported = with_threads(arguments.threads, || {
        export::export(&run, &plan, &options, &mut counter)
    });
    // The bar goes before anything else is said.
    drop(counter);
    let exported = exported??;
    if !arguments.quiet {
        say(format_args!(
            "wrote {} frames, {}, to {}",
            exported.frames,
            bytes(exported.bytes),
            exported.folder.display()
        ));
    }
    Ok(())
}
