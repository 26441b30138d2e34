//! Table 1 and the figures of bodies in inviscid liquid of Takahashi and Batty, and what they say of solvers.

mod profiles;
mod runs;
mod scenes;
mod solver;
mod table1;

pub use profiles::Fig12;
pub use scenes::Fig15To17;
pub use solver::Solver;
pub use table1::Table1;
