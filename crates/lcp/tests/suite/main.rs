//! Tests of problems, methods, Krylov methods and preconditioners, in one program: each further one would be linked with
//! the oracles again.

mod aggregation;
mod agreement;
mod analysis;
mod block_pivoting;
mod certificates;
mod contracts;
mod coupled_bounds;
mod discs;
mod factored_preconditioners;
mod fas;
mod fischer;
mod fmg;
mod generated;
mod gmres;
mod harness;
mod hostile;
mod inexact_policy;
mod interior_point;
mod krylov;
mod matrix_market;
mod mprgp;
mod newton_general;
mod penalty;
mod pivoting;
mod pivoting_agreement;
mod pivoting_data;
mod pivoting_known;
mod preconditioners;
mod registry;
mod safeguards;
mod scales;
mod singular;
mod splitting;
mod start;
mod statuses;
mod threads;

#[path = "../gallery/mod.rs"]
mod gallery;
mod oracle;
mod which_method;
