//! Sweeps: runs of one scene with every combination of some values.

mod openjd;

pub use openjd::job_template;

use crate::shell::{quoted, quoted_path};
use meniscus_render::filming::{self, contact_sheet};
use meniscus_scene::Style;
use meniscus_scene::text::Override;
use meniscus_store::atomic_file;
use meniscus_store::error::Error;
use meniscus_store::manifest::{Manifest, State};
use meniscus_store::opened_run::FrameChoice;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Most runs of a sweep.
const MOST_RUNS: usize = 10_000;
/// Longest name of a folder.
const LONGEST_NAME: usize = 100;
/// Side of an image in the contact sheet, in pixels.
const SIDE: u32 = 320;

/// Values of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variation {
    /// Key, as in `--set`.
    pub key: String,
    /// Values, as TOML; a word needs no quotes.
    pub values: Vec<String>,
}

impl Variation {
    /// Parses `KEY=VALUE,VALUE,...`. Commas in brackets, braces and quotes belong to a value.
    ///
    /// # Errors
    /// If there is no key or an empty value.
    pub fn parse(text: &str) -> Result<Self, String> {
        let example = "write key=value,value, as in body[1].density=200,400";
        let (key, values) = text.split_once('=').ok_or(example)?;
        let values = split_values(values);
        if key.trim().is_empty() || values.iter().any(String::is_empty) {
            return Err(example.into());
        }
        Ok(Variation {
            key: key.trim().into(),
            values,
        })
    }
}

fn split_values(text: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let (mut depth, mut quote) = (0_usize, None);
    for c in text.chars() {
        match c {
            '"' | '\'' if quote == Some(c) => quote = None,
            '"' | '\'' if quote.is_none() => quote = Some(c),
            '[' | '{' if quote.is_none() => depth += 1,
            ']' | '}' if quote.is_none() => depth = depth.saturating_sub(1),
            ',' if quote.is_none() && depth == 0 => {
                values.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = values.last_mut() {
            last.push(c);
        }
    }
    values.iter().map(|value| value.trim().to_owned()).collect()
}

/// One run of a sweep.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Values of the keys, in their order.
    pub values: Vec<String>,
    /// Changes of the scene.
    pub changes: Vec<Override>,
    /// Folder.
    pub folder: PathBuf,
}

/// Every combination of values, the last key fastest.
///
/// # Errors
/// If there are too many, or two have the same folder.
pub fn variants(variations: &[Variation], root: &Path) -> Result<Vec<Variant>, Error> {
    let count = variations
        .iter()
        .try_fold(1_usize, |n, one| n.checked_mul(one.values.len()));
    if count.is_none_or(|count| count > MOST_RUNS) {
        return Err(Error::usage(format!(
            "the sweep has more than {MOST_RUNS} combinations"
        )));
    }
    let mut combinations = vec![Vec::new()];
    for variation in variations {
        combinations = combinations
            .iter()
            .flat_map(|before: &Vec<String>| {
                variation.values.iter().map(move |value| {
                    let mut values = before.clone();
                    values.push(value.clone());
                    values
                })
            })
            .collect();
    }
    let mut variants: Vec<Variant> = Vec::new();
    for values in combinations {
        let folder = root.join(folder_name(variations, &values));
        if variants.iter().any(|other| other.folder == folder) {
            let shown = folder.display();
            return Err(
                Error::usage(format!("two runs of the sweep would be in {shown}"))
                    .with_remedy("give every value once"),
            );
        }
        let pairs = variations.iter().zip(&values);
        let changes = pairs.map(|(variation, value)| Override {
            typed: format!("--vary {}={value}", variation.key),
            path: variation.key.clone(),
            value: value.clone(),
        });
        variants.push(Variant {
            changes: changes.collect(),
            values,
            folder,
        });
    }
    Ok(variants)
}

/// Name of the folder of a combination, safe in every file system.
fn folder_name(variations: &[Variation], values: &[String]) -> String {
    let parts: Vec<String> = variations
        .iter()
        .zip(values)
        .map(|(variation, value)| {
            let key = variation.key.rsplit('.').next().unwrap_or_default();
            format!("{key}-{value}")
        })
        .collect();
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || "-_.+".contains(c) => c,
        _ => '_',
    };
    let name: String = parts
        .join("_")
        .chars()
        .map(plain)
        .take(LONGEST_NAME)
        .collect();
    // Dots alone would name another folder.
    match name.trim_matches('.') {
        "" => "run".into(),
        _ => name,
    }
}

/// Arguments of `meniscus` that run a variant: the scene, its changes and its folder.
pub fn arguments(scene: &Path, common: &[Override], variant: &Variant) -> Vec<String> {
    let mut words = vec!["run".to_owned(), scene.to_string_lossy().into_owned()];
    for change in common.iter().chain(&variant.changes) {
        words.push("--set".into());
        words.push(format!("{}={}", change.path, change.value));
    }
    words.push("--out".into());
    words.push(variant.folder.to_string_lossy().into_owned());
    words
}

/// The command that runs a variant, for a shell.
pub fn command(scene: &Path, common: &[Override], variant: &Variant) -> String {
    let mut line = format!("meniscus run {}", quoted_path(scene));
    for change in common.iter().chain(&variant.changes) {
        let _ = write!(
            line,
            " --set {}",
            quoted(&format!("{}={}", change.path, change.value))
        );
    }
    let _ = write!(line, " --out {}", quoted_path(&variant.folder));
    line
}

/// Results of a sweep as CSV: values, folder, state, frames, seconds and warnings.
pub fn table(variations: &[Variation], variants: &[Variant]) -> String {
    let keys = variations.iter().map(|variation| cell(&variation.key));
    let mut text = keys.collect::<Vec<_>>().join(",");
    text += ",folder,state,frames,seconds,warnings\n";
    for variant in variants {
        for value in &variant.values {
            text += &cell(value);
            text.push(',');
        }
        let manifest = Manifest::read(&variant.folder).ok().flatten();
        let (state, frames, seconds, warnings) = match &manifest {
            None => ("none", 0, 0.0, 0),
            Some(run) => (
                state_word(run.state),
                run.frames_done,
                run.wall_seconds,
                run.warnings().len(),
            ),
        };
        let folder = cell(&variant.folder.to_string_lossy());
        let _ = writeln!(text, "{folder},{state},{frames},{seconds:.1},{warnings}");
    }
    text
}

fn state_word(state: State) -> &'static str {
    match state {
        State::Done => "done",
        State::Running => "running",
        State::Interrupted => "interrupted",
        State::Failed => "failed",
    }
}

/// A cell of a CSV file.
fn cell(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.into(),
    }
}

/// Writes the table and the contact sheet of a sweep into its folder; runs without frames are left out of the sheet.
///
/// # Errors
/// If they can't be written.
pub fn finish(
    root: &Path,
    variations: &[Variation],
    variants: &[Variant],
    stop: &AtomicBool,
) -> Result<(), Error> {
    atomic_file::write(
        &root.join("sweep.csv"),
        table(variations, variants).as_bytes(),
    )?;
    let has_frames = |variant: &&Variant| {
        let manifest = Manifest::read(&variant.folder).ok().flatten();
        manifest.is_some_and(|manifest| !manifest.particles.is_empty())
    };
    let shown: Vec<&Variant> = variants.iter().filter(has_frames).take(400).collect();
    if shown.is_empty() {
        return Ok(());
    }
    let label = |variant: &&Variant| {
        let pairs = variations.iter().zip(&variant.values);
        let words = pairs.map(|(variation, value)| {
            let key = short_key(variation, variations);
            format!("{key} = {value}")
        });
        words.collect::<Vec<_>>().join(", ")
    };
    let runs: Vec<&Path> = shown
        .iter()
        .map(|variant| variant.folder.as_path())
        .collect();
    let labels: Vec<String> = shown.iter().map(label).collect();
    sheet(&runs, &labels, stop, &root.join("sweep.png"))
}

/// The last word of a key, or all of it if another key ends with the same one.
fn short_key<'a>(variation: &'a Variation, variations: &[Variation]) -> &'a str {
    let last = |key: &'a str| key.rsplit('.').next().unwrap_or(key);
    let own = last(&variation.key);
    let is_last = |other: &&Variation| other.key.rsplit('.').next() == Some(own);
    match variations.iter().filter(is_last).count() {
        0 | 1 => own,
        _ => &variation.key,
    }
}

/// Writes the last frames of runs as one image, each with a label.
///
/// # Errors
/// As [`contact_sheet`].
pub fn sheet(runs: &[&Path], labels: &[String], stop: &AtomicBool, to: &Path) -> Result<(), Error> {
    let options = filming::Options {
        frames: FrameChoice::default(),
        size: (SIDE, SIDE),
        style: Style::default(),
        camera: Vec::new(),
        png: true,
        gif: false,
        mp4: false,
        slow: None,
        out: None,
        assets: None,
        stop,
    };
    contact_sheet(runs, labels, &options, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_the_last_words_of_keys_unless_two_are_the_same() {
        let of = |key: &str| Variation {
            key: key.into(),
            values: Vec::new(),
        };
        let all = [
            of("domain.resolution"),
            of("body[1].density"),
            of("density"),
            of("gravity"),
        ];
        let labels: Vec<&str> = all.iter().map(|one| short_key(one, &all)).collect();
        assert_eq!(
            labels,
            ["resolution", "body[1].density", "density", "gravity"]
        );
    }

    #[test]
    fn values_are_split_at_commas_outside_of_brackets_and_quotes() {
        let parsed = Variation::parse("liquid[1].velocity=[1,0], [0, 2]").unwrap();
        assert_eq!(parsed.key, "liquid[1].velocity");
        assert_eq!(parsed.values, ["[1,0]", "[0, 2]"]);
        let parsed = Variation::parse("name='a,b',c").unwrap();
        assert_eq!(parsed.values, ["'a,b'", "c"]);
        for wrong in ["a", "=1", "a=", "a=1,,2"] {
            assert!(Variation::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_combination_has_a_folder_of_its_own_inside_the_sweep() {
        let vary = |text| Variation::parse(text).unwrap();
        let all = variants(&[vary("a.b=1,2"), vary("c=../x,/y,..")], Path::new("out/s")).unwrap();
        let names: Vec<_> = all
            .iter()
            .map(|one| one.folder.display().to_string())
            .collect();
        assert_eq!(
            names,
            [
                "out/s/b-1_c-.._x",
                "out/s/b-1_c-_y",
                "out/s/b-1_c-..",
                "out/s/b-2_c-.._x",
                "out/s/b-2_c-_y",
                "out/s/b-2_c-.."
            ]
        );
        assert_eq!(all[5].changes[0].value, "2");
        assert!(variants(&[vary("a=1,1")], Path::new("s")).is_err());
    }

    #[test]
    fn commands_are_quoted_for_a_shell() {
        let vary = Variation::parse("body[1].density=200").unwrap();
        let variant = &variants(&[vary], Path::new("my out")).unwrap()[0];
        assert_eq!(
            command(Path::new("boat"), &[], variant),
            "meniscus run boat --set 'body[1].density=200' --out 'my out/density-200'"
        );
    }
}
