//! `meniscus mesh`.

use super::arguments::MeshArguments;
use super::counter::Counter;
use super::output::print_line;
use super::running::{STOP, stop_on_ctrl_c};
use crate::runner::with_threads;
use crate::surface::{self, Measures, Progress};
use meniscus_scene::SurfaceSettings;
use meniscus_scene::text::load_run;
use meniscus_store::OpenedRun;
use meniscus_store::error::Error;
use meniscus_store::quantity::{bytes, count};

/// Reconstructs the surfaces of a run.
pub fn mesh(arguments: &MeshArguments) -> Result<(), Error> {
    let run = OpenedRun::open(&arguments.run)?;
    let scene = load_run(&run, arguments.which.assets.as_deref())?;
    stop_on_ctrl_c()?;
    let options = surface::Options {
        frames: arguments.which.frames.unwrap_or_default(),
        settings: arguments.how.settings(SurfaceSettings::default()),
        stop: &STOP,
    };
    let mut counter = Counter::new("surface", arguments.work.quiet);
    let made = with_threads(arguments.work.threads, || {
        surface::make(&run, &scene, &options, &mut counter)
    });
    // Clear the bar before printing anything else.
    drop(counter);
    let made = made??;
    if !arguments.work.quiet {
        let kept = match made.kept {
            0 => String::new(),
            n => format!(" ({n} up to date)"),
        };
        print_line(format_args!(
            "{}{kept}, {}, in {}",
            count(made.made + made.kept, "surface"),
            bytes(made.bytes),
            made.folder.display()
        ));
        if let Some(line) = summary(&made.measures) {
            print_line(format_args!("{line}"));
        }
    }
    Ok(())
}

/// Prints how well the surfaces preserve the volume of the particles, and how much of it is in thin features.
fn summary(all: &[(u32, Measures)]) -> Option<String> {
    let all = all.iter().filter(|(_, m)| m.particle_volume > 0.0);
    let error = |m: &Measures| m.error().abs();
    let (frame, worst) = all
        .clone()
        .max_by(|a, b| error(&a.1).total_cmp(&error(&b.1)))?;
    let farthest = all.clone().map(|(_, m)| m.offset.abs()).fold(0.0, f64::max);
    let mut line = format!(
        "volume error at most {:.1} % (frame {frame}), after an offset of at most {farthest:.2} cells",
        100.0 * error(worst)
    );
    let thinnest = all
        .filter_map(|(frame, m)| Some((frame, m.thin_share()?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((frame, share)) = thinnest {
        line += &format!(
            "; up to {:.1} % of the liquid is thinner than a cell (frame {frame})",
            100.0 * share
        );
    }
    Some(line)
}

impl Progress for Counter {
    fn begin(&mut self, frames: usize) {
        Counter::begin(self, frames);
    }

    fn frame(&mut self, number: u32, made: bool) {
        self.one(number, if made { "" } else { ", up to date" });
    }
}
