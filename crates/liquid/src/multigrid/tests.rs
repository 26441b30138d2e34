//! Properties of the levels.

use meniscus_lcp::{BoxMlcp, Csr};

use super::chunks::{Chunk, fold};
use super::hierarchy::Hierarchy;
use super::level::{Level, NONE};
use super::simd::Width;
use super::sums::{Exact, Found, measure};
use crate::grid::tiles::Coord;
use crate::stencil::Stencil;

/// A box of cells, open to air above, with a plate of solid that has a hole: the faces between two layers of cells.
struct Tank {
    matrix: Csr,
    rhs: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    cells: Vec<Coord<3>>,
}

const SIZE: Coord<3> = [22, 19, 27];
const PLATE: i32 = 9;

fn tank() -> Tank {
    let inside = |c: Coord<3>| (0..3).all(|a| (0..SIZE[a]).contains(&c[a]));
    let row_of = |c: Coord<3>| ((c[0] * SIZE[1] + c[1]) * SIZE[2] + c[2]) as u32;
    let mut cells = Vec::new();
    for x in 0..SIZE[0] {
        for y in 0..SIZE[1] {
            cells.extend((0..SIZE[2]).map(|z| [x, y, z]));
        }
    }
    let mut entries = Vec::new();
    let (mut rhs, mut lower) = (Vec::new(), Vec::new());
    for &cell in &cells {
        let (mut diagonal, mut wall) = (0.0, false);
        for axis in 0..3 {
            for step in [-1, 1] {
                let mut other = cell;
                other[axis] += step;
                let across = axis == 0 && cell[0].min(other[0]) == PLATE;
                let closed = across && (cell[1] > 4 || cell[2] > 4);
                wall |= closed || !inside(other) && other[2] < SIZE[2];
                if closed {
                    continue;
                }
                if inside(other) {
                    entries.push((row_of(cell), row_of(other), -1.0));
                    diagonal += 1.0;
                } else if other[2] >= SIZE[2] {
                    diagonal += 1.7;
                }
            }
        }
        entries.push((row_of(cell), row_of(cell), diagonal));
        rhs.push((0.3 * cell[0] as f64 + 0.2 * cell[1] as f64).sin() - 0.3);
        lower.push(if wall { 0.0 } else { f64::NEG_INFINITY });
    }
    Tank {
        matrix: Csr::from_entries(cells.len(), entries).unwrap(),
        upper: vec![f64::INFINITY; cells.len()],
        rhs,
        lower,
        cells,
    }
}

impl Tank {
    fn hierarchy(&self) -> Hierarchy<3> {
        let mut hierarchy = Hierarchy::default();
        let stencil = Stencil::from_matrix_impl(&self.matrix, &self.cells).unwrap();
        let problem = BoxMlcp::new(&stencil, &self.rhs, &self.lower, &self.upper).unwrap();
        hierarchy.build(&problem).unwrap();
        hierarchy.take(&problem).unwrap();
        hierarchy
    }
}

/// Every third bounded row.
fn some(unknown: usize) -> bool {
    unknown.is_multiple_of(3)
}

fn assert_sound(level: &Level<3>) {
    for unknown in 0..level.unknowns {
        for (target, weight, side) in level.links(unknown) {
            assert!(weight >= 0.0);
            assert!((unknown < level.red) != ((target as usize) < level.red));
            let mut back = level.links(target as usize);
            let back = back.find(|&(t, _, s)| t as usize == unknown && s == side ^ 1);
            let (_, other, _) = back.expect("a link that goes one way only");
            assert!((weight - other).abs() <= 1e-6 * level.full_weight);
        }
        match level.row_of[unknown] {
            NONE => assert!(level.free[unknown] != 0),
            row => {
                let dirichlet = level.rows.dirichlet[row as usize];
                let links = level.rows.links(row as usize).iter();
                let sum: f32 = links.map(|l| l.weight).sum();
                let inverse = level.rows.row[row as usize].inverse;
                assert!(dirichlet >= 0.0);
                assert_eq!(
                    inverse != 0.0,
                    level.free[unknown] != 0 && sum + dirichlet > 0.0
                );
                if inverse != 0.0 {
                    assert!(1.0 / inverse >= 0.999_999 * sum);
                }
            }
        }
    }
}

#[test]
fn every_level_is_symmetric_and_diagonally_dominant() {
    let mut hierarchy = tank().hierarchy();
    assert!(hierarchy.in_use().len() > 2);
    hierarchy.in_use().iter().for_each(assert_sound);
    hierarchy.activate(|_, unknown| some(unknown));
    hierarchy.in_use().iter().for_each(assert_sound);
}

#[test]
fn what_changed_little_by_little_is_what_is_computed_at_once() {
    let tank = tank();
    let (mut at_once, mut slowly) = (tank.hierarchy(), tank.hierarchy());
    at_once.activate(|_, unknown| some(unknown));
    slowly.activate(|_, _| true);
    slowly.activate(|_, unknown| unknown % 7 < 2);
    slowly.activate(|_, unknown| some(unknown) || unknown % 7 == 1);
    slowly.activate(|_, unknown| some(unknown));
    for (a, b) in at_once.in_use().iter().zip(slowly.in_use()) {
        assert_eq!(a.free, b.free);
        assert_eq!(a.rows.dirichlet, b.rows.dirichlet);
        for (a, b) in a.rows.row.iter().zip(&b.rows.row) {
            assert_eq!(a.inverse, b.inverse);
        }
        for (a, b) in a.rows.link.iter().zip(&b.rows.link) {
            assert_eq!((a.target, a.weight), (b.target, b.weight));
        }
    }
}

#[test]
fn a_closed_plate_is_not_crossed_on_any_level() {
    let hierarchy = tank().hierarchy();
    // How far every unknown of a level reaches, on which side of the plate and away from its hole.
    let mut sides: Vec<[bool; 2]> = Vec::new();
    let levels = hierarchy.in_use();
    let cell_of = |row: usize| {
        let (plane, rest) = (
            row as i32 / (SIZE[1] * SIZE[2]),
            row as i32 % (SIZE[1] * SIZE[2]),
        );
        [plane, rest / SIZE[2], rest % SIZE[2]]
    };
    for &row in &hierarchy.finest.matrix_row {
        let cell = cell_of(row as usize);
        let far = cell[1] >= 8 || cell[2] >= 8;
        let near = (cell[0] - PLATE).abs() <= 2;
        sides.push([
            near && far && cell[0] <= PLATE,
            near && far && cell[0] > PLATE,
        ]);
    }
    // Coarse cells that reach the hole may join what is around it.
    for depth in 1..levels.len().min(3) {
        let mut next = vec![[false; 2]; levels[depth].unknowns];
        for (unknown, &parent) in levels[depth - 1].parent.iter().enumerate() {
            if let Some(next) = next.get_mut(parent as usize) {
                for k in 0..2 {
                    next[k] |= sides[unknown][k];
                }
            }
        }
        sides = next;
        assert!(
            sides.iter().all(|s| *s != [true; 2]),
            "level {depth} joins both sides"
        );
    }
}

#[test]
fn every_width_of_vectors_gives_the_same_bits() {
    let run = |width: Width| {
        let mut hierarchy = tank().hierarchy();
        hierarchy.width = width;
        hierarchy.activate(|_, unknown| some(unknown));
        for (k, r) in hierarchy.levels[0].r.iter_mut().enumerate() {
            *r = (0.37 * k as f32).sin();
        }
        hierarchy.cycle(3);
        let (top, finest) = (hierarchy.top(), &hierarchy.finest);
        let p: Vec<f64> = (0..top.unknowns)
            .map(|k| (0.11 * k as f64).cos().max(0.0))
            .collect();
        let exact = Exact {
            level: top,
            full_weight: finest.full_weight,
            p: &p,
            b: &finest.b,
            diagonal: &finest.diagonal,
            weight: &finest.weight,
            lower: &finest.lower,
            scale: 1.0,
        };
        let mut r = vec![0.0; top.unknowns];
        let of_chunk = |chunk: &Chunk, r: &mut [f32]| measure(width, &exact, chunk, r);
        let found = fold(&top.chunks, &mut r, &of_chunk, &Found::and).expect("unknowns");
        let sums = [found.residual, found.energy, found.size, found.release];
        (top.e.clone(), r, sums)
    };
    let plain = run(Width::Plain);
    assert!(plain.0.iter().any(|&e| e != 0.0) && plain.1.iter().any(|&r| r != 0.0));
    assert!(plain.2[0] > 0.0 && plain.2[2] > 0.0);
    for width in Width::available() {
        assert!(run(width) == plain, "{width:?}");
    }
}
