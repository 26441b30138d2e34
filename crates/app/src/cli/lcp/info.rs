//! `meniscus lcp info`.

use super::super::output::print_line;
use super::arguments::InfoArguments;
use super::files::{self, Problem};
use meniscus_lcp::analysis::{Analysis, Definiteness, analyse};
use meniscus_lcp::registry::Method;
use meniscus_render::plot;
use meniscus_store::error::Error;
use serde_json::{Value, json};

/// Prints the properties of a problem.
pub fn info(arguments: &InfoArguments) -> Result<(), Error> {
    let given = Problem::read(&arguments.problem)?;
    let analysis = analyse(&given.problem()?);
    if let Some(path) = &arguments.plot {
        files::write_text(path, &plot::fill_pattern(&given.matrix, &given.name))?;
    }
    if arguments.json {
        print_line(format_args!("{}", as_json(&analysis)));
    } else {
        print_result(&given, &analysis);
    }
    Ok(())
}

fn as_json(analysis: &Analysis) -> Value {
    let fits = |method: &Method| method.fits(analysis).is_ok();
    let fitting: Vec<&str> = Method::ALL
        .iter()
        .filter(|method| fits(method))
        .map(|method| method.name())
        .collect();
    let bounds = &analysis.bounds;
    json!({
        "n": analysis.rows,
        "nnz": analysis.entries,
        "bandwidth": analysis.bandwidth,
        "symmetric": analysis.symmetric,
        "definiteness": analysis.definiteness.to_string(),
        "no_positive_couplings": analysis.no_positive_couplings,
        "dominant": analysis.dominant,
        "diagonal": {
            "zero": analysis.diagonal.zero,
            "negative": analysis.diagonal.negative,
            "least": analysis.diagonal.least,
            "largest": analysis.diagonal.largest,
        },
        "magnitudes": analysis.magnitudes,
        "bounds": {
            "free": bounds.free,
            "lower_only": bounds.lower_only,
            "upper_only": bounds.upper_only,
            "both": bounds.both,
            "fixed": bounds.fixed,
        },
        "methods": fitting,
    })
}

fn print_result(given: &Problem, analysis: &Analysis) {
    let yes = |answer: bool| if answer { "yes" } else { "no" };
    let (diagonal, bounds) = (&analysis.diagonal, &analysis.bounds);
    let per_row = analysis.entries as f64 / analysis.rows.max(1) as f64;
    let lines = [
        ("problem", given.name.clone()),
        ("rows", analysis.rows.to_string()),
        (
            "entries",
            format!(
                "{}, {per_row:.1} per row, bandwidth {}",
                analysis.entries, analysis.bandwidth
            ),
        ),
        ("symmetric", yes(analysis.symmetric).into()),
        ("definiteness", analysis.definiteness.to_string()),
        (
            "diagonal",
            format!(
                "{:.3e} to {:.3e}, {} zero, {} negative, dominant: {}",
                diagonal.least,
                diagonal.largest,
                diagonal.zero,
                diagonal.negative,
                yes(analysis.dominant)
            ),
        ),
        (
            "couplings",
            match (analysis.no_positive_couplings, analysis.definiteness) {
                (true, Definiteness::Positive) if analysis.symmetric => {
                    "none positive: an M-matrix"
                }
                (true, _) => "none positive",
                (false, _) => "some positive",
            }
            .into(),
        ),
        (
            "scaling",
            format!(
                "magnitudes from {:.3e} to {:.3e}",
                analysis.magnitudes[0], analysis.magnitudes[1]
            ),
        ),
        (
            "bounds",
            format!(
                "{} free, {} below only, {} above only, {} both, {} fixed",
                bounds.free, bounds.lower_only, bounds.upper_only, bounds.both, bounds.fixed
            ),
        ),
    ];
    for (what, value) in lines {
        print_line(format_args!("{what:14} {value}"));
    }
    print_line(format_args!("methods"));
    for method in Method::ALL {
        let verdict = match method.fits(analysis) {
            Ok(()) => "fits".into(),
            Err(why) => format!("not applicable: {why}"),
        };
        print_line(format_args!("  {:14} {verdict}", method.name()));
    }
}
