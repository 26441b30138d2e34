//! The tables and figures of Lai et al. (2020), on problems of our own runs of their scenes.

mod claims;
mod convergence;
mod frames;
mod histogram;
mod means;
mod printed;
mod scenario;
mod side_by_side;
mod singles;
mod transfer;

pub use convergence::Fig5x10;
pub use frames::Frames;
pub use histogram::Fig5x5;
pub use means::Means;
pub use singles::{Ablation, Single};
pub use transfer::Fig5x11;

/// Our solvers, added to the tables of the paper.
const OURS: &[&str] = &["TN-MG", "Newton, MIC(0)"];

/// Explanation of the numbers.
const COUNTED: &str = "Counted as in the paper: cycles of FAS-MG and FMG, iterations of the linear solver inside policy \
    iteration (PI), penalty iteration (PE) and without bounds (No LCP), and for Newton those and a point that its search tries \
    in each step. TN-MG, the multigrid method of this program, counts cycles; \"Newton, MIC(0)\" is Newton with the \
    preconditioner of the others. Means are over the problems that a solver solved.";

/// Where the problems are not the paper's.
const OTHER_PROBLEMS: &str = "The problems are those of our runs: the paper gives neither the size of its containers nor the \
    length of its frames, and its own discretisation differs. Residuals are absolute, so units matter: ours are in SI, density \
    1000 kg/m³.";
/// Where the means are not the paper's.
const OTHER_MEANS: &str = "The paper averages over all steps of 100 frames; each document says what was done here. All solvers \
    start from the pressure of the step before, where the paper starts policy and penalty iteration from the last policy.";
/// Where the single solves are not the paper's.
const OTHER_START: &str =
    "The paper does not say where its single solves start; ours start from zero by default.";
/// Where the methods are not the paper's.
const OTHER_METHODS: &str = "PCG has MIC(0) here, incomplete LU there; the multigrid inside PI-MG and PE-MG is a V-cycle that \
    preconditions conjugate gradients here, and iterated alone there. Inner systems are solved to a hundredth (a tenth with \
    multigrid) of their residual here and tightened as needed, which makes more outer and fewer inner iterations; \"exact\" means to the tolerance, \
    as in the paper.";
/// Problems without bounds.
const OTHER_SLIP: &str = "No LCP is given the same matrices and right-hand sides without bounds, and not those of a run with slip walls.";

/// Suffix of the file names for options other than the defaults.
fn variant_of(sizes: &[u32], usual: &[u32], others: &[Option<String>]) -> Option<String> {
    let mut words = Vec::new();
    if sizes != usual {
        words.extend(sizes.iter().map(u32::to_string));
    }
    words.extend(others.iter().flatten().cloned());
    (!words.is_empty()).then(|| words.join("-"))
}
