//! How well `auto` chooses: its time beside that of the best method, on the gallery and on public collections.

mod mat_file;
mod problems;

use crate::prelude::*;
use meniscus_lcp::analysis::analyse;
use meniscus_lcp::registry::{self, Method, Options as Ask, Solution};
use meniscus_lcp::{InnerProgress, Observer, Progress, Status};
use problems::Named;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// The study.
pub struct Auto;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Seconds after which a solve is ended
    #[arg(long, value_name = "S", default_value_t = 60)]
    patience: u64,
    /// Only problems whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Only problems with at most so many rows
    #[arg(long, value_name = "N", default_value_t = usize::MAX)]
    most_rows: usize,
}

/// Seconds below which differences do not matter to anybody, and are those of the clock.
const NEGLIGIBLE: f64 = 1e-3;
/// Solves that are quicker are repeated.
const QUICK: f64 = 0.1;
/// Repetitions.
const REPEATED: usize = 3;

/// A timed solve.
struct Timed {
    /// Whether a solution was found, or a proof that there is none.
    answered: bool,
    seconds: f64,
    solution: Solution,
}

/// `auto` beside the best method.
struct Compared {
    name: String,
    from: &'static str,
    rows: usize,
    entries: usize,
    auto: Timed,
    /// Name and seconds.
    best: Option<(&'static str, f64)>,
}

impl Compared {
    /// Time of `auto` over that of the best.
    fn ratio(&self) -> f64 {
        match (&self.best, self.auto.answered) {
            (_, false) => f64::INFINITY,
            (Some((_, best)), true) => self.auto.seconds.max(NEGLIGIBLE) / best.max(NEGLIGIBLE),
            (None, true) => 1.0,
        }
    }
}

/// Ends a solve.
struct Deadline(Instant);

impl Deadline {
    fn flow(&self) -> ControlFlow<()> {
        if Instant::now() < self.0 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

impl Observer for Deadline {
    fn observe(&mut self, _: &Progress) -> ControlFlow<()> {
        self.flow()
    }

    fn observe_inner(&mut self, _: &InnerProgress) -> ControlFlow<()> {
        self.flow()
    }
}

/// Solves by a method; the quickest of a few where it is quick. `None` if the method refuses the problem.
fn timed(given: &Named, method: Method, patience: f64) -> Option<Timed> {
    let problem = given.problem().ok()?;
    let mut best: Option<Timed> = None;
    for _ in 0..REPEATED {
        let mut x = given.start();
        let mut deadline = Deadline(Instant::now() + Duration::from_secs_f64(patience));
        let start = Moment::now();
        let solution =
            registry::solve(&problem, method, &Ask::default(), &mut x, &mut deadline).ok()?;
        let seconds = Moment::now().since(&start).cpu;
        let status = solution.report.status;
        let answered = matches!(status, Status::Converged | Status::Infeasible);
        let quicker = best.as_ref().is_none_or(|best| seconds < best.seconds);
        if quicker {
            best = Some(Timed {
                answered,
                seconds,
                solution,
            });
        }
        if !answered || seconds > QUICK {
            break;
        }
    }
    best
}

fn compare(given: &Named, patience: f64) -> Option<Compared> {
    let seen = analyse(&given.problem().ok()?);
    let auto = timed(given, Method::Auto, patience)?;
    // Methods that take longer than auto are not the best one.
    let limit = if auto.answered {
        (1.2 * auto.seconds).clamp(0.05, patience)
    } else {
        patience
    };
    let mut best: Option<(&'static str, f64)> = None;
    for &method in Method::ALL.iter().filter(|method| **method != Method::Auto) {
        if method.fits(&seen).is_err() {
            continue;
        }
        let limit = best.map_or(limit, |(_, seconds)| (1.2 * seconds).clamp(0.05, limit));
        if let Some(solve) = timed(given, method, limit)
            && solve.answered
            && best.is_none_or(|(_, seconds)| solve.seconds < seconds)
        {
            best = Some((method.name(), solve.seconds));
        }
    }
    Some(Compared {
        name: given.name.clone(),
        from: given.from,
        rows: seen.rows,
        entries: seen.entries,
        auto,
        best,
    })
}

fn table(compared: &[Compared]) -> Table {
    let mut table = Table::columns(
        "collection | problem | rows | entries | auto tried | status | auto, CPU s | best | best, CPU s | auto : best",
    );
    for one in compared {
        let tried: Vec<&str> = one
            .auto
            .solution
            .attempts
            .iter()
            .map(|a| a.solver)
            .collect();
        let ratio = one.ratio();
        table.push([
            one.from.into(),
            one.name.as_str().into(),
            Cell::Whole(one.rows as u64),
            Cell::Whole(one.entries as u64),
            tried.join(", ").into(),
            one.auto.solution.report.status.word().into(),
            Cell::Number(one.auto.seconds, 4),
            one.best.map_or("none", |(name, _)| name).into(),
            Cell::maybe(one.best.map(|(_, seconds)| seconds), 4),
            Cell::maybe(ratio.is_finite().then_some(ratio), 1),
        ]);
    }
    table
}

fn targets(compared: &[Compared]) -> Vec<Target> {
    // Problems without an answer by any method say nothing about the choice.
    let decided: Vec<&Compared> = compared
        .iter()
        .filter(|one| one.auto.answered || one.best.is_some())
        .collect();
    let within = |most: f64| {
        let count = decided.iter().filter(|one| one.ratio() <= most).count();
        (!decided.is_empty()).then(|| 100.0 * count as f64 / decided.len() as f64)
    };
    let unanswered = decided.iter().filter(|one| !one.auto.answered).count();
    vec![
        Target::new(
            "problems on which auto is within 2 times the best",
            Bound::AtLeast(90.0),
            "%",
            within(2.0),
            1,
        ),
        Target::new(
            "within 5 times the best",
            Bound::AtLeast(100.0),
            "%",
            within(5.0),
            1,
        ),
        Target::new(
            "problems that a method solves and auto does not",
            Bound::AtMost(0.0),
            "problems",
            Some(unanswered as f64),
            0,
        ),
    ]
}

impl Study for Auto {
    const NAME: &'static str = "auto";
    const SUMMARY: &'static str = "how well auto chooses, on the gallery and on public collections";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let mut all = problems::own();
        let mut last = Vec::new();
        match problems::public(&problems::data()) {
            Ok(found) => all.extend(found),
            Err(why) => last.push(problems::missing(why)),
        }
        all.retain(|one| {
            one.name.contains(&options.only) && one.matrix.rows() <= options.most_rows
        });
        let compared: Vec<Compared> = all
            .iter()
            .filter_map(|one| compare(one, options.patience as f64))
            .collect();
        let words = format!(
            "{} problems; methods that cannot be expected to solve one are not tried. A method is ended where it takes longer \
             than the best so far. Times below {NEGLIGIBLE} s count as that. Solved means that the relative residual is within \
             1e-8, or that it was proved that there is no solution. Not measured: PETSc VI, Clarabel, PIQP and Siconos.",
            compared.len()
        );
        let usual =
            options.patience == 60 && options.only.is_empty() && options.most_rows == usize::MAX;
        let mut sections = vec![
            target::section(vec![words], &targets(&compared)),
            Section::table("Problems", table(&compared)),
        ];
        sections.append(&mut last);
        Ok(Findings {
            study: Self::NAME,
            variant: (!usual).then(|| format!("{}-{}-{}", options.patience, options.only, options.most_rows)),
            setting: vec![
                "CPU seconds of one process with set-up, from the point of the box that is nearest to zero; the quickest of \
                 three where they are quick."
                    .into(),
                machine::sentence(load),
            ],
            pictures: Vec::new(),
            sections,
            data: table(&compared),
        })
    }
}
