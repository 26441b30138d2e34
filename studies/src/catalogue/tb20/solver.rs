//! What the paper says of solvers for the joint problem of pressure and contact, measured.

use crate::catalogue::coupling_speed::{Case, world};
use crate::prelude::*;
use crate::walls::one_thread;
use meniscus_coupled::{CoupledProblem, Method, Scheme};
use meniscus_lcp::krylov::pcg;
use meniscus_lcp::methods::mprgp;
use meniscus_lcp::precondition::{Mic0, Mic0Settings, Preconditioner, Ssor, SsorSettings};
use meniscus_lcp::{Blocks, BoxMlcp, Csr, Operator};
use meniscus_liquid::Walls;

/// Largest residual, relative to that at the start.
const TOLERANCE: f64 = 1e-6;
/// Products whose time is taken together.
const PRODUCTS: usize = 50;
/// SOR-CG is this much faster in the paper.
const PAPER_GAIN: f64 = 2.0;

/// The study.
pub struct Solver;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along each side of the tank
    #[arg(long, value_name = "N", default_values_t = [32, 48], value_delimiter = ',', value_parser = value_parser!(u32).range(16..=128))]
    cells: Vec<u32>,
}

fn wrong(what: impl std::fmt::Display) -> Error {
    Error::new(Kind::Resources, what.to_string())
}

/// Iterations and CPU milliseconds of a solve.
type Cost = (usize, f64);

fn timed<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let start = Moment::now();
    let result = run();
    (result, 1e3 * Moment::now().since(&start).cpu)
}

fn cg(
    matrix: &impl Operator,
    rhs: &[f64],
    preconditioner: &impl Preconditioner,
) -> Result<Cost, Error> {
    let c: Vec<f64> = rhs.iter().map(|b| -b).collect();
    let largest = rhs.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
    let settings = pcg::Settings::default()
        .relative_tolerance(0.0)
        .absolute_tolerance(TOLERANCE * largest);
    let mut x = vec![0.0; c.len()];
    let solve = || {
        let mut workspace = pcg::Workspace::default();
        pcg::solve(
            matrix,
            &c,
            &settings,
            preconditioner,
            &mut x,
            &mut workspace,
        )
    };
    let (report, ms) = timed(solve);
    Ok((report.map_err(wrong)?.iterations, ms))
}

fn by_mprgp(matrix: &impl Operator, rhs: &[f64], ssor: &mut Ssor) -> Result<Cost, Error> {
    let n = rhs.len();
    let (lower, upper) = (vec![f64::NEG_INFINITY; n], vec![f64::INFINITY; n]);
    let problem = BoxMlcp::new(matrix, rhs, &lower, &upper).map_err(wrong)?;
    let largest = rhs.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
    let settings = mprgp::Settings::default()
        .tolerance(TOLERANCE * largest)
        .max_iterations(10_000);
    let mut x = vec![0.0; n];
    let mut workspace = mprgp::Workspace::default();
    let (report, ms) =
        timed(|| mprgp::solve(&problem, &settings, ssor, &mut x, &mut workspace, &mut ()));
    Ok((report.map_err(wrong)?.iterations, ms))
}

/// The matrix with the blocks of bodies formed. `scaled`: with the scale of impulses in the inverse inertias.
fn formed(problem: &CoupledProblem<3>, scaled: bool) -> Result<Csr, Error> {
    let mut entries = Vec::new();
    for row in 0..problem.pressures() {
        let (columns, values) = problem.pressure.matrix.row(row);
        let pairs = columns.iter().zip(values);
        entries.extend(pairs.map(|(&column, &value)| (row as u32, column, value)));
    }
    let s = problem.impulse_scale;
    for (body, own) in problem.bodies.iter().enumerate() {
        let inverse = match scaled {
            true => own.inverse.map(|row| row.map(|w| s * w)),
            false => own.inverse,
        };
        let of_body = || {
            problem
                .entries
                .iter()
                .filter(|entry| entry.group as usize == body)
        };
        for a in of_body() {
            let moved: [f64; 6] = std::array::from_fn(|i| {
                let sum: f64 = (0..6).map(|k| inverse[i][k] * a.value[k]).sum();
                if scaled { sum } else { s * sum }
            });
            for b in of_body() {
                let value = (0..6).map(|k| moved[k] * b.value[k]).sum();
                entries.push((b.row, a.row, value));
            }
        }
    }
    Csr::from_entries(problem.pressures(), entries).map_err(wrong)
}

/// CPU microseconds of a product.
fn product(matrix: &impl Operator) -> f64 {
    let x: Vec<f64> = (0..matrix.len()).map(|i| (i as f64).sin()).collect();
    let mut y = vec![0.0; x.len()];
    matrix.apply(&x, &mut y);
    let ((), ms) = timed(|| (0..PRODUCTS).for_each(|_| matrix.apply(&x, &mut y)));
    1e3 * ms / PRODUCTS as f64
}

impl Study for Solver {
    const NAME: &'static str = "tb20-solver";
    const SUMMARY: &'static str = "the paper's claims about solvers for the joint problem";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let pool = one_thread().map_err(wrong)?;
        let mut table = Table::columns(
            "cells | bodies | density | unknowns | SOR-CG: iterations | SOR-CG: CPU ms | MIC-CG: iterations | MIC-CG: CPU ms | SOR-MPRGP: iterations | \
             SOR-MPRGP: CPU ms | product in sequence, µs | formed, µs | entries | formed entries | difference of the two orders",
        );
        let (mut gain, mut sequence) = (f64::INFINITY, 0.0f64);
        for &cells in &options.cells {
            for (kind, density) in [("one", 0.1), ("one", 1.0), ("fifty", 1.0)] {
                let case = Case {
                    kind,
                    cells,
                    density,
                    walls: Walls::Slip,
                };
                let mut world = world(&case, Scheme::Unified, Method::SorMprgp, 1)?;
                let problem = world.problem(0.25 / cells as f64).map_err(wrong)?;
                let row = pool.install(|| -> Result<_, Error> {
                    // Contacts open: pressures and bodies alone.
                    let mut alone = problem.clone();
                    alone.rows.clear();
                    let joint = alone.joint(0.0);
                    let sparse = joint.operator.sparse_part().map_err(wrong)?;
                    let mut ssor = Ssor::new(SsorSettings::default()).map_err(wrong)?;
                    ssor.rebuild(&sparse).map_err(wrong)?;
                    let mut mic = Mic0::new(Mic0Settings::default()).map_err(wrong)?;
                    mic.rebuild(&sparse, &Blocks::single(sparse.rows()))
                        .map_err(wrong)?;
                    let by_sor = cg(&joint.operator, &joint.rhs, &ssor)?;
                    let by_mic = cg(&joint.operator, &joint.rhs, &mic)?;
                    let mprgp = by_mprgp(&joint.operator, &joint.rhs, &mut ssor)?;
                    let whole = formed(&alone, false)?;
                    let scaled = formed(&alone, true)?;
                    let (mut most, mut off) = (0.0f64, 0.0f64);
                    for row in 0..whole.rows() {
                        for (a, b) in whole.row(row).1.iter().zip(scaled.row(row).1) {
                            most = most.max(a.abs());
                            off = off.max((a - b).abs());
                        }
                    }
                    let times = [product(&joint.operator), product(&whole)];
                    gain = gain.min(mprgp.1 / by_sor.1);
                    sequence = sequence.max(times[0] / times[1]);
                    Ok([
                        Cell::Whole(cells.into()),
                        kind.into(),
                        Cell::Number(density, 1),
                        Cell::Whole(joint.rhs.len() as u64),
                        Cell::Whole(by_sor.0 as u64),
                        Cell::Number(by_sor.1, 1),
                        Cell::Whole(by_mic.0 as u64),
                        Cell::Number(by_mic.1, 1),
                        Cell::Whole(mprgp.0 as u64),
                        Cell::Number(mprgp.1, 1),
                        Cell::Number(times[0], 0),
                        Cell::Number(times[1], 0),
                        Cell::Whole(sparse.nonzeros() as u64),
                        Cell::Whole(whole.nonzeros() as u64),
                        format!("{:.0e}", off / most).into(),
                    ])
                })?;
                table.push(row);
            }
        }
        let targets = [
            Target::new(
                "CPU time of SOR-MPRGP beside SOR-CG without bounds, at least (paper: 2 to 3 times)",
                Bound::AtLeast(PAPER_GAIN),
                "times",
                Some(gain),
                2,
            ),
            Target::new(
                "product in sequence beside one with formed blocks, at most",
                Bound::AtMost(1.0),
                "times",
                Some(sequence),
                2,
            ),
        ];
        let usual = options.cells == [32, 48];
        let cells: Vec<String> = options.cells.iter().map(u32::to_string).collect();
        Ok(Findings {
            study: Self::NAME,
            variant: (!usual).then(|| cells.join("-")),
            setting: vec![
                "Pressures and bodies without contacts and bounds, where all methods apply: problems of the first step of coupling-speed, from a \
                 cold start to 1e-6 of the right-hand side, one thread. The paper prefers SOR to MIC because the joint matrix is no \
                 M-matrix, uses SOR-CG where there are no bounds, multiplies by C, inv(M) and C' in sequence, and never forms inv(alpha M). The last \
                 column compares the matrix with the scale of impulses inside and outside of the inverse inertias: the difference is \
                 rounding, so that the last rule is one of units."
                    .into(),
                machine::sentence(load),
            ],
            pictures: Vec::new(),
            sections: vec![
                target::section(Vec::new(), &targets),
                Section::table("All cases", table.clone()),
            ],
            data: table,
        })
    }
}
