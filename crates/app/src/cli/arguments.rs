//! What can be typed.

use super::lcp::LcpCommand;
use crate::export::{Format, NamePattern, What};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use meniscus_liquid::{Solver, Walls};
use meniscus_scene::Style;
use meniscus_scene::builtin;
use meniscus_scene::text::Override;
use meniscus_scene::{SurfaceSettings, SurfaceSource};
use meniscus_store::opened_run::FrameChoice;
use std::path::PathBuf;
use std::str::FromStr;

const EXAMPLES: &str = "\
Examples:
  meniscus                                      run thrown-sphere, see out/thrown-sphere/preview.gif
  meniscus scenes                               list the built-in scenes
  meniscus run ceiling-ball                     a ball of liquid hits the ceiling and falls off
  meniscus run ceiling-ball --walls slip --out out/stuck
                                                the same with walls that hold on to it
  meniscus init faucet                          write faucet.toml, a scene of your own to start from
  meniscus check faucet.toml                    what is wrong with it, if anything
  meniscus estimate faucet.toml                 the memory, disk and time it will take
  meniscus run faucet.toml --resolution 96      finer than the scene's own resolution
  meniscus run faucet.toml --resume             continue after an interruption
  meniscus run faucet.toml --overwrite          replace the run in out/faucet
  meniscus run faucet.toml --out auto           keep it, write to out/faucet-2
  meniscus run faucet.toml --from-frame 50 --set gravity=[0,0,-1.62] --out moon
                                                branch after frame 50 of out/faucet, with one value changed
  meniscus mesh out/dam-break                   its liquid as closed surfaces, one file per frame
  meniscus view out/thrown-sphere               look at it in a browser
  meniscus preview out/dam-break                its frames as pictures and a GIF
  meniscus preview out/a out/b --gif            two runs side by side
  meniscus export out/dam-break --to ply        its frames as point clouds with velocities
  meniscus lcp export sphere --frame 10         a pressure problem, for study elsewhere

What a run writes into its folder:
  preview.gif     the run as a moving picture
  particles/      one file per frame from 0, positions and velocities
  surfaces/       one file per frame, once `meniscus mesh` or [output] asks for them
  stats.jsonl     one line per step: solver, residual, volume, energy, ...
  timings.jsonl   seconds per phase, one line per step
  scene.toml      the scene with every default filled in
  meshes/         copies of the meshes that it refers to, named by their hash
  run.json        the state of the run and its settings
  state/          checkpoints, for --resume and --from-frame

Exit codes: 0 done, 1 `diff` found a difference, 2 usage or scene, 3 input file,
  4 too little memory or threads, 5 numerical failure, 6 files, 130 interrupted.";

/// Liquids for animation that let go of walls.
#[derive(Debug, Parser)]
#[command(name = "meniscus", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub run: RunFlags,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a scene and write frames, statistics and a preview (without a command: thrown-sphere, into a free folder)
    Run(RunArguments),
    /// Validate a scene; print errors and warnings
    Check(CheckArguments),
    /// Estimate what a run will take: cells, particles, memory, disk, time
    Estimate(CheckArguments),
    /// Start a scene file of your own from a built-in scene
    Init(InitArguments),
    /// Print the JSON schema of scene files, for editors
    Schema(SchemaArguments),
    /// List the built-in scenes
    Scenes,
    /// Print the state of a run
    Status(FolderArguments),
    /// Check every file of a run for damage
    Verify(FolderArguments),
    /// Make surfaces of the particles of a run: closed triangle meshes with normals and velocities
    Mesh(MeshArguments),
    /// Show a run in a browser, or two side by side: a page on this machine only, until Ctrl-C
    View(ViewArguments),
    /// Write a run as one HTML file that anybody can open, with nothing else
    Report(ReportArguments),
    /// Say what is different between two runs; exit code 0 if nothing is, 1 if something is
    Diff(DiffArguments),
    /// Say what can go from a run's folder without losing anything, and remove it with --yes
    Gc(GcArguments),
    /// Make pictures and films of a run, or of two side by side, whether it is done or not
    Preview(PreviewArguments),
    /// Turn the frames of a run into files for other programs
    Export(ExportArguments),
    /// Complementarity problems as files: solve, compare, generate, export
    #[command(subcommand)]
    Lcp(LcpCommand),
    /// Print what a shell needs to complete commands, as in `meniscus completions bash`
    Completions(CompletionArguments),
}

#[derive(Debug, Args)]
pub struct RunArguments {
    /// A scene file, or the name of a built-in scene; `meniscus scenes` lists them
    #[arg(value_name = "SCENE", default_value = builtin::FIRST)]
    pub scene: PathBuf,
    #[command(flatten)]
    pub flags: RunFlags,
}

#[derive(Debug, Args)]
pub struct RunFlags {
    #[command(flatten)]
    pub changes: SceneFlags,
    /// Folder to write to; `auto` is the next free one of out/SCENE, out/SCENE-2, ... [default: out/SCENE]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the run that is in the folder; without this, no finished frame is ever replaced
    #[arg(long, conflicts_with = "resume")]
    pub overwrite: bool,
    /// Continue an interrupted run
    #[arg(long)]
    pub resume: bool,
    /// Run again from the state after frame K, with the scene as it is now: in a new folder (--out NEW or --out auto) as
    /// a branch of the run in out/SCENE, which stays as it is; in place with --overwrite
    #[arg(long, value_name = "K", conflicts_with = "resume")]
    pub from_frame: Option<u32>,
    /// The run that --from-frame branches from, if it is not the one in out/SCENE
    #[arg(long, value_name = "DIR", requires = "from_frame")]
    pub branch_from: Option<PathBuf>,
    /// Memory that the run may take, as in 8GB [default: what the machine has]
    #[arg(long, value_name = "SIZE", value_parser = super::sizes::parse_bytes)]
    pub memory_limit: Option<u64>,
    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct SceneFlags {
    /// Replace any key of the scene, as in walls.kappa=0.1 or `solid[1].ease=linear`; may be given again
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = Override::parse)]
    pub set: Vec<Override>,
    /// How many frames to simulate (time.frames)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub frames: Option<i64>,
    /// Cells along the longest side of the domain (domain.resolution)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub resolution: Option<i64>,
    /// Whether walls hold on to the liquid (walls.kind)
    #[arg(long, value_name = "KIND", value_parser = words::<Walls>(Walls::WORDS))]
    pub walls: Option<Walls>,
    /// Method for the pressure (solver.method)
    #[arg(long, value_name = "NAME", value_parser = words::<Solver>(Solver::WORDS))]
    pub solver: Option<Solver>,
    /// How velocity travels between particles and grid (particles.transfer)
    #[arg(long, value_name = "NAME")]
    pub transfer: Option<TransferName>,
    /// Threads to use; the result is the same for any number [default: one for each core]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// Allow meshes from outside the scene's folder
    #[arg(long)]
    pub allow_outside_files: bool,
}

impl SceneFlags {
    /// What is to be changed in the scene; short cuts come last and win.
    pub fn changes(&self) -> Vec<Override> {
        let mut changes = self.set.clone();
        if let Some(frames) = self.frames {
            changes.push(Override::short("--frames", "time.frames", frames));
        }
        if let Some(cells) = self.resolution {
            changes.push(Override::short("--resolution", "domain.resolution", cells));
        }
        if let Some(walls) = self.walls {
            changes.push(Override::short("--walls", "walls.kind", walls));
        }
        if let Some(solver) = self.solver {
            changes.push(Override::short("--solver", "solver.method", solver));
        }
        if let Some(transfer) = self.transfer {
            let word = match transfer {
                TransferName::Apic => "apic",
                TransferName::Flip => "flip",
            };
            changes.push(Override::short("--transfer", "particles.transfer", word));
        }
        changes
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TransferName {
    /// Affine particle-in-cell
    Apic,
    /// FLIP with a share of PIC (particles.pic): livelier, noisier
    Flip,
}

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// A scene file, or the name of a built-in scene
    #[arg(value_name = "SCENE")]
    pub scene: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub changes: SceneFlags,
}

#[derive(Debug, Args)]
pub struct InitArguments {
    /// Name of the built-in scene to start from
    #[arg(value_name = "NAME", default_value = builtin::FIRST)]
    pub scene: String,
    /// File to write [default: NAME.toml]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// Print the reference for people instead
    #[arg(long)]
    pub markdown: bool,
}

#[derive(Debug, Args)]
pub struct FolderArguments {
    /// Folder of a run, such as out/thrown-sphere
    #[arg(value_name = "OUT")]
    pub run: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ViewArguments {
    /// Folder of a run, such as out/thrown-sphere; it may still be computing
    #[arg(value_name = "OUT")]
    pub run: PathBuf,
    /// Folder of a second run, shown beside it with the same time line and camera
    #[arg(value_name = "OUT2")]
    pub other: Option<PathBuf>,
    /// Port of 127.0.0.1 to answer at [default: any free one]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// Open the page in the browser of this machine
    #[arg(long)]
    pub open: bool,
    /// Folder of the original scene file, for runs without copies of their meshes
    #[arg(long, value_name = "DIR")]
    pub assets: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Folder of a run, such as out/thrown-sphere
    #[arg(value_name = "OUT")]
    pub run: PathBuf,
    /// File to write, at most 20 MB [default: OUT/report.html]
    #[arg(long, value_name = "FILE.html")]
    pub out: Option<PathBuf>,
    /// Folder of the original scene file, for runs without copies of their meshes
    #[arg(long, value_name = "DIR")]
    pub assets: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct DiffArguments {
    /// Folder of a run
    #[arg(value_name = "A")]
    pub first: PathBuf,
    /// Folder of another
    #[arg(value_name = "B")]
    pub second: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct GcArguments {
    /// Folder of a run, such as out/thrown-sphere
    #[arg(value_name = "OUT")]
    pub run: PathBuf,
    /// Remove it
    #[arg(long)]
    pub yes: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct PreviewArguments {
    /// Folder of a run, such as out/thrown-sphere
    #[arg(value_name = "OUT")]
    pub run: PathBuf,
    /// Folder of another run, to be seen beside the first
    #[arg(value_name = "OUT2")]
    pub other: Option<PathBuf>,
    /// Which frames, as in 12, 10-50, 10- or -50 [default: all]
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub frames: Option<FrameChoice>,
    /// Width and height in pixels, of each of two runs
    #[arg(long, value_name = "SIZE", default_value = "640x480", value_parser = super::sizes::parse_pixels)]
    pub size: (u32, u32),
    /// How the liquid is drawn: as a surface, or as particles coloured by speed
    #[arg(long, value_name = "STYLE", default_value = "surface", value_parser = words::<Style>(Style::WORDS))]
    pub style: Style,
    /// Write a PNG for each frame [default: --png --gif]
    #[arg(long)]
    pub png: bool,
    /// Write preview.gif
    #[arg(long)]
    pub gif: bool,
    /// Write preview.mp4; needs the program ffmpeg
    #[arg(long)]
    pub mp4: bool,
    /// Play films so many times slower than life [default: 1; a GIF has at most 30 frames per second]
    #[arg(long, value_name = "FACTOR")]
    pub slow: Option<f64>,
    /// Another camera, as in position=[1,-2,1] or field_of_view=40; may be given again
    #[arg(long, value_name = "KEY=VALUE", value_parser = camera_key)]
    pub camera: Vec<Override>,
    /// Folder to write to [default: OUT/preview]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Folder of the original scene file, for runs without copies of their meshes
    #[arg(long, value_name = "DIR")]
    pub assets: Option<PathBuf>,
    /// Threads to use; the pictures are the same for any number [default: one for each core]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}

/// A key of the scene's camera.
fn camera_key(text: &str) -> Result<Override, String> {
    let change = Override::parse(&format!("camera.{text}"))
        .map_err(|_| "write key=value, as in position=[1,-2,1]".to_string())?;
    Ok(Override {
        typed: format!("--camera {text}"),
        ..change
    })
}

#[derive(Debug, Args)]
pub struct CompletionArguments {
    /// For which shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

#[derive(Debug, Args)]
pub struct MeshArguments {
    /// Folder of a run, finished or not, such as out/thrown-sphere
    #[arg(value_name = "OUT")]
    pub run: PathBuf,
    #[command(flatten)]
    pub which: FrameFlags,
    #[command(flatten)]
    pub how: SurfaceFlags,
    /// Threads to use; the result is the same for any number [default: one for each core]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct FrameFlags {
    /// Which frames, as in 12, 10-50, 10- or -50 [default: all that are there]
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub frames: Option<FrameChoice>,
    /// Folder of the original scene file, for runs without copies of their meshes
    #[arg(long, value_name = "DIR")]
    pub assets: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct SurfaceFlags {
    /// What the surface is made from: the level set of the simulation, with thin features from the particles, or the
    /// particles alone by splashsurf, in space only
    #[arg(long, value_name = "SOURCE", value_parser = words::<SurfaceSource>(SurfaceSource::WORDS))]
    pub from: Option<SurfaceSource>,
    /// Passes of smoothing, 0 to 100; thin features are left as they are [default: 4]
    #[arg(long, value_name = "N")]
    pub smoothing: Option<u32>,
    /// Points along a cell of the simulation, 1 to 8; twice as many in liquid thinner than a cell [default: 2]
    #[arg(long, value_name = "X")]
    pub resolution: Option<u32>,
}

impl SurfaceFlags {
    /// What was asked for, the rest as in `otherwise`.
    pub fn settings(&self, otherwise: SurfaceSettings) -> SurfaceSettings {
        SurfaceSettings {
            source: self.from.unwrap_or(otherwise.source),
            smoothing: self.smoothing.unwrap_or(otherwise.smoothing),
            resolution: self.resolution.unwrap_or(otherwise.resolution),
        }
    }
}

#[derive(Debug, Args)]
pub struct ExportArguments {
    /// Folder of a run, such as out/thrown-sphere
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Format of the files
    #[arg(long, value_name = "FORMAT")]
    pub to: Format,
    /// What to export [default: particles; for obj surface, for usd all; vdb has a volume of its own]
    #[arg(long, value_name = "WHAT")]
    pub what: Option<What>,
    #[command(flatten)]
    pub which: FrameFlags,
    /// Axis that points up [default: y for obj, which is what importers assume; z for all others]
    #[arg(long, value_name = "AXIS")]
    pub up: Option<UpName>,
    /// Number of frame 0, the initial state, in file names and time codes [default: 0]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub first_frame: u32,
    /// Names of the files without their extension, with {scene}, {what}, {frame} or {frame:04}, as in
    /// "{scene}_{what}.{frame:04}" [default: "{what}_{frame:06}"; usd: "meniscus"]
    #[arg(long, value_name = "PATTERN")]
    pub name: Option<NamePattern>,
    /// Folder to write to [default: RUN/export/FORMAT]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Threads to use; the result is the same for any number [default: one for each core]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum UpName {
    /// As Houdini and Maya: turned by -90 degrees about x
    Y,
    /// As Blender, and as it was simulated
    Z,
}

/// A parser that knows its words, so that clap can list them and guess what was meant.
pub fn words<T>(known: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = String> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(known).try_map(|word| T::from_str(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn flags_without_a_command_belong_to_the_first_scene() {
        let arguments = Arguments::parse_from(["meniscus", "--frames", "3", "--walls", "slip"]);
        assert!(arguments.command.is_none());
        let changes = arguments.run.changes.changes();
        let paths: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
        assert_eq!(paths, ["time.frames", "walls.kind"]);
    }

    #[test]
    fn a_misspelt_word_gets_a_suggestion() {
        let error = Arguments::try_parse_from(["meniscus", "run", "circle", "--solver", "newtn"]);
        let text = error.unwrap_err().to_string();
        assert!(text.contains("newton"), "{text}");
    }
}
