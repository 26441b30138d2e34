//! Orders of cost, measured. [Erl13 table 3]

use super::growth::order;
use super::{ZEROS, fluid};
use crate::prelude::*;
use meniscus_lcp::gallery::{self, Instance, Random};
use meniscus_lcp::registry::{self, Family, Method, Options as Ask};
use meniscus_lcp::{Status, Trace};

/// The study.
pub struct Table3;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Largest dense problem, in variables
    #[arg(long, value_name = "N", default_value_t = 800, value_parser = value_parser!(u64).range(100..=4000))]
    largest: u64,
}

/// A row of the notes' table.
struct Row {
    method: Method,
    /// Whether it works on a dense matrix.
    dense: bool,
    notes: [&'static str; 3],
}

const ROWS: [Row; 8] = [
    row(
        Method::Pgs,
        false,
        [
            "O(n) an iteration",
            "linear",
            "symmetric PSD, or nonzero diagonal",
        ],
    ),
    row(
        Method::Psor,
        false,
        ["O(n) an iteration", "linear", "symmetric PSD"],
    ),
    row(
        Method::Dantzig,
        true,
        ["O(n^4) in all", "-", "symmetric PD"],
    ),
    row(Method::Keller, true, ["-", "-", "-"]),
    row(Method::Lemke, true, ["O(2^n) in all", "-", "P-matrix"]),
    row(
        Method::Newton,
        false,
        ["O(n^3) an iteration", "quadratic", "no assumptions"],
    ),
    row(
        Method::Fischer,
        false,
        ["O(n^3) an iteration", "quadratic", "no assumptions"],
    ),
    row(Method::InteriorPoint, false, ["-", "-", "-"]),
];

const fn row(method: Method, dense: bool, notes: [&'static str; 3]) -> Row {
    Row {
        method,
        dense,
        notes,
    }
}

impl Study for Table3 {
    const NAME: &'static str = "erl13-table3";
    const SUMMARY: &'static str = "orders of cost and rates of convergence, measured";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let mut data = Table::columns("method | matrix | variables | iterations | CPU s | status");
        let mut table = Table::columns(
            "method | matrix | order, in all | order, an iteration | order of convergence | \
            notes: cost | notes: rate | notes: matrix",
        );
        for row in &ROWS {
            let matrix = if row.dense { "dense PD" } else { "fluid" };
            // A sparse problem of a size takes far less time than a dense one.
            let largest = options.largest as usize * if row.dense { 1 } else { 32 };
            let (mut whole, mut each, mut rate) = (Vec::new(), Vec::new(), None);
            for n in [largest / 8, largest / 4, largest / 2, largest] {
                let instance = if row.dense {
                    gallery::dense(n, 0.0, ZEROS, &mut Random::new(1))
                } else {
                    fluid(n, 1)
                };
                let (seconds, iterations, trace, status) = timed(row.method, &instance)?;
                whole.push((n as f64, seconds));
                each.push((n as f64, seconds / iterations.max(1) as f64));
                // Pivots are no iterations that converge.
                if row.method.family() != Family::Pivoting {
                    rate = observed_rate(&trace).or(rate);
                }
                data.push([
                    row.method.name().into(),
                    matrix.into(),
                    Cell::Whole(n as u64),
                    Cell::Whole(iterations as u64),
                    Cell::Number(seconds, 5),
                    status.word().into(),
                ]);
            }
            let mut cells = vec![
                Cell::from(row.method.name()),
                matrix.into(),
                Cell::maybe(order(&whole), 2),
                Cell::maybe(order(&each), 2),
                Cell::maybe(rate, 2),
            ];
            cells.extend(row.notes.map(Cell::from));
            table.push(cells);
        }
        Ok(Findings {
            study: Self::NAME,
            variant: (options.largest != 800).then(|| options.largest.to_string()),
            setting: vec![
                format!(
                    "CPU time against size, as the slope through the larger half of four sizes on logarithmic axes. Dense \
                     problems up to {} variables, fluid problems up to {}.",
                    options.largest,
                    32 * options.largest
                ),
                machine::sentence(load),
            ],
            pictures: Vec::new(),
            sections: vec![Section::new(
                "Orders",
                [
                    "The notes list worst cases with direct methods for linear systems. Ours solve them inexactly by Krylov \
                     methods: an iteration of a Newton method on a sparse matrix grows with its inner iterations, far from the \
                     cube; Dantzig's \
                     method updates its factorisation, and Lemke's makes about as many pivots as there are rows, a pivot \
                     costing n^2. The order of convergence p is that of r_(k+1) ~ r_k^p over the last residuals above \
                     rounding: 1 is linear.",
                ],
                table,
            )],
            data,
        })
    }
}

type Timing = (f64, usize, Trace, Status);

fn timed(method: Method, instance: &Instance) -> Result<Timing, Error> {
    let (mut spent, mut times) = (0.0, 0.0);
    loop {
        let mut x = vec![0.0; instance.rhs.len()];
        let mut trace = Trace::default();
        let start = Moment::now();
        let ask = Ask::default().absolute(true);
        let solution = registry::solve(&instance.problem(), method, &ask, &mut x, &mut trace)
            .map_err(|fault| Error::usage(format!("{method}: {fault}")))?;
        spent += Moment::now().since(&start).cpu;
        times += 1.0;
        if spent > 0.1 {
            let report = solution.report;
            return Ok((spent / times, report.iterations, trace, report.status));
        }
    }
}

/// `p` in `r_(k+1) ~ r_k^p`: the median over the last residuals above rounding, as long as they fall.
fn observed_rate(trace: &Trace) -> Option<f64> {
    let residuals: Vec<f64> = trace
        .outer
        .iter()
        .map(|progress| progress.residual)
        .filter(|&residual| residual > 1e-13)
        .collect();
    let last = &residuals[residuals.len().saturating_sub(LAST)..];
    let mut rates: Vec<f64> = last
        .windows(3)
        .filter(|r| r[1] < r[0] && r[2] < r[1])
        .map(|r| (r[2] / r[1]).ln() / (r[1] / r[0]).ln())
        .collect();
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied()
}

/// Residuals that tell the order of convergence.
const LAST: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_lcp::Progress;

    fn trace(residuals: &[f64]) -> Trace {
        let progress =
            |(iteration, &residual): (usize, &f64)| Progress::new(iteration, 0, residual, residual);
        Trace {
            outer: residuals.iter().enumerate().map(progress).collect(),
            inner: Vec::new(),
        }
    }

    #[test]
    fn rates_of_known_sequences_are_found() {
        let linear = observed_rate(&trace(&[1.0, 0.5, 0.25, 0.125])).unwrap();
        assert!((linear - 1.0).abs() < 1e-12);
        let quadratic = observed_rate(&trace(&[1e-1, 1e-2, 1e-4, 1e-8])).unwrap();
        assert!((quadratic - 2.0).abs() < 1e-12);
        assert_eq!(observed_rate(&trace(&[1.0, 0.5])), None);
    }
}
