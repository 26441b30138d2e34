//! `meniscus export`.

use super::arguments::ExportArguments;
use super::counter::Counter;
use super::output::print_line;
use super::running::{STOP, stop_on_ctrl_c};
use crate::export;
use crate::runner::with_threads;
use meniscus_scene::SurfaceSettings;
use meniscus_store::OpenedRun;
use meniscus_store::error::Error;
use meniscus_store::quantity::{bytes, count};

/// Exports the frames of a run.
pub fn export(arguments: &ExportArguments) -> Result<(), Error> {
    let run = OpenedRun::open(&arguments.run)?;
    let options = export::Options {
        format: arguments.to,
        what: arguments.what,
        frames: arguments.which.frames.unwrap_or_default(),
        up: arguments.up,
        first_frame: arguments.first_frame,
        name: arguments.name.clone(),
        out: arguments.out.clone(),
        assets: arguments.which.assets.clone(),
        settings: SurfaceSettings::default(),
        stop: &STOP,
    };
    let plan = export::plan(&run, &options)?;
    stop_on_ctrl_c()?;
    if !arguments.work.quiet {
        print_line(format_args!(
            "{}, about {}, {} up, to {}",
            count(plan.frames.len(), "frame"),
            bytes(plan.bytes),
            plan.up,
            plan.folder.display()
        ));
    }
    let mut counter = Counter::new("export", arguments.work.quiet);
    let exported = with_threads(arguments.work.threads, || {
        export::export(&run, &plan, &options, &mut counter)
    });
    // Clear the bar before printing anything else.
    drop(counter);
    let exported = exported??;
    if !arguments.work.quiet {
        let replaced = match exported.replaced {
            0 => String::new(),
            files => format!(", replacing {} of an earlier export", count(files, "file")),
        };
        print_line(format_args!(
            "wrote {}, {}, {} up, to {}{replaced}",
            count(exported.frames, "frame"),
            bytes(exported.bytes),
            plan.up,
            exported.folder.display()
        ));
    }
    Ok(())
}
