//! The viewer's page in a real browser: what the tests in `web/tests/` need is installed, or it is said why they are
//! left out.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::{StepResult, Steps, answers, cargo, succeed, target_folder};
use crate::test::Extent;

const NAME: &str = "the viewer in a browser";

/// Browsers that will do, by the names they have on different systems.
const BROWSERS: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Runs the tests of the page; all of them if the extent is full.
pub fn run(root: &Path, extent: Extent, steps: &mut Steps) {
    match needs(root) {
        Ok(browser) => steps.run(NAME, || tests(root, extent, &browser)),
        Err(missing) => println!("\n== {NAME}: left out, {missing}"),
    }
}

/// Installs what is missing and returns the browser, or what could not be installed.
fn needs(root: &Path) -> Result<String, String> {
    for program in ["node", "npm"] {
        if !answers(Command::new(program).arg("--version")) {
            return Err(format!("{program} is not installed"));
        }
    }
    let browser = browser()?;
    let web = root.join("web");
    if !web.join("node_modules/playwright-core").is_dir() {
        println!("\n== {NAME}: fetching playwright-core, as web/package-lock.json says");
        let mut fetch = Command::new("npm");
        fetch
            .current_dir(&web)
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
        if !answers(&mut fetch) {
            return Err("`npm ci` in web/ failed: is there a network?".into());
        }
    }
    Ok(browser)
}

/// A browser that is there, or that the system's packages bring.
fn browser() -> Result<String, String> {
    let there = || {
        BROWSERS
            .iter()
            .find(|name| answers(Command::new(name).arg("--version")))
    };
    if let Some(name) = there() {
        return Ok(path_of(name));
    }
    println!("\n== {NAME}: installing chromium");
    for words in [
        &["update", "-qq"][..],
        &[
            "install",
            "-y",
            "-qq",
            "--no-install-recommends",
            "chromium",
        ],
    ] {
        // A system without a network should not keep anybody waiting.
        let mut install = Command::new("timeout");
        install.args(["300", "apt-get"]).args(words);
        install.env("DEBIAN_FRONTEND", "noninteractive");
        answers(&mut install);
    }
    match there() {
        Some(name) => Ok(path_of(name)),
        None => Err(
            "there is no chromium, and it could not be installed with apt-get (that takes root)"
                .into(),
        ),
    }
}

/// Where a program is.
fn path_of(name: &str) -> String {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
        .map_or(name.into(), |path| path.to_string_lossy().into_owned())
}

fn tests(root: &Path, extent: Extent, browser: &str) -> StepResult {
    // As the tests before built it: with other packages or features all of it would be compiled again.
    succeed(cargo(root).args(["test", "--quiet", "--workspace", "--no-run"]))?;
    let program: PathBuf = target_folder(root).join("debug/meniscus");
    let mut tests = Command::new("node");
    tests.current_dir(root.join("web")).arg("tests/run.js");
    if extent == Extent::Full {
        tests.arg("--full");
    }
    succeed(tests.env("MENISCUS", program).env("CHROMIUM", browser))
}
