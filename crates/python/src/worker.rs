//! Computations on a thread of their own, which the thread of the caller can leave at any time.
//!
//! The caller's thread releases the interpreter's lock, wakes up a few times per second to check for signals, and executes
//! what the computation asks for (callbacks, products with a Python operator), so that an exception comes out where the call
//! was made. After a signal or an exception the computation is asked to stop. It may be in the middle of a factorisation, so
//! the caller waits for it only briefly; it then ends by itself, and nobody receives its result.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::pool;

/// Time between two checks for signals.
const POLL: Duration = Duration::from_millis(25);
/// Time that a computation gets to stop after a signal before the caller leaves it.
const GRACE: Duration = Duration::from_millis(100);

/// Message of a computation to the thread of the caller.
enum Message<Q, T> {
    Request(Q),
    Done(std::thread::Result<T>),
}

/// The computation's end of the connection to the thread of the caller.
pub struct Link<Q, A> {
    ask: Box<dyn Fn(Q) -> bool + Send + Sync>,
    answers: Mutex<Receiver<A>>,
    stop: Arc<AtomicBool>,
}

impl<Q, A> Link<Q, A> {
    /// Whether the caller asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Flag that is set when the caller asks to stop.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Has the thread of the caller execute a request, and waits for its answer; none if the caller has left.
    pub fn ask(&self, request: Q) -> Option<A> {
        if self.is_stopped() || !(self.ask)(request) {
            return None;
        }
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.recv().ok()
    }

    /// Tells the thread of the caller something that needs no answer.
    pub fn tell(&self, request: Q) {
        let _ = (self.ask)(request);
    }
}

/// Executes a computation on a thread of its own and its requests on this one.
///
/// # Errors
/// A signal's exception, that of a request, or a panic of the computation as `RuntimeError`.
pub fn supervise<T, Q, A>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce(&Link<Q, A>) -> T + Send + 'static,
    mut execute: impl FnMut(Python<'_>, Q) -> PyResult<Option<A>>,
) -> PyResult<T>
where
    T: Send + 'static,
    Q: Send + 'static,
    A: Send + 'static,
{
    let pool = pool::pool(threads)?;
    let (messages, inbox) = channel::<Message<Q, T>>();
    let (replies, answers) = channel::<A>();
    let stop = Arc::new(AtomicBool::new(false));
    let requests = messages.clone();
    let link = Link {
        ask: Box::new(move |request| requests.send(Message::Request(request)).is_ok()),
        answers: Mutex::new(answers),
        stop: Arc::clone(&stop),
    };
    let body = move || {
        let result = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(&link))));
        // The caller may have left.
        let _ = messages.send(Message::Done(result));
    };
    std::thread::Builder::new()
        .name("meniscus".into())
        .spawn(body)
        .map_err(|e| PyRuntimeError::new_err(format!("could not start a thread: {e}")))?;
    match attend(py, inbox, &replies, &mut execute) {
        Ok(value) => Ok(value),
        Err((inbox, exception)) => {
            stop.store(true, Ordering::Relaxed);
            // A computation that waits for an answer sees that none will come.
            drop(replies);
            py.detach(move || wait_for_end(&inbox));
            Err(exception)
        }
    }
}

/// Executes a short computation on the thread of the caller.
///
/// # Errors
/// A panic of the computation as `RuntimeError`.
pub fn guarded<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panicked(&*panic))
}

/// Executes requests until the computation is done. After an exception the inbox is returned with it.
fn attend<T: Send, Q: Send, A: Send>(
    py: Python<'_>,
    mut inbox: Receiver<Message<Q, T>>,
    replies: &Sender<A>,
    execute: &mut impl FnMut(Python<'_>, Q) -> PyResult<Option<A>>,
) -> Result<T, (Receiver<Message<Q, T>>, PyErr)> {
    loop {
        let next;
        (inbox, next) = py.detach(move || {
            let next = inbox.recv_timeout(POLL);
            (inbox, next)
        });
        match next {
            Ok(Message::Request(request)) => match execute(py, request) {
                Ok(Some(answer)) => drop(replies.send(answer)),
                Ok(None) => {}
                Err(exception) => return Err((inbox, exception)),
            },
            Ok(Message::Done(Ok(value))) => return Ok(value),
            Ok(Message::Done(Err(panic))) => return Err((inbox, panicked(&*panic))),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let exception = PyRuntimeError::new_err("the computation ended without a result");
                return Err((inbox, exception));
            }
        }
        if let Err(exception) = py.check_signals() {
            return Err((inbox, exception));
        }
    }
}

/// Waits briefly for the end of a computation that was asked to stop.
fn wait_for_end<T, Q>(inbox: &Receiver<Message<Q, T>>) {
    let until = std::time::Instant::now() + GRACE;
    loop {
        let left = until.saturating_duration_since(std::time::Instant::now());
        match inbox.recv_timeout(left) {
            Ok(Message::Request(_)) => {}
            Ok(Message::Done(_)) | Err(_) => return,
        }
    }
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> PyErr {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    PyRuntimeError::new_err(format!("internal error: {text}"))
}
