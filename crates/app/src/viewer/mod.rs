//! Runs in a browser: a page that a small server on this machine feeds, or one file that holds everything.
//!
//! [`watched`] looks at the folder of a run, [`wire`] is what particles and meshes are sent as, [`solids`] turns the solids
//! of a scene into meshes. [`server`] answers the page at `127.0.0.1` and nowhere else; [`report`] puts the same page and the
//! same answers into one file. The page itself is in `web/page/`, and is part of the program.
//!
//! What can be asked for, by `GET` alone, with `I` the number of the run from 0:
//!
//! | path | answer |
//! | --- | --- |
//! | `/`, `/page/NAME` | the page and its parts |
//! | `/runs` | `{"runs": N}` |
//! | `/run/I/about` | what does not change: settings, scene, solids with their poses |
//! | `/run/I/now`, `/run/I/now?since=REVISION` | state, frames, statistics; only `{"same": true}` if nothing is new |
//! | `/run/I/frame/N` | the particles of frame N, see [`wire`] |
//! | `/run/I/solid/K` | the mesh of solid K, see [`wire`] |
//!
//! The page also shows the surface of the liquid, if `now` lists the frames that have one as `surfaces`: it asks for
//! `/run/I/surface/N`, a mesh as that of a solid.

pub mod dual_contouring;
mod http;
mod jsonl_tail;
mod occlusion_cull;
mod page;
pub mod report;
mod routes;
pub mod server;
pub mod solids;
pub mod watched;
pub mod wire;

pub use watched::Watched;
pub use wire::WireMesh;
