//! `meniscus lcp info`.

use super::super::output::say;
use super::arguments::InfoArguments;
use super::files::{self, Problem};
use meniscus_lcp::survey::{Definiteness, Survey, survey};
use meniscus_lcp::toolbox::Method;
use meniscus_render::plot;
use meniscus_store::error::Error;
use serde_json::{Value, json};

/// Says what can be seen of a problem.
pub fn info(arguments: &InfoArguments) -> Result<(), Error> {
    let given = Problem::read(&arguments.problem)?;
    let survey = survey(&given.problem()?);
    if let Some(path) = &arguments.plot {
        files::write_text(path, &plot::fill_pattern(&given.matrix, &given.name))?;
    }
    if arguments.json {
        say(format_args!("{}", as_json(&survey)));
    } else {
        tell(&given, &survey);
    }
    Ok(())
}

fn as_json(survey: &Survey) -> Value {
    let fits = |method: &Method| method.fits(survey).is_ok();
    let fitting: Vec<&str> = Method::ALL
        .iter()
        .filter(|method| fits(method))
        .map(|method| method.name())
        .collect();
    let bounds = &survey.bounds;
    json!({
        "n": survey.rows,
        "nnz": survey.entries,
        "bandwidth": survey.bandwidth,
        "symmetric": survey.symmetric,
        "definiteness": survey.definiteness.to_string(),
        "no_positive_couplings": survey.no_positive_couplings,
        "dominant": survey.dominant,
        "diagonal": {
            "zero": survey.diagonal.zero,
            "negative": survey.diagonal.negative,
            "least": survey.diagonal.least,
            "largest": survey.diagonal.largest,
        },
        "magnitudes": survey.magnitudes,
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

fn tell(given: &Problem, survey: &Survey) {
    let yes = |answer: bool| if answer { "yes" } else { "no" };
    let (diagonal, bounds) = (&survey.diagonal, &survey.bounds);
    let per_row = survey.entries as f64 / survey.rows.max(1) as f64;
    let lines = [
        ("problem", given.name.clone()),
        ("rows", survey.rows.to_string()),
        (
            "entries",
            format!(
                "{}, {per_row:.1} a row, bandwidth {}",
                survey.entries, survey.bandwidth
            ),
        ),
        ("symmetric", yes(survey.symmetric).into()),
        ("definiteness", survey.definiteness.to_string()),
        (
            "diagonal",
            format!(
                "{:.3e} to {:.3e}, {} zero, {} negative, dominant: {}",
                diagonal.least,
                diagonal.largest,
                diagonal.zero,
                diagonal.negative,
                yes(survey.dominant)
            ),
        ),
        (
            "couplings",
            match (survey.no_positive_couplings, survey.definiteness) {
                (true, Definiteness::Positive) if survey.symmetric => "none positive: an M-matrix",
                (true, _) => "none positive",
                (false, _) => "some positive",
            }
            .into(),
        ),
        (
            "scaling",
            format!(
                "magnitudes from {:.3e} to {:.3e}",
                survey.magnitudes[0], survey.magnitudes[1]
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
        say(format_args!("{what:14} {value}"));
    }
    say(format_args!("methods"));
    for method in Method::ALL {
        let verdict = match method.fits(survey) {
            Ok(()) => "fits".into(),
            Err(why) => format!("does not fit: {why}"),
        };
        say(format_args!("  {:14} {verdict}", method.name()));
    }
}
