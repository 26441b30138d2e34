//! The table and figures of Weiler, Koschier and Bender.

mod density;
mod frames;
mod runs;
mod table1;

pub use density::Density;
pub use frames::Frames;
pub use table1::Table1;
