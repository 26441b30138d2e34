//! Shares of faces that solids cover: how the pressure of a cell is divided between the liquid and each solid.
//!
//! The open share `w` of a face and the covered shares `w^k` of the solids add up to one, so that a common rigid motion of liquid
//! and solids has no divergence, and momentum that the liquid loses is what the solids get. With the sign `s` of the face, its
//! centre `x_f` and the solid's centre of mass `X`, [TB20 (17)]
//!
//! ```text
//! divergence of the motion v of a solid in a cell:   C_i v = 1/dx sum_f s_f w_f^k [ e_f ; (x_f - X) x e_f ] . v
//! impulse of the pressures on it:                    dt dx^D C p
//! ```

use meniscus_liquid::grid::cut_cells::open_share;
use meniscus_liquid::grid::tiles::TILE;
use meniscus_liquid::multigrid::{CouplingEntry, FREEDOMS};
use meniscus_liquid::{FaceNeighbour, Faces, SolidField, SolidId, Tiles, Weights};
use meniscus_rigid::{Bodies, StagedStep};
use rayon::prelude::*;

/// By how much solids are shrunk for their own shares, in cells: those that touch, or overlap by less, share no faces.
pub(crate) const SHRUNK: f64 = 0.05;
/// Cells beyond a tile in which solids may cover its faces, walls that are thickened included.
const AROUND: f64 = 2.0;
/// Rows that one task looks at.
const CHUNK: usize = 1024;

/// Solids that cover a part of one face, with their shares.
pub type FaceShares = Vec<(SolidId, f64)>;

/// What solids cover of the faces of one row.
#[derive(Clone, Debug)]
pub struct RowShares {
    /// The row.
    pub row: u32,
    /// Index of the cell whose faces these are: that of the row, or a film that is joined with it.
    pub cell: u32,
    /// Whether the cell is a film.
    pub is_film: bool,
    /// Free bodies, with their blocks of `C'`.
    pub bodies: Vec<(usize, [f64; FREEDOMS])>,
    /// Divergence by solids whose motion is given, beyond that of the owners of the faces.
    pub given: f64,
    /// The solid with the largest share.
    pub largest: Option<SolidId>,
}

/// Finds the shares of the faces of a step.
pub struct ShareFinder<'a, const D: usize> {
    pub(crate) weights: Weights<'a, D>,
    pub(crate) solids: &'a dyn SolidField<D>,
    /// Solids near each tile.
    pub(crate) near: Vec<Vec<SolidId>>,
    /// For every solid whether it is a free body.
    is_free: Vec<bool>,
    pub(crate) gravity: [f64; D],
}

impl<'a, const D: usize> ShareFinder<'a, D> {
    /// Lists the solids near each tile.
    pub fn new(faces: &Faces<'a, D>, bodies: &Bodies<D>) -> Self {
        let dx = faces.settings.dx;
        let reach = (0.5 * TILE as f64 * (D as f64).sqrt() + AROUND) * dx;
        let (tiles, cut, solids) = (faces.tiles, faces.cut, faces.solids);
        let near = |slot: usize| -> Vec<SolidId> {
            if cut.is_open(slot) && cut.far[slot] {
                return Vec::new();
            }
            let centre = tiles
                .base(slot)
                .map(|c| (c as f64 + 0.5 * TILE as f64) * dx);
            let all = (0..solids.count() as u32).map(SolidId);
            all.filter(|&solid| solids.distance_to_within(solid, centre, 2.0 * reach) <= reach)
                .collect()
        };
        Self {
            weights: faces.weights(),
            solids,
            gravity: faces.settings.physics.gravity,
            near: (0..tiles.len()).into_par_iter().map(near).collect(),
            is_free: (0..bodies.len()).map(|body| bodies.is_free(body)).collect(),
        }
    }

    /// Shares of the solids in a face that is open by `open`: they add up to the rest.
    pub fn of_face(&self, index: usize, axis: usize, high: bool, open: f64) -> FaceShares {
        let covered = 1.0 - open;
        if covered <= 0.0 {
            return Vec::new();
        }
        let near = &self.near[index / Tiles::<D>::CELLS];
        if let [only] = near[..] {
            return vec![(only, covered)];
        }
        let corners = self.corners(index, axis, high);
        let dx = self.weights.dx;
        let own = |&solid: &SolidId| {
            // Corners of a face that it covers a part of are no farther than its sides.
            let distance =
                |x: [f64; D]| self.solids.distance_to_within(solid, x, 2.0 * dx) + SHRUNK * dx;
            let share = 1.0 - open_share::<D>(std::array::from_fn(|k| distance(corners[k])));
            (share > 0.0).then_some((solid, share))
        };
        let mut shares: FaceShares = near.iter().filter_map(own).collect();
        let sum: f64 = shares.iter().map(|share| share.1).sum();
        match shares.split_last_mut() {
            Some((last, others)) => {
                let mut left = covered;
                for (_, share) in others {
                    *share *= covered / sum;
                    left -= *share;
                }
                last.1 = left.max(0.0);
                shares
            }
            None => {
                let x = self.centre(index, axis, high);
                let closest = self.touching(near, x).or_else(|| self.solids.closest(x));
                closest.map(|solid| (solid, covered)).into_iter().collect()
            }
        }
    }

    /// Of solids that touch at a point, so that none of them covers the face there by itself, the one that comes first when
    /// those that are held are counted first. Without two of them: nobody, and slivers and thickened walls go to whoever is
    /// the closest.
    fn touching(&self, near: &[SolidId], x: [f64; D]) -> Option<SolidId> {
        let dx = self.weights.dx;
        let touches =
            |solid: &&SolidId| self.solids.distance_to_within(**solid, x, dx).abs() <= SHRUNK * dx;
        let mut all = near.iter().filter(touches);
        let first = *all.next()?;
        let second = *all.next()?;
        let held = [first, second].into_iter().chain(all.copied());
        let mut held = held.filter(|solid| !self.is_free[solid.0 as usize]);
        Some(held.next().unwrap_or(first))
    }

    /// Centre of a face.
    pub fn centre(&self, index: usize, axis: usize, high: bool) -> [f64; D] {
        let dx = self.weights.dx;
        let mut x = self
            .weights
            .tiles
            .coord(index)
            .map(|c| (c as f64 + 0.5) * dx);
        x[axis] += if high { 0.5 } else { -0.5 } * dx;
        x
    }

    /// Corners of a face, in order around it; the first `2^(D - 1)` count.
    pub(crate) fn corners(&self, index: usize, axis: usize, high: bool) -> [[f64; D]; 4] {
        let dx = self.weights.dx;
        let mut base = self.weights.tiles.coord(index);
        base[axis] += high as i32;
        let corner = |along: [i32; 2]| -> [f64; D] {
            let mut node = base;
            for (k, step) in along.into_iter().take(D - 1).enumerate() {
                node[(axis + 1 + k) % D] += step;
            }
            node.map(|c| c as f64 * dx)
        };
        [
            corner([0, 0]),
            corner([1, 0]),
            corner([1, 1]),
            corner([0, 1]),
        ]
    }

    /// What solids cover of a cell's faces. The problem knows of the owners of the faces of a row, and of nothing in a film.
    pub(crate) fn of_row(
        &self,
        row: u32,
        index: usize,
        step: &StagedStep<D>,
        is_film: bool,
    ) -> RowShares {
        let (weights, solids) = (&self.weights, self.solids);
        let dx = weights.dx;
        let mut found = RowShares {
            row,
            cell: index as u32,
            is_film,
            bodies: Vec::new(),
            given: 0.0,
            largest: None,
        };
        let mut totals: FaceShares = Vec::new();
        for axis in 0..D {
            for high in [false, true] {
                let beyond: FaceNeighbour = weights.beyond(index, axis, high);
                let open = weights.open_to(beyond, index, axis, high);
                if open >= 1.0 {
                    continue;
                }
                let sign = if high { 1.0 } else { -1.0 } / dx;
                let x = self.centre(index, axis, high);
                let mut given = 0.0;
                if !is_film {
                    let face = weights.face(index, axis, high);
                    let owner = weights.cut.solid_velocity(solids, axis, face, x);
                    given -= (1.0 - open) * owner[axis];
                }
                for (solid, share) in self.of_face(index, axis, high, open) {
                    let body = solid.0 as usize;
                    match totals.iter_mut().find(|total| total.0 == solid) {
                        Some(total) => total.1 += share,
                        None => totals.push((solid, share)),
                    }
                    if !step.is_free(body) {
                        given += share * solids.velocity(solid, x)[axis];
                        continue;
                    }
                    let own = wrench(axis, x, step.center(body)).map(|w| sign * share * w);
                    match found.bodies.iter_mut().find(|other| other.0 == body) {
                        Some((_, sum)) => (0..FREEDOMS).for_each(|k| sum[k] += own[k]),
                        None => found.bodies.push((body, own)),
                    }
                }
                found.given += sign * given;
            }
        }
        found.bodies.sort_by_key(|body| body.0);
        let mut most = 0.0;
        for (solid, share) in totals {
            if share > most {
                (found.largest, most) = (Some(solid), share);
            }
        }
        found
    }

    /// What solids cover of the faces of all rows that touch one, in the order of rows.
    pub fn of_rows(&self, cells: &[u32], is_wall: &[bool], step: &StagedStep<D>) -> Vec<RowShares> {
        let chunks = cells.par_chunks(CHUNK).zip(is_wall.par_chunks(CHUNK));
        let of_chunk = |(chunk, (cells, walls)): (usize, (&[u32], &[bool]))| {
            let rows = cells.iter().zip(walls).enumerate();
            let rows = rows.filter(|(_, (_, wall))| **wall);
            rows.map(|(k, (&cell, _))| {
                self.of_row((chunk * CHUNK + k) as u32, cell as usize, step, false)
            })
            .collect::<Vec<_>>()
        };
        let parts: Vec<Vec<RowShares>> = chunks.enumerate().map(of_chunk).collect();
        parts.into_iter().flatten().collect()
    }
}

/// A unit force along `axis` at `x`, and its moment about a centre.
pub fn wrench<const D: usize>(axis: usize, x: [f64; D], centre: [f64; D]) -> [f64; FREEDOMS] {
    let mut wrench = [0.0; FREEDOMS];
    wrench[axis] = 1.0;
    let r: [f64; D] = std::array::from_fn(|a| x[a] - centre[a]);
    if D == 2 {
        wrench[2] = if axis == 0 { -r[1] } else { r[0] };
    } else {
        let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
        wrench[3 + b] = r[c];
        wrench[3 + c] = -r[b];
    }
    wrench
}

/// Blocks of `C'` of the rows, with bodies numbered as in `listed`, in the order of rows and bodies.
pub fn entries(rows: &[RowShares], listed: &[usize]) -> Vec<CouplingEntry> {
    let of_row = |row: &RowShares| -> Vec<CouplingEntry> {
        let group = |body: usize| listed.binary_search(&body).ok();
        let bodies = row.bodies.iter();
        bodies
            .filter_map(|&(body, value)| {
                Some(CouplingEntry {
                    row: row.row,
                    group: group(body)? as u32,
                    value,
                })
            })
            .collect()
    };
    let mut entries: Vec<CouplingEntry> = rows.iter().flat_map(of_row).collect();
    if rows.iter().any(|row| row.is_film) {
        entries.sort_by_key(|entry| (entry.row, entry.group));
        entries.dedup_by(|next, kept| {
            let same = (next.row, next.group) == (kept.row, kept.group);
            if same {
                (0..FREEDOMS).for_each(|k| kept.value[k] += next.value[k]);
            }
            same
        });
    }
    entries
}

/// Free bodies that touch liquid, rising.
pub fn wet_bodies(rows: &[RowShares]) -> Vec<usize> {
    let mut bodies: Vec<usize> = (rows.iter())
        .flat_map(|row| row.bodies.iter().map(|body| body.0))
        .collect();
    bodies.sort_unstable();
    bodies.dedup();
    bodies
}
