//! The keys of a scene file that limit a run.

use super::grammar::Absent::Default;
use super::grammar::{Key, Kind, Range, Table};
use crate::OnDrift;

/// Limits of a run.
pub static RUN: Table = Table {
    title: "limits of a run",
    about: "What a run does when the simulation loses or gains liquid. The drift is the volume of the liquid, with that in \
            sheets and drops thinner than a cell, over what should be there, less one; it is judged at every frame. No \
            particle depends on these keys: a run can be resumed with others.",
    keys: &[
        Key {
            name: "max_drift",
            kind: Kind::Number(Range::between(0.0, 1.0), ""),
            absent: Default("0.05"),
            about: "Drift of the volume, as a share, above which a run warns and names the likely cause.",
            example: "0.02",
        },
        Key {
            name: "on_drift",
            kind: Kind::Word(OnDrift::WORDS),
            absent: Default("\"stop\""),
            about: "What happens when the drift exceeds 0.3, or `max_drift` if that is larger: `stop` ends the run with exit \
                    code 5 and keeps its frames and a checkpoint, `warn` continues.",
            example: "\"warn\"",
        },
    ],
    one_of: &[],
};
