//! The runner behind the program `meniscus`, as a library, so that tests and other programs drive the
//! same pipeline as the command line.
//!
//! A [`scene::Scene`] says what to simulate, [`run::run`] does it and writes a folder, [`cache`] is the
//! format of its frames, [`surface`] makes triangles of them, [`filming`] pictures and films, [`export`] turns
//! them into what other programs read, [`mesh_files`] reads the meshes of others, [`preview`] draws, [`viewer`]
//! shows a run in a browser, and [`cli`] is all that a person types and reads.

pub mod cache;
pub mod cli;
pub mod error;
pub mod export;
pub mod filming;
pub mod mesh_files;
pub mod plain_file;
pub mod plot;
pub mod preview;
pub mod problem_files;
pub mod quantity;
pub mod run;
pub mod scene;
pub mod shell;
pub mod surface;
pub mod viewer;
pub mod whole_file;
