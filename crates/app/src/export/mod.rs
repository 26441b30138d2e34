//! The frames of a run in formats that other programs read.

pub mod ply;

/// Folder of the exports inside a run's folder.
pub const FOLDER: &str = "export";
