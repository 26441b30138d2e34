//! `cargo xtask golden`: regression test of the frames and statistics of all built-in scenes.
//!
//! Each scene is run at a low resolution. Its frames, as exported to `npz`, and the physical quantities of `stats.jsonl` are
//! hashed and compared with `xtask/golden.txt`. A refactoring leaves all hashes unchanged; a change of the physics updates
//! them with `--update` and gives the reason in its commit. The hashes belong to one platform: another C library may
//! round `sin` and `cos` differently.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::steps::{StepResult, Steps, cargo, succeed, target_folder};

const FILE: &str = "xtask/golden.txt";
const FRAMES: &str = "8";
const HEADER: &str = "# Hashes of the built-in scenes at low resolution: name, frames, statistics. `cargo xtask golden --update` writes them.\n";

/// Quantities of `stats.jsonl` that are compared.
const QUANTITIES: [&str; 13] = [
    "frame",
    "time",
    "dt",
    "particles",
    "unknowns",
    "wall_rows",
    "separated_rows",
    "outer_iterations",
    "inner_iterations",
    "residual",
    "volume",
    "kinetic_energy",
    "max_speed",
];

/// Hashes of the frames and of the statistics of one scene.
type Hashes = (String, String);

/// Runs all built-in scenes and compares their hashes with the file, or writes the file.
pub fn run(root: &Path, update: bool) -> ExitCode {
    let mut steps = Steps::new("golden");
    let build = ["build", "--release", "--quiet", "-p", "meniscus-app"];
    steps.run("build", || succeed(cargo(root).args(build)));
    if steps.has_failed() {
        return steps.finish();
    }
    steps.run("scenes", || {
        let found = hash_scenes(root)?;
        let path = root.join(FILE);
        if update {
            return fs::write(&path, text_of(&found)).map_err(|e| format!("{FILE}: {e}"));
        }
        let text = fs::read_to_string(&path).map_err(|e| format!("{FILE}: {e}"))?;
        report(&differences(&read(&text), &found), found.len())
    });
    steps.finish()
}

/// Prints the differences, and fails if there are any.
fn report(differences: &[String], scenes: usize) -> StepResult {
    for line in differences {
        println!("   {line}");
    }
    match differences.len() {
        0 => Ok(()),
        n => Err(format!(
            "{n} differences in {scenes} scenes; if the change of the physics is intended, run \
             `cargo xtask golden --update` and give the reason in the commit"
        )),
    }
}

fn hash_scenes(root: &Path) -> Result<BTreeMap<String, Hashes>, String> {
    let program = target_folder(root).join("release/meniscus");
    let folder = target_folder(root).join("golden");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let mut found = BTreeMap::new();
    for (name, resolution) in scenes(root)? {
        let out = folder.join(&name);
        let hashes =
            hash_scene(&program, &name, resolution, &out).map_err(|e| format!("{name}: {e}"))?;
        println!("   {name} {} {}", hashes.0, hashes.1);
        found.insert(name, hashes);
    }
    let _ = fs::remove_dir_all(&folder);
    Ok(found)
}

fn hash_scene(program: &Path, name: &str, resolution: u32, out: &Path) -> Result<Hashes, String> {
    let quiet = |command: &mut Command| match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(format!("{}: {error}", program.display())),
    };
    quiet(
        Command::new(program)
            .args(["run", name, "--quiet", "--resolution"])
            .arg(resolution.to_string())
            .args(["--frames", FRAMES, "--set", "output.preview=false", "--out"])
            .arg(out),
    )?;
    quiet(
        Command::new(program)
            .arg("export")
            .arg(out)
            .args(["--to", "npz", "--quiet"]),
    )?;
    let stats = fs::read_to_string(out.join("stats.jsonl")).map_err(|e| e.to_string())?;
    Ok((
        hash_files(&out.join("export"), ".npz")?,
        hash_statistics(&stats)?,
    ))
}

/// Names of the built-in scenes, and the resolutions they are run at: low ones, never above their own.
fn scenes(root: &Path) -> Result<Vec<(String, u32)>, String> {
    let mut scenes = Vec::new();
    for path in entries(&root.join("crates/scene/scenes"), ".toml")? {
        let text = fs::read_to_string(&path).map_err(|e| e.to_string())?;
        let size = text
            .lines()
            .find(|line| line.trim_start().starts_with("size"));
        let commas = size.map_or(2, |line| {
            line.split('#').next().unwrap_or("").matches(',').count()
        });
        let low = if commas == 1 { 48 } else { 24 };
        let own = text
            .lines()
            .find_map(|line| line.strip_prefix("resolution = "))
            .and_then(|number| number.trim().parse().ok());
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        scenes.push((stem.into_owned(), own.map_or(low, |own: u32| own.min(low))));
    }
    Ok(scenes)
}

/// Files of a folder and its folders that end with `suffix`, in order.
fn entries(folder: &Path, suffix: &str) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.is_dir() {
            found.extend(entries(&path, suffix)?);
        } else if path.to_string_lossy().ends_with(suffix) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn hash_files(folder: &Path, suffix: &str) -> Result<String, String> {
    let mut hash = Fnv::default();
    let files = entries(folder, suffix)?;
    if files.is_empty() {
        return Err(format!("{}: no {suffix} files", folder.display()));
    }
    for path in files {
        hash.add(&fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?);
    }
    Ok(hash.text())
}

fn hash_statistics(stats: &str) -> Result<String, String> {
    let mut hash = Fnv::default();
    let steps = stats.lines().filter(|line| line.contains("\"dt\":"));
    let mut count = 0;
    for line in steps {
        count += 1;
        for quantity in QUANTITIES {
            let value = value_of(line, quantity)
                .ok_or_else(|| format!("stats.jsonl has no `{quantity}`: {line}"))?;
            hash.add(value.as_bytes());
            hash.add(b",");
        }
    }
    if count == 0 {
        return Err("stats.jsonl has no steps".into());
    }
    Ok(hash.text())
}

/// Text of the number that belongs to a key; the first one if the key occurs more than once.
fn value_of<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!("\"{key}\":"))?;
    let end = rest.find([',', '}', ']'])?;
    Some(rest[..end].trim())
}

fn text_of(hashes: &BTreeMap<String, Hashes>) -> String {
    let lines = hashes
        .iter()
        .map(|(name, (frames, stats))| format!("{name} {frames} {stats}\n"));
    HEADER.to_owned() + &lines.collect::<String>()
}

fn read(text: &str) -> BTreeMap<String, Hashes> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let words = lines.filter_map(|line| {
        let mut words = line.split_whitespace().map(str::to_owned);
        Some((words.next()?, (words.next()?, words.next()?)))
    });
    words.collect()
}

/// One line for each scene and kind of result that changed.
fn differences(before: &BTreeMap<String, Hashes>, now: &BTreeMap<String, Hashes>) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, (frames, statistics)) in now {
        let Some((old_frames, old_statistics)) = before.get(name) else {
            lines.push(format!("{name}: new scene, not in {FILE}"));
            continue;
        };
        for (what, old, new) in [
            ("frames", old_frames, frames),
            ("statistics", old_statistics, statistics),
        ] {
            if old != new {
                lines.push(format!(
                    "{name}: {what} differ, hash {new} instead of {old}"
                ));
            }
        }
    }
    let gone = before.keys().filter(|name| !now.contains_key(*name));
    lines.extend(gone.map(|name| format!("{name}: in {FILE}, but no longer a built-in scene")));
    lines
}

/// Fowler-Noll-Vo hash (FNV-1a, 64 bits): detects changes, not forgeries.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: &str = "{\"version\":2,\"frame\":1,\"time\":0.5,\"dt\":0.5,\"particles\":9,\"unknowns\":4,\
        \"wall_rows\":2,\"separated_rows\":0,\"outer_iterations\":1,\"inner_iterations\":3,\"residual\":1e-9,\
        \"volume\":0.25,\"kinetic_energy\":0.125,\"max_speed\":2.0,\"seconds\":7}";

    #[test]
    fn statistics_hash_the_compared_quantities_only() {
        let hash = |line: &str| hash_statistics(line).unwrap();
        assert_eq!(
            hash(STEP),
            hash(&STEP.replace("\"seconds\":7", "\"seconds\":8"))
        );
        for quantity in QUANTITIES {
            let value = value_of(STEP, quantity).unwrap();
            let other = STEP.replace(
                &format!("\"{quantity}\":{value}"),
                &format!("\"{quantity}\":77"),
            );
            assert_ne!(hash(STEP), hash(&other), "{quantity}");
        }
        assert!(hash_statistics(&STEP.replace("max_speed", "speed")).is_err());
        assert!(hash_statistics("").is_err());
    }

    #[test]
    fn differences_name_changed_new_and_missing_scenes() {
        let old = read("# header\na 1 1\nb 1 1\nc 1 1\nd 1 1\n");
        let new = read("a 1 1\nb 2 1\nc 1 2\ne 1 1\n");
        let expected = [
            "b: frames differ, hash 2 instead of 1",
            "c: statistics differ, hash 2 instead of 1",
            "e: new scene, not in xtask/golden.txt",
            "d: in xtask/golden.txt, but no longer a built-in scene",
        ];
        assert_eq!(differences(&old, &new), expected);
        assert_eq!(read(&text_of(&old)), old);
        let message = report(&differences(&old, &new), new.len()).unwrap_err();
        assert!(
            message.starts_with("4 differences in 4 scenes"),
            "{message}"
        );
        assert_eq!(report(&[], 4), Ok(()));
    }
}
