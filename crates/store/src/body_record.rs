//! Records of a run of rigid bodies in its manifest: contacts that were not solved to their tolerance, and bodies that left
//! the domain.

use crate::quantity::{count, plural};
use serde::{Deserialize, Serialize};

/// Bodies that a sentence names before it counts the others.
const NAMED: usize = 5;

/// Steps whose contact problem was not solved to its tolerance.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct UnsolvedContacts {
    /// Number of such steps.
    pub steps: u64,
    /// Number of those with a residual above `limit`.
    pub visible_steps: u64,
    /// First frame with a residual above `limit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_frame: Option<u32>,
    /// Frame with the largest residual.
    pub frame: u32,
    /// The largest residual, in m/s.
    pub residual: f64,
    /// Residual in m/s above which errors become visible.
    pub limit: f64,
    /// Remedy.
    pub remedy: String,
}

impl UnsolvedContacts {
    /// Adds a step on the way to `frame` that ended with this residual; whether it is the first one above the limit.
    pub fn add(&mut self, frame: u32, residual: f64) -> bool {
        self.steps += 1;
        if self.steps == 1 || residual > self.residual {
            (self.frame, self.residual) = (frame, residual);
        }
        let visible = residual > self.limit;
        if visible {
            self.visible_steps += 1;
            self.first_frame.get_or_insert(frame);
        }
        visible && self.visible_steps == 1
    }

    /// Whether a residual was above the limit.
    pub fn is_visible(&self) -> bool {
        self.visible_steps > 0
    }

    /// The record in a sentence.
    pub fn message(&self) -> String {
        let largest = format!(
            "the largest residual is {:.1e} m/s at frame {}",
            self.residual, self.frame
        );
        match self.first_frame {
            Some(first) => format!(
                "contacts were not solved accurately in {}, first at frame {first}: bodies may sink, creep or slide; {largest} (limit \
                 {:.1e} m/s)",
                count(self.visible_steps, "step"),
                self.limit
            ),
            None => format!(
                "contacts of {} were not solved to tolerance: {largest}, too small to be visible",
                count(self.steps, "step")
            ),
        }
    }
}

/// A body that left the domain and was removed.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct LeftBody {
    /// Name of the body.
    pub name: String,
    /// First frame without it.
    pub frame: u32,
    /// Time of the removal, in seconds.
    pub time: f64,
}

impl LeftBody {
    /// The record in a sentence.
    pub fn message(&self) -> String {
        format!(
            "body \"{}\" left the domain at {:.4} s and was removed; frame {} is the first without it",
            self.name, self.time, self.frame
        )
    }
}

/// All bodies that left the domain in a sentence; nothing if there are none.
pub fn left_in_words(left: &[LeftBody]) -> Option<String> {
    let [only] = left else {
        let named: Vec<String> = (left.iter().take(NAMED))
            .map(|body| format!("\"{}\" (frame {})", body.name, body.frame))
            .collect();
        let others = match left.len().saturating_sub(NAMED) {
            0 => String::new(),
            n => format!(" and {}", count(n, "other")),
        };
        let listed = named.join(", ");
        return (!left.is_empty()).then(|| {
            format!(
                "{} left the domain and were removed: {listed}{others}",
                plural(left.len(), "body", "bodies")
            )
        });
    };
    Some(only.message())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing() -> UnsolvedContacts {
        UnsolvedContacts {
            steps: 0,
            visible_steps: 0,
            first_frame: None,
            frame: 0,
            residual: 0.0,
            limit: 1e-3,
            remedy: "raise contact.max_iterations".into(),
        }
    }

    #[test]
    fn small_residuals_are_counted_and_only_large_ones_are_visible() {
        let mut record = nothing();
        assert!(!record.add(3, 1e-5) && !record.add(4, 1e-6));
        assert!(!record.is_visible());
        assert!(record.message().contains("2 steps were not solved"));
        assert!(record.message().contains("1.0e-5 m/s at frame 3"));
        assert!(record.add(5, 2e-3) && !record.add(6, 5e-3) && !record.add(7, 1e-3));
        assert_eq!((record.steps, record.visible_steps), (5, 2));
        assert_eq!((record.first_frame, record.frame), (Some(5), 6));
        let message = record.message();
        assert!(message.contains("2 steps, first at frame 5"), "{message}");
        assert!(message.contains("5.0e-3 m/s at frame 6"), "{message}");
    }

    #[test]
    fn bodies_that_left_are_named_and_many_are_counted() {
        let left = |k: u32| LeftBody {
            name: format!("ball {k}"),
            frame: k,
            time: 0.5,
        };
        assert_eq!(left_in_words(&[]), None);
        let one = left_in_words(&[left(3)]).unwrap();
        assert!(one.contains("\"ball 3\" left the domain at 0.5000 s"));
        let many: Vec<LeftBody> = (1..=8).map(left).collect();
        let words = left_in_words(&many).unwrap();
        assert!(words.starts_with("8 bodies left"), "{words}");
        assert!(words.contains("\"ball 5\" (frame 5) and 3 others"));
    }
}
