//! Tables of Takahashi and Batty, figures of bodies in inviscid liquid, and what they say of solvers.

mod profiles;
mod runs;
mod scenes;
mod solver;
mod table1;
mod viscous;

pub use profiles::Fig12;
pub use scenes::Fig15To17;
pub use solver::Solver;
pub use table1::Table1;
pub use viscous::{Table2, Table3};
