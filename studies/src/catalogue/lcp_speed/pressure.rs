//! Pressure problems of the sphere: the best algebraic method beside PETSc's.

use super::{Options, Solve, table};
use crate::peer;
use crate::prelude::*;
use meniscus_app::problem_files;
use meniscus_app::runner;
use meniscus_lcp::registry::Method;
use meniscus_lcp::{BoxMlcp, Csr};
use meniscus_liquid::PressureProblem;
use meniscus_scene::text::{Override, load};
use std::path::Path;
use std::time::Duration;

/// `||r||_inf`, in 1/s: that of scenes.
const TOLERANCE: f64 = 1e-6;
/// Purely algebraic methods: they see the matrix, not the grid.
const METHODS: [Method; 4] = [Method::Auto, Method::Policy, Method::Newton, Method::Mprgp];

pub fn section(options: &Options) -> Result<(Vec<Solve>, Section), Error> {
    let (mut solves, mut missing, mut words) = (Vec::new(), Vec::new(), Vec::new());
    for &cells in &options.sizes {
        let name = format!("sphere, {cells} cells");
        let change = Override::short("--sizes", "domain.resolution", i64::from(cells));
        let (scene, _) = load(Path::new("sphere"), &[change], false)?.ready()?;
        let problem = runner::problem_of_frame(&scene, options.frame, Some(1))?;
        let folder = tempfile::tempdir()
            .map_err(|cause| Error::new(Kind::Storage, format!("no temporary folder: {cause}")))?;
        problem_files::write(folder.path(), &*problem)?;
        let posed = problem
            .downcast::<PressureProblem<3>>()
            .ok_or_else(|| Error::usage("the sphere is not in 3D"))?;
        let problem = BoxMlcp::<Csr>::new(&posed.matrix, &posed.rhs, &posed.lower, &posed.upper)
            .map_err(|fault| Error::new(Kind::Numerical, fault.to_string()))?;
        let start = solves.len();
        for method in METHODS {
            solves.push(Solve::ours(&name, &problem, method, TOLERANCE)?);
        }
        let path = folder.path().to_string_lossy().into_owned();
        let tolerance = TOLERANCE.to_string();
        let patience = Duration::from_secs(options.patience);
        match peer::ask("petsc_vi.py", &[&path, &tolerance], patience) {
            Ok(answers) => {
                solves.extend(answers.iter().map(|answer| Solve::told(&name, answer)));
                words.push(verdict(&name, &solves[start..]));
            }
            Err(why) => missing.push(why),
        }
    }
    let mut told = vec![format!(
        "The first step towards frame {}, with separating walls, to a natural residual of {TOLERANCE:e} per second, from zero.",
        options.frame
    )];
    told.extend(words);
    let table = table(&solves);
    Ok((
        solves,
        super::section("Pressure problems", told, missing, table),
    ))
}

/// Our quickest beside theirs.
fn verdict(name: &str, solves: &[Solve]) -> String {
    let solved = |ours: bool| {
        solves
            .iter()
            .filter(move |solve| solve.converged && (solve.program == "Meniscus") == ours)
            .min_by(|a, b| a.cpu.total_cmp(&b.cpu))
    };
    match (solved(true), solved(false)) {
        (Some(ours), Some(theirs)) => {
            let auto = solves.iter().find(|solve| solve.method == "auto");
            format!(
                "{name}: our quickest, {}, takes {:.3} s, and auto {:.3} s; {} {} takes {:.3} s, {:.2} times as long as the former, and \
                 overshoots the tolerance: its last step is a whole Newton step.",
                ours.method,
                ours.cpu,
                auto.map_or(f64::NAN, |auto| auto.cpu),
                theirs.program,
                theirs.method,
                theirs.cpu,
                theirs.cpu / ours.cpu
            )
        }
        (Some(_), None) => format!("{name}: only ours solved it."),
        (None, Some(_)) => format!("{name}: ours did not solve it."),
        (None, None) => format!("{name}: nobody solved it."),
    }
}
