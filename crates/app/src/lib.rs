//! The program `meniscus` as a library, so that tests and other programs drive the same pipeline as the command line.
//!
//! [`runner::run`] simulates a [`Scene`](meniscus_scene::Scene) and writes a folder, [`surface`] reconstructs triangle
//! meshes of its frames, [`export`] converts them for other programs, [`viewer`] shows a run in a browser, and [`cli`] is
//! the command line.

#![forbid(unsafe_code)]

#[cfg(feature = "cli")]
pub mod cli;
pub mod export;
pub mod problem_files;
pub mod runner;
pub mod shell;
pub mod surface;
pub mod sweep;
pub mod viewer;
pub mod worlds;
