//! Projected Jacobi. [Erl13 sec. 5.2]
//!
//! ```text
//! x <- clamp(x - omega inv(D) (A x + b), l, u)        D = diag(A)
//! ```
//!
//! Every row from the old `x`: all rows in parallel, and slower than [`pgs`](super::pgs) for it.
//!
//! ```
//! use meniscus_lcp::methods::jacobi;
//! use meniscus_lcp::{BoxMlcp, Csr, Status};
//!
//! // 0 <= x, A x + b >= 0, x'(A x + b) = 0
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let settings = jacobi::Settings::default();
//! let mut workspace = jacobi::Workspace::default();
//! let report = jacobi::solve(&problem, &settings, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert!((x[0] - 0.5).abs() < 1e-8 && x[1] == 0.0);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use crate::splitting::{Kind, settings_and_workspace, solve_by_sweeps};

settings_and_workspace! {
    check: "A check costs next to nothing: the sweep that follows needs `A x + b`, too.",
    relaxation: |settings| settings.relaxation,
    /// `omega`, between 0 and 2.
    ///
    /// DEVIATION [Erl13 sec. 5.2]: the notes do not damp. Undamped, the method fails on symmetric positive definite
    /// matrices of three rows already.
    pub relaxation: f64 = 2.0 / 3.0,
}

solve_by_sweeps! {
    |_| Kind::Jacobi,
    /// Converges if `A` is symmetric and all eigenvalues of `inv(D) A` lie between 0 and `2/omega`: they do for symmetric
    /// M-matrices, not for all positive definite ones; or if `A` is strictly diagonally dominant and `omega <= 1`. Where it
    /// does not converge, `x` overflows or jumps between its bounds, which the status reports.
}
