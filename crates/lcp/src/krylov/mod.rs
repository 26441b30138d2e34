//! Krylov methods for linear systems.

pub mod pcg;
