//! Keeping threads awake through work that is handed out in small pieces.
//!
//! A thread of rayon that finds nothing to do for a moment goes to sleep, and waking it takes longer than a sweep over a small
//! grid: then nobody gains by sharing. While [`awake`] lasts the other threads look for work instead, and give way
//! to other programs between two looks.

use std::sync::atomic::{AtomicBool, Ordering};

/// Looks in vain before the core is offered to other programs.
const LOOKS: u32 = 64;

/// Does the work while the other threads of the pool wait for parts of it without falling asleep.
pub(crate) fn awake<R>(work: impl FnOnce() -> R) -> R {
    if rayon::current_num_threads() == 1 {
        return work();
    }
    let done = AtomicBool::new(false);
    rayon::in_place_scope(|scope| {
        let own = rayon::current_thread_index();
        let done = &done;
        scope.spawn_broadcast(move |_, helper| {
            // This thread too gets its turn, while it waits for a part: it must not wait for itself.
            if Some(helper.index()) != own {
                look_for_work(done);
            }
        });
        // Also if the work panics: the scope waits for its threads.
        let _end = SetAtEnd(done);
        work()
    })
}

fn look_for_work(done: &AtomicBool) {
    let mut in_vain = 0;
    while !done.load(Ordering::Acquire) {
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

struct SetAtEnd<'a>(&'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
