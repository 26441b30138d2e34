//! The chain of methods that are tried.

use meniscus_lcp::registry::{Candidate, Solution, StartFrom, first_converged};
use meniscus_lcp::{BoxMlcp, InputError, Observer, Operator};

use super::{Posed, Settings, Task, Workspace, linear};
use crate::settings::Solver;

/// Rows from which on multigrid takes less time than methods whose iterations grow with the grid.
pub(super) const MANY: usize = 300;

impl Solver {
    /// The method that `auto` begins with on this problem; any other method is its own.
    pub fn pick(self, problem: &BoxMlcp<impl Operator>) -> Self {
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

    /// The method that is tried where this one fails. On M-matrices it cannot fail.
    fn fallback(self) -> Option<(Self, &'static str)> {
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

/// Tries the method, and its fallback where that is allowed.
pub(super) fn solve<const D: usize>(
    posed: &Posed<D>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace<D>,
    observer: &mut dyn Observer,
) -> Result<Solution, InputError> {
    let solver = settings.solver.pick(posed.problem);
    let auto = settings.solver == Solver::Auto;
    let first = Candidate {
        solver,
        name: solver.name(),
        why: if auto {
            "it suits the size and the bounds"
        } else {
            "it was asked for"
        },
    };
    let fallback = solver.fallback().filter(|_| settings.fall_back || auto);
    let candidates = match fallback {
        None => vec![first],
        Some((solver, name)) => {
            let why = "on M-matrices it cannot fail";
            vec![first, Candidate { solver, name, why }]
        }
    };
    // What multigrid reached is a good start for its fallback.
    first_converged(&candidates, StartFrom::Last, x, |solver, x| {
        let task = Task {
            posed,
            solver,
            settings,
            x,
            workspace,
            observer,
        };
        task.run()
    })
}
