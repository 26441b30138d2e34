//! End-to-end tests of the program: commands, exit codes, and files.

mod attributes;
mod bodies;
mod body_warnings;
mod branches;
mod commands;
mod damage;
mod differences;
#[cfg(target_os = "linux")]
mod estimates;
mod export_formats;
mod export_names;
mod exports;
mod extremes;
mod failures;
mod filming;
mod folders;
mod from_frame;
mod full_disk;
mod interruptions;
mod kills;
mod losses;
mod mesh_copies;
mod mesh_paths;
mod one_at_a_time;
mod outputs;
mod problems;
mod projective;
mod replacing;
mod reports;
mod scene_files;
mod settings_of_output;
mod soft;
#[cfg(target_os = "linux")]
mod stages;
mod surfaces;
mod sweeps;
mod threads;
mod trial;
mod viewing;
mod wet_bodies;
