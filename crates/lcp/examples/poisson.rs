//! Seconds an iteration of conjugate gradients on a Poisson problem with 7-point rows, tile by tile in two colours.
//!
//! `cargo run --release -p meniscus-lcp --example poisson -- [CELLS A SIDE] [THREADS]`

use std::ops::ControlFlow;
use std::time::Instant;

use meniscus_lcp::methods::linear;
use meniscus_lcp::precondition::{Jacobi, Mic0, Mic0Settings, Preconditioner};
use meniscus_lcp::{Blocks, BoxMlcp, Csr, InnerProgress, Observer, Operator, Progress};

/// Cells along the edge of a tile.
const TILE: usize = 8;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let side: usize = arguments.next().map_or(Ok(74), |word| word.parse())?;
    let threads: usize = arguments.next().map_or(Ok(1), |word| word.parse())?;
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?
        .install(|| measure(side))
}

fn measure(side: usize) -> Result<(), Failure> {
    let (matrix, blocks) = poisson(side)?;
    let n = matrix.rows();
    println!(
        "{n} rows, {} entries, {} blocks, {} threads",
        matrix.nonzeros(),
        blocks.count(),
        rayon::current_num_threads()
    );
    let c: Vec<f64> = (0..n)
        .map(|i| ((i * 7919) % 1000) as f64 / 500.0 - 1.0)
        .collect();

    let mut mic = Mic0::new(Mic0Settings::default())?;
    for round in ["first", "second"] {
        let start = Instant::now();
        mic.rebuild(&matrix, &blocks)?;
        println!(
            "MIC(0), {round} factorisation: {:.1} ms",
            1e3 * start.elapsed().as_secs_f64()
        );
    }
    let start = Instant::now();
    mic.restrict(&vec![true; n]);
    println!(
        "MIC(0), restriction: {:.1} ms",
        1e3 * start.elapsed().as_secs_f64()
    );
    let mut y = vec![0.0; n];
    time("matrix product", || {
        matrix.apply(&c, &mut y);
    });
    let active = vec![true; n];
    time("masked product", || {
        matrix.apply_masked_dot(&active, &c, &mut y);
    });
    time("MIC(0) solve", || mic.apply(&c, &mut y));
    let (lower, upper) = (vec![f64::NEG_INFINITY; n], vec![f64::INFINITY; n]);
    let problem = BoxMlcp::new(&matrix, &c, &lower, &upper)?;
    solve("MIC(0)", &problem, &mut mic)?;
    solve("Jacobi", &problem, &mut Jacobi::new(&matrix)?)?;
    Ok(())
}

fn time(name: &str, mut work: impl FnMut()) {
    // The shortest of many: the machine may have other things to do.
    let seconds = (0..30).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    });
    println!(
        "{name}: {:.2} ms",
        1e3 * seconds.fold(f64::INFINITY, f64::min)
    );
}

/// Takes the time of every iteration.
struct Stopwatch {
    last: Instant,
    seconds: Vec<f64>,
}

impl Observer for Stopwatch {
    fn observe(&mut self, _: &Progress) -> ControlFlow<()> {
        self.last = Instant::now();
        ControlFlow::Continue(())
    }

    fn observe_inner(&mut self, _: &InnerProgress) -> ControlFlow<()> {
        let now = Instant::now();
        self.seconds.push((now - self.last).as_secs_f64());
        self.last = now;
        ControlFlow::Continue(())
    }
}

fn solve(
    name: &str,
    problem: &BoxMlcp<'_, Csr>,
    preconditioner: &mut impl Preconditioner,
) -> Result<(), Failure> {
    let mut x = vec![0.0; problem.len()];
    let mut workspace = linear::Workspace::default();
    let mut stopwatch = Stopwatch {
        last: Instant::now(),
        seconds: Vec::new(),
    };
    let settings = linear::Settings::default();
    let report = linear::solve(
        problem,
        &settings,
        preconditioner,
        &mut x,
        &mut workspace,
        &mut stopwatch,
    )?;
    let mut seconds = stopwatch.seconds;
    seconds.sort_by(f64::total_cmp);
    println!(
        "{name}: {} after {} iterations, {:.3} s, an iteration {:.2} ms, the shortest {:.2} ms",
        report.status,
        report.inner_iterations,
        seconds.iter().sum::<f64>(),
        1e3 * seconds[seconds.len() / 2],
        1e3 * seconds[0],
    );
    Ok(())
}

/// Poisson's equation on a cube with zero values around it; cells in tiles, tiles in checkerboard order.
fn poisson(side: usize) -> Result<(Csr, Blocks), Failure> {
    let tiles = side.div_ceil(TILE);
    let mut row_of_cell = vec![u32::MAX; side * side * side];
    let mut cells = Vec::new();
    let mut starts = vec![0];
    let mut colour_starts = vec![0];
    for colour in 0..2 {
        for tile in 0..tiles * tiles * tiles {
            let corner = [tile % tiles, tile / tiles % tiles, tile / (tiles * tiles)];
            if corner.iter().sum::<usize>() % 2 != colour {
                continue;
            }
            for local in 0..TILE * TILE * TILE {
                let offset = [local % TILE, local / TILE % TILE, local / (TILE * TILE)];
                let cell: [usize; 3] =
                    std::array::from_fn(|axis| corner[axis] * TILE + offset[axis]);
                if cell.iter().all(|&index| index < side) {
                    row_of_cell[cell[0] + side * (cell[1] + side * cell[2])] = cells.len() as u32;
                    cells.push(cell);
                }
            }
            starts.push(cells.len());
        }
        colour_starts.push(starts.len() - 1);
    }
    let (mut row_starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for (row, cell) in cells.iter().enumerate() {
        let mut entries = vec![(row as u32, 6.0)];
        for axis in 0..3 {
            for neighbour in [cell[axis].wrapping_sub(1), cell[axis] + 1] {
                if neighbour < side {
                    let mut other = *cell;
                    other[axis] = neighbour;
                    entries.push((
                        row_of_cell[other[0] + side * (other[1] + side * other[2])],
                        -1.0,
                    ));
                }
            }
        }
        entries.sort_by_key(|entry| entry.0);
        columns.extend(entries.iter().map(|entry| entry.0));
        values.extend(entries.iter().map(|entry| entry.1));
        row_starts.push(columns.len());
    }
    let n = cells.len();
    Ok((
        Csr::new(n, row_starts, columns, values)?,
        Blocks::new(starts, colour_starts)?,
    ))
}
