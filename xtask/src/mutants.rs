//! Deliberate faults, each of which a test must notice.
//!
//! The tree is copied to `target/mutants/tree`; one fault after the other is put into the copy, and the tests that are named for
//! it are run there. A fault that no test notices is a survivor.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::steps::StepResult;

/// A fault: a text of a file, found there once, and another in its place.
struct Fault {
    what: &'static str,
    file: &'static str,
    old: &'static str,
    new: &'static str,
    /// Package, test program and filter of the tests that notice it.
    package: &'static str,
    program: &'static str,
    test: &'static str,
}

const FAULTS: &[Fault] = &[
    Fault {
        what: "the Armijo term of Newton's method has the wrong sign",
        file: "crates/lcp/src/methods/newton.rs",
        old: "reference + settings.sufficient_decrease * step * slope",
        new: "reference - settings.sufficient_decrease * step * slope",
        package: "meniscus-lcp",
        program: "suite",
        test: "safeguards::every_step_of_newtons_method_lowers_its_merit_by_the_part_that_is_asked_for",
    },
    Fault {
        what: "the slope of Newton's method ignores the residual of the inner solve",
        file: "crates/lcp/src/methods/newton.rs",
        old: "-state.squares - reduce::dot(&reduced.h, &reduced.r)",
        new: "-state.squares",
        package: "meniscus-lcp",
        program: "suite",
        test: "safeguards::the_slope_of_an_inexact_direction_includes_its_residual",
    },
    Fault {
        what: "inner solves stop at 100 times the tolerance",
        file: "crates/lcp/src/methods/newton.rs",
        old: "enough: 0.5 * settings.tolerance",
        new: "enough: 100.0 * settings.tolerance",
        package: "meniscus-lcp",
        program: "suite",
        test: "safeguards::inner_solves_continue_to_the_tolerance_of_the_whole",
    },
    Fault {
        what: "stagnation is absolute",
        file: "crates/lcp/src/methods/newton.rs",
        old: "moved <= settings.stagnation * reduce::largest(x)",
        new: "moved <= settings.stagnation",
        package: "meniscus-lcp",
        program: "suite",
        test: "safeguards::stagnation_is_relative_to_the_size_of_x",
    },
    Fault {
        what: "MPRGP solves a face to the end before it releases rows",
        file: "crates/lcp/src/methods/mprgp.rs",
        old: "let proportional = now.chopped <= gamma * gamma * now.reduced;",
        new: "let proportional = now.reduced > 1e-30 * gamma * now.chopped;",
        package: "meniscus-lcp",
        program: "suite",
        test: "safeguards::proportioning_releases_rows_before_their_face_is_solved_to_the_end",
    },
    Fault {
        what: "auto keeps the worst attempt",
        file: "crates/lcp/src/registry/solution.rs",
        old: "kept.is_nan() || report.residual < kept",
        new: "kept.is_nan() || report.residual > kept",
        package: "meniscus-lcp",
        program: "suite",
        test: "registry::of_attempts_that_fail_the_one_with_the_smallest_residual_is_kept",
    },
    Fault {
        what: "a slope of 1e-8 of its terms counts as zero in a proof",
        file: "crates/lcp/src/certificate.rs",
        old: "ROUNDING * slopes.terms[j] ||",
        new: "1e-8 * slopes.terms[j] ||",
        package: "meniscus-lcp",
        program: "suite",
        test: "certificates::",
    },
    Fault {
        what: "a verdict without a certificate is passed on",
        file: "crates/lcp/src/registry/mod.rs",
        old: "&& !proof::is_proved(given, observer)",
        new: "&& false",
        package: "meniscus-lcp",
        program: "suite",
        test: "certificates::",
    },
    Fault {
        what: "bounds of a half-space ignore its level",
        file: "crates/shapes/src/shape.rs",
        old: "bounds.high[i] = point[i] + level;",
        new: "bounds.high[i] = point[i];",
        package: "meniscus-shapes",
        program: "properties",
        test: "half_spaces_along_the_axes_bound_what_they_enclose",
    },
    Fault {
        what: "the flux of a moving solid is left out of the right-hand side of the pressure",
        file: "crates/liquid/src/pressure/system.rs",
        old: "flux += (1.0 - w) * solid[axis];",
        new: "let _ = solid;",
        package: "meniscus-liquid",
        program: "suite",
        test: "projections::a_piston_drives_the_liquid_before_it_at_its_own_speed",
    },
    Fault {
        what: "walls deep inside a solid hold the liquid",
        file: "crates/liquid/src/pressure/weights.rs",
        old: "if distance >= 0.0 || !self.is_beside_air(index) {",
        new: "if distance >= 0.0 {",
        package: "meniscus-liquid",
        program: "suite",
        test: "projections::a_ceiling_does_not_hold_liquid_that_falls",
    },
];

/// Puts every fault into a copy of the tree and runs its tests; an error lists those that survive.
pub fn run(root: &Path) -> StepResult {
    let folder = root.join("target/mutants");
    let tree = copy(root, &folder.join("tree"))?;
    let mut survivors = Vec::new();
    for fault in FAULTS {
        match noticed(fault, &tree, &folder.join("target")) {
            Ok(true) => println!("noticed: {}", fault.what),
            Ok(false) => survivors.push(format!("{} ({})", fault.what, fault.test)),
            Err(why) => survivors.push(format!("{}: {why}", fault.what)),
        }
    }
    match survivors.is_empty() {
        true => Ok(()),
        false => Err(format!("survivors: {}", survivors.join("; "))),
    }
}

/// Copies the files that git knows; those that have not changed keep their time.
fn copy(root: &Path, tree: &Path) -> Result<PathBuf, String> {
    let listed = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output()
        .map_err(|why| format!("git: {why}"))?;
    for name in listed.stdout.split(|byte| *byte == 0) {
        let name = String::from_utf8_lossy(name);
        let (from, to) = (root.join(&*name), tree.join(&*name));
        // A file may have been deleted since.
        let Ok(content) = std::fs::read(&from) else {
            continue;
        };
        if std::fs::read(&to).is_ok_and(|known| known == content) {
            continue;
        }
        let made = to.parent().map_or(Ok(()), std::fs::create_dir_all);
        made.and_then(|()| std::fs::write(&to, content))
            .map_err(|why| format!("{}: {why}", to.display()))?;
    }
    Ok(tree.to_owned())
}

/// Whether the tests of a fault fail with it. An error if it cannot be put in, or does not compile.
fn noticed(fault: &Fault, tree: &Path, target: &Path) -> Result<bool, String> {
    let path = tree.join(fault.file);
    let text = std::fs::read_to_string(&path).map_err(|why| format!("{}: {why}", fault.file))?;
    let faulty = put_in(fault, &text)?;
    std::fs::write(&path, faulty).map_err(|why| format!("{}: {why}", fault.file))?;
    let run = |more: &[&str]| {
        Command::new("cargo")
            .args(["test", "--quiet", "--package", fault.package])
            .args(["--test", fault.program])
            .args(more)
            .current_dir(tree)
            .env("CARGO_TARGET_DIR", target)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(|why| format!("cargo: {why}"))
    };
    let result = run(&["--no-run"]).and_then(|built| match built.success() {
        true => run(&["--", fault.test]).map(|passed| !passed.success()),
        false => Err("it does not compile".into()),
    });
    std::fs::write(&path, text).map_err(|why| format!("{}: {why}", fault.file))?;
    result
}

fn put_in(fault: &Fault, text: &str) -> Result<String, String> {
    match text.matches(fault.old).count() {
        1 => Ok(text.replacen(fault.old, fault.new, 1)),
        count => Err(format!(
            "{:?} is {count} times in {}",
            fault.old, fault.file
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_fits_into_its_file() {
        let root = crate::workspace_root();
        for fault in FAULTS {
            let text = std::fs::read_to_string(root.join(fault.file)).unwrap();
            assert_eq!(put_in(fault, &text).err(), None, "{}", fault.what);
        }
    }
}
