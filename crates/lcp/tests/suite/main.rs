//! What holds for problems, methods, Krylov methods and preconditioners. One program: each further one would be built and
//! linked with the oracles again.

mod agreement;
mod contracts;
mod factored_preconditioners;
mod fas;
mod fischer;
mod fmg;
mod following;
mod generated;
mod gmres;
mod inexact_policy;
mod interior_point;
mod krylov;
mod mprgp;
mod newton_general;
mod penalty;
mod pivoting;
mod pivoting_agreement;
mod pivoting_data;
mod pivoting_known;
mod preconditioners;
mod singular;
mod smallest;
mod start;
mod statuses;
mod survey;
mod sweeps;
mod threads;
mod threads_newton;
mod toolbox;

#[path = "../gallery/mod.rs"]
mod gallery;
mod oracle;
