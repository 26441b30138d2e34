//! Tests of the program as people use it: its commands, its exit codes, and the files it writes.

mod commands;
mod damage;
mod exports;
mod extremes;
mod failures;
mod folders;
mod outputs;
mod threads;
mod trial;
