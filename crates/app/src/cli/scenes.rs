//! Commands about scenes that simulate nothing.

use super::arguments::{CheckArguments, InitArguments, SchemaArguments};
use super::say::{remark, say};
use crate::error::{Error, Kind};
use crate::quantity::{bytes, count, duration};
use crate::run::estimate;
use crate::scene::builtin;
use crate::scene::text::{self, Loaded, load};
use serde_json::json;
use std::path::Path;

/// Lists the built-in scenes.
pub fn list() -> Result<(), Error> {
    let names = builtin::TEXTS.iter().map(|(name, _)| name.len());
    let widest = names.max().unwrap_or(0);
    for (name, _) in builtin::TEXTS {
        let scene = builtin::named(name)?;
        say(format_args!("{name:widest$}  {}", scene.summary()));
    }
    Ok(())
}

/// Says everything that is wrong with a scene.
pub fn check(arguments: &CheckArguments) -> Result<(), Error> {
    let loaded = loaded(arguments)?;
    if arguments.json {
        let lines: Vec<_> = loaded
            .problems
            .iter()
            .map(|problem| loaded.source.line(problem))
            .collect();
        let scene = loaded.scene.as_ref();
        let too_large = scene.and_then(|scene| estimate::check_any(scene, None).err());
        let answer = json!({
            "scene": arguments.scene.to_string_lossy(),
            "runs": scene.is_some(),
            "problems": lines,
            "memory": too_large.map(|error| error.to_string()),
        });
        say(format_args!("{answer:#}"));
        // All is said; only the exit code is left to tell.
        return loaded
            .ready()
            .map(|_| ())
            .map_err(|e| Error::silent(e.kind()));
    }
    let warnings = loaded.warnings();
    if !warnings.is_empty() {
        remark(&format!("{warnings}\n"));
    }
    let mut warned = loaded.problems.iter().filter(|p| !p.is_error()).count();
    let (scene, _) = loaded.ready()?;
    if let Err(too_large) = estimate::check_any(&scene, None) {
        remark(&format!("warning: {too_large}\n"));
        warned += 1;
    }
    let will = match warned {
        0 => "is in order".into(),
        n => format!("can be run, with {}", count(n, "warning")),
    };
    say(format_args!(
        "{} {will}: {}D, {} along the longest side, {}",
        arguments.scene.display(),
        scene.dimension(),
        count(scene.resolution(), "cell"),
        count(scene.frames(), "frame")
    ));
    Ok(())
}

/// Tells what a scene will take.
pub fn estimate(arguments: &CheckArguments) -> Result<(), Error> {
    let (scene, _) = loaded(arguments)?.ready()?;
    let estimate = estimate::of(&scene, arguments.changes.threads);
    if arguments.json {
        say(format_args!("{:#}", json!(estimate)));
        return Ok(());
    }
    let sides: Vec<String> = estimate.cells.iter().map(usize::to_string).collect();
    let lines = [
        ("domain", format!("{} cells", sides.join(" x "))),
        (
            "liquid",
            format!("{} at the most", count(estimate.liquid_cells, "cell")),
        ),
        ("particles", format!("{} at the most", estimate.particles)),
        ("memory", format!("about {}", bytes(estimate.memory))),
        ("disk", format!("about {}", bytes(estimate.disk))),
        ("steps", format!("about {}", estimate.steps)),
        (
            "time",
            format!(
                "roughly {} with {}",
                duration(estimate.seconds),
                count(estimate.threads, "thread")
            ),
        ),
    ];
    for (what, much) in lines {
        say(format_args!("{what:10} {much}"));
    }
    if let Some(free) = estimate.memory_free
        && estimate.memory > free
    {
        say(format_args!(
            "This machine has {} of memory free: the scene does not fit.",
            bytes(free)
        ));
    }
    Ok(())
}

/// Writes a scene file to start from, with the meshes it needs.
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
            return Err(Error::new(
                Kind::Storage,
                format!("{} is there already", path.display()),
            )
            .with_remedy("choose another name with --out FILE"));
        }
    }
    for (path, content) in &files {
        crate::whole_file::write(path, content)?;
        say(format_args!("wrote {}", path.display()));
    }
    say(format_args!(
        "Next: change it, then `meniscus check {0}` and `meniscus run {0}`",
        path.display()
    ));
    Ok(())
}

/// Prints the schema of scene files.
pub fn schema(arguments: &SchemaArguments) -> Result<(), Error> {
    if arguments.markdown {
        say(format_args!("{}", text::markdown().trim_end()));
    } else {
        say(format_args!("{:#}", text::schema()));
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
