//! Resuming an interrupted run: from the newest intact checkpoint with all frames and statistics before it.

use super::scene_summary;
use super::simulation::{HeldScene, Simulation};
use super::steered::overrides;
use super::verify::verify;
use meniscus_scene::Scene;
use meniscus_scene::scene_hash;
use meniscus_scene::text::load_kept_with;
use meniscus_store::action_log::{self, Action};
use meniscus_store::cache;
use meniscus_store::checkpoint::{self, Account, Checkpoint};
use meniscus_store::error::{Error, Kind};
use meniscus_store::jsonl::Prefix;
use meniscus_store::manifest::DriftWarning;
use meniscus_store::manifest::{self, Kept, Manifest, State};
use meniscus_store::quantity::count;
use meniscus_store::regular_file;
use meniscus_store::run_folder::RunFolder;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// State of the folder of a run that is to be resumed.
pub struct Found<'a, const D: usize> {
    /// Checkpoint to resume from; none to start from the beginning.
    pub place: Option<Place<'a, D>>,
    /// Manifest of the run so far, if it is intact.
    pub manifest: Option<Manifest>,
    /// Actions of a program that steered the run, those after the checkpoint included.
    pub actions: Vec<Action>,
    /// Damaged checkpoints, to be removed.
    pub damaged: Vec<PathBuf>,
    /// Notices for the user.
    pub notices: Vec<String>,
}

impl<const D: usize> Found<'_, D> {
    /// Nothing to resume from.
    pub fn nothing() -> Self {
        Found {
            place: None,
            manifest: None,
            actions: Vec::new(),
            damaged: Vec::new(),
            notices: Vec::new(),
        }
    }
}

impl<const D: usize> Found<'_, D> {
    /// Warning about a drift that was recorded up to a frame.
    pub fn drift_until(&self, frame: u32) -> Option<DriftWarning> {
        let recorded = self.manifest.as_ref()?.drift.clone();
        recorded.filter(|warning| warning.frame <= frame)
    }
}

/// Restored checkpoint.
pub struct Place<'a, const D: usize> {
    /// File.
    pub path: PathBuf,
    /// Account of the run at the checkpoint.
    pub account: Account,
    /// Simulation, ready for its next step.
    pub simulation: Simulation<'a, D>,
}

/// Which frames of a run have particle files.
pub fn kept<const D: usize>(manifest: Option<&Manifest>, scene: &Scene<D>) -> Vec<Kept> {
    match manifest {
        Some(manifest) => manifest.particles.clone(),
        None => manifest::keep(&[], 0, scene.output.particles_every),
    }
}

/// Work left for a run that was started before.
pub enum Search<'a, const D: usize> {
    /// None: every requested frame exists and is intact.
    Complete(Box<Manifest>),
    /// Resume from a checkpoint, if there is one, or start again.
    Found(Box<Found<'a, D>>),
}

/// Finds the checkpoint from which an interrupted run of the same scene resumes.
///
/// A complete one is searched as any other if it is to be opened `again`.
///
/// # Errors
/// If the scene differs.
pub fn after_interruption<'a, const D: usize>(
    scene: &HeldScene<'a, D>,
    scene_text: &str,
    folder: &RunFolder,
    again: bool,
) -> Result<Search<'a, D>, Error> {
    let mut notices = Vec::new();
    let manifest = readable(folder, &mut notices);
    let same = same_scene(folder, scene_text, manifest.as_ref(), &mut notices)?;
    let manifest = match manifest {
        Some(manifest) if !again && is_complete(scene, folder, &manifest) => {
            return Ok(Search::Complete(Box::new(manifest)));
        }
        manifest => manifest,
    };
    let mut found = if same {
        let actions = action_log::read(&folder.actions(), listed(manifest.as_ref()))?;
        search(scene, scene_text, folder, manifest, u32::MAX, actions)?
    } else {
        Found {
            manifest,
            ..Found::nothing()
        }
    };
    if let (None, Some(manifest)) = (&found.place, &found.manifest)
        && let Some(branch) = &manifest.branched_from
    {
        return Err(Error::new(
            Kind::Storage,
            format!(
                "{} has nothing to resume from: it branched from {} after frame {}, and has no intact checkpoint",
                folder.root().display(),
                branch.run,
                branch.frame
            ),
        )
        .with_remedy("remove it and branch again with --from-frame K --branch-from DIR"));
    }
    notices.append(&mut found.notices);
    let steps = found.place.as_ref().map_or(0, |place| place.account.steps);
    let left = found.actions.iter().filter(|action| action.step >= steps);
    if let n @ 1.. = left.count() {
        notices.push(format!(
            "repeating {} of a program",
            count(n as u64, "action")
        ));
    }
    notices.push(match &found.place {
        None => "no intact checkpoint: starting from the beginning".into(),
        Some(Place { account, .. }) => {
            let steps = match account.steps_of_frame {
                0 => String::new(),
                n => format!(" and {}", count(n, "step")),
            };
            format!(
                "resuming after frame {}{steps} of {}",
                account.frames_done, scene.frames
            )
        }
    });
    Ok(Search::Found(Box::new(Found { notices, ..found })))
}

fn is_complete<const D: usize>(scene: &Scene<D>, folder: &RunFolder, manifest: &Manifest) -> bool {
    manifest.state == State::Done
        && manifest.frames_done >= scene.frames
        && manifest.preview.is_some() == scene.output.preview
        && verify(folder.root()).is_ok_and(|findings| findings.is_empty())
}

/// Finds the checkpoint from which a run is repeated after a frame, with a scene that may have changed.
///
/// # Errors
/// If there is none, or the particles do not fit the new scene.
pub fn from_frame<'a, const D: usize>(
    scene: &HeldScene<'a, D>,
    folder: &RunFolder,
    frame: u32,
) -> Result<Found<'a, D>, Error> {
    let mut notices = Vec::new();
    let manifest = readable(folder, &mut notices);
    let done = manifest.as_ref().map(|manifest| manifest.frames_done);
    if let Some(done) = done.filter(|&done| frame > done) {
        return Err(Error::usage(format!(
            "the run in {} has {}: there is no frame {frame} to continue from",
            folder.root().display(),
            count(done, "frame")
        ))
        .with_remedy("--frames N and --resume make it longer"));
    }
    refuse_actions(folder)?;
    let mut found = search(scene, "", folder, manifest, frame, Vec::new())?;
    let Some(place) = &found.place else {
        let kept = checkpoint::frames_in(folder.root())?;
        let kept: Vec<String> = kept.iter().map(u32::to_string).collect();
        return Err(Error::usage(format!(
            "{} has no checkpoint for frame {frame}",
            folder.root().display()
        ))
        .with_remedy(match kept.is_empty() {
            true => "there are none: run the scene from the beginning".into(),
            false => format!("there are checkpoints after frames {}", kept.join(", ")),
        }));
    };
    notices.append(&mut found.notices);
    let done = place.account.frames_done;
    notices.push(if done == frame {
        format!("resuming from frame {frame}")
    } else {
        format!("there is no checkpoint after frame {frame}: resuming from frame {done}")
    });
    Ok(Found { notices, ..found })
}

/// Manifest, if it is intact; otherwise adds a notice.
fn readable(folder: &RunFolder, notices: &mut Vec<String>) -> Option<Manifest> {
    Manifest::read(folder.root()).unwrap_or_else(|error| {
        notices.push(format!("{}: it is recreated", error.message()));
        None
    })
}

/// Checks that the scene of the run is known and equal to the requested one.
fn same_scene(
    folder: &RunFolder,
    asked: &str,
    manifest: Option<&Manifest>,
    notices: &mut Vec<String>,
) -> Result<bool, Error> {
    let path = folder.scene();
    let of_run = regular_file::read_text(&path).ok();
    let another = |shown: String| {
        Err(Error::usage(format!(
            "the run in {} has a different scene: {shown}",
            folder.root().display()
        ))
        .with_remedy(
            "resume with the scene as it was, branch with the changed scene by --from-frame K --out auto, \
             or choose another folder with --out DIR",
        ))
    };
    let intact = |text: &&String| manifest.is_none_or(|r| r.scene_hash == scene_hash::hash(text));
    match (of_run.as_ref().filter(intact), manifest) {
        (Some(of_run), _) => match scene_hash::difference(of_run, asked) {
            Some(lines) => another(format!("(- run, + requested)\n{lines}")),
            None => Ok(true),
        },
        (None, Some(manifest)) => {
            notices.push(format!("{} is damaged: it is rewritten", path.display()));
            if manifest.physics_hash == scene_hash::physics_hash(asked) {
                Ok(true)
            } else {
                another(format!(
                    "the difference is unknown, since {} is damaged",
                    path.display()
                ))
            }
        }
        (None, None) => Ok(false),
    }
}

/// Newest intact checkpoint after `latest` or an earlier frame, with all statistics and frames before it. All damaged
/// ones are reported, also those that are not needed: a resumed run leaves no damaged file behind.
fn search<'a, const D: usize>(
    scene: &HeldScene<'a, D>,
    scene_text: &str,
    folder: &RunFolder,
    manifest: Option<Manifest>,
    latest: u32,
    actions: Vec<Action>,
) -> Result<Found<'a, D>, Error> {
    let root = folder.root();
    let kept = kept(manifest.as_ref(), scene);
    let scene_after = |steps: u64| scene_after(scene, scene_text, folder, &actions, steps);
    let mut faults: Vec<(String, String)> = Vec::new();
    let mut damaged = Vec::new();
    let mut place: Option<Place<'a, D>> = None;
    let mut statistics_are_whole = true;
    // First damaged frame, once frames were checked.
    let mut first_bad: Option<u32> = None;
    for path in candidates(root, latest)? {
        let checkpoint = match read(&path) {
            Ok(checkpoint) => checkpoint,
            Err(fault) => {
                faults.push((name_of(&path), fault));
                damaged.push(path);
                continue;
            }
        };
        let account = &checkpoint.account;
        if place.is_some() || account.frames_done > latest {
            continue;
        }
        if !account.statistics.begins(&folder.statistics()) {
            if statistics_are_whole {
                let fault = format!(
                    "its content differs from that after frame {}",
                    account.frames_done
                );
                faults.push((name_of(&folder.statistics()), fault));
            }
            statistics_are_whole = false;
            continue;
        }
        let first_bad = *first_bad.get_or_insert_with(|| {
            let mut bad = u32::MAX;
            for frame in (0..=account.frames_done).filter(|&f| manifest::is_kept(&kept, f)) {
                if let Some(fault) = cache::fault(root, frame, Some(D)) {
                    faults.push((name_of(&cache::frame_path(root, frame)), fault));
                    bad = bad.min(frame);
                }
            }
            bad
        });
        if account.frames_done >= first_bad {
            continue;
        }
        fits(&path, account, scene)?;
        let next = account.frames_done + 1;
        let changed = scene_after(account.steps)?;
        match Simulation::restored_of(changed, checkpoint.state(), next) {
            Ok(simulation) => {
                place = Some(Place {
                    path,
                    account: checkpoint.account,
                    simulation,
                });
            }
            Err(fault) => {
                faults.push((name_of(&path), fault));
                damaged.push(path);
            }
        }
    }
    let onward = match &place {
        Some(place) => format!("resuming from frame {}", place.account.frames_done),
        None => "starting from the beginning".into(),
    };
    let notices = faults
        .into_iter()
        .map(|(name, fault)| format!("{name} is damaged ({fault}): {onward}"))
        .collect();
    Ok(Found {
        place,
        manifest,
        actions,
        damaged,
        notices,
    })
}

/// The part of the log that the manifest lists.
fn listed(manifest: Option<&Manifest>) -> Option<&Prefix> {
    manifest?.actions.as_ref()
}

/// The scene as actions before so many steps changed it.
fn scene_after<'a, const D: usize>(
    scene: &HeldScene<'a, D>,
    scene_text: &str,
    folder: &RunFolder,
    actions: &[Action],
    steps: u64,
) -> Result<HeldScene<'a, D>, Error> {
    let before = actions.partition_point(|action| action.step < steps);
    let changes = overrides(&actions[..before]);
    if changes.is_empty() {
        return Ok(scene.clone());
    }
    let (changed, _) = load_kept_with(&folder.scene(), scene_text, &changes, None).ready()?;
    let changed = changed.of_dimension().map(Arc::new);
    changed
        .map(HeldScene::Shared)
        .ok_or_else(|| Error::usage("the number of dimensions can't change during a simulation"))
}

/// Refuses runs that a program steered: what it did belongs to their own scene.
fn refuse_actions(folder: &RunFolder) -> Result<(), Error> {
    if action_log::read(&folder.actions(), None)?.is_empty() {
        return Ok(());
    }
    Err(Error::usage(format!(
        "a program steered the run in {}: it can't continue with another scene",
        folder.root().display()
    ))
    .with_remedy(
        "--resume continues it as it was; for another scene, run the program from the beginning",
    ))
}

/// Checkpoint whose content matches its name.
fn read(path: &Path) -> Result<Checkpoint, String> {
    let checkpoint = Checkpoint::read(path)?;
    let frame = checkpoint.account.frames_done;
    let named = path
        .file_name()
        .and_then(|name| checkpoint::frame_number(name.to_str()?));
    match named {
        Some(named) if named != frame => Err(format!("it belongs to frame {frame}")),
        _ => Ok(checkpoint),
    }
}

/// Checks the settings that particles depend on; they can't change at a checkpoint.
fn fits<const D: usize>(path: &Path, account: &Account, scene: &Scene<D>) -> Result<(), Error> {
    let changed = account.fixed.changed(&scene_summary::fixed(scene));
    if changed.is_empty() {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{} can't continue with a different {}",
        path.display(),
        changed.join(", ")
    ))
    .with_remedy("its particles depend on it; run the scene from the beginning"))
}

/// Checkpoints to resume from, newest first.
fn candidates(root: &Path, latest: u32) -> Result<Vec<PathBuf>, Error> {
    let mut paths = Vec::new();
    let interrupted = checkpoint::interrupted(root);
    if latest == u32::MAX && interrupted.exists() {
        paths.push(interrupted);
    }
    let frames = checkpoint::frames_in(root)?;
    let frames = frames.into_iter().rev().filter(|&frame| frame <= latest);
    paths.extend(frames.map(|frame| checkpoint::path(root, frame)));
    Ok(paths)
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
