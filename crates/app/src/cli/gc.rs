//! `meniscus gc`.

use super::arguments::GcArguments;
use super::output::print_line;
use crate::runner::gc::{self, Item, Reason};
use meniscus_store::error::Error;
use meniscus_store::quantity::bytes;
use serde_json::json;

/// Lists files that can be deleted, and deletes them with `--yes`.
pub fn gc(arguments: &GcArguments) -> Result<(), Error> {
    let items = if arguments.yes {
        gc::remove(&arguments.folder.run)?
    } else {
        gc::find(&arguments.folder.run)?
    };
    let all: u64 = items.iter().map(|item| item.bytes).sum();
    if arguments.folder.json {
        let answer = json!({ "removed": arguments.yes, "bytes": all, "files": items });
        print_line(format_args!("{answer:#}"));
        return Ok(());
    }
    for (reason, what) in [
        (
            Reason::Checkpoint,
            "checkpoints except the last; needed by --from-frame",
        ),
        (Reason::Surface, "surfaces, can be regenerated"),
        (Reason::Export, "exports, can be regenerated"),
        (Reason::Picture, "images and videos, can be rendered again"),
        (Reason::Failure, "problem of a failed step"),
        (Reason::Leftover, "incomplete files"),
    ] {
        let of_it: Vec<&Item> = items.iter().filter(|item| item.reason == reason).collect();
        if !of_it.is_empty() {
            let size: u64 = of_it.iter().map(|item| item.bytes).sum();
            let (count, size) = (of_it.len(), bytes(size));
            print_line(format_args!("{size:>10}  {count:>6} {what}"));
        }
    }
    match (items.is_empty(), arguments.yes) {
        (true, _) => print_line(format_args!("nothing to delete")),
        (false, true) => print_line(format_args!("deleted, {} freed", bytes(all))),
        (false, false) => print_line(format_args!(
            "{} can be deleted; nothing was deleted yet, add --yes to do it",
            bytes(all)
        )),
    }
    Ok(())
}
