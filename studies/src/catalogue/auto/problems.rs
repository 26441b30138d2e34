//! Problems of the gallery and of public collections, as box MLCPs.

use super::mat_file;
use crate::prelude::*;
use meniscus_lcp::gallery::{self, Random};
use meniscus_lcp::{BoxMlcp, Csr, InputError};
use std::path::{Path, PathBuf};

const INF: f64 = f64::INFINITY;
/// Bounds of a quadratic program beyond this are none.
const BOUNDLESS: f64 = 1e19;

/// A problem with its name.
pub struct Named {
    pub name: String,
    /// Collection.
    pub from: &'static str,
    pub matrix: Csr,
    rhs: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Named {
    pub fn problem(&self) -> Result<BoxMlcp<'_, Csr>, InputError> {
        BoxMlcp::new(&self.matrix, &self.rhs, &self.lower, &self.upper)
    }

    /// The point of the box that is nearest to zero.
    pub fn start(&self) -> Vec<f64> {
        let bounds = self.lower.iter().zip(&self.upper);
        bounds.map(|(&l, &u)| 0.0_f64.max(l).min(u)).collect()
    }
}

/// A problem that grows by rows.
#[derive(Default)]
struct Growing {
    entries: Vec<(u32, u32, f64)>,
    rhs: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Growing {
    fn row(&mut self, rhs: f64, lower: f64, upper: f64) -> usize {
        self.rhs.push(rhs);
        self.lower.push(lower);
        self.upper.push(upper);
        self.rhs.len() - 1
    }

    fn entry(&mut self, row: usize, column: usize, value: f64) {
        self.entries.push((row as u32, column as u32, value));
    }

    /// `value` in the row, and its negative mirrored.
    fn skew(&mut self, row: usize, column: usize, value: f64) {
        self.entry(row, column, value);
        self.entry(column, row, -value);
    }

    fn finish(self, name: String, from: &'static str) -> Option<Named> {
        let matrix = Csr::from_entries(self.rhs.len(), self.entries).ok()?;
        Some(Named {
            name,
            from,
            matrix,
            rhs: self.rhs,
            lower: self.lower,
            upper: self.upper,
        })
    }
}

/// Problems of this crate's gallery, and obstacle problems on grids: symmetric ones, and with a wind.
pub fn own() -> Vec<Named> {
    let of = |name: String, made: gallery::Instance| Named {
        name,
        from: "gallery",
        matrix: made.matrix,
        rhs: made.rhs,
        lower: made.lower,
        upper: made.upper,
    };
    let seed = || Random::new(1);
    let mut all = Vec::new();
    for n in [343, 1331, 20_000] {
        let name = format!("banded {n}");
        all.push(of(name, gallery::banded(n, 3, 0.5, &mut seed())));
    }
    for n in [50, 200, 600] {
        all.push(of(
            format!("dense {n}"),
            gallery::dense(n, 0.2, 0.5, &mut seed()),
        ));
    }
    for n in [5, 50, 200] {
        all.push(of(
            format!("cone {n}"),
            gallery::contact_cone(n, &mut seed()),
        ));
    }
    for (side, wind) in [
        (20, 0.0),
        (100, 0.0),
        (300, 0.0),
        (20, 0.4),
        (140, 0.4),
        (140, 0.9),
    ] {
        all.extend(obstacle(side, wind));
    }
    all
}

/// An obstacle problem on a square grid, with upwind differences of a wind along the diagonal.
fn obstacle(side: usize, wind: f64) -> Option<Named> {
    let mut made = Growing::default();
    for at in 0..side * side {
        let (x, y) = (
            (at % side) as f64 / side as f64,
            (at / side) as f64 / side as f64,
        );
        made.row((9.0 * x).sin() * (9.0 * y).cos() / side as f64, 0.0, INF);
        made.entry(at, at, 4.0);
        for (step, inside) in [(1, at % side + 1 < side), (side, at / side + 1 < side)] {
            if inside {
                made.entry(at, at + step, -1.0 + wind);
                made.entry(at + step, at, -1.0 - wind);
            }
        }
    }
    made.finish(format!("obstacle {side}, wind {wind}"), "gallery")
}

/// Files of a folder with an ending, by name.
fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, String> {
    let listed = std::fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut paths: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|is| is == ending));
    paths.sort();
    Ok(paths)
}

/// All problems of a folder that can be read.
fn all(
    folder: &Path,
    ending: &str,
    read: fn(&str, &[u8]) -> Option<Named>,
) -> Result<Vec<Named>, String> {
    let mut found = Vec::new();
    for path in files(folder, ending)? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let bytes = std::fs::read(&path).map_err(|why| format!("{}: {why}", path.display()))?;
        found.extend(read(&name, &bytes));
    }
    Ok(found)
}

/// The problems of the public collections in a folder.
pub fn public(data: &Path) -> Result<Vec<Named>, String> {
    let mut found = all(&data.join("siconos_lcp"), "dat", siconos)?;
    found.extend(all(&data.join("siconos_friction"), "dat", friction)?);
    found.extend(all(&data.join("maros_meszaros"), "mat", quadratic)?);
    Ok(found)
}

/// An LCP of Siconos with every entry stored: `n`, the storage, sizes, the matrix column by column, the right-hand side.
fn siconos(name: &str, bytes: &[u8]) -> Option<Named> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut words = text.split_whitespace();
    let n: usize = words.next()?.parse().ok()?;
    if words.next()? != "0" {
        return None; // in blocks: the same problem is there in one piece
    }
    let numbers: Vec<f64> = words
        .skip(4)
        .map_while(|word| word.parse().ok())
        .take(n * n + n)
        .collect();
    let (matrix, rhs) = numbers.split_at_checked(n * n)?;
    let mut made = Growing::default();
    for &rhs in rhs {
        made.row(rhs, 0.0, INF);
    }
    for (at, &value) in matrix
        .iter()
        .enumerate()
        .filter(|(_, value)| **value != 0.0)
    {
        made.entry(at % n, at / n, value);
    }
    made.finish(name.into(), "Siconos, LCP")
}

/// A friction-contact problem of Siconos with its cones linearised: two directions in 2D, four in 3D.
fn friction(name: &str, bytes: &[u8]) -> Option<Named> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut words = text.split_whitespace();
    let mut next = || words.next()?.parse::<f64>().ok();
    let (dimension, contacts, blocks) = (next()? as usize, next()? as usize, next()? != 0.0);
    let n = next()? as usize;
    next()?;
    let mut entries = Vec::new();
    if blocks {
        next()?;
        let counts = [next()? as usize, next()? as usize];
        let mut ends = [Vec::new(), Vec::new()];
        for (ends, count) in ends.iter_mut().zip(counts) {
            for _ in 0..count {
                ends.push(next()? as usize);
            }
        }
        let filled = [next()? as usize, next()? as usize];
        let mut index = [Vec::new(), Vec::new()];
        for (index, count) in index.iter_mut().zip(filled) {
            for _ in 0..count {
                index.push(next()? as usize);
            }
        }
        let first = |ends: &[usize], at: usize| if at == 0 { 0 } else { ends[at - 1] };
        for row in 0..filled[0].checked_sub(1)? {
            for block in index[0][row]..index[0][row + 1] {
                let column = *index[1].get(block)?;
                let (top, left) = (first(&ends[0], row), first(&ends[1], column));
                let (height, width) = (ends[0].get(row)? - top, ends[1].get(column)? - left);
                next()?; // the number of the block
                for at in 0..height * width {
                    entries.push((top + at % height, left + at / height, next()?));
                }
            }
        }
    } else {
        next()?;
        next()?;
        for at in 0..n * n {
            entries.push((at % n, at / n, next()?));
        }
    }
    // What follows says how the matrix was stored.
    let tail: Vec<f64> = std::iter::from_fn(next).take(n + contacts).collect();
    let (rhs, coefficients) = tail.split_at_checked(n)?;
    let directions = 2 * (dimension - 1);
    let size = directions + 2;
    let mut made = Growing::default();
    // Each number of a contact as columns of the cone's generators, with signs.
    let parts = |at: usize| -> Vec<(usize, f64)> {
        let first = at / dimension * size;
        match at % dimension {
            0 => vec![(first, 1.0)],
            tangent => vec![(first + 2 * tangent - 1, 1.0), (first + 2 * tangent, -1.0)],
        }
    };
    for _ in 0..contacts * size {
        made.row(0.0, 0.0, INF);
    }
    for (at, &value) in rhs.iter().enumerate() {
        for (row, sign) in parts(at) {
            made.rhs[row] = sign * value;
        }
    }
    for (row, column, value) in entries.into_iter().filter(|entry| entry.2 != 0.0) {
        for (i, of_row) in parts(row) {
            for (j, of_column) in parts(column) {
                made.entry(i, j, of_row * of_column * value);
            }
        }
    }
    for contact in 0..contacts {
        let first = contact * size;
        let slip = first + size - 1;
        made.entry(slip, first, *coefficients.get(contact)?);
        for k in 1..=directions {
            made.skew(first + k, slip, 1.0);
        }
    }
    made.finish(name.into(), "Siconos, friction")
}

/// A convex quadratic program: `x` with its bounds, multipliers of equalities and of one-sided rows, and slacks of two-sided
/// ones.
fn quadratic(name: &str, bytes: &[u8]) -> Option<Named> {
    let file = mat_file::read(bytes)?;
    let column = |name: &str| file.get(name).map(mat_file::Matrix::column);
    let (cost, below, above) = (column("q")?, column("l")?, column("u")?);
    let mut made = Growing::default();
    for &cost in &cost {
        made.row(cost, -INF, INF);
    }
    for &(row, column, value) in &file.get("P")?.entries {
        made.entry(row, column, value);
    }
    let mut rows = vec![Vec::new(); below.len()];
    for &(row, column, value) in file.get("A")?.entries.iter().filter(|entry| entry.2 != 0.0) {
        rows[row].push((column, value));
    }
    for (i, row) in rows.iter().enumerate() {
        let low = if below[i] < -BOUNDLESS {
            -INF
        } else {
            below[i]
        };
        let high = if above[i] > BOUNDLESS { INF } else { above[i] };
        if let [(column, value)] = row[..] {
            // A bound of x.
            let ends = [low / value, high / value];
            made.lower[column] = made.lower[column].max(ends[0].min(ends[1]));
            made.upper[column] = made.upper[column].min(ends[0].max(ends[1]));
            continue;
        }
        if row.is_empty() || (low == -INF && high == INF) {
            continue;
        }
        let multiplier = if low == high {
            made.row(-low, -INF, INF)
        } else if high == INF {
            made.row(-low, 0.0, INF)
        } else if low == -INF {
            made.row(-high, -INF, 0.0)
        } else {
            let slack = made.row(0.0, low, high);
            let multiplier = made.row(0.0, -INF, INF);
            made.skew(slack, multiplier, 1.0);
            multiplier
        };
        for &(column, value) in row {
            made.skew(multiplier, column, value);
        }
    }
    made.finish(name.into(), "Maros and Meszaros")
}

/// The folder of the collections: `MENISCUS_DATA`, else the one beside the project.
pub fn data() -> PathBuf {
    std::env::var_os("MENISCUS_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"),
        PathBuf::from,
    )
}

/// What went wrong, for a document.
pub fn missing(why: String) -> Section {
    Section::text("Not measured", [format!("The public collections: {why}.")])
}
