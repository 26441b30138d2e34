//! Projected Gauss-Seidel. [Erl13 sec. 5.2, sec. 5.3]
//!
//! ```text
//! x_i <- clamp(x_i - (A x + b)_i / A_ii, l_i, u_i)        for one row after the other
//! ```
//!
//! Each row is solved for its own unknown; if `A` is symmetric and positive definite, that is the minimum of
//! `1/2 x'Ax + b'x` along one axis after the other, and no step can increase it [Erl13 (53)-(59)].
//!
//! ```
//! use meniscus_lcp::methods::pgs;
//! use meniscus_lcp::{BoxMlcp, Csr, Status};
//!
//! // 0 <= x, A x + b >= 0, x'(A x + b) = 0
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let settings = pgs::Settings::default();
//! let mut workspace = pgs::Workspace::default();
//! let report = pgs::solve(&problem, &settings, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert!((x[0] - 0.5).abs() < 1e-8 && x[1] == 0.0);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use crate::splitting::{Kind, Order, settings_and_workspace, solve_by_sweeps};

settings_and_workspace! {
    check: "A check, and with it a call of the observer, costs about as much as a sweep.",
    relaxation: |_settings| 1.0,
    /// The order of the rows.
    pub order: Order = Order::Natural,
}

solve_by_sweeps! {
    |settings| Kind::Forward(settings.order),
    /// Converges if `A` is symmetric and positive definite [Erl13 (53)-(59)], or an M-matrix, or strictly diagonally
    /// dominant; if it is merely positive semidefinite, `x` may grow without bound where the problem has no solution.
}
