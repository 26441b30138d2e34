//! Which methods are tried, one after another.

use meniscus_lcp::{BoxMlcp, Csr, InputError, Observer, Status};

use super::{Posed, Settings, Solution, Workspace, linear, run};
use crate::settings::Solver;

/// Rows from which on multigrid takes less time than methods whose iterations grow with the grid.
const MANY: usize = 300;

impl Solver {
    /// The method that `auto` begins with on this problem; any other method is its own.
    pub fn pick(self, problem: &BoxMlcp<Csr>) -> Self {
        let many = problem.len() >= MANY;
        match self {
            Self::Auto if linear::check(problem).is_ok() => {
                if many {
                    Self::Mg
                } else {
                    Self::Cg
                }
            }
            Self::Auto if many => Self::TnMg,
            Self::Auto => Self::PiPcg,
            chosen => chosen,
        }
    }

    /// What steps in for it. On M-matrices these can't fail, and what multigrid reached is a good start for them.
    fn substitute(self) -> Option<(Self, &'static str)> {
        match self {
            Self::FasMg => Some((Self::PiPcg, "pi-pcg after fas-mg")),
            Self::Fmg => Some((Self::PiPcg, "pi-pcg after fmg")),
            Self::TnMg => Some((Self::PiPcg, "pi-pcg after tn-mg")),
            Self::PiMg => Some((Self::PiPcg, "pi-pcg after pi-mg")),
            Self::PeMg => Some((Self::PiPcg, "pi-pcg after pe-mg")),
            Self::MprgpMg => Some((Self::PiPcg, "pi-pcg after mprgp-mg")),
            Self::Mg => Some((Self::Cg, "cg after mg")),
            Self::MgPcg => Some((Self::Cg, "cg after mg-pcg")),
            Self::Auto | Self::Cg | Self::Newton | Self::PiPcg | Self::PePcg => None,
        }
    }
}

/// Tries the method, and what steps in for it.
pub(super) fn solve<const D: usize>(
    posed: &Posed<D>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace<D>,
    observer: &mut dyn Observer,
) -> Result<Solution, InputError> {
    let solver = settings.solver.pick(posed.problem);
    let report = run(posed, solver, settings, x, workspace, observer)?;
    let substitute = solver
        .substitute()
        .filter(|_| settings.fall_back || settings.solver == Solver::Auto)
        .filter(|_| !matches!(report.status, Status::Converged | Status::Stopped));
    let Some((other, name)) = substitute else {
        return Ok(Solution {
            solver: solver.name(),
            report,
        });
    };
    // The other method takes any start but one that is no number.
    for x in x.iter_mut().filter(|x| !x.is_finite()) {
        *x = 0.0;
    }
    let report = run(posed, other, settings, x, workspace, observer)?;
    Ok(Solution {
        solver: name,
        report,
    })
}
