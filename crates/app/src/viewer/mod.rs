//! Browser viewer: a page served by a small local server, or one self-contained file.
//!
//! [`watched_run`] reads the folder of a run, [`wire`] is the encoding of particles and meshes, [`solids`] triangulates the
//! solids of a scene. [`server`] serves the page on `127.0.0.1` only; [`report`] puts the page and the
//! responses into one file. The page itself is in `web/page/`, embedded in the program.
//!
//! Resources, by `GET` only, with `I` the index of the run from 0:
//!
//! | path | response |
//! | --- | --- |
//! | `/`, `/page/NAME` | the page and its parts |
//! | `/runs` | `{"runs": N}` |
//! | `/run/I/about` | constant data: settings, scene, solids |
//! | `/run/I/now`, `/run/I/now?since=REVISION` | state, frames, poses of solids, statistics; only `{"same": true}` if unchanged |
//! | `/run/I/frame/N` | the particles of frame N, see [`wire`] |
//! | `/run/I/solid/K` | the mesh of solid K, see [`wire`] |
//!
//! The page also shows the surface of the liquid, if `now` lists the frames that have one as `surfaces`: it requests
//! `/run/I/surface/N`, a mesh like that of a solid.

mod http;
mod jsonl_tail;
mod occlusion_cull;
mod page;
pub mod report;
mod routes;
pub mod server;
pub mod solids;
pub mod watched_run;
pub mod wire;

pub use watched_run::Watched;
