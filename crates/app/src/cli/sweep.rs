//! `meniscus sweep`.

use super::arguments::SweepArguments;
use super::output::{print_line, print_note};
use super::running::{STOP, stop_on_ctrl_c};
use super::terminal;
use crate::runner::{self, Options, Start, with_threads};
use crate::sweep::{self, Variant};
use meniscus_scene::text::{Loaded, load};
use meniscus_store::atomic_file;
use meniscus_store::error::{Error, Kind};
use meniscus_store::manifest::Manifest;
use meniscus_store::quantity::count;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Runs every combination of values, or writes what would run them.
pub fn sweep(arguments: &SweepArguments) -> Result<(), Error> {
    let common = arguments.changes.changes();
    let base = loaded(arguments, &[])?;
    let (scene, _) = base.ready()?;
    let usual = || PathBuf::from("out").join(format!("{}-sweep", scene.name()));
    let root = arguments.out.clone().unwrap_or_else(usual);
    let variants = sweep::variants(&arguments.vary, &root)?;
    // All of them are checked before the first one runs.
    let mut ready = Vec::new();
    for variant in &variants {
        let loaded = loaded(arguments, &variant.changes)?;
        let meshes = loaded.meshes.clone();
        ready.push((loaded.ready()?, meshes));
    }
    if arguments.print {
        for variant in &variants {
            let command = sweep::command(&arguments.scene, &common, variant);
            print_line(format_args!("{command}"));
        }
        return Ok(());
    }
    if let Some(file) = &arguments.openjd {
        let name = format!("{} sweep", scene.name());
        let template = sweep::job_template(&name, &arguments.scene, &common, &variants);
        atomic_file::write(file, format!("{template:#}\n").as_bytes())?;
        print_line(format_args!(
            "wrote a job of {} to {}",
            count(variants.len(), "run"),
            file.display()
        ));
        return Ok(());
    }
    stop_on_ctrl_c()?;
    let mut failed = None;
    for (k, (variant, ((scene, text), meshes))) in variants.iter().zip(ready).enumerate() {
        if !arguments.quiet {
            print_note(&format!(
                "{} of {}: {}",
                k + 1,
                variants.len(),
                title(arguments, variant)
            ));
        }
        let options = Options {
            start: start(variant),
            out: variant.folder.clone(),
            threads: arguments.changes.threads,
            memory_limit: None,
            scene_text: text,
            meshes,
            overwrite: false,
            stop: &STOP,
        };
        let mut progress = terminal::progress(&scene, arguments.quiet);
        let result = runner::run(&scene, &options, progress.as_mut());
        drop(progress);
        match result {
            Ok(_) => {}
            Err(error) if error.kind() == Kind::Interrupted => {
                return Err(Error::new(Kind::Interrupted, error.message())
                    .with_remedy("nothing is lost; the same command continues the sweep"));
            }
            // One failure does not keep the other values from running.
            Err(error) => {
                print_note(&format!("{} failed: {error}", variant.folder.display()));
                failed.get_or_insert(error);
            }
        }
    }
    with_threads(arguments.changes.threads, || {
        sweep::finish(&root, &arguments.vary, &variants, &STOP)
    })??;
    if STOP.load(Ordering::Relaxed) {
        return Err(Error::silent(Kind::Interrupted));
    }
    if !arguments.quiet {
        print_line(format_args!(
            "{}",
            sweep::table(&arguments.vary, &variants).trim_end()
        ));
        print_line(format_args!(
            "wrote {0}/sweep.csv and {0}/sweep.png, the last frame of every run",
            root.display()
        ));
    }
    match failed {
        None => Ok(()),
        Some(error) => Err(Error::new(
            error.kind(),
            "not every run of the sweep succeeded",
        )),
    }
}

fn loaded(
    arguments: &SweepArguments,
    changes: &[meniscus_scene::text::Override],
) -> Result<Loaded, Error> {
    let mut all = arguments.changes.changes();
    all.extend_from_slice(changes);
    load(
        &arguments.scene,
        &all,
        arguments.changes.allow_outside_files,
    )
}

/// A run that exists is continued.
fn start(variant: &Variant) -> Start {
    match Manifest::path(&variant.folder).exists() {
        true => Start::Resume,
        false => Start::Beginning,
    }
}

fn title(arguments: &SweepArguments, variant: &Variant) -> String {
    let pairs = arguments.vary.iter().zip(&variant.values);
    let words = pairs.map(|(vary, value)| format!("{} = {value}", vary.key));
    words.collect::<Vec<_>>().join(", ")
}
