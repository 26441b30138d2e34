//! What can be typed.

use crate::scene::{Changes, builtin};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use meniscus_liquid::{Solver, Transfer, Walls};
use std::path::PathBuf;
use std::str::FromStr;

/// Share of plain PIC when FLIP is asked for.
const FLIP_PIC: f64 = 0.05;

const EXAMPLES: &str = "\
Examples:
  meniscus                                      run thrown-sphere, see out/thrown-sphere/preview.gif
  meniscus scenes                               list the built-in scenes
  meniscus run ceiling-ball                     a ball of liquid hits the ceiling and falls off
  meniscus run ceiling-ball --walls slip --out out/stuck
                                                the same with walls that hold on to it
  meniscus run dam-break --resolution 96        finer than the scene's own resolution
  meniscus export out/dam-break --to ply        its frames as point clouds with velocities
  meniscus lcp export sphere --frame 10         a pressure problem, for study elsewhere

What a run writes into its folder:
  preview.gif     the run as a moving picture
  particles/      a file a frame, positions and velocities
  stats.jsonl     a line a step: solver, residual, volume, energy, ...
  timings.jsonl   seconds per phase, a line a step
  run.json        the state of the run and its settings

Exit codes: 0 done, 2 usage or scene, 3 input file, 4 too little memory or threads,
  5 numerical failure, 6 files, 130 interrupted.";

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
    /// Simulate a scene and write frames, statistics and a preview (without a command: thrown-sphere)
    Run(RunArguments),
    /// List the built-in scenes
    Scenes,
    /// Turn the frames of a run into files for other programs
    Export(ExportArguments),
    /// Pressure problems as files
    #[command(subcommand)]
    Lcp(LcpCommand),
}

#[derive(Debug, Args)]
pub struct RunArguments {
    /// Name of a built-in scene; `meniscus scenes` lists them
    #[arg(value_name = "SCENE", default_value = builtin::FIRST)]
    pub scene: String,
    #[command(flatten)]
    pub flags: RunFlags,
}

#[derive(Debug, Args)]
pub struct RunFlags {
    #[command(flatten)]
    pub changes: SceneFlags,
    /// How many frames to simulate [default: the scene's own]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub frames: Option<u32>,
    /// Folder to write to [default: out/SCENE]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Go on with a run that was interrupted; the result is the same as without interruption
    #[arg(long, conflicts_with = "from_frame")]
    pub resume: bool,
    /// Run again from the checkpoint after this frame, with a scene that may have changed
    #[arg(long, value_name = "K")]
    pub from_frame: Option<u32>,
    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}

impl RunFlags {
    /// What is to be changed in the scene.
    pub fn changes(&self) -> Changes {
        Changes {
            frames: self.frames,
            ..self.changes.changes()
        }
    }
}

#[derive(Debug, Args)]
pub struct SceneFlags {
    /// Whether walls hold on to the liquid [default: the scene's own]
    #[arg(long, value_name = "KIND", value_parser = words::<Walls>(Walls::WORDS))]
    pub walls: Option<Walls>,
    /// Method for the pressure [default: the scene's own]
    #[arg(long, value_name = "NAME", value_parser = words::<Solver>(Solver::WORDS))]
    pub solver: Option<Solver>,
    /// How velocity travels between particles and grid [default: the scene's own]
    #[arg(long, value_name = "NAME")]
    pub transfer: Option<TransferName>,
    /// Cells along the longest side of the domain [default: the scene's own]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub resolution: Option<usize>,
    /// Threads to use; the result is the same for any number [default: one for each core]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<usize>,
}

impl SceneFlags {
    /// What is to be changed in the scene.
    pub fn changes(&self) -> Changes {
        let transfer = self.transfer.map(|name| match name {
            TransferName::Apic => Transfer::Apic,
            TransferName::Flip => Transfer::Flip { pic: FLIP_PIC },
        });
        Changes {
            walls: self.walls,
            solver: self.solver,
            transfer,
            resolution: self.resolution,
            frames: None,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TransferName {
    /// Affine particle-in-cell
    Apic,
    /// 95 % FLIP, 5 % PIC: livelier, noisier
    Flip,
}

#[derive(Debug, Args)]
pub struct ExportArguments {
    /// Folder of a run, such as out/thrown-sphere
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Format of the files
    #[arg(long, value_name = "FORMAT")]
    pub to: Format,
    /// Folder to write to [default: RUN/export/FORMAT/particles]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Format {
    /// Point clouds with x y z vx vy vz, binary
    Ply,
}

#[derive(Debug, Subcommand)]
pub enum LcpCommand {
    /// Simulate to the first step towards a frame and write its pressure problem
    /// (A.mtx, b.mtx, lower.mtx, upper.mtx, grid.json)
    Export(LcpExportArguments),
}

#[derive(Debug, Args)]
pub struct LcpExportArguments {
    /// Name of a built-in scene
    #[arg(value_name = "SCENE")]
    pub scene: String,
    /// The frame, from 1
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub frame: u32,
    /// Folder to write to [default: out/lcp/SCENE_K]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub changes: SceneFlags,
}

/// A parser that knows its words, so that clap can list them and guess what was meant.
fn words<T>(known: &'static [&'static str]) -> impl TypedValueParser<Value = T>
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
        let changes = arguments.run.changes();
        assert_eq!(
            (changes.frames, changes.walls),
            (Some(3), Some(Walls::Slip))
        );
    }

    #[test]
    fn a_misspelt_word_gets_a_suggestion() {
        let error = Arguments::try_parse_from(["meniscus", "run", "circle", "--solver", "newtn"]);
        let text = error.unwrap_err().to_string();
        assert!(text.contains("newton"), "{text}");
    }
}
