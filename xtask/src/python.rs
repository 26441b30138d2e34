//! The Python package: its tests in a fresh virtual environment, and the wheel that users install.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::{StepResult, Steps, answers, cargo, succeed, target_folder};
use crate::test::Extent;

const NAME: &str = "the Python package";

/// Packages that the tests need.
const TEST_PACKAGES: [&str; 3] = ["numpy", "scipy", "pytest"];
/// Packages that the tests use if they are installed, and those that run the notebooks.
const FULL_PACKAGES: [&str; 6] = [
    "pandas",
    "matplotlib",
    "mypy",
    "nbconvert",
    "ipykernel",
    "openjd-cli",
];

/// Runs the tests of the package; with the optional packages and the notebooks if the extent is full.
pub fn run(root: &Path, extent: Extent, steps: &mut Steps) {
    match interpreter() {
        Ok(python) => steps.run(NAME, || tests(root, extent, python)),
        Err(missing) => println!("\n== {NAME}: left out, {missing}"),
    }
}

/// Builds the wheel for users into `target/wheels`.
pub fn wheel(root: &Path) -> StepResult {
    let python = environment(root, interpreter()?, &["maturin"])?;
    let mut build = Command::new(python.with_file_name("maturin"));
    build
        .current_dir(root)
        .args(["build", "--release", "--out"]);
    succeed(build.arg(target_folder(root).join("wheels")))
}

/// An interpreter of a version that the package supports.
fn interpreter() -> Result<&'static str, String> {
    let supported = "import sys, venv; sys.exit(sys.version_info < (3, 10))";
    match answers(Command::new("python3").args(["-c", supported])) {
        true => Ok("python3"),
        false => Err("there is no Python 3.10 or later with the module venv".into()),
    }
}

/// Makes a fresh virtual environment with some packages, and returns its interpreter.
fn environment(root: &Path, python: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let folder = target_folder(root).join("python/venv");
    succeed(
        Command::new(python)
            .args(["-m", "venv", "--clear"])
            .arg(&folder),
    )?;
    let own = folder.join("bin/python");
    succeed(
        Command::new(&own)
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ])
            .args(packages),
    )?;
    Ok(own)
}

/// Packs the library that the tests before built, installs it, and runs its tests.
fn tests(root: &Path, extent: Extent, python: &str) -> StepResult {
    // As the tests before built it: with other packages or features all of it would be compiled again.
    succeed(cargo(root).args(["test", "--quiet", "--workspace", "--no-run"]))?;
    let mut packages = TEST_PACKAGES.to_vec();
    if extent == Extent::Full {
        packages.extend(FULL_PACKAGES);
    }
    let own = environment(root, python, &packages)?;
    let built = target_folder(root).join("debug");
    let wheels = target_folder(root).join("python/wheels");
    succeed(
        Command::new(&own)
            .current_dir(root)
            .arg("crates/python/pack_wheel.py")
            .arg(built.join("deps/lib_native.so"))
            .arg(&wheels),
    )?;
    succeed(
        Command::new(&own)
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--no-index",
            ])
            .arg("--find-links")
            .arg(&wheels)
            .arg("meniscus"),
    )?;
    let mut tests = Command::new(&own);
    // Away from the sources, so that the installed package is imported.
    tests
        .current_dir(target_folder(root).join("python"))
        .args([
            "-m",
            "pytest",
            "-q",
            "--durations=5",
            "-p",
            "no:cacheprovider",
        ])
        .arg(root.join("crates/python/tests"))
        .env("MENISCUS_PROGRAM", built.join("meniscus"));
    if extent == Extent::Full {
        tests.env("MENISCUS_FULL", "1");
    }
    succeed(&mut tests)
}
