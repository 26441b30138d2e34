//! Spinning thread pool: threads that stay awake through work that is handed out in small pieces. Opt-in.
//!
//! A thread of rayon that finds no work for a moment goes to sleep, and waking it takes longer than a sweep over a small
//! grid, so that sharing small pieces gains nothing. During [`spin_if`] the other threads of the caller's pool poll for work
//! instead, and yield to other programs in between. Steps and solves don't do that by themselves: it takes the processors of
//! the whole pool, and only the caller knows whether they are free.
//!
//! A thread that polls until the work is done must not itself be in the middle of a part of that work, or both would wait for
//! each other. A thread of rayon that waits for a part takes up whatever else it finds, the polling included. So there is a
//! gate: a thread that arrives before the work begins can hold no part of it and stays, one that arrives later leaves at once.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Looks in vain before the core is offered to other programs.
const LOOKS: u32 = 64;
/// How often the core is offered to others while threads wake up: about a tenth of a millisecond.
const WAITS: u32 = 200;
/// Set once the work has begun.
const CLOSED: usize = 1 << (usize::BITS - 1);

thread_local! {
    /// Whether this thread keeps others awake already.
    static KEEPS: Cell<bool> = const { Cell::new(false) };
}

/// Runs the work. If it `is_shared`, the other threads of the caller's pool poll for parts of it meanwhile.
pub fn spin_if<R>(is_shared: bool, work: impl FnOnce() -> R) -> R {
    let threads = rayon::current_num_threads();
    if !is_shared || threads == 1 || KEEPS.get() {
        return work();
    }
    let watch = Arc::new(Watch::default());
    let own = rayon::current_thread_index();
    let helpers = threads - usize::from(own.is_some());
    let theirs = Arc::clone(&watch);
    rayon::spawn_broadcast(move |helper| {
        // This thread too gets its turn, while it waits for a part: it must not wait for itself.
        if Some(helper.index()) != own {
            theirs.look_for_work();
        }
    });
    watch.begin(helpers);
    // Also if the work panics: nobody may look for ever.
    let _end = End(&watch);
    KEEPS.set(true);
    work()
}

#[derive(Default)]
struct Watch {
    /// How many came, and whether the door is closed.
    came: AtomicUsize,
    done: AtomicBool,
}

impl Watch {
    /// Gives the helpers a moment to come, then closes the door.
    fn begin(&self, helpers: usize) {
        for _ in 0..WAITS {
            if self.came.load(Ordering::Acquire) == helpers {
                break;
            }
            std::thread::yield_now();
        }
        self.came.fetch_or(CLOSED, Ordering::AcqRel);
    }

    fn look_for_work(&self) {
        if self.came.fetch_add(1, Ordering::AcqRel) & CLOSED != 0 {
            return;
        }
        let mut in_vain = 0;
        while !self.done.load(Ordering::Acquire) {
            match rayon::yield_now() {
                Some(rayon::Yield::Executed) => in_vain = 0,
                _ if in_vain < LOOKS => {
                    in_vain += 1;
                    std::hint::spin_loop();
                }
                _ => {
                    in_vain = 0;
                    std::thread::yield_now();
                }
            }
        }
    }
}

struct End<'a>(&'a Watch);

impl Drop for End<'_> {
    fn drop(&mut self) {
        KEEPS.set(false);
        self.0.done.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    fn pool(threads: usize) -> rayon::ThreadPool {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().expect("threads")
    }

    /// Parts of parts, so that threads wait for each other all the time.
    fn sum(n: u64) -> u64 {
        let parts = (0..n as usize).into_par_iter().with_max_len(1);
        parts
            .map(|k| {
                (0..64usize)
                    .into_par_iter()
                    .map(|i| (i * k) as u64)
                    .sum::<u64>()
            })
            .sum()
    }

    /// A thread that takes up the looking around in the middle of a part waits for itself: this hung after some ten thousand rounds.
    #[test]
    fn work_that_begins_while_others_are_busy_ends() {
        for threads in [2, 3] {
            pool(threads).install(|| {
                for round in 0..20_000 {
                    let n = 4 + round % 13;
                    let expected = 2016 * n * (n - 1) / 2;
                    assert_eq!(sum(n), expected);
                    assert_eq!(spin_if(true, || sum(n)), expected);
                }
            });
        }
    }

    #[test]
    fn many_may_keep_each_other_awake_at_once_and_within_one_another() {
        pool(4).install(|| {
            let sums: Vec<u64> = (0..200usize)
                .into_par_iter()
                .with_max_len(1)
                .map(|k| spin_if(true, || sum(k as u64 % 7) + spin_if(true, || sum(5))))
                .collect();
            for (k, found) in sums.into_iter().enumerate() {
                let n = k as u64 % 7;
                assert_eq!(found, 2016 * (n * n.saturating_sub(1) / 2 + 10));
            }
        });
        // From outside of any pool, too.
        assert_eq!(spin_if(true, || sum(3)), 2016 * 3);
    }

    #[test]
    fn a_panic_lets_the_others_go() {
        let pool = pool(3);
        let fault = || pool.install(|| spin_if(true, || panic!("on purpose")));
        let fault = std::panic::catch_unwind(std::panic::AssertUnwindSafe(fault));
        assert!(fault.is_err());
        // Would wait for ever for threads that still look.
        assert_eq!(pool.broadcast(|_| 1).len(), 3);
        assert_eq!(pool.install(|| spin_if(true, || sum(4))), 2016 * 6);
    }
}
