//! Projected successive over-relaxation. [Erl13 (53)-(59)]
//!
//! ```text
//! x_i <- clamp(x_i - omega (A x + b)_i / A_ii, l_i, u_i)        for one row after the other
//! ```
//!
//! [Projected Gauss-Seidel](super::pgs) with over-relaxation (`omega > 1`) or under-relaxation of each row.
//!
//! ```
//! use meniscus_lcp::methods::psor;
//! use meniscus_lcp::{BoxMlcp, Csr, Status};
//!
//! // 0 <= x, A x + b >= 0, x'(A x + b) = 0
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let settings = psor::Settings::default();
//! let mut workspace = psor::Workspace::default();
//! let report = psor::solve(&problem, &settings, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert!((x[0] - 0.5).abs() < 1e-8 && x[1] == 0.0);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use crate::splitting::{Kind, Order, settings_and_workspace, solve_by_sweeps};

settings_and_workspace! {
    check: "A check, and with it a call of the observer, costs about as much as a sweep.",
    relaxation: |settings| settings.relaxation,
    /// The order of the rows.
    pub order: Order = Order::Natural,
    /// `omega`, between 0 and 2. The default is the best value in the experiments of the notes.
    pub relaxation: f64 = 1.4,
}

solve_by_sweeps! {
    |settings| Kind::Forward(settings.order),
    /// Converges if `A` is symmetric and positive definite [Erl13 (53)-(59)], or an M-matrix, or strictly diagonally
    /// dominant (then for `omega <= 1`); if it is merely positive semidefinite, `x` may grow without bound where the problem has no solution.
}
