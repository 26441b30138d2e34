//! `meniscus gc`.

use super::arguments::GcArguments;
use super::output::say;
use crate::runner::gc::{self, Item, Reason};
use meniscus_store::error::Error;
use meniscus_store::quantity::bytes;
use serde_json::json;

/// Says what can go, and removes it if that was asked for.
pub fn gc(arguments: &GcArguments) -> Result<(), Error> {
    let items = if arguments.yes {
        gc::remove(&arguments.run)?
    } else {
        gc::find(&arguments.run)?
    };
    let all: u64 = items.iter().map(|item| item.bytes).sum();
    if arguments.json {
        let answer = json!({ "removed": arguments.yes, "bytes": all, "files": items });
        say(format_args!("{answer:#}"));
        return Ok(());
    }
    for (reason, what) in [
        (
            Reason::Checkpoint,
            "checkpoints but the last; --from-frame needs them",
        ),
        (Reason::Surface, "surfaces, which can be made again"),
        (Reason::Export, "exports, which can be made again"),
        (
            Reason::Picture,
            "pictures and films, which can be drawn again",
        ),
        (Reason::Failure, "the problem of a step that failed"),
        (Reason::Leftover, "files that were never finished"),
    ] {
        let of_it: Vec<&Item> = items.iter().filter(|item| item.reason == reason).collect();
        if !of_it.is_empty() {
            let size: u64 = of_it.iter().map(|item| item.bytes).sum();
            let (count, size) = (of_it.len(), bytes(size));
            say(format_args!("{size:>10}  {count:>6} {what}"));
        }
    }
    match (items.is_empty(), arguments.yes) {
        (true, _) => say(format_args!("nothing can go")),
        (false, true) => say(format_args!("removed, {} are free again", bytes(all))),
        (false, false) => say(format_args!(
            "{} can go; nothing was removed: --yes does it",
            bytes(all)
        )),
    }
    Ok(())
}
