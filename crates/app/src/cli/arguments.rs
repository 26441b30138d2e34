//! Command line arguments.

use super::lcp::LcpCommand;
use crate::export::{Format, NamePattern, Up, What};
use crate::sweep::Variation;
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
                                                the same with slip walls, to which it sticks
  meniscus run arch                             rigid bodies: a masonry arch stands by friction
  meniscus init faucet                          write faucet.toml, to edit
  meniscus check faucet.toml                    validate it
  meniscus estimate faucet.toml                 memory, disk and time that it will take
  meniscus run faucet.toml --resolution 96      finer than the scene's own resolution
  meniscus run faucet.toml --resume             continue after an interruption
  meniscus run faucet.toml --overwrite          replace the run in out/faucet
  meniscus run faucet.toml --out auto           keep it, write to out/faucet-2
  meniscus run faucet.toml --from-frame 50 --set gravity=[0,0,-1.62] --out moon
                                                branch after frame 50 of out/faucet, with one value changed
  meniscus sweep boat --vary 'body[1].density=200,400,800'
                                                three runs, a table and a contact sheet
  meniscus mesh out/dam-break                   its liquid as closed surfaces, one file per frame
  meniscus view out/thrown-sphere               view it in a browser
  meniscus preview out/dam-break                render its frames as images and a GIF
  meniscus preview out/a out/b --gif            two runs side by side
  meniscus export out/dam-break --to ply        its frames as point clouds with velocities
  meniscus lcp export sphere --frame 10         write a pressure problem as Matrix Market files

Files of a run:
  preview.gif     animation of the run
  particles/      one file per frame from 0: positions and velocities, poses of bodies
  surfaces/       one file per frame, by `meniscus mesh` or output.surface
  stats.jsonl     one line per step: solver, residual, volume, energy, ...
  timings.jsonl   seconds per phase, one line per step
  actions.jsonl   forces and changes by a program that steered the run (Python)
  scene.toml      the scene with every default filled in
  meshes/         copies of the scene's meshes, named by their hash
  run.json        state and settings of the run
  state/          checkpoints, for --resume and --from-frame

Exit codes: 0 success, 1 `diff` found a difference, 2 invalid arguments or scene, 3 unreadable input
  file, 4 not enough memory or threads, 5 numerical failure, 6 storage error, 130 interrupted.";

/// Simulation of liquids and rigid bodies for animation, with walls that never pull the liquid.
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
    /// Run a scene with every combination of some values, one folder each; ends with a table and a contact sheet
    Sweep(SweepArguments),
    /// Validate a scene; print errors and warnings
    Check(CheckArguments),
    /// Estimate cells, particles, memory, disk space and time of a run
    Estimate(CheckArguments),
    /// Write a new scene file based on a built-in scene
    Init(InitArguments),
    /// Print the JSON schema of scene files, for editors
    Schema(SchemaArguments),
    /// List the built-in scenes
    Scenes,
    /// Print the state of a run
    Status(FolderArguments),
    /// Check every file of a run for damage
    Verify(FolderArguments),
    /// Reconstruct surfaces from the particles of a run: closed triangle meshes with normals and velocities
    Mesh(MeshArguments),
    /// View one run, or two side by side, in a browser; served on this machine only, until Ctrl-C
    View(ViewArguments),
    /// Write a run as one self-contained HTML file
    Report(ReportArguments),
    /// Compare two runs; exit code 0 if they are equal, 1 if they differ
    Diff(DiffArguments),
    /// List files of a run that can be deleted and regenerated; delete them with --yes
    Gc(GcArguments),
    /// Render images and videos of a run, or of two side by side, finished or not
    Preview(PreviewArguments),
    /// Export the frames of a run to other formats
    Export(ExportArguments),
    /// Solve, compare, generate and export linear complementarity problems
    #[command(subcommand)]
    Lcp(LcpCommand),
    /// Print a shell completion script, for example `meniscus completions bash`
    Completions(CompletionArguments),
}

#[derive(Debug, Args)]
pub struct RunArguments {
    /// Scene file, or name of a built-in scene; `meniscus scenes` lists them
    #[arg(value_name = "SCENE", default_value = builtin::FIRST)]
    pub scene: PathBuf,
    #[command(flatten)]
    pub flags: RunFlags,
}

#[derive(Debug, Args)]
pub struct RunFlags {
    #[command(flatten)]
    pub changes: SceneFlags,
    /// Output folder; `auto` is the next free one of out/SCENE, out/SCENE-2, ... [default: out/SCENE]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the run in the folder; without this flag, finished frames are never replaced
    #[arg(long, conflicts_with = "resume")]
    pub overwrite: bool,
    /// Continue an interrupted run
    #[arg(long)]
    pub resume: bool,
    /// Restart from the state after frame K with the current scene: in a new folder (--out NEW or --out auto) as a branch of
    /// the run in out/SCENE, which is not modified; in place with --overwrite
    #[arg(long, value_name = "K", conflicts_with = "resume")]
    pub from_frame: Option<u32>,
    /// Run that --from-frame branches from [default: out/SCENE]
    #[arg(long, value_name = "DIR", requires = "from_frame")]
    pub branch_from: Option<PathBuf>,
    /// Memory limit, for example 8GB [default: the memory of the machine]
    #[arg(long, value_name = "SIZE", value_parser = super::sizes::parse_bytes)]
    pub memory_limit: Option<u64>,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct SweepArguments {
    /// Scene file, or name of a built-in scene
    #[arg(value_name = "SCENE")]
    pub scene: PathBuf,
    /// Values of a key, for example `body[1].density=200,400,800`; repeatable: every combination is run
    #[arg(long, value_name = "KEY=VALUE,VALUE,...", required = true, value_parser = Variation::parse)]
    pub vary: Vec<Variation>,
    /// Folder of the sweep [default: out/SCENE-sweep]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Run nothing; print one command per line, for example for a render farm
    #[arg(long)]
    pub print: bool,
    /// Run nothing; write an Open Job Description template with steps to simulate, mesh and preview
    #[arg(long, value_name = "FILE", conflicts_with = "print")]
    pub openjd: Option<PathBuf>,
    #[command(flatten)]
    pub changes: SceneFlags,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct SceneFlags {
    /// Override a key of the scene, for example walls.separation_speed=0.1 or `solid[1].ease=linear`; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = Override::parse)]
    pub set: Vec<Override>,
    /// Number of frames to simulate (time.frames)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub frames: Option<i64>,
    /// Cells along the longest side of the domain (domain.resolution)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub resolution: Option<i64>,
    /// Number of particles of a scene with method = "projective" (particles.count)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub particles: Option<i64>,
    /// Wall boundary condition (walls.kind)
    #[arg(long, value_name = "KIND", value_parser = words::<Walls>(Walls::WORDS))]
    pub walls: Option<Walls>,
    /// Pressure solver (solver.method)
    #[arg(long, value_name = "NAME", value_parser = words::<Solver>(Solver::WORDS))]
    pub solver: Option<Solver>,
    /// Velocity transfer between particles and grid (particles.transfer)
    #[arg(long, value_name = "NAME")]
    pub transfer: Option<TransferName>,
    /// Number of threads; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// Allow meshes from outside the scene's folder
    #[arg(long)]
    pub allow_outside_files: bool,
}

impl SceneFlags {
    /// Overrides of the scene. Shortcut flags come last and take precedence.
    pub fn changes(&self) -> Vec<Override> {
        let mut changes = self.set.clone();
        if let Some(frames) = self.frames {
            changes.push(Override::short("--frames", "time.frames", frames));
        }
        if let Some(cells) = self.resolution {
            changes.push(Override::short("--resolution", "domain.resolution", cells));
        }
        if let Some(count) = self.particles {
            changes.push(Override::short("--particles", "particles.count", count));
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
    /// FLIP blended with PIC (particles.pic): livelier, noisier
    Flip,
}

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Scene file, or name of a built-in scene
    #[arg(value_name = "SCENE")]
    pub scene: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub changes: SceneFlags,
}

#[derive(Debug, Args)]
pub struct InitArguments {
    /// Built-in scene to start from
    #[arg(value_name = "NAME", default_value = builtin::FIRST)]
    pub scene: String,
    /// File to write [default: NAME.toml]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// Print the reference in Markdown instead
    #[arg(long)]
    pub markdown: bool,
}

#[derive(Debug, Args)]
pub struct FolderArguments {
    /// Folder of a run, such as out/thrown-sphere
    #[arg(value_name = "OUT")]
    pub run: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ViewArguments {
    /// Folder of a run, such as out/thrown-sphere; the run may still be in progress
    #[arg(value_name = "OUT")]
    pub run: PathBuf,
    /// Folder of a second run, shown beside the first with the same timeline and camera
    #[arg(value_name = "OUT2")]
    pub other: Option<PathBuf>,
    /// Port on 127.0.0.1 [default: any free one]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// Open the page in the default browser
    #[arg(long)]
    pub open: bool,
    /// Folder of the original scene file, for runs without mesh copies
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
    /// Folder of the original scene file, for runs without mesh copies
    #[arg(long, value_name = "DIR")]
    pub assets: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct DiffArguments {
    /// Folder of the first run
    #[arg(value_name = "A")]
    pub first: PathBuf,
    /// Folder of the second run
    #[arg(value_name = "B")]
    pub second: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct GcArguments {
    #[command(flatten)]
    pub folder: FolderArguments,
    /// Delete the listed files
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct PreviewArguments {
    /// Folder of a run, such as out/thrown-sphere
    #[arg(value_name = "OUT")]
    pub run: PathBuf,
    /// Folder of a second run, rendered beside the first
    #[arg(value_name = "OUT2")]
    pub other: Option<PathBuf>,
    #[command(flatten)]
    pub which: FrameFlags,
    /// Width and height in pixels, per run
    #[arg(long, value_name = "SIZE", default_value = "640x480", value_parser = super::sizes::parse_pixels)]
    pub size: (u32, u32),
    /// Rendering of the liquid: as a surface, or as particles coloured by speed
    #[arg(long, value_name = "STYLE", default_value = "surface", value_parser = words::<Style>(Style::WORDS))]
    pub style: Style,
    /// Write one PNG per frame [default: --png --gif]
    #[arg(long)]
    pub png: bool,
    /// Write preview.gif
    #[arg(long)]
    pub gif: bool,
    /// Write preview.mp4; requires ffmpeg
    #[arg(long)]
    pub mp4: bool,
    /// Slow-motion factor of videos [default: 1; a GIF has at most 30 frames per second]
    #[arg(long, value_name = "FACTOR")]
    pub slow: Option<f64>,
    /// Override a key of the camera, for example position=[1,-2,1] or field_of_view=40; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = camera_key)]
    pub camera: Vec<Override>,
    /// Output folder [default: OUT/preview]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub work: WorkFlags,
}

/// Override of a key of the scene's camera.
fn camera_key(text: &str) -> Result<Override, String> {
    let change = Override::parse(&format!("camera.{text}"))
        .map_err(|_| "expected key=value, for example position=[1,-2,1]".to_string())?;
    Ok(Override {
        typed: format!("--camera {text}"),
        ..change
    })
}

#[derive(Debug, Args)]
pub struct CompletionArguments {
    /// Shell
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
    #[command(flatten)]
    pub work: WorkFlags,
}

#[derive(Debug, Args)]
pub struct WorkFlags {
    /// Number of threads; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct FrameFlags {
    /// Range of frames: 12, 10-50, 10- or -50 [default: all]
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub frames: Option<FrameChoice>,
    /// Folder of the original scene file, for runs without mesh copies
    #[arg(long, value_name = "DIR")]
    pub assets: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct SurfaceFlags {
    /// Source of the surface: the level set of the simulation with thin features from the particles, or the particles alone by
    /// splashsurf (3D only)
    #[arg(long, value_name = "SOURCE", value_parser = words::<SurfaceSource>(SurfaceSource::WORDS))]
    pub from: Option<SurfaceSource>,
    /// Smoothing passes, 0 to 100; thin features are not smoothed [default: 4]
    #[arg(long, value_name = "N")]
    pub smoothing: Option<u32>,
    /// Samples per cell of the simulation, 1 to 8; doubled in liquid thinner than a cell [default: 2]
    #[arg(long, value_name = "X")]
    pub resolution: Option<u32>,
}

impl SurfaceFlags {
    /// Requested settings, with those of `otherwise` where none is requested.
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
    /// File format
    #[arg(long, value_name = "FORMAT")]
    pub to: Format,
    /// Content to export [default: particles; obj: surface; usd: all; vdb has a volume of its own]
    #[arg(long, value_name = "WHAT")]
    pub what: Option<What>,
    #[command(flatten)]
    pub which: FrameFlags,
    /// Up axis [default: y for obj, as importers assume; z for all others]
    #[arg(long, value_name = "AXIS")]
    pub up: Option<Up>,
    /// Number of frame 0, the initial state, in file names and time codes [default: 0]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub first_frame: u32,
    /// Pattern of file names without extension, with {scene}, {what}, {frame} or {frame:04}, for example
    /// "{scene}_{what}.{frame:04}" [default: "{what}_{frame:06}"; usd: "meniscus"]
    #[arg(long, value_name = "PATTERN")]
    pub name: Option<NamePattern>,
    /// Output folder; files of an earlier export with the same names are replaced [default: RUN/export/FORMAT]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub work: WorkFlags,
}

/// Parser of a fixed list of words, so that clap can list them and suggest corrections.
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
    fn flags_without_a_command_apply_to_the_default_scene() {
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
