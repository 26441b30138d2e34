//! Report: the page with its data in one self-contained file.

mod packed;
mod simplify;
mod surfaces;

use super::page;
use super::watched_run::Watched;
use super::wire::{PARTICLE, PARTICLES_HEADER};
use meniscus_store::atomic_file;
use meniscus_store::error::{Error, Kind};
use meniscus_store::quantity::count;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use surfaces::Surfaces;

/// File name of a report in the folder of its run.
pub const NAME: &str = "report.html";
/// Largest size of the file in bytes.
pub const LARGEST: usize = 20_000_000;
/// Particles per frame that suffice for a picture of this size; frames are omitted before particles fall below it.
const ENOUGH: u64 = 15_000;
/// The same with surfaces, which show the shape of the liquid better.
const ENOUGH_BESIDE_SURFACES: u64 = 4_000;
/// Largest stride of frames: fewer would not look like motion.
const MOST_SKIPPED: usize = 8;

/// Content of a report and omissions.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenedRun {
    /// Bytes of the file.
    pub bytes: usize,
    /// Frames in the report.
    pub frames: usize,
    /// Frames of the run.
    pub frames_of_run: usize,
    /// Stride of particles.
    pub every_particle: usize,
    /// Damaged frames, omitted.
    pub damaged: Vec<u32>,
    /// Surfaces in the report.
    pub surfaces: usize,
    /// Surfaces of the run.
    pub surfaces_of_run: usize,
    /// Distance of their vertices in metres, if they were simplified.
    pub surface_spacing: Option<f64>,
    /// Frames with damaged surfaces, omitted.
    pub damaged_surfaces: Vec<u32>,
}

impl OpenedRun {
    /// Omissions in words; none if the report is complete.
    pub fn left_out(&self) -> Option<String> {
        let mut parts = Vec::new();
        let intact = self.frames_of_run - self.damaged.len();
        if self.frames < intact {
            parts.push(format!(
                "{} of {}",
                intact - self.frames,
                count(intact, "frame")
            ));
        }
        if self.every_particle > 1 {
            parts.push(format!("all but one of {} particles", self.every_particle));
        }
        let intact = self.surfaces_of_run - self.damaged_surfaces.len();
        if self.surfaces < intact {
            parts.push(format!(
                "{} of {}",
                intact - self.surfaces,
                count(intact, "surface")
            ));
        }
        if let Some(spacing) = self.surface_spacing.filter(|_| self.surfaces > 0) {
            let mm = 1000.0 * spacing;
            let digits = if mm < 10.0 { 1 } else { 0 };
            parts.push(format!("details of surfaces below {mm:.digits$} mm"));
        }
        let damaged = [
            ("frames", &self.damaged),
            ("surfaces", &self.damaged_surfaces),
        ];
        for (what, numbers) in damaged.iter().filter(|(_, numbers)| !numbers.is_empty()) {
            let list: Vec<String> = numbers.iter().map(u32::to_string).collect();
            parts.push(format!("damaged {what} ({})", list.join(", ")));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Writes the report of a run. `assets` is the folder of the original scene file, if it refers to meshes.
///
/// # Errors
/// If the folder contains no run or one of another version, or nothing can be written.
pub fn write(run: &Path, assets: Option<&Path>, to: &Path) -> Result<OpenedRun, Error> {
    refuse_parts_of(run, to)?;
    let run = Watched::open(run, assets)?;
    let (text, written) = compose(&run, LARGEST)?;
    atomic_file::write(to, text.as_bytes())?;
    Ok(written)
}

/// Checks that a report replaces no other file of the run.
fn refuse_parts_of(run: &Path, to: &Path) -> Result<(), Error> {
    let name_is_ours = to.file_name().is_some_and(|name| name == NAME);
    let (Ok(run), Ok(file)) = (run.canonicalize(), to.canonicalize()) else {
        return Ok(());
    };
    if file.starts_with(&run) && !name_is_ours {
        return Err(
            Error::usage(format!("{} is a file of the run", to.display()))
                .with_remedy("write the report to another file"),
        );
    }
    Ok(())
}

/// Report as text of at most `largest` bytes.
pub fn compose(run: &Watched, largest: usize) -> Result<(String, OpenedRun), Error> {
    let mut blocks = String::new();
    for (k, solid) in run.solids().iter().enumerate() {
        let address = format!("/run/0/solid/{k}");
        block(&mut blocks, &address, "", &solid.mesh.encode());
    }
    let frames = run.frames().unwrap_or_default();
    let counts: Vec<u64> = frames
        .iter()
        .map(|&frame| run.particle_count(frame))
        .collect();
    let now = run.now();
    // The sizes of the last parts vary by few digits, whatever is omitted.
    let fixed = document(&answers(run, now.clone(), [&[], &[]], Some("")), "").len() + blocks.len();
    let room = largest.saturating_sub(fixed + 64 * frames.len() + 4096);
    let cloth = ClothBlocks::of_run(run, &frames, room);
    let room = room.saturating_sub(cloth.size(1, frames.len()));
    // Surfaces get half of the space, or more if that leaves enough for all particles.
    let all_particles = size_of_particles(&counts, 1, 1);
    let surfaces = Surfaces::of_run(run, (room / 2).max(room.saturating_sub(all_particles)));
    let room = room - surfaces.size();
    let enough = if surfaces.packed.is_empty() {
        ENOUGH
    } else {
        ENOUGH_BESIDE_SURFACES
    };
    let Some((step, every)) = thinned(&counts, room, enough) else {
        return Err(Error::new(
            Kind::Resources,
            format!("a report of {largest} bytes is too small for this run"),
        ));
    };
    let mut written = OpenedRun {
        bytes: 0,
        frames: 0,
        frames_of_run: frames.len(),
        every_particle: every,
        damaged: Vec::new(),
        surfaces: surfaces.packed.len(),
        surfaces_of_run: surfaces.of_run,
        surface_spacing: surfaces.spacing,
        damaged_surfaces: surfaces.damaged,
    };
    let mut kept = Vec::new();
    for (at, &frame) in frames.iter().enumerate() {
        if !is_kept(at, frames.len(), step) {
            continue;
        }
        match run.particles(frame, every) {
            Ok(bytes) => {
                block(&mut blocks, &format!("/run/0/frame/{frame}"), "", &bytes);
                cloth.write(&mut blocks, at, frame);
                kept.push(frame);
            }
            Err(_) => written.damaged.push(frame),
        }
    }
    written.frames = kept.len();
    let mut with_surface = Vec::new();
    for (frame, bytes) in &surfaces.packed {
        let address = format!("/run/0/surface/{frame}");
        block(&mut blocks, &address, " data-packed", bytes);
        with_surface.push(*frame);
    }
    let left_out = written.left_out();
    let answers = answers(run, now, [&kept, &with_surface], left_out.as_deref());
    let text = document(&answers, &blocks);
    written.bytes = text.len();
    Ok((text, written))
}

/// Cloth and soft bodies of a report, compressed: all of them in every frame.
struct ClothBlocks(Vec<Vec<Vec<u8>>>);

impl ClothBlocks {
    /// Those of the frames of a run. There are none if they would take more than half of the room.
    fn of_run(run: &Watched, frames: &[u32], room: usize) -> Self {
        let pieces = run.cloth_count();
        let one = |frame: u32| -> Vec<Vec<u8>> {
            let meshes = (0..pieces).map(|piece| run.cloth(piece, frame).unwrap_or_default());
            meshes.map(|mesh| packed::packed(&mesh, None)).collect()
        };
        let blocks = Self(frames.par_iter().map(|&frame| one(frame)).collect());
        match blocks.size(1, frames.len()) <= room / 2 {
            true => blocks,
            false => Self(Vec::new()),
        }
    }

    /// Bytes in the report.
    fn size(&self, step: usize, frames: usize) -> usize {
        let kept = self.0.iter().enumerate();
        kept.filter(|(at, _)| is_kept(*at, frames, step))
            .flat_map(|(_, pieces)| pieces)
            .map(|bytes| base64_size(bytes.len()))
            .sum()
    }

    fn write(&self, blocks: &mut String, at: usize, frame: u32) {
        for (piece, bytes) in self.0.get(at).into_iter().flatten().enumerate() {
            let address = format!("/run/0/cloth/{piece}/{frame}");
            block(blocks, &address, " data-packed", bytes);
        }
    }
}

/// Frames of a report: every `step`-th, and the last one.
fn is_kept(at: usize, frames: usize, step: usize) -> bool {
    at.is_multiple_of(step) || at + 1 == frames
}

/// Bytes of every `step`-th frame with every `every`-th particle, given the number of particles per frame.
fn size_of_particles(counts: &[u64], step: usize, every: usize) -> usize {
    let kept = counts.iter().enumerate();
    kept.filter(|(at, _)| is_kept(*at, counts.len(), step))
        .map(|(_, &count)| PARTICLES_HEADER + PARTICLE * count.div_ceil(every as u64) as usize)
        .map(base64_size)
        .sum()
}

/// Smallest strides of frames and particles that fit into a number of bytes.
fn thinned(counts: &[u64], room: usize, enough: u64) -> Option<(usize, usize)> {
    let most = counts.iter().copied().max().unwrap_or(0);
    let plenty = (most / enough).max(1) as usize;
    let fewer_particles = (1..=plenty).map(|every| (1, every));
    let fewer_frames = (2..=MOST_SKIPPED).map(|step| (step, plenty));
    let desperate = (1..=12).map(|power| (MOST_SKIPPED, plenty << power));
    let sparse = (1..=20).map(|power| (MOST_SKIPPED << power, plenty << 12));
    fewer_particles
        .chain(fewer_frames)
        .chain(desperate)
        .chain(sparse)
        .find(|&(step, every)| size_of_particles(counts, step, every) <= room)
}

/// Responses that the page would request from the server.
fn answers(
    run: &Watched,
    mut now: Value,
    [frames, surfaces]: [&[u32]; 2],
    left_out: Option<&str>,
) -> Value {
    now["frames"] = json!(frames);
    now["surfaces"] = json!(surfaces);
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

/// Description of this machine.
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

/// Bytes as a block of the document that the page finds by its address; `marks` are its attributes.
fn block(document: &mut String, address: &str, marks: &str, bytes: &[u8]) {
    let _ = write!(
        document,
        "<script type=\"text/plain\" data-address=\"{address}\"{marks}>"
    );
    push_base64(document, bytes);
    document.push_str("</script>\n");
}

/// Page with its files embedded: scripts become data URLs.
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
        // Text of a scene must not end the script element.
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

fn base64_size(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

fn push_base64(text: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    text.reserve(base64_size(bytes.len()));
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
    fn base64_matches_the_test_vectors_of_its_rfc() {
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
    fn particles_are_omitted_before_frames_and_the_result_fits() {
        assert_eq!(thinned(&[], 0, ENOUGH), Some((1, 1)));
        assert_eq!(thinned(&[1000; 100], 20_000_000, ENOUGH), Some((1, 1)));
        assert_eq!(thinned(&[100_000; 100], 20_000_000, ENOUGH), Some((1, 6)));
        let (step, every) = thinned(&[1_000_000; 1000], 20_000_000, ENOUGH).unwrap();
        assert_eq!((step, every), (MOST_SKIPPED, 2 * 66));
        assert_eq!(thinned(&[10], 10, ENOUGH), None);
    }
}
