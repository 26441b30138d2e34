//! The runner behind the program `meniscus`.

pub mod cache;
pub mod error;
pub mod whole_file;
