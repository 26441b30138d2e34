//! `meniscus status` and `meniscus verify`.

use super::arguments::FolderArguments;
use super::output::print_line;
use crate::runner::status::Activity;
use crate::runner::{Status, status as read_status, verify as find_damage};
use meniscus_store::error::{Error, Kind};
use meniscus_store::quantity::{bytes, duration};
use serde_json::json;

/// Prints the state of a run.
pub fn status(arguments: &FolderArguments) -> Result<(), Error> {
    let status = read_status(&arguments.run)?;
    if arguments.json {
        print_line(format_args!("{:#}", json!(status)));
        return Ok(());
    }
    let lines = [
        ("scene", status.scene.clone()),
        ("state", state(&status)),
        (
            "frames",
            format!("{} of {}", status.frames_done, status.frames),
        ),
        ("steps", status.steps.to_string()),
        ("elapsed", duration(status.wall_seconds)),
        ("remaining", remaining(&status)),
        ("checkpoints", checkpoints(&status)),
        ("disk", bytes(status.disk_bytes)),
    ];
    for (what, words) in lines {
        print_line(format_args!("{what:11} {words}"));
    }
    for warning in &status.warnings {
        print_line(format_args!("warning     {}", warning.message));
        print_line(format_args!("            {}", warning.remedy));
    }
    for note in &status.notes {
        print_line(format_args!("note        {note}"));
    }
    if let Some(branch) = &status.branched_from {
        print_line(format_args!(
            "branch      of {}, after its frame {}",
            branch.run, branch.frame
        ));
    }
    if matches!(
        status.state,
        Activity::Interrupted | Activity::Killed | Activity::Failed
    ) {
        print_line(format_args!("Continue with: {}", status.resume));
    }
    Ok(())
}

fn state(status: &Status) -> String {
    match (status.state, status.process, &status.error) {
        (Activity::Done, ..) => "done".into(),
        (Activity::Running, Some(process), _) => format!("running, process {process}"),
        (Activity::Running, None, _) => "running".into(),
        (Activity::Interrupted, ..) => "interrupted".into(),
        (Activity::Killed, ..) => "killed: its process ended unexpectedly".into(),
        (Activity::Failed, _, Some(error)) => format!("failed: {error}"),
        (Activity::Failed, _, None) => "failed".into(),
    }
}

fn remaining(status: &Status) -> String {
    match (status.state, status.seconds_left) {
        (Activity::Done, _) => "nothing".into(),
        (_, Some(seconds)) => format!("about {}", duration(seconds)),
        (_, None) => "not known yet".into(),
    }
}

fn checkpoints(status: &Status) -> String {
    let frames: Vec<String> = status.checkpoints.iter().map(u32::to_string).collect();
    let after = match frames.len() {
        0 => "none".into(),
        1 => format!("after frame {}", frames[0]),
        _ => format!("after frames {}", frames.join(", ")),
    };
    if status.interrupted_checkpoint {
        format!("{after}, and at the interruption")
    } else {
        after
    }
}

/// Checks every file of a run for damage.
pub fn verify(arguments: &FolderArguments) -> Result<(), Error> {
    let findings = find_damage(&arguments.run)?;
    if arguments.json {
        let answer = json!({ "run": arguments.run, "findings": findings });
        print_line(format_args!("{answer:#}"));
    } else if findings.is_empty() {
        print_line(format_args!(
            "{}: all files are intact",
            arguments.run.display()
        ));
    }
    let Some(first) = findings.first() else {
        return Ok(());
    };
    if arguments.json {
        return Err(Error::silent(Kind::Storage));
    }
    let list: Vec<String> = findings
        .iter()
        .map(|finding| format!("{}: {}", finding.file.display(), finding.what))
        .collect();
    Err(Error::new(Kind::Storage, list.join("\n"))
        .with_remedy(format!("repair it with: {}", first.remedy)))
}
