//! Initial iterate of a method.

use meniscus_lcp::methods::{psor, start};
use meniscus_lcp::{InputError, Observer};

use super::{Posed, Settings, Start};

/// Sweeps or steps that improve a start.
const STEPS: usize = 10;

/// Memory of what improves starts.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    psor: psor::Workspace,
    gradient: start::Workspace,
}

/// Brings `x` to where the method starts.
pub(super) fn begin<const D: usize>(
    posed: &Posed<D>,
    settings: &Settings,
    x: &mut [f64],
    memory: &mut Memory,
    observer: &mut dyn Observer,
) -> Result<(), InputError> {
    // Its status does not matter: the method continues from its result.
    match settings.start {
        Start::Given => {}
        Start::Zero => x.fill(0.0),
        Start::Psor => {
            let settings = psor::Settings::default()
                .tolerance(settings.tolerance)
                .max_iterations(STEPS);
            let problem = posed.with_matrix()?;
            psor::solve(&problem, &settings, x, &mut memory.psor, observer)?;
        }
        Start::Gradient => {
            let settings = start::Settings::default()
                .tolerance(settings.tolerance)
                .max_iterations(STEPS)
                .measure(start::Measure::Energy);
            let problem = posed.with_matrix()?;
            start::solve(&problem, &settings, x, &mut memory.gradient, observer)?;
        }
    }
    Ok(())
}
