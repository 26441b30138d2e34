//! Thread pools of computations.
//!
//! The pool of the process is not rayon's global one: the threads of a pool do not survive a `fork`, and a child that
//! waited for them would hang. A child makes its own.

use std::sync::{Arc, Mutex};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Largest number of threads that is accepted.
const MOST_THREADS: usize = 1024;

/// Pool with one thread per core, and the process that it belongs to.
static SHARED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// A pool with a number of threads. Default: one per core.
///
/// # Errors
/// `ValueError` if the number is out of range, `RuntimeError` if the threads can't be started.
pub fn pool(threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    if let Some(threads) = threads {
        if !(1..=MOST_THREADS).contains(&threads) {
            let message = format!("threads must be from 1 to {MOST_THREADS}, not {threads}");
            return Err(PyValueError::new_err(message));
        }
        return build(threads);
    }
    // The lock may have been held by another thread when the process was forked.
    let Ok(mut shared) = SHARED.try_lock() else {
        return build(0);
    };
    let process = std::process::id();
    if let Some((owner, pool)) = shared.take() {
        if owner == process {
            let same = Arc::clone(&pool);
            *shared = Some((owner, pool));
            return Ok(same);
        }
        // Its threads do not exist in this process: dropping it would wait for them.
        std::mem::forget(pool);
    }
    let pool = build(0)?;
    *shared = Some((process, Arc::clone(&pool)));
    Ok(pool)
}

fn build(threads: usize) -> PyResult<Arc<ThreadPool>> {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|k| format!("meniscus-{k}"))
        .build()
        .map(Arc::new)
        .map_err(|e| PyRuntimeError::new_err(format!("could not start the threads: {e}")))
}
