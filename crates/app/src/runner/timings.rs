//! `timings.jsonl`: seconds per phase of every step. The only place where a run reads the clock.

use meniscus_sim::Phases;
use serde_json::{Map, Value, json};
use std::time::Instant;

/// Phase of writing files, counted in the line after it.
pub const WRITE: &str = "write";
/// Phase of surface reconstruction.
pub const SURFACE: &str = "mesh";
/// Phase of rendering.
pub const PREVIEW: &str = "preview";

/// Stopwatch of the phases of a run.
#[derive(Debug)]
pub struct Stopwatch {
    started: Instant,
    current: &'static str,
    seconds: Vec<(&'static str, f64)>,
}

impl Stopwatch {
    /// Starts measuring.
    pub fn start() -> Self {
        Stopwatch {
            started: Instant::now(),
            current: "",
            seconds: Vec::new(),
        }
    }

    /// Line of a step: its frame, its time, the seconds of each phase since the line before and their
    /// sum.
    pub fn line(&mut self, frame: u32, time: f64) -> Value {
        self.begin("");
        let total: f64 = self.seconds.iter().map(|(_, s)| s).sum();
        let phases: Map<String, Value> = self
            .seconds
            .iter()
            .map(|&(phase, s)| (phase.into(), json!(s)))
            .collect();
        self.seconds.clear();
        json!({ "frame": frame, "time": time, "seconds": total, "phases": phases })
    }
}

impl Phases for Stopwatch {
    fn begin(&mut self, phase: &'static str) {
        let now = Instant::now();
        let passed = (now - self.started).as_secs_f64();
        if !self.current.is_empty() {
            // A repeated phase, as in a step that is retried, accumulates.
            match self
                .seconds
                .iter_mut()
                .find(|(name, _)| *name == self.current)
            {
                Some((_, seconds)) => *seconds += passed,
                None => self.seconds.push((self.current, passed)),
            }
        }
        self.started = now;
        self.current = phase;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_phase_has_one_entry() {
        let mut watch = Stopwatch::start();
        for phase in ["weights", "solve", "weights", "solve", "apply", ""] {
            watch.begin(phase);
        }
        let line = watch.line(3, 0.5);
        let phases = line["phases"].as_object().unwrap();
        assert_eq!(phases.len(), 3);
        let sum: f64 = phases.values().map(|s| s.as_f64().unwrap()).sum();
        assert!((line["seconds"].as_f64().unwrap() - sum).abs() < 1e-12);
        assert_eq!(line["frame"], 3);
        watch.begin(WRITE);
        let next = watch.line(4, 0.6);
        let phases = next["phases"].as_object().unwrap();
        assert_eq!(phases.keys().collect::<Vec<_>>(), [WRITE]);
    }
}
