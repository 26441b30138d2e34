//! Comparison of two runs. Timings and the number of threads are ignored.

use super::kd_tree::KdTree;
use meniscus_scene::text::{KeyDifference, differences};
use meniscus_store::cache;
use meniscus_store::cache::container::{self, Content};
use meniscus_store::error::{Error, Kind};
use meniscus_store::manifest::Manifest;
use meniscus_store::opened_run::no_run;
use meniscus_store::regular_file;
use meniscus_store::run_folder::RunFolder;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::Path;

/// Differences between two runs.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// Keys of the scene that differ.
    pub scene: Vec<KeyDifference>,
    /// Versions of the program, if they differ.
    pub version: Option<[String; 2]>,
    /// Number of steps of each run.
    pub steps: [usize; 2],
    /// First step whose statistics differ.
    pub first_step: Option<StepDifference>,
    /// Frames that only one of the runs has, for each.
    pub frames_alone: [Vec<u32>; 2],
    /// Frames that differ.
    pub frames_different: usize,
    /// First of them.
    pub first_frame: Option<FrameDifference>,
    /// Frame with the largest distance.
    pub farthest_frame: Option<FrameDifference>,
}

/// Difference of a step.
#[derive(Clone, Debug, Serialize)]
pub struct StepDifference {
    /// Number of the step, from 1.
    pub step: usize,
    /// Frame that it leads to in the first run.
    pub frame: Option<u64>,
    /// Fields that differ.
    pub fields: Vec<FieldDifference>,
}

/// Field of the statistics that differs.
#[derive(Clone, Debug, Serialize)]
pub struct FieldDifference {
    /// Name in `stats.jsonl`.
    pub field: String,
    /// Value in the first run.
    pub first: Value,
    /// Value in the second run.
    pub second: Value,
    /// Second less first, if they are numbers.
    pub by: Option<f64>,
}

/// Difference of a frame.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FrameDifference {
    /// Number of the frame.
    pub frame: u32,
    /// Number of particles in each run.
    pub particles: [usize; 2],
    /// Hausdorff distance of the particles in metres: the largest distance from a particle of either to the nearest one of
    /// the other; none if one of them has no particles, or the dimensions differ.
    pub distance: Option<f64>,
}

impl Difference {
    /// Whether there are no differences.
    pub fn is_none(&self) -> bool {
        self.scene.is_empty()
            && self.version.is_none()
            && self.first_step.is_none()
            && self.frames_alone.iter().all(Vec::is_empty)
            && self.frames_different == 0
    }
}

/// Compares two runs.
///
/// # Errors
/// If a folder contains no run or one of another version, or a frame is damaged.
pub fn diff(first: &Path, second: &Path) -> Result<Difference, Error> {
    let [one, other] = [read(first)?, read(second)?];
    let steps = [&one, &other].map(|run| run.steps.len());
    let frames = [cache::frames_in(first)?, cache::frames_in(second)?];
    let alone = |of: &[u32], other: &[u32]| -> Vec<u32> {
        let missing = |frame: &&u32| other.binary_search(frame).is_err();
        of.iter().filter(missing).copied().collect()
    };
    let common: Vec<u32> = frames[0]
        .iter()
        .filter(|frame| frames[1].binary_search(frame).is_ok())
        .copied()
        .collect();
    let different: Vec<FrameDifference> = common
        .par_iter()
        .filter_map(|&frame| frame_difference(first, second, frame).transpose())
        .collect::<Result<_, _>>()?;
    let farthest = different.iter().max_by(|a, b| {
        let distance = |d: &FrameDifference| d.distance.unwrap_or(f64::NEG_INFINITY);
        // The first of equal distances.
        distance(a)
            .total_cmp(&distance(b))
            .then(b.frame.cmp(&a.frame))
    });
    Ok(Difference {
        scene: differences(&one.scene, &other.scene),
        version: (one.version != other.version)
            .then(|| [one.version.clone(), other.version.clone()]),
        steps,
        first_step: step_difference(&one.steps, &other.steps),
        frames_alone: [alone(&frames[0], &frames[1]), alone(&frames[1], &frames[0])],
        frames_different: different.len(),
        first_frame: different.first().copied(),
        farthest_frame: farthest.copied(),
    })
}

struct Run {
    version: String,
    scene: String,
    steps: Vec<Map<String, Value>>,
}

fn read(run: &Path) -> Result<Run, Error> {
    let manifest = Manifest::read(run)?.ok_or_else(|| no_run(run))?;
    let folder = RunFolder::of_run(run);
    let text = |path: &Path| regular_file::read_text(path).map_err(|e| Error::io("read", path, &e));
    let statistics = folder.statistics();
    let lines = match manifest.steps {
        // A run that was stopped before its first step has no statistics.
        0 if !statistics.exists() => String::new(),
        _ => text(&statistics)?,
    };
    let steps = lines
        .lines()
        .enumerate()
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|e| {
                let place = format!("{} is damaged in line {}", statistics.display(), at + 1);
                Error::new(Kind::Storage, format!("{place}: {e}"))
            })
        })
        .collect::<Result<_, _>>()?;
    Ok(Run {
        version: manifest.version,
        scene: text(&folder.scene())?,
        steps,
    })
}

fn step_difference(
    first: &[Map<String, Value>],
    second: &[Map<String, Value>],
) -> Option<StepDifference> {
    let nothing = Map::new();
    let count = first.len().max(second.len());
    (0..count).find_map(|at| {
        let one = first.get(at).unwrap_or(&nothing);
        let other = second.get(at).unwrap_or(&nothing);
        if one == other {
            return None;
        }
        let mut names: Vec<&String> = one.keys().chain(other.keys()).collect();
        names.sort();
        names.dedup();
        let value = |of: &Map<String, Value>, name: &str| of.get(name).cloned().unwrap_or_default();
        let fields = names.into_iter().filter_map(|name| {
            let (a, b) = (value(one, name), value(other, name));
            (a != b).then(|| FieldDifference {
                field: name.clone(),
                by: a.as_f64().zip(b.as_f64()).map(|(a, b)| b - a),
                first: a,
                second: b,
            })
        });
        Some(StepDifference {
            step: at + 1,
            frame: one
                .get("frame")
                .or(other.get("frame"))
                .and_then(Value::as_u64),
            fields: fields.collect(),
        })
    })
}

fn frame_difference(
    first: &Path,
    second: &Path,
    frame: u32,
) -> Result<Option<FrameDifference>, Error> {
    let paths = [first, second].map(|run| cache::frame_path(run, frame));
    let [one, other] = [cache::read_bytes(&paths[0])?, cache::read_bytes(&paths[1])?];
    let dimension = |bytes: &[u8], path: &Path| {
        container::open(Content::Frame, bytes)
            .map(|opened| opened.header.dimension)
            .map_err(|cause| cache::damaged(path, &cause))
    };
    let dimensions = [dimension(&one, &paths[0])?, dimension(&other, &paths[1])?];
    let particles = [0, 1].map(|run| cache::count_points(&paths[run]).unwrap_or(0) as usize);
    let difference = |distance| FrameDifference {
        frame,
        particles,
        distance,
    };
    match dimensions {
        [2, 2] => compare::<2>([&one, &other], &paths).map(|found| found.map(difference)),
        [3, 3] => compare::<3>([&one, &other], &paths).map(|found| found.map(difference)),
        _ => Ok(Some(difference(None))),
    }
}

/// Distance of two frames, if they differ; none if it is undefined.
fn compare<const D: usize>(
    bytes: [&[u8]; 2],
    paths: &[std::path::PathBuf; 2],
) -> Result<Option<Option<f64>>, Error> {
    let decoded = |run: usize| {
        cache::decode::<D>(bytes[run]).map_err(|cause| cache::damaged(&paths[run], &cause))
    };
    let [one, other] = [decoded(0)?, decoded(1)?];
    if one == other {
        return Ok(None);
    }
    if one.positions().is_empty() || other.positions().is_empty() {
        return Ok(Some(None));
    }
    let farthest = |from: &[[f32; D]], to: &[[f32; D]]| {
        let to = KdTree::new(to.to_vec());
        from.iter().map(|x| to.distance(x)).fold(0.0, f64::max)
    };
    let there = farthest(one.positions(), other.positions());
    let back = farthest(other.positions(), one.positions());
    Ok(Some(Some(there.max(back))))
}
