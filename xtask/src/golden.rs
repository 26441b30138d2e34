//! `cargo xtask golden`: whether the built-in scenes still give the same frames and statistics.
//!
//! Every built-in scene is run at a low resolution. What other programs would see of its frames (the `npz` export) and
//! the physical quantities of `stats.jsonl` are hashed and compared with `xtask/golden.txt`. A refactoring leaves all
//! hashes as they are; a change of the physics updates them with `--update` and says why in its commit. The hashes belong to
//! one platform: another C library may round `sin` and `cos` differently.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::steps::{Steps, cargo, succeed};

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
    let mut found = BTreeMap::new();
    steps.run("build", || {
        succeed(cargo(root).args(["build", "--release", "--quiet"]))
    });
    steps.run("scenes", || {
        found = hash_scenes(root)?;
        Ok(())
    });
    steps.run("hashes", || {
        let path = root.join(FILE);
        if update {
            return fs::write(&path, text_of(&found)).map_err(|e| format!("{FILE}: {e}"));
        }
        let text = fs::read_to_string(&path).map_err(|e| format!("{FILE}: {e}"))?;
        let differences = differences(&read(&text), &found);
        for line in &differences {
            println!("{line}");
        }
        match differences.len() {
            0 => Ok(()),
            n => Err(format!("{n} of {} scenes differ", found.len())),
        }
    });
    steps.finish()
}

fn hash_scenes(root: &Path) -> Result<BTreeMap<String, Hashes>, String> {
    let program = root.join("target/release/meniscus");
    let folder = root.join("target/golden");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let mut found = BTreeMap::new();
    for (name, is_plane) in scenes(root)? {
        let out = folder.join(&name);
        let resolution = if is_plane { "48" } else { "24" };
        succeed(
            Command::new(&program)
                .args(["run", &name, "--quiet", "--resolution", resolution])
                .args(["--frames", FRAMES, "--set", "output.preview=false", "--out"])
                .arg(&out),
        )?;
        succeed(
            Command::new(&program)
                .arg("export")
                .arg(&out)
                .args(["--to", "npz", "--quiet"]),
        )?;
        let stats = fs::read_to_string(out.join("stats.jsonl")).map_err(|e| e.to_string())?;
        let hashes = (
            hash_files(&out.join("export"), ".npz")?,
            hash_statistics(&stats)?,
        );
        println!("{name} {} {}", hashes.0, hashes.1);
        found.insert(name, hashes);
    }
    let _ = fs::remove_dir_all(&folder);
    Ok(found)
}

/// Names of the built-in scenes, and whether they are two-dimensional.
fn scenes(root: &Path) -> Result<Vec<(String, bool)>, String> {
    let folders = ["crates/app/scenes", "crates/scene/scenes"];
    let folder = folders
        .iter()
        .map(|folder| root.join(folder))
        .find(|folder| folder.is_dir());
    let folder = folder.ok_or("no folder of built-in scenes")?;
    let mut scenes = Vec::new();
    for path in entries(&folder, ".toml")? {
        let text = fs::read_to_string(&path).map_err(|e| e.to_string())?;
        let size = text
            .lines()
            .find(|line| line.trim_start().starts_with("size"));
        let commas = size.map_or(2, |line| {
            line.split('#').next().unwrap_or("").matches(',').count()
        });
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        scenes.push((stem.into_owned(), commas == 1));
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

fn differences(before: &BTreeMap<String, Hashes>, now: &BTreeMap<String, Hashes>) -> Vec<String> {
    let changed = now
        .iter()
        .filter_map(|(name, hashes)| match before.get(name) {
            None => Some(format!("{name}: new")),
            Some(old) if old.0 != hashes.0 => Some(format!("{name}: frames differ")),
            Some(old) if old.1 != hashes.1 => Some(format!("{name}: statistics differ")),
            Some(_) => None,
        });
    let gone = before.keys().filter(|name| !now.contains_key(*name));
    changed
        .chain(gone.map(|name| format!("{name}: no longer there")))
        .collect()
}

/// Fowler-Noll-Vo hash (FNV-1a, 64 bits): changes are found, nobody is expected to forge one.
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
            "b: frames differ",
            "c: statistics differ",
            "e: new",
            "d: no longer there",
        ];
        assert_eq!(differences(&old, &new), expected);
        assert_eq!(read(&text_of(&old)), old);
    }
}
