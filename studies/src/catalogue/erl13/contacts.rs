//! The methods of the notes on contact problems of the built-in scenes. [Erl13 (25)-(27)]

use crate::peer;
use crate::prelude::*;
use meniscus_app::{problem_files, worlds};
use meniscus_lcp::gallery::Instance;
use meniscus_lcp::methods::{mprgp, pgs_coupled, staggered};
use meniscus_lcp::precondition::Jacobi;
use meniscus_lcp::registry::{self, Method, Options as Ask};
use meniscus_lcp::{BoxMlcp, CoupledBoundMlcp, Csr, InputError, Report, Status};
use meniscus_rigid::{PolyhedralProblem, ScaledProblem};
use meniscus_scene::AnyScene;
use meniscus_scene::text::load;
use meniscus_sim::RigidWorld;
use std::time::Duration;

/// Scenes, and the time of the step whose largest island is taken.
const SCENES: [(&str, f64); 5] = [
    ("cradle", 0.1),
    ("dominoes", 1.0),
    ("stack", 0.5),
    ("arch", 0.3),
    ("bowl-of-balls", 0.22),
];
const DT: f64 = 0.005;
const TOLERANCE: f64 = 1e-8;
/// Iterations of methods other than sweeps, and rounds of staggering.
const MOST_ITERATIONS: usize = 200;
/// Sweeps.
const MOST_SWEEPS: usize = 10_000;

/// Methods on the polyhedral cone, and what Siconos calls them. Sweeps need a diagonal without zeros, which the rows of the
/// cone don't have.
const POLYHEDRAL: [(Method, Option<&str>); 4] = [
    (Method::Lemke, Some("lemke")),
    (Method::Newton, Some("newton")),
    (Method::Fischer, Some("fischer")),
    (Method::InteriorPoint, None),
];

/// The study.
pub struct Contacts;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Seconds after which another program is ended
    #[arg(long, value_name = "S", default_value_t = 60)]
    patience: u64,
}

impl Study for Contacts {
    const NAME: &'static str = "erl13-contact";
    const SUMMARY: &'static str =
        "methods of the notes on contacts of the built-in scenes, beside Siconos";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let mut table = Table::columns(
            "scene | contacts | form | variables | program | method | ends | iterations | residual | CPU s",
        );
        let mut missing = Vec::new();
        for (scene, time) in SCENES {
            let problem = largest_problem(scene, time)?;
            let contacts = problem.contacts() as u64;
            let scaled = problem.scaled().map_err(|e| broken(scene, &e))?;
            let polyhedral = scaled.polyhedral().map_err(|e| broken(scene, &e))?;
            let mut push = |form: &str, n: usize, program: &str, method: &str, cells: [Cell; 4]| {
                let mut row: Vec<Cell> = vec![
                    scene.into(),
                    Cell::Whole(contacts),
                    form.into(),
                    Cell::Whole(n as u64),
                    program.into(),
                    method.into(),
                ];
                row.extend(cells);
                table.push(row);
            };
            for name in ["pgs-coupled", "staggered"] {
                let start = Moment::now();
                let report = coupled(name, &scaled).map_err(|e| broken(scene, &e))?;
                let cpu = Moment::now().since(&start).cpu;
                push(
                    "pyramid",
                    scaled.b.len(),
                    "Meniscus",
                    name,
                    cells(&report, cpu),
                );
            }
            for (method, theirs) in POLYHEDRAL {
                let start = Moment::now();
                let report = by_registry(method, &polyhedral).map_err(|e| broken(scene, &e))?;
                let cpu = Moment::now().since(&start).cpu;
                let n = polyhedral.b.len();
                push(
                    "polyhedral",
                    n,
                    "Meniscus",
                    method.name(),
                    cells(&report, cpu),
                );
                let Some(theirs) = theirs else { continue };
                match by_siconos(theirs, &polyhedral, options) {
                    Ok(Some(cells)) => push("polyhedral", n, "Siconos", theirs, cells),
                    Ok(None) => {}
                    Err(why) => missing.push(format!("Not measured: {scene}, {theirs}: {why}.")),
                }
            }
        }
        missing.dedup();
        let mut words = vec![
            format!(
                "The largest island of a step of {DT} s, from zero, to a natural residual of {TOLERANCE:e} with rows scaled to \
                 a unit diagonal. The pyramid has bounds that depend on the normal impulses; the polyhedral cone has four \
                 directions and one more row per contact, and is the form of the notes."
            ),
            "The notes find that Fischer-Newton solves their contact problems and minimum map Newton does not descend. Real \
             contacts are redundant, so that matrices are singular as well."
                .into(),
        ];
        words.extend(missing);
        Ok(Findings {
            study: Self::NAME,
            variant: None,
            setting: vec![machine::sentence(load)],
            pictures: Vec::new(),
            sections: vec![Section::new("Methods", words, table.clone())],
            data: table,
        })
    }
}

fn broken(scene: &str, fault: &dyn std::fmt::Display) -> Error {
    Error::new(Kind::Numerical, format!("{scene}: {fault}"))
}

/// The contact problem of the largest island of a built-in scene at a time.
fn largest_problem(scene: &str, time: f64) -> Result<meniscus_rigid::ContactProblem, Error> {
    let AnyScene::Three(own) = load(scene, &[], false)?.ready()?.0 else {
        return Err(broken(scene, &"it has two dimensions"));
    };
    let world = worlds::initial(&own)?;
    let world = RigidWorld::<3>::of(&*world);
    let mut bodies = world
        .ok_or_else(|| broken(scene, &"it has no bodies"))?
        .bodies()
        .clone();
    for _ in 0..(time / DT).round() as usize {
        bodies.step(DT).map_err(|e| broken(scene, &e))?;
    }
    let problems = bodies.contact_problems(DT).map_err(|e| broken(scene, &e))?;
    (problems.into_iter().max_by_key(|problem| problem.b.len()))
        .ok_or_else(|| broken(scene, &"nothing touches"))
}

/// Solves the problem with bounds that depend on the normal impulses.
fn coupled(name: &str, problem: &ScaledProblem) -> Result<Report, InputError> {
    let ScaledProblem {
        matrix,
        b,
        lower,
        upper,
        ..
    } = problem;
    let whole = CoupledBoundMlcp::new(BoxMlcp::new(matrix, b, lower, upper)?, &problem.friction)?;
    let mut x = vec![0.0; b.len()];
    if name == "pgs-coupled" {
        let settings = pgs_coupled::Settings::default()
            .tolerance(TOLERANCE)
            .max_iterations(MOST_SWEEPS);
        return pgs_coupled::solve(&whole, &settings, &mut x, &mut Default::default(), &mut ());
    }
    let settings = staggered::Settings::default()
        .tolerance(TOLERANCE)
        .max_iterations(MOST_ITERATIONS);
    let mut jacobi = Jacobi::new(matrix)?;
    let mut workspace = mprgp::Workspace::default();
    let inner_settings = mprgp::Settings::default().tolerance(0.1 * TOLERANCE);
    let mut inner = |part: &BoxMlcp<'_, Csr>, x: &mut [f64]| {
        mprgp::solve(
            part,
            &inner_settings,
            &mut jacobi,
            x,
            &mut workspace,
            &mut (),
        )
    };
    staggered::solve(
        &whole,
        &settings,
        &mut inner,
        &mut x,
        &mut Default::default(),
        &mut (),
    )
}

/// Solves the problem with polyhedral cones.
fn by_registry(method: Method, own: &PolyhedralProblem) -> Result<Report, InputError> {
    let problem = BoxMlcp::new(&own.matrix, &own.b, &own.lower, &own.upper)?;
    let ask = Ask::default()
        .absolute(true)
        .tolerance(TOLERANCE)
        .max_iterations(Some(MOST_ITERATIONS));
    let mut x = vec![0.0; own.b.len()];
    registry::solve(&problem, method, &ask, &mut x, &mut ()).map(|solution| solution.report)
}

/// The same by Siconos; `None` for problems with joints, which are no LCPs.
fn by_siconos(
    method: &str,
    own: &PolyhedralProblem,
    options: &Options,
) -> Result<Option<[Cell; 4]>, String> {
    if own.lower.iter().any(|&l| l != 0.0) || own.upper.iter().any(|u| u.is_finite()) {
        return Ok(None);
    }
    let folder = tempfile::tempdir().map_err(|cause| cause.to_string())?;
    let instance = Instance {
        matrix: own.matrix.clone(),
        rhs: own.b.clone(),
        lower: own.lower.clone(),
        upper: own.upper.clone(),
        solution: vec![0.0; own.b.len()],
    };
    problem_files::write_generated(folder.path(), &instance).map_err(|e| e.to_string())?;
    let path = folder.path().to_string_lossy().into_owned();
    let words = [path.as_str(), &TOLERANCE.to_string(), method];
    let answers = peer::ask(
        "siconos_lcp.py",
        &words,
        Duration::from_secs(options.patience),
    )?;
    let answer = answers.first().ok_or("it said nothing")?;
    let ends = if answer["converged"].as_bool() == Some(true) {
        "converged"
    } else {
        "not converged"
    };
    Ok(Some([
        ends.into(),
        Cell::Whole(answer["iterations"].as_u64().unwrap_or(0)),
        format!(
            "{:.1e}",
            answer["residual_inf"].as_f64().unwrap_or(f64::NAN)
        )
        .into(),
        Cell::maybe(answer["cpu_seconds"].as_f64(), 5),
    ]))
}

fn cells(report: &Report, cpu: f64) -> [Cell; 4] {
    let ends = if report.status == Status::Converged {
        "converged".to_owned()
    } else {
        report.status.to_string()
    };
    [
        ends.into(),
        Cell::Whole(report.iterations as u64),
        format!("{:.1e}", report.residual).into(),
        Cell::Number(cpu, 5),
    ]
}
