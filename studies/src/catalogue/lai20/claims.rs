//! Claims of the paper about its tables, as targets for our results.

use super::means::EXACT;
use super::printed::{Printed, Quantity};
use crate::prelude::*;

type Value<'a> = &'a dyn Fn(&str, u32) -> Option<f64>;

/// Iterations of a method that scales grow by less than this when the resolution doubles.
const SCALABLE: f64 = 1.5;
/// Iterations of conjugate gradients grow by more than this: they double.
const DOUBLING: f64 = 1.5;

/// The claims of a table of means.
pub fn of_means(printed: &Printed, sizes: &[u32], value: Value<'_>) -> Vec<Target> {
    let (Some(&least), Some(&most)) = (sizes.iter().min(), sizes.iter().max()) else {
        return Vec::new();
    };
    match printed.quantity {
        Quantity::Iterations | Quantity::Count => iterations(printed, least, most, value),
        Quantity::Outer => outer(most, value),
        Quantity::Seconds => seconds(printed, most, value),
    }
}

/// Growth of a solver's iterations for every doubling between two sizes.
pub fn growth(label: &str, least: u32, most: u32, value: Value<'_>) -> Option<f64> {
    let doublings = (f64::from(most) / f64::from(least)).log2();
    if doublings <= 0.0 {
        return None;
    }
    Some((value(label, most)? / value(label, least)?).powf(1.0 / doublings))
}

/// The claims of the table of variants: trilinear transfer takes as many cycles, and every other part is needed.
pub fn of_variants(printed: &Printed, sizes: &[u32], value: Value<'_>) -> Vec<Target> {
    let Some(&most) = sizes.iter().max() else {
        return Vec::new();
    };
    let [ours, trilinear, others @ ..] = printed.columns else {
        return Vec::new();
    };
    let of = |label: &str| ratio(value(label, most), value(ours, most));
    let mut targets = vec![Target {
        bound: Bound::AtMost(SCALABLE),
        ..against(
            format!("{trilinear} at {most}: cycles, as a multiple of {ours}'s"),
            1.0,
            of(trilinear),
        )
    }];
    for label in others {
        // One that does not converge has no number: that it is worse is then in the table above.
        targets.push(against(
            format!("{label} at {most}: cycles, as a multiple of {ours}'s"),
            1.0,
            of(label),
        ));
    }
    targets
}

/// How iterations grow, and who needs most.
fn iterations(printed: &Printed, least: u32, most: u32, value: Value<'_>) -> Vec<Target> {
    let mut targets = Vec::new();
    for label in [
        "FAS-MG", "PI-MG", "PE-MG", "FMG", "TN-MG", "PI-PCG", "PE-PCG",
    ] {
        let bound = match label {
            "PI-PCG" | "PE-PCG" => Bound::AtLeast(DOUBLING),
            // "About 1.5, less than 2."
            "FMG" => Bound::AtMost(2.0),
            _ => Bound::AtMost(SCALABLE),
        };
        let theirs = growth(label, least, most, &|label, size| {
            printed.value(label, size)
        });
        targets.push(Target::new(
            match theirs {
                Some(theirs) => format!(
                    "{label}: factor of iterations for twice the resolution (paper: {theirs:.2})"
                ),
                None => format!("{label}: factor of iterations for twice the resolution"),
            },
            bound,
            "times",
            growth(label, least, most, value),
            2,
        ));
    }
    targets.push(against(
        format!("Newton at {most}: iterations, as a multiple of PI-PCG's"),
        1.0,
        ratio(value("Newton", most), value("PI-PCG", most)),
    ));
    targets.push(against(
        format!("FMG at {most}: cycles, as a multiple of FAS-MG's"),
        1.0,
        ratio(value("FMG", most), value("FAS-MG", most)),
    ));
    targets
}

/// Two to three linear systems a problem, where these are solved to the end.
fn outer(most: u32, value: Value<'_>) -> Vec<Target> {
    let target = |label: &&str| {
        Target::new(
            format!("{label} at {most}: outer iterations"),
            Bound::AtMost(3.0),
            "outer iterations",
            value(label, most),
            2,
        )
    };
    EXACT.iter().map(target).collect()
}

/// Who is faster than whom.
fn seconds(printed: &Printed, most: u32, value: Value<'_>) -> Vec<Target> {
    let pairs = [
        ("FAS-MG", "FMG"),
        ("FAS-MG", "Newton"),
        ("PI-MG", "FMG"),
        ("PI-PCG", "Newton"),
        ("TN-MG", "FAS-MG"),
        ("TN-MG", "PI-PCG"),
        ("TN-MG", "No LCP"),
    ];
    let known = |label: &str| label == "TN-MG" || printed.columns.contains(&label);
    pairs
        .into_iter()
        .filter(|(fast, slow)| known(fast) && known(slow))
        .map(|(fast, slow)| {
            let theirs = ratio(printed.value(slow, most), printed.value(fast, most));
            let paper = theirs.map_or(String::new(), |theirs| format!(" (paper: {theirs:.1})"));
            against(
                format!("{fast} against {slow} at {most}{paper}"),
                1.0,
                ratio(value(slow, most), value(fast, most)),
            )
        })
        .collect()
}

fn ratio(above: Option<f64>, below: Option<f64>) -> Option<f64> {
    Some(above? / below?)
}

fn against(what: String, least: f64, measured: Option<f64>) -> Target {
    Target::new(what, Bound::AtLeast(least), "times", measured, 2)
}

#[cfg(test)]
mod tests {
    use super::super::printed::MEANS;
    use super::*;

    #[test]
    fn what_the_paper_says_of_its_own_tables_holds_for_them() {
        let sizes = [32, 64, 128];
        for table in &MEANS {
            let value = |label: &str, size: u32| table.value(label, size);
            for target in of_means(table, &sizes, &value) {
                // FMG does not scale, and ours is not printed.
                let verdict = target.verdict();
                if !target.what.contains("FMG: factor") {
                    assert_ne!(verdict, "missed", "{}: {target:?}", table.study);
                }
            }
        }
    }

    #[test]
    fn growth_is_a_doubling() {
        let value = |_: &str, size: u32| Some(f64::from(size));
        assert_eq!(growth("FAS-MG", 32, 128, &value), Some(2.0));
        assert_eq!(growth("FAS-MG", 32, 32, &value), None);
    }
}
