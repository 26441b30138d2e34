//! Viscosity and pressure in one solve: unsteady Stokes flow on a staggered grid with volume fractions.
//!
//! The stresses of the paper's system [TB20 (8)] are eliminated. What is left is a saddle point problem in the face
//! flux velocity `t` and the scaled pressure `q`, with plain differences; all fractions are in two diagonal coefficients:
//!
//! ```text
//! minimise    1/2 sum_f m_f (t - W_F u* - W_S u_solid)_f^2  +  1/2 t'V t
//! subject to  G't = 0  in every cell with a pressure
//!
//! [ m + V   -G ] [t]   [ m (W_F u* + W_S u_solid) - V_fs t_s ]
//! [ -G'      0 ] [q] = [ G_s' t_s                            ]
//! ```
//!
//! | symbol | meaning |
//! | --- | --- |
//! | `W_L`, `W_F`, `W_S` | liquid share, open share and solid share of the cube of one cell's size around a sample; `W_F + W_S = 1` |
//! | `t` | `W_F u + W_S u_solid`, flux velocity of a face; an unknown on liquid faces, `u_solid` on solid ones (`t_s`) |
//! | `m` | `W_L / W_F` on liquid faces |
//! | `V` | `t'V t = dt/(rho dx^2) (2 eta_c sum_a (d_a t_a)^2 + sum_edges eta_e (d_b t_a + d_a t_b)^2)`, `d` plain differences |
//! | `eta_s` | `eta W_L / max(W_F, 0.02)` |
//! | `G'` | plain difference of the fluxes of a cell; `G` its transpose |
//! | `q` | `dt/(rho dx) W_L p` |
//!
//! Everything is divided by `rho/dt` and by powers of `dx`, so that `t` and `q` are speeds and the rows of both kinds
//! compare. Which samples take part is decided by two rules (`level.rs`); neither is in the paper.
//!
//! | file | part |
//! | --- | --- |
//! | `fractions.rs` | fractions of cells, faces and edges, by octants |
//! | `level.rs` | unknowns and coefficients of one grid |
//! | `rows.rs`, `kernels.rs` | products and sweeps, eight cells at a time |
//! | `transfer.rs`, `cycle.rs` | coupled multigrid |
//! | `components.rs`, `direct.rs` | drops, closed regions, direct solves |
//! | `system.rs`, `fgmres.rs`, `solve.rs` | the problem and its solve |
//! | `stress.rs` | the stress-pressure form, for comparison |
//! | `rheology.rs`, `mixture.rs` | viscosity that depends on the flow, and of several liquids |
//! | `walls.rs` | what single solids do to the liquid, and walls that let go |
//! | `bodies.rs`, `motion.rs`, `stage_bodies.rs` | rigid bodies as unknowns, what they respond, and on the levels of the cycle |
//! | `in_turn.rs` | pressure and stresses at once, or one after the other |
//! | `projection.rs`, `with_bodies.rs` | the step of a liquid, alone and with bodies |

mod bodies;
mod components;
mod cycle;
mod direct;
mod fgmres;
mod fractions;
mod in_turn;
mod kernels;
mod level;
mod mixture;
mod motion;
mod projection;
mod rheology;
mod rows;
mod settle;
mod solve;
mod stage_bodies;
mod stress;
mod system;
mod transfer;
mod walls;
mod with_bodies;

pub use self::bodies::BodyModes;
pub use self::fractions::Geometry;
pub use self::level::{Medium, StressWalls};
pub use self::projection::StokesProjection;
pub use self::rheology::Rheology;
pub use self::solve::{Report, Settings, Solver, Status};
pub use self::stress::{StressForm, StressSolution};
pub use self::system::{System, Viscosity};
pub use self::walls::SolidWall;

/// Number of kinds of edges, one for every pair of axes.
pub const fn edge_kinds(dimensions: usize) -> usize {
    dimensions * (dimensions - 1) / 2
}

/// Kind of the edges on which the shear of two axes lies.
#[inline]
pub(crate) const fn edge_kind(a: usize, b: usize) -> usize {
    a + b - 1
}

/// Most kinds of edges there are; only the first [`edge_kinds`] are used.
pub(crate) const EDGE_KINDS: usize = 3;

/// The two axes of a kind of edges, the lower one first.
pub(crate) const fn edge_axes(kind: usize) -> (usize, usize) {
    match kind {
        0 => (0, 1),
        1 => (0, 2),
        _ => (1, 2),
    }
}
