//! Time against size. [Erl13 fig. 5]

use super::rules::Rules;
use super::solver_case::SolverCase;
use super::{contact, fluid};
use crate::prelude::*;
use meniscus_lcp::gallery::Instance;
use meniscus_lcp::registry::{self, Method, Options as Ask};

/// The study.
pub struct Fig5;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Largest fluid problem, in variables; contact problems are smaller
    #[arg(long, value_name = "N", default_value_t = 8000)]
    largest: usize,
}

/// Iterations that are timed.
const ITERATIONS: usize = 10;
/// Seconds after which a method is not given a larger problem.
const PATIENCE: f64 = 10.0;
/// Seconds for which a quick solve is repeated.
const LEAST: f64 = 0.05;

const RULES: Rules = Rules {
    absolute: 0.0,
    relative: 0.0,
    iterations: ITERATIONS,
};

/// Timed work: ten iterations of a method, or a whole solve by Lemke's method.
#[derive(Clone, Copy)]
enum Timed {
    Iterations(SolverCase),
    Lemke,
}

/// Problems, how they are made, their sizes, and what is timed on them.
type Kind<'a> = (&'static str, fn(usize) -> Instance, Vec<usize>, &'a [Timed]);

impl Timed {
    fn name(self) -> String {
        match self {
            Self::Iterations(case) => case.name(),
            Self::Lemke => "Lemke, to the end".into(),
        }
    }

    /// CPU seconds.
    fn seconds(self, instance: &Instance) -> Result<f64, Error> {
        let (mut spent, mut times) = (0.0, 0);
        while spent < LEAST {
            let start = Moment::now();
            let share = match self {
                Self::Iterations(case) => {
                    // One that converged before is counted as if it had gone on.
                    let done = case.solve_from_zero(instance, RULES)?.iterations;
                    ITERATIONS as f64 / done.max(1) as f64
                }
                Self::Lemke => {
                    let mut x = vec![0.0; instance.rhs.len()];
                    registry::solve(
                        &instance.problem(),
                        Method::Lemke,
                        &Ask::default().absolute(true),
                        &mut x,
                        &mut (),
                    )
                    .map_err(|fault| Error::usage(fault.to_string()))?;
                    1.0
                }
            };
            spent += Moment::now().since(&start).cpu * share;
            times += 1;
        }
        Ok(spent / f64::from(times))
    }
}

impl Study for Fig5 {
    const NAME: &'static str = "erl13-fig5";
    const SUMMARY: &'static str = "CPU time of ten iterations, and of Lemke's method, against size";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let mut data = Table::columns("problem | method | variables | CPU s");
        let mut orders = Table::columns("problem | method | order of growth");
        let mut pictures = Vec::new();
        let sizes = |least: usize, largest: usize| {
            std::iter::successors(Some(least), |n| Some(2 * n)).take_while(move |&n| n <= largest)
        };
        let newton = [SolverCase::NOTES[0], SolverCase::NOTES[1]].map(Timed::Iterations);
        let sweeps = [SolverCase::NOTES[2], SolverCase::NOTES[3]].map(Timed::Iterations);
        let all = [newton[0], newton[1], sweeps[0], sweeps[1], Timed::Lemke];
        let kinds: [Kind<'_>; 2] = [
            (
                "fluid",
                |n| fluid(n, 1),
                sizes(125, options.largest).collect(),
                &all,
            ),
            (
                "contact",
                |n| contact(n, 1),
                sizes(60, options.largest / 4).collect(),
                &[newton[0], newton[1], Timed::Lemke],
            ),
        ];
        for (kind, make, sizes, methods) in kinds {
            let mut series = Vec::new();
            for &method in methods {
                let mut points = Vec::new();
                for &n in &sizes {
                    let instance = make(n);
                    let seconds = method.seconds(&instance)?;
                    let rows = instance.rhs.len();
                    points.push((rows as f64, seconds));
                    data.push([
                        kind.into(),
                        method.name().into(),
                        Cell::Whole(rows as u64),
                        Cell::Number(seconds, 5),
                    ]);
                    if seconds > PATIENCE {
                        break;
                    }
                }
                orders.push([
                    kind.into(),
                    method.name().into(),
                    Cell::maybe(order(&points), 2),
                ]);
                series.push(Series {
                    name: method.name(),
                    points,
                });
            }
            let chart = Chart {
                title: format!("{kind} problems"),
                x: Axis::logarithmic("variables"),
                y: Axis::logarithmic("CPU seconds of ten iterations"),
                series,
            };
            pictures.push(Picture::chart(kind, &chart));
        }
        Ok(Findings {
            study: Self::NAME,
            variant: (options.largest != 8000).then(|| options.largest.to_string()),
            setting: vec![
                "The notes time ten iterations of the iterative methods and all of Lemke's: PGS and PSOR grow linearly, \
                 Lemke's method with the cube, and Fischer-Newton worse than linearly, because there the Jacobian is \
                 assembled as a dense matrix. Ours never is: GMRES asks for products only. On contact problems both Newton methods \
                 still grow steeply: a larger problem needs more inner iterations, and GMRES makes each direction orthogonal to \
                 all before."
                    .into(),
                machine::sentence(load),
            ],
            pictures,
            sections: vec![Section::new("Orders of growth", ["The slope of a line through the larger half of the points, both axes logarithmic: 1 is linear."], orders)],
            data,
        })
    }
}

/// The slope through the larger half of the points, on logarithmic axes.
pub(super) fn order(points: &[(f64, f64)]) -> Option<f64> {
    let half = &points[points.len() / 2..];
    let logs: Vec<(f64, f64)> = half.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / n;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let across: f64 = logs.iter().map(|(x, y)| (x - mx) * (y - my)).sum();
    let along: f64 = logs.iter().map(|(x, _)| (x - mx).powi(2)).sum();
    (along > 0.0).then_some(across / along)
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn the_order_of_a_power_is_its_exponent() {
        let cubes: Vec<(f64, f64)> = (1..9)
            .map(|n| (f64::from(n), f64::from(n).powi(3)))
            .collect();
        assert!((order(&cubes).unwrap() - 3.0).abs() < 1e-12);
        assert_eq!(order(&cubes[..1]), None);
    }
}
