//! The files of a run: frames, checkpoints, the manifest, statistics and what belongs beside them.
//!
//! A run writes one folder. [`run_folder`] decides what may be written and replaced there, [`lock`] keeps two processes
//! apart, [`manifest`] is `run.json`, with [`body_record`] in it, [`cache`] the format of frames, [`checkpoint`] that of the state a run resumes from,
//! [`jsonl`] files that grow by one line per step, [`action_log`] what a program did to a run. [`opened_run`] is a run for readers. [`layout`] names the folders that
//! surfaces, pictures and exports go to, [`export_list`] lists exported files, and [`mesh_copies`] keeps copies of the
//! meshes that a scene refers to. Beneath all of them are [`atomic_file`], which writes files that appear complete or not
//! at all, and [`regular_file`], which never opens a pipe or a device.
//!
//! The crate knows neither scenes nor the simulation: it is handed names, hashes, texts and bytes.

#![forbid(unsafe_code)]

pub mod action_log;
pub mod atomic_file;
pub mod body_record;
pub mod cache;
pub mod checkpoint;
pub mod error;
pub mod export_list;
pub mod jsonl;
pub mod layout;
pub mod lock;
pub mod manifest;
pub mod mesh_copies;
pub mod opened_run;
pub mod quantity;
pub mod regular_file;
pub mod run_folder;

pub use opened_run::{FrameChoice, OpenedRun};
