//! Measurements of the machine and of this process. `None` where the operating system does not provide one; Linux provides all.

use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};
use std::fs::read_to_string;
use std::path::Path;
use std::time::Instant;

/// Point in time by three clocks.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    wall: Instant,
    cpu: ProcessTime,
    /// Seconds that the calling thread has waited for a core since it was started.
    waited: f64,
}

/// Seconds between two points in time.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Span {
    /// CPU time of all threads of the process.
    pub cpu: f64,
    /// Wall-clock time.
    pub wall: f64,
    /// On the wall, less those that the calling thread was ready to run and had no core because others used it. On an
    /// idle machine the same as `wall`.
    pub own: f64,
}

impl Moment {
    /// The current time, measured by the calling thread.
    pub fn now() -> Self {
        Moment {
            wall: Instant::now(),
            cpu: ProcessTime::now(),
            waited: waited_for_a_core().unwrap_or(0.0),
        }
    }

    /// Time elapsed since `earlier`, which must have been taken by the same thread.
    pub fn since(&self, earlier: &Moment) -> Span {
        let wall = (self.wall - earlier.wall).as_secs_f64();
        Span {
            cpu: self.cpu.duration_since(earlier.cpu).as_secs_f64(),
            wall,
            own: (wall - (self.waited - earlier.waited)).max(0.0),
        }
    }
}

impl std::ops::AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        self.cpu += other.cpu;
        self.wall += other.wall;
        self.own += other.own;
    }
}

/// Peak memory of this process, in bytes.
pub fn peak_memory() -> Option<u64> {
    let status = read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Number of cores and architecture.
pub fn description() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kind = std::env::consts::ARCH.replace('_', "-");
    format!("{cores} core{}, {kind}", if cores == 1 { "" } else { "s" })
}

/// Sentence about the machine and its load when a study began.
pub fn sentence(load: Option<f64>) -> String {
    let busy = load.map_or(String::new(), |load| {
        format!(" Load of the machine when it began, other work included: {load:.1}.")
    });
    format!("Machine: {}.{busy}", description())
}

/// Load average over the last minute.
pub fn load() -> Option<f64> {
    let text = read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Seconds that threads of this process were ready to run and had no core, summed over all of them.
pub fn waited_by_all_threads() -> Option<f64> {
    let threads = std::fs::read_dir("/proc/self/task").ok()?;
    // One that ends in the meantime is left out.
    let waited = threads.filter_map(|thread| waited_in(&thread.ok()?.path().join("schedstat")));
    Some(waited.sum())
}

fn waited_for_a_core() -> Option<f64> {
    waited_in(Path::new("/proc/thread-self/schedstat"))
}

/// The second number of the scheduler's statistics, in nanoseconds there.
fn waited_in(statistics: &Path) -> Option<f64> {
    let text = read_to_string(statistics).ok()?;
    let nanoseconds: f64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(nanoseconds * 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::time::Duration;

    #[test]
    fn a_span_has_the_cpu_time_of_work_and_the_wall_clock_of_a_sleep() {
        let start = Moment::now();
        while Moment::now().since(&start).cpu < 0.02 {
            black_box((0..1000).sum::<u64>());
        }
        let worked = Moment::now();
        assert!(worked.since(&start).wall >= 0.01);
        std::thread::sleep(Duration::from_millis(20));
        let slept = Moment::now().since(&worked);
        assert!(slept.wall >= 0.02 && slept.own <= slept.wall, "{slept:?}");
    }

    #[test]
    fn peak_memory_never_falls() {
        let Some(before) = peak_memory() else { return };
        drop(black_box(vec![1_u8; 1 << 24]));
        let after = peak_memory().unwrap();
        assert!(before > 0 && after >= before, "{before} then {after}");
    }

    #[test]
    fn all_threads_have_waited_as_long_as_this_one_or_longer() {
        let Some(own) = waited_for_a_core() else {
            return;
        };
        let all = waited_by_all_threads().unwrap();
        assert!(all >= own, "{all} < {own}");
    }

    #[test]
    fn the_machine_is_described_by_cores_and_kind() {
        let words = description();
        assert!(words.contains("core") && words.contains(','), "{words}");
        assert!(!words.contains('_'), "{words}");
    }
}
