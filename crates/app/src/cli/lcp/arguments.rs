//! Arguments of `meniscus lcp`.

use super::super::arguments::SceneFlags;
use clap::{Args, Subcommand, ValueEnum, value_parser};
use meniscus_lcp::registry::Presolve;
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Debug, Subcommand)]
pub enum LcpCommand {
    /// Solve a problem given as Matrix Market files
    Solve(SolveArguments),
    /// Solve a problem with every applicable method, and compare them
    Compare(CompareArguments),
    /// Print the properties of a problem: size, symmetry, definiteness, diagonal, applicable methods
    Info(InfoArguments),
    /// Generate a test problem, most kinds with a known solution
    #[command(subcommand)]
    Generate(GenerateCommand),
    /// List the methods and when to use them
    Solvers,
    /// Simulate up to the first step towards a frame and write its pressure problem (A.mtx, b.mtx, lower.mtx, upper.mtx,
    /// grid.json), or the contact problem of rigid bodies (friction.json instead of grid.json)
    Export(ExportArguments),
}

/// Location of a problem.
#[derive(Debug, Args)]
pub struct ProblemFlags {
    /// Folder with A.mtx, b.mtx and, for box bounds, lower.mtx and upper.mtx, as written by `lcp export` and `lcp generate`
    #[arg(long, value_name = "DIR", conflicts_with_all = ["matrix", "rhs", "lower", "upper"], required_unless_present_all = ["matrix", "rhs"])]
    pub problem: Option<PathBuf>,
    /// Matrix A of y = A x + b, a Matrix Market file
    #[arg(long, value_name = "A.mtx", requires = "rhs")]
    pub matrix: Option<PathBuf>,
    /// Right-hand side b
    #[arg(long, value_name = "b.mtx", requires = "matrix")]
    pub rhs: Option<PathBuf>,
    /// Lower bounds, -inf where there is none [default: 0]
    #[arg(long, value_name = "l.mtx")]
    pub lower: Option<PathBuf>,
    /// Upper bounds, inf where there is none [default: inf]
    #[arg(long, value_name = "u.mtx")]
    pub upper: Option<PathBuf>,
}

/// Stopping criteria.
#[derive(Debug, Args)]
pub struct StopFlags {
    /// Tolerance on the largest entry of the natural residual, relative to the size of the problem after its rows and columns
    /// are scaled
    #[arg(
        long,
        value_name = "T",
        default_value = "1e-8",
        allow_negative_numbers = true
    )]
    pub tolerance: f64,
    /// Take the tolerance as absolute, in the units of the problem
    #[arg(long)]
    pub absolute: bool,
    /// Maximum number of iterations, pivots or sweeps [default: that of the method]
    #[arg(long, value_name = "N")]
    pub max_iterations: Option<usize>,
    /// Improve the initial guess first, for example pgs:10, psor:10 or gradient:10 (sweeps or steps)
    #[arg(long, value_name = "METHOD:N", value_parser = Presolve::from_str)]
    pub first: Option<Presolve>,
}

#[derive(Debug, Args)]
pub struct SolveArguments {
    #[command(flatten)]
    pub problem: ProblemFlags,
    /// Method; `meniscus lcp solvers` lists them with their uses; with the grid.json of a --problem also the solvers of scenes,
    /// such as tn-mg
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub solver: String,
    #[command(flatten)]
    pub stop: StopFlags,
    /// Initial guess [default: 0, or the bound nearest to it]
    #[arg(long, value_name = "x.mtx")]
    pub start: Option<PathBuf>,
    /// Write the solution
    #[arg(long, value_name = "x.mtx")]
    pub out: Option<PathBuf>,
    /// Write residual and merit after each iteration
    #[arg(long, value_name = "trace.csv")]
    pub trace: Option<PathBuf>,
    /// Plot the residual over the iterations
    #[arg(long, value_name = "trace.svg")]
    pub plot: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CompareArguments {
    #[command(flatten)]
    pub problem: ProblemFlags,
    /// Methods to compare, separated by commas; with the grid.json of a --problem also the solvers of scenes, such as tn-mg, and
    /// variants of them, such as newton:gmres:jacobi [default: all applicable]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub solvers: Vec<String>,
    #[command(flatten)]
    pub stop: StopFlags,
    /// Time limit per method in seconds
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    pub seconds: f64,
    /// Write the table as CSV
    #[arg(long, value_name = "compare.csv")]
    pub csv: Option<PathBuf>,
    /// Plot the residuals over time
    #[arg(long, value_name = "compare.svg")]
    pub plot: Option<PathBuf>,
    /// Print JSON, one line per method
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct InfoArguments {
    #[command(flatten)]
    pub problem: ProblemFlags,
    /// Plot the sparsity pattern of the matrix
    #[arg(long, value_name = "pattern.svg")]
    pub plot: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum GenerateCommand {
    /// Banded symmetric positive definite matrix, as from a liquid on a grid
    Fluid(FluidArguments),
    /// Contacts with friction by polyhedral cones: non-symmetric, with zeros on the diagonal
    Contact(ContactArguments),
    /// Dense symmetric matrix with evenly spaced eigenvalues, optionally some of them zero
    Dense(DenseArguments),
    /// Pressure of a half-filled sphere with separating walls, from formulas (grid.json instead of x.mtx)
    Walls(WallsArguments),
}

#[derive(Debug, Args)]
pub struct GenerateFlags {
    /// Random seed
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub seed: u64,
    /// Folder to write A.mtx, b.mtx, lower.mtx, upper.mtx and the solution x.mtx to
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct FluidArguments {
    /// Rows
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = value_parser!(u64).range(1..=10_000_000))]
    pub rows: u64,
    /// Bands on each side of the diagonal
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u64).range(0..=1000))]
    pub bands: u64,
    /// Fraction of the solution that is zero
    #[arg(long, value_name = "F", default_value_t = 0.5, value_parser = share)]
    pub zeros: f64,
    #[command(flatten)]
    pub flags: GenerateFlags,
}

#[derive(Debug, Args)]
pub struct ContactArguments {
    /// Contacts: six rows each
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = value_parser!(u64).range(1..=5000))]
    pub contacts: u64,
    #[command(flatten)]
    pub flags: GenerateFlags,
}

#[derive(Debug, Args)]
pub struct DenseArguments {
    /// Rows
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = value_parser!(u64).range(1..=4000))]
    pub rows: u64,
    /// Fraction of the eigenvalues that is zero
    #[arg(long, value_name = "F", default_value_t = 0.0, value_parser = share)]
    pub null: f64,
    /// Fraction of the solution that is zero
    #[arg(long, value_name = "F", default_value_t = 0.5, value_parser = share)]
    pub zeros: f64,
    #[command(flatten)]
    pub flags: GenerateFlags,
}

#[derive(Debug, Args)]
pub struct WallsArguments {
    /// Number of dimensions, 2 or 3
    #[arg(long, value_name = "D", default_value_t = 3, value_parser = value_parser!(u8).range(2..=3))]
    pub dim: u8,
    /// Cells along a side
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = value_parser!(u32).range(4..=512))]
    pub size: u32,
    /// Shape of the free surface
    #[arg(long, value_name = "KIND", default_value = "flat")]
    pub surface: SurfaceName,
    /// Add a plate and a shell with a hole to the liquid, one cell thick
    #[arg(long)]
    pub thin: bool,
    /// Folder to write A.mtx, b.mtx, lower.mtx, upper.mtx and grid.json to
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SurfaceName {
    /// Horizontal: half of the sphere is full
    Flat,
    /// With a wave
    Wave,
}

#[derive(Debug, Args)]
pub struct ExportArguments {
    /// Scene file, or name of a built-in scene
    #[arg(value_name = "SCENE")]
    pub scene: PathBuf,
    /// Frame, from 1
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub frame: u32,
    /// Output folder [default: out/lcp/SCENE_K]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub changes: SceneFlags,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("must be a number from 0 to 1".into()),
    }
}
