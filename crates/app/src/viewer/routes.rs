//! Routes of the server. No part of a path is ever used as a file name.

use super::http::{Request, Response};
use super::page;
use super::watched_run::Watched;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

const JSON: &str = "application/json";
const BYTES: &str = "application/octet-stream";

/// Runs to serve, and the port.
#[derive(Debug)]
pub struct Site {
    runs: Vec<Mutex<Arc<Watched>>>,
    port: u16,
}

impl Site {
    /// Creates a site of these runs.
    pub fn new(runs: Vec<Watched>, port: u16) -> Self {
        let shared = |run| Mutex::new(Arc::new(run));
        Site {
            runs: runs.into_iter().map(shared).collect(),
            port,
        }
    }

    /// Response to a request.
    pub fn answer(&self, request: &Request) -> Response {
        // Defence against DNS rebinding: a foreign page that resolves to this machine sends another host.
        if !self.is_ours(&request.host) {
            return Response::refusal(403, "this server answers to 127.0.0.1 and localhost only");
        }
        if request.method != "GET" {
            return Response::refusal(405, "only GET is supported");
        }
        let (path, query) = match request.target.split_once('?') {
            Some((path, query)) => (path, query),
            None => (request.target.as_str(), ""),
        };
        let Some(inner) = path.strip_prefix('/') else {
            return not_found();
        };
        let words: Vec<&str> = inner.split('/').collect();
        match words.as_slice() {
            [""] => page::part("index.html").map_or_else(not_found, page::Part::response),
            ["page", name] => page::part(name).map_or_else(not_found, page::Part::response),
            ["runs"] => of_json(&json!({ "runs": self.runs.len() })),
            ["run", run, rest @ ..] => match number(run).and_then(|run| self.run(run)) {
                Some(run) => of_run(&run, rest, query),
                None => not_found(),
            },
            _ => not_found(),
        }
    }

    fn is_ours(&self, host: &str) -> bool {
        ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| {
            host.strip_prefix(name)
                .and_then(|port| port.strip_prefix(':'))
                .is_some_and(|port| port == self.port.to_string())
        })
    }

    /// Run in its current state, reopened if it was replaced by another one.
    fn run(&self, index: u32) -> Option<Arc<Watched>> {
        let slot = self.runs.get(index as usize)?;
        let run = slot.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if run.is_current() {
            return Some(run);
        }
        match run.again() {
            Ok(new) => {
                let new = Arc::new(new);
                *slot.lock().unwrap_or_else(PoisonError::into_inner) = new.clone();
                Some(new)
            }
            // It is being replaced right now.
            Err(_) => Some(run),
        }
    }
}

fn of_run(run: &Watched, rest: &[&str], query: &str) -> Response {
    match rest {
        ["about"] => of_json(&run.about()),
        ["now"] => of_json(&since_revision(run.now(), query.strip_prefix("since="))),
        ["frame", frame] => match number(frame) {
            Some(frame) if run.frames().is_ok_and(|frames| frames.contains(&frame)) => {
                match run.particles(frame, 1) {
                    Ok(bytes) => Response::of(BYTES, bytes),
                    Err(error) => Response::refusal(500, error.to_string()),
                }
            }
            _ => not_found(),
        },
        ["surface", frame] => match number(frame) {
            Some(frame) if run.surfaces().contains(&frame) => match run.surface(frame) {
                Ok(mesh) => Response::of(BYTES, mesh.encode()),
                Err(error) => Response::refusal(500, error.to_string()),
            },
            _ => not_found(),
        },
        ["cloth", piece, frame] => match (number(piece), number(frame)) {
            (Some(piece), Some(frame))
                if (piece as usize) < run.cloth_count()
                    && run.frames().is_ok_and(|frames| frames.contains(&frame)) =>
            {
                match run.cloth(piece as usize, frame) {
                    Ok(mesh) => Response::of(BYTES, mesh.encode()),
                    Err(error) => Response::refusal(500, error.to_string()),
                }
            }
            _ => not_found(),
        },
        ["solid", solid] => match number(solid).and_then(|k| run.solids().get(k as usize)) {
            Some(solid) => Response::of(BYTES, solid.mesh.encode()),
            None => not_found(),
        },
        _ => not_found(),
    }
}

/// The same with its revision, or only that nothing changed.
fn since_revision(mut now: Value, since: Option<&str>) -> Value {
    let revision = blake3::hash(now.to_string().as_bytes()).to_hex()[..16].to_string();
    if since == Some(&revision) {
        return json!({ "same": true });
    }
    now["revision"] = revision.into();
    now
}

/// Index of a run, frame or solid: digits only.
fn number(word: &str) -> Option<u32> {
    let plain = (1..=9).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit());
    if plain { word.parse().ok() } else { None }
}

fn of_json(value: &Value) -> Response {
    Response::of(JSON, value.to_string())
}

fn not_found() -> Response {
    Response::refusal(404, "not found")
}
