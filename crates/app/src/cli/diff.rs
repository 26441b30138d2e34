//! `meniscus diff`.

use super::arguments::DiffArguments;
use super::output::print_line;
use crate::runner::diff::{Difference, FrameDifference, diff as compare};
use meniscus_store::error::{Error, Kind};
use meniscus_store::quantity::count;
use serde_json::json;

/// Statistics fields that are printed.
const MOST_FIELDS: usize = 12;

/// Prints the differences between two runs.
pub fn diff(arguments: &DiffArguments) -> Result<(), Error> {
    let difference = compare(&arguments.first, &arguments.second)?;
    let same = difference.is_none();
    if arguments.json {
        let answer = json!({ "same": same, "difference": difference });
        print_line(format_args!("{answer:#}"));
    } else if same {
        print_line(format_args!("the runs are equal"));
    } else {
        print_result(&difference);
    }
    if same {
        Ok(())
    } else {
        Err(Error::silent(Kind::Difference))
    }
}

fn print_result(difference: &Difference) {
    if let Some([first, second]) = &difference.version {
        print_line(format_args!("version     {first} and {second}"));
    }
    for key in &difference.scene {
        let words = |value: &Option<String>| value.clone().unwrap_or("nothing".into());
        let (first, second) = (words(&key.first), words(&key.second));
        print_line(format_args!(
            "scene       {}: {first} and {second}",
            key.key
        ));
    }
    let [first, second] = difference.steps;
    if first != second {
        print_line(format_args!("steps       {first} and {second}"));
    }
    if let Some(step) = &difference.first_step {
        let frame = step
            .frame
            .map_or(String::new(), |f| format!(", towards frame {f}"));
        print_line(format_args!(
            "statistics  differ from step {} on{frame}:",
            step.step
        ));
        for field in step.fields.iter().take(MOST_FIELDS) {
            let by = field.by.map_or(String::new(), |by| format!(" ({by:+.3e})"));
            print_line(format_args!(
                "              {}: {} and {}{by}",
                field.field, field.first, field.second
            ));
        }
    }
    for (which, frames) in ["first", "second"].iter().zip(&difference.frames_alone) {
        if let (Some(low), Some(high)) = (frames.first(), frames.last()) {
            let many = frames.len();
            print_line(format_args!(
                "frames      {many} only in the {which} ({low} to {high})"
            ));
        }
    }
    if let Some(first) = &difference.first_frame {
        let many = difference.frames_different;
        print_line(format_args!(
            "frames      {many} differ, the first is {}",
            frame(first)
        ));
    }
    if let Some(farthest) = &difference.farthest_frame {
        print_line(format_args!(
            "            the largest difference is in {}",
            frame(farthest)
        ));
    }
}

fn frame(difference: &FrameDifference) -> String {
    let [first, second] = difference.particles;
    let particles = match first == second {
        true => count(first, "particle"),
        false => format!("{first} and {}", count(second, "particle")),
    };
    let apart = difference
        .distance
        .map_or("not comparable".into(), |metres| {
            format!("{metres:.3e} m apart")
        });
    format!("frame {}: {apart}, {particles}", difference.frame)
}
