//! The page and everything it shows in one file, for somebody who has no run and no program.

use super::page;
use super::watched::Watched;
use super::wire::{PARTICLE, PARTICLES_HEADER};
use crate::error::{Error, Kind};
use crate::whole_file;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// The file has at most this many bytes.
pub const LARGEST: usize = 20_000_000;
/// So many particles say as much as all of them, in a picture of this size; frames are left out before more of them are.
const ENOUGH: u64 = 15_000;
/// And no more than every so many frames is left: fewer make no motion.
const MOST_SKIPPED: usize = 8;

/// What a report holds and what was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Bytes of the file.
    pub bytes: usize,
    /// Frames in it.
    pub frames: usize,
    /// Frames that the run has.
    pub frames_of_run: usize,
    /// It has every so many of the particles.
    pub every_particle: usize,
    /// Frames that are damaged and so left out.
    pub damaged: Vec<u32>,
}

impl Written {
    /// What was left out, in words; nothing if all of it is there.
    pub fn left_out(&self) -> Option<String> {
        let mut parts = Vec::new();
        let sound = self.frames_of_run - self.damaged.len();
        if self.frames < sound {
            parts.push(format!("{} of {sound} frames", sound - self.frames));
        }
        if self.every_particle > 1 {
            parts.push(format!("all but every {}th particle", self.every_particle));
        }
        if !self.damaged.is_empty() {
            let list: Vec<String> = self.damaged.iter().map(u32::to_string).collect();
            parts.push(format!("frames that are damaged ({})", list.join(", ")));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Writes the report of a run.
///
/// # Errors
/// If the folder holds no run, or that of another version, or nothing can be written.
pub fn write(run: &Path, to: &Path) -> Result<Written, Error> {
    let run = Watched::open(run)?;
    let (text, written) = compose(&run, LARGEST)?;
    whole_file::write(to, text.as_bytes())?;
    Ok(written)
}

/// The report as text of at most `largest` bytes.
pub fn compose(run: &Watched, largest: usize) -> Result<(String, Written), Error> {
    let mut blocks = String::new();
    for (k, solid) in run.solids().iter().enumerate() {
        block(
            &mut blocks,
            &format!("/run/0/solid/{k}"),
            &solid.mesh.encode(),
        );
    }
    let frames = run.frames().unwrap_or_default();
    let counts: Vec<u64> = frames
        .iter()
        .map(|&frame| run.particle_count(frame))
        .collect();
    let now = run.now();
    // The last parts of the text have few digits more or less, whatever is left out.
    let fixed = document(&answers(run, now.clone(), &[], Some("")), "").len() + blocks.len();
    let room = largest.saturating_sub(fixed + 64 * frames.len() + 4096);
    let Some((step, every)) = thinned(&counts, room) else {
        return Err(Error::new(
            Kind::Resources,
            format!("not even a few frames fit into a report of {largest} bytes"),
        ));
    };
    let mut written = Written {
        bytes: 0,
        frames: 0,
        frames_of_run: frames.len(),
        every_particle: every,
        damaged: Vec::new(),
    };
    let mut kept = Vec::new();
    for (at, &frame) in frames.iter().enumerate() {
        if !is_kept(at, frames.len(), step) {
            continue;
        }
        match run.particles(frame, every) {
            Ok(bytes) => {
                block(&mut blocks, &format!("/run/0/frame/{frame}"), &bytes);
                kept.push(frame);
            }
            Err(_) => written.damaged.push(frame),
        }
    }
    written.frames = kept.len();
    let left_out = written.left_out();
    let text = document(&answers(run, now, &kept, left_out.as_deref()), &blocks);
    written.bytes = text.len();
    Ok((text, written))
}

/// Every `step`-th frame is in a report, and the last one.
fn is_kept(at: usize, frames: usize, step: usize) -> bool {
    at.is_multiple_of(step) || at + 1 == frames
}

/// Every so many frames and every so many particles of them that fit into so many bytes.
fn thinned(counts: &[u64], room: usize) -> Option<(usize, usize)> {
    let size = |step: usize, every: usize| -> u64 {
        let kept = counts.iter().enumerate();
        kept.filter(|(at, _)| is_kept(*at, counts.len(), step))
            .map(|(_, &count)| {
                let bytes =
                    PARTICLES_HEADER as u64 + PARTICLE as u64 * count.div_ceil(every as u64);
                bytes.div_ceil(3) * 4
            })
            .sum()
    };
    let most = counts.iter().copied().max().unwrap_or(0);
    let plenty = (most / ENOUGH).max(1) as usize;
    let fewer_particles = (1..=plenty).map(|every| (1, every));
    let fewer_frames = (2..=MOST_SKIPPED).map(|step| (step, plenty));
    let desperate = (1..=12).map(|power| (MOST_SKIPPED, plenty << power));
    let sparse = (1..=20).map(|power| (MOST_SKIPPED << power, plenty << 12));
    fewer_particles
        .chain(fewer_frames)
        .chain(desperate)
        .chain(sparse)
        .find(|&(step, every)| size(step, every) <= room as u64)
}

/// What the page would have asked the server for.
fn answers(run: &Watched, mut now: Value, frames: &[u32], left_out: Option<&str>) -> Value {
    now["frames"] = json!(frames);
    // Particles show the same in an eighth of the bytes.
    now["surfaces"] = json!([]);
    json!({
        "/runs": { "runs": 1 },
        "/run/0/about": run.about(),
        "/run/0/now": now,
        "report": {
            "leftOut": left_out,
            "program": format!("meniscus {}", env!("CARGO_PKG_VERSION")),
            "machine": machine(),
        },
    })
}

/// The machine on which the report is made.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("", |rest| rest.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let system = format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH);
    match model {
        "" => format!("{cores} cores, {system}"),
        model => format!("{model}, {cores} cores, {system}"),
    }
}

/// Bytes as a part of the document that the page finds by its address.
fn block(document: &mut String, address: &str, bytes: &[u8]) {
    let _ = write!(
        document,
        "<script type=\"text/plain\" data-address=\"{address}\">"
    );
    push_base64(document, bytes);
    document.push_str("</script>\n");
}

/// The page with its parts inside: its scripts become addresses that hold their own text.
fn document(answers: &Value, blocks: &str) -> String {
    let mut imports = serde_json::Map::new();
    for script in page::scripts() {
        let text = script.text.replace("from \"./", "from \"meniscus/");
        let mut address = String::from("data:text/javascript;base64,");
        push_base64(&mut address, text.as_bytes());
        imports.insert(format!("meniscus/{}", script.name), address.into());
    }
    let text_of = |name| page::part(name).map_or("", |part| part.text);
    let style = format!("<style>\n{}</style>", text_of("style.css"));
    let scripts = format!(
        "<script type=\"importmap\">{}</script>\n\
         <script type=\"application/json\" id=\"answers\">{}</script>\n{blocks}\
         <script type=\"module\">import \"meniscus/main.js\";</script>",
        json!({ "imports": imports }),
        // Whatever a scene says, it must not end the script that holds it.
        answers.to_string().replace('<', "\\u003c")
    );
    text_of("index.html")
        .replace("/page/icon.svg", "data:,")
        .replace("<link rel=\"stylesheet\" href=\"/page/style.css\">", &style)
        .replace(
            "<script type=\"module\" src=\"/page/main.js\"></script>",
            &scripts,
        )
}

fn push_base64(text: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    text.reserve(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let index = bits >> (18 - 6 * digit) & 63;
            let present = digit <= three.len();
            text.push(if present {
                DIGITS[index as usize] as char
            } else {
                '='
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_everybody() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            let mut text = String::new();
            push_base64(&mut text, plain.as_bytes());
            assert_eq!(text, coded);
        }
    }

    #[test]
    fn particles_go_before_frames_and_all_of_it_fits() {
        assert_eq!(thinned(&[], 0), Some((1, 1)));
        assert_eq!(thinned(&[1000; 100], 20_000_000), Some((1, 1)));
        assert_eq!(thinned(&[100_000; 100], 20_000_000), Some((1, 6)));
        let (step, every) = thinned(&[1_000_000; 1000], 20_000_000).unwrap();
        assert_eq!((step, every), (MOST_SKIPPED, 2 * 66));
        assert_eq!(thinned(&[10], 10), None);
    }
}
