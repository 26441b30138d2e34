//! The table and figures of Weiler, Koschier and Bender, and the speed of the particle method.

mod density;
mod frames;
mod runs;
mod speed;
mod table1;

pub use density::Density;
pub use frames::Frames;
pub use speed::Speed;
pub use table1::Table1;
