//! Commands about scenes that do not simulate.

use super::arguments::{CheckArguments, InitArguments, SchemaArguments};
use super::output::{print_line, print_note};
use crate::runner::{self, estimate};
use crate::shell::quoted_path;
use meniscus_scene::builtin;
use meniscus_scene::text::{self, Loaded, load};
use meniscus_store::error::{Error, Kind};
use meniscus_store::quantity::{bytes, count, duration};
use serde_json::json;
use std::path::Path;

/// Lists the built-in scenes.
pub fn list() {
    let names = builtin::TEXTS.iter().map(|(name, _)| name.len());
    let widest = names.max().unwrap_or(0);
    for (name, summary) in builtin::summaries() {
        print_line(format_args!("{name:widest$}  {summary}"));
    }
}

/// Validates a scene: everything that `run` would refuse is an error, with the exit code of `run`.
pub fn check(arguments: &CheckArguments) -> Result<(), Error> {
    let loaded = loaded(arguments)?;
    let refused = loaded
        .scene
        .as_ref()
        .and_then(|scene| runner::refused(scene).err());
    if arguments.json {
        let lines: Vec<_> = loaded
            .problems
            .iter()
            .map(|problem| loaded.source.line(problem))
            .collect();
        let answer = json!({
            "scene": arguments.scene.to_string_lossy(),
            "runs": loaded.scene.is_some() && refused.is_none(),
            "problems": lines,
            "notes": loaded.scene.as_ref().map(text::notes),
            "refused": refused.as_ref().map(Error::to_string),
        });
        print_line(format_args!("{answer:#}"));
        // Everything is printed; only the exit code remains.
        let silent = |error: Error| Error::silent(error.kind());
        loaded.ready().map_err(silent)?;
        return refused.map_or(Ok(()), |error| Err(silent(error)));
    }
    let warnings = loaded.warnings();
    if !warnings.is_empty() {
        print_note(&format!("{warnings}\n"));
    }
    let warned = loaded.problems.iter().filter(|p| !p.is_error()).count();
    let (scene, _) = loaded.ready()?;
    if let Some(error) = refused {
        return Err(error);
    }
    for note in text::notes(&scene) {
        print_line(format_args!("{note}"));
    }
    let will = match warned {
        0 => "is valid".into(),
        n => format!("is valid, with {}", count(n, "warning")),
    };
    print_line(format_args!(
        "{} {will}: {}D, {} along the longest side, {}",
        arguments.scene.display(),
        scene.dimension(),
        count(scene.resolution(), "cell"),
        count(scene.frames(), "frame")
    ));
    Ok(())
}

/// Prints the estimate of a scene.
pub fn estimate(arguments: &CheckArguments) -> Result<(), Error> {
    let (scene, _) = loaded(arguments)?.ready()?;
    let estimate = estimate::of(&scene, arguments.changes.threads);
    if arguments.json {
        print_line(format_args!("{:#}", json!(estimate)));
        return Ok(());
    }
    let sides: Vec<String> = estimate.cells.iter().map(usize::to_string).collect();
    let lines = [
        ("domain", format!("{} cells", sides.join(" x "))),
        (
            "liquid",
            format!("about {}", count(estimate.liquid_cells, "cell")),
        ),
        (
            "particles",
            format!(
                "about {}, at most {}",
                estimate.particles, estimate.particles_most
            ),
        ),
        (
            "memory",
            format!(
                "about {}, at most {}",
                bytes(estimate.memory),
                bytes(estimate.memory_most)
            ),
        ),
        ("disk", format!("about {}", bytes(estimate.disk))),
        ("steps", format!("about {}", estimate.steps)),
        (
            "time",
            format!(
                "about {} with {}, {} of CPU time",
                duration(estimate.seconds),
                count(estimate.threads, "thread"),
                duration(estimate.cpu_seconds)
            ),
        ),
    ];
    for (what, much) in lines {
        print_line(format_args!("{what:10} {much}"));
    }
    if let Some(free) = estimate.memory_free
        && estimate.memory > free
    {
        print_line(format_args!(
            "This machine has {} of memory free: the scene does not fit.",
            bytes(free)
        ));
    }
    Ok(())
}

/// Writes a new scene file, with the meshes it needs.
pub fn init(arguments: &InitArguments) -> Result<(), Error> {
    let Some(scene) = builtin::text(&arguments.scene) else {
        return Err(builtin::unknown(&arguments.scene));
    };
    let path = arguments
        .out
        .clone()
        .unwrap_or_else(|| format!("{}.toml", arguments.scene).into());
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut files = vec![(
        path.clone(),
        text::starter(scene, &text::plain_name(&name)).into_bytes(),
    )];
    for (file, content) in builtin::assets_of(scene) {
        files.push((folder.join(file), content.to_vec()));
    }
    for (path, _) in &files {
        if path.exists() {
            return Err(
                Error::new(Kind::Storage, format!("{} already exists", path.display()))
                    .with_remedy("choose another name with --out FILE"),
            );
        }
    }
    for (path, content) in &files {
        meniscus_store::atomic_file::write(path, content)?;
        print_line(format_args!("wrote {}", path.display()));
    }
    print_line(format_args!(
        "Next: edit it, then `meniscus check {0}` and `meniscus run {0}`",
        quoted_path(&path)
    ));
    Ok(())
}

/// Prints the schema of scene files.
pub fn schema(arguments: &SchemaArguments) -> Result<(), Error> {
    if arguments.markdown {
        print_line(format_args!("{}", text::markdown().trim_end()));
    } else {
        print_line(format_args!("{:#}", text::schema()));
    }
    Ok(())
}

fn loaded(arguments: &CheckArguments) -> Result<Loaded, Error> {
    load(
        &arguments.scene,
        &arguments.changes.changes(),
        arguments.changes.allow_outside_files,
    )
}
