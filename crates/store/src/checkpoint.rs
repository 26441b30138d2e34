//! Checkpoints: `state/state_000012.bin` is all that a run needs to resume after frame 12, and
//! `state/interrupted.bin` the same of a run that was stopped on the way to a frame.
//!
//! The container is that of [`container`], with two sections. `ACCT`, little endian: steps towards the next frame, steps in
//! all; sides of the domain, cells along the longest, frames per second, particles in a full cell; length and hash of
//! `stats.jsonl` and of `timings.jsonl`. `SIMU`: the state of the simulation, as it writes it itself.

use crate::atomic_file::{self, Filled};
use crate::cache::bytes::Reader;
use crate::cache::container::{self, Content, Section, Stream, Tag};
use crate::cache::{self, CacheError, Header};
use crate::error::Error;
use crate::jsonl::Prefix;
use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folder of the checkpoints inside a run's folder.
pub const FOLDER: &str = "state";
/// The checkpoint of a run that was stopped on the way to a frame.
pub const INTERRUPTED: &str = "interrupted.bin";

/// Path of the checkpoint after a frame.
pub fn path(run: &Path, frame: u32) -> PathBuf {
    run.join(FOLDER).join(format!("state_{frame:06}.bin"))
}

/// Path of the checkpoint of a stopped run.
pub fn interrupted(run: &Path) -> PathBuf {
    run.join(FOLDER).join(INTERRUPTED)
}

/// Frame number in the name of a checkpoint; `None` for any other name.
pub fn frame_number(file_name: &str) -> Option<u32> {
    cache::numbered(file_name, "state_", ".bin")
}

/// Frames after which there is a checkpoint, in ascending order.
///
/// # Errors
/// If the folder exists and can't be read.
pub fn frames_in(run: &Path) -> Result<Vec<u32>, Error> {
    cache::numbers_in(&run.join(FOLDER), frame_number)
}

/// Progress of a run, apart from the state of the simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// Frames that are complete.
    pub frames_done: u32,
    /// Steps towards the next one.
    pub steps_of_frame: u32,
    /// Steps in all.
    pub steps: u64,
    /// Settings that can't be changed.
    pub fixed: Fixed,
    /// The statistics so far.
    pub statistics: Prefix,
    /// The timings so far.
    pub timings: Prefix,
}

/// Settings that the state depends on: no run can be resumed with others.
#[derive(Clone, Debug, PartialEq)]
pub struct Fixed {
    /// Sides of the domain.
    pub domain: Vec<f64>,
    /// Cells along the longest side.
    pub resolution: u64,
    /// Frames per second.
    pub frame_rate: f64,
    /// Particles seeded in a full cell.
    pub particles_per_cell: u64,
}

impl Fixed {
    /// Descriptions of the differences to those of another scene.
    pub fn changed(&self, other: &Fixed) -> Vec<String> {
        let has_same_dimension = self.domain.len() == other.domain.len();
        let values = |of: &Fixed| {
            [
                match has_same_dimension {
                    true => ("domain", format!("{:?}", of.domain)),
                    false => ("dimension", format!("{}D", of.domain.len())),
                },
                ("resolution", of.resolution.to_string()),
                ("frame_rate", of.frame_rate.to_string()),
                ("particles_per_cell", of.particles_per_cell.to_string()),
            ]
        };
        let pairs = values(self).into_iter().zip(values(other));
        pairs
            .filter(|(old, new)| old != new)
            .map(|((name, old), (_, new))| format!("{name} (from {old} to {new})"))
            .collect()
    }
}

const ACCOUNT: Tag = *b"ACCT";
const SIMULATION: Tag = *b"SIMU";

/// A checkpoint that was read and is intact.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// Progress of the run.
    pub account: Account,
    bytes: Vec<u8>,
    /// Offset of the state in `bytes`.
    state: usize,
}

impl Checkpoint {
    /// State of the simulation.
    pub fn state(&self) -> &[u8] {
        &self.bytes[self.state..]
    }

    /// Reads a checkpoint.
    ///
    /// # Errors
    /// What is wrong with it, in words that complete "is damaged".
    pub fn read(path: &Path) -> Result<Self, String> {
        let file = cache::read_bytes(path).map_err(|e| e.message().to_string())?;
        let opened = container::open(Content::State, &file).map_err(|e| e.to_string())?;
        let not_ours = || "it is not one of a run".to_string();
        let (_, payload) = opened.only(ACCOUNT).map_err(|_| not_ours())?;
        let account = account(&opened.header, &payload).map_err(|_| not_ours())?;
        let (head, state) = opened.only(SIMULATION).map_err(|_| not_ours())?;
        // Ours are stored last and not packed: the file itself is kept. Others are copied once.
        let is_last = head.offset + state.len() == file.len();
        let (bytes, state) = match state {
            Cow::Borrowed(_) if is_last => (file, head.offset),
            state => (state.into_owned(), 0),
        };
        Ok(Checkpoint {
            account,
            bytes,
            state,
        })
    }
}

/// State of a simulation, as a checkpoint keeps it.
pub struct State<'a> {
    /// 2 or 3.
    pub dimension: usize,
    /// Number of particles.
    pub particles: usize,
    /// Simulated time in seconds.
    pub time: f64,
    /// Length of what `write` writes, in bytes.
    pub length: usize,
    /// Writes the state; called twice, for the hash and for the file.
    pub write: &'a (dyn Fn(&mut dyn io::Write) -> io::Result<()> + Sync),
}

/// Writes a checkpoint; it appears once it is finished.
pub fn fill(path: &Path, account: &Account, state: &State<'_>) -> Result<Filled, Error> {
    let mut payload = Vec::new();
    put_account(&mut payload, account);
    let header = Header {
        dimension: state.dimension as u32,
        number: account.frames_done,
        time: state.time,
    };
    let account = Section {
        tag: ACCOUNT,
        count: 1,
        payload,
    };
    let last = Stream {
        tag: SIMULATION,
        count: state.particles as u64,
        length: state.length,
        write: state.write,
    };
    atomic_file::fill(path, |out| {
        container::write_plain(Content::State, &header, &[account], &last, out)
    })
}

/// Removes the checkpoints that are neither among the `latest` ones, at least one, nor milestones.
pub fn prune(run: &Path, latest: u32, is_milestone: impl Fn(u32) -> bool) -> Result<(), Error> {
    let frames = frames_in(run)?;
    let old = &frames[..frames.len().saturating_sub(latest.max(1) as usize)];
    for &frame in old.iter().filter(|&&frame| !is_milestone(frame)) {
        let path = path(run, frame);
        fs::remove_file(&path).map_err(|e| Error::io("remove", &path, &e))?;
    }
    Ok(())
}

fn put_account(bytes: &mut Vec<u8>, account: &Account) {
    let Account {
        frames_done: _, // in the header
        steps_of_frame,
        steps,
        fixed:
            Fixed {
                domain,
                resolution,
                frame_rate,
                particles_per_cell,
            },
        statistics,
        timings,
    } = account;
    bytes.extend(steps_of_frame.to_le_bytes());
    bytes.extend(steps.to_le_bytes());
    bytes.extend(domain.iter().flat_map(|side| side.to_le_bytes()));
    bytes.extend(resolution.to_le_bytes());
    bytes.extend(frame_rate.to_le_bytes());
    bytes.extend(particles_per_cell.to_le_bytes());
    for prefix in [statistics, timings] {
        bytes.extend(prefix.bytes.to_le_bytes());
        bytes.extend(prefix.blake3.as_bytes());
    }
}

fn account(header: &Header, payload: &[u8]) -> Result<Account, CacheError> {
    let mut from = Reader(payload);
    let account = Account {
        frames_done: header.number,
        steps_of_frame: from.u32()?,
        steps: from.u64()?,
        fixed: Fixed {
            domain: (0..header.dimension)
                .map(|_| from.f64())
                .collect::<Result<_, _>>()?,
            resolution: from.u64()?,
            frame_rate: from.f64()?,
            particles_per_cell: from.u64()?,
        },
        statistics: prefix(&mut from)?,
        timings: prefix(&mut from)?,
    };
    from.end().map(|()| account)
}

fn prefix(from: &mut Reader<'_>) -> Result<Prefix, CacheError> {
    let bytes = from.u64()?;
    let blake3 = String::from_utf8_lossy(from.take(64)?).into_owned();
    Ok(Prefix { bytes, blake3 })
}
