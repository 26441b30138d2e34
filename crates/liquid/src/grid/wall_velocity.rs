//! Velocity boundary conditions on faces inside solids.
//!
//! A closed face has no velocity of its own, and yet particles beside a wall read it. It is continued from the
//! liquid first. Then, where the wall holds the liquid, its part normal to the wall becomes the wall's own. Next to
//! a row that separated only the part *into* the wall is removed, or the liquid would stick however right its
//! pressure is.

use rayon::prelude::*;

use crate::grid::cell_set::CellSet;
use crate::grid::cut_cells::{CutCells, direction};
use crate::grid::extrapolate::FaceState;
use crate::grid::tiles::Tiles;
use crate::particles::transfer::{FaceField, face_offset};
use crate::settings::Walls;
use crate::solids::SolidField;

/// What flies alone and is nearer than this to a slip wall is held by it like all other liquid, in cells.
const TOUCH: f64 = 1.0;

/// What walls do to the liquid beside them.
pub struct WallRule<'a> {
    /// Kind of walls.
    pub walls: Walls,
    /// Speed at which liquid is to leave, which the wall then seems to move at; zero unless walls separate.
    pub separation: f64,
    /// Whether any solid moves.
    pub moving: bool,
    /// Cells with a pressure.
    pub liquid: &'a CellSet,
    /// Those that separate from their wall.
    pub separated: &'a CellSet,
}

/// Cells with a pressure, and those of them that separate from their wall; alone, and with the cells around them.
struct Separation<'a> {
    liquid: &'a CellSet,
    separated: &'a CellSet,
    liquid_around: CellSet,
    separated_around: CellSet,
}

impl<'a> Separation<'a> {
    fn of<const D: usize>(tiles: &Tiles<D>, rule: &WallRule<'a>) -> Self {
        let around =
            |marks: &CellSet| (0..D).fold(marks.clone(), |marks, axis| marks.spread(tiles, axis));
        Self {
            liquid_around: around(rule.liquid),
            separated_around: around(rule.separated),
            liquid: rule.liquid,
            separated: rule.separated,
        }
    }

    /// True if liquid beside this closed face may leave the wall.
    fn may_leave<const D: usize>(&self, tiles: &Tiles<D>, face: usize, axis: usize) -> bool {
        let beside = [tiles.below(face, axis), face];
        let one = |marks: &CellSet| beside.iter().any(|&index| marks.has(index));
        if one(self.liquid) {
            one(self.separated)
        } else {
            // Deeper inside the solid: as the nearest liquid does; free where there is none.
            one(&self.separated_around) || !one(&self.liquid_around)
        }
    }
}

/// Component `a` of the velocity at the middle of a face along `axis`: the mean of the faces around, if it is another.
fn on_face<const D: usize>(
    tiles: &Tiles<D>,
    velocity: &FaceField<D>,
    axis: usize,
    face: usize,
    a: usize,
) -> f64 {
    let velocity = &velocity[a];
    if a == axis {
        return velocity[face];
    }
    let below = tiles.below(face, axis);
    let pair = |low: usize| velocity[low] + velocity[tiles.above(low, a)];
    0.25 * (pair(below) + pair(face))
}

/// Makes continued velocities on closed and cut faces agree with the solids.
pub fn constrain<const D: usize>(
    tiles: &Tiles<D>,
    cut: &CutCells<D>,
    solids: &dyn SolidField<D>,
    rule: &WallRule,
    dx: f64,
    state: &[Vec<FaceState>; D],
    velocity: &mut FaceField<D>,
) {
    let before: &FaceField<D> = velocity;
    let separation = (rule.walls == Walls::Separating).then(|| Separation::of(tiles, rule));
    let push = |axis: usize, face: usize| -> f32 {
        // Most walls lie along the axes, and concern the faces along one of them only.
        let gradient = cut.gradient_on_face(tiles, axis, face);
        if gradient[axis] == 0.0 {
            return 0.0;
        }
        let offset: [f64; D] = face_offset(axis);
        let coord = tiles.coord(face);
        let x: [f64; D] = std::array::from_fn(|a| coord[a] as f64 + offset[a]);
        if state[axis][face] == FaceState::Spray && cut.distance(tiles, x) > TOUCH * dx {
            return 0.0;
        }
        let normal = direction(gradient);
        if normal[axis] == 0.0 {
            return 0.0;
        }
        let solid = match rule.moving {
            true => cut.solid_velocity(solids, axis, face, x.map(|x| x * dx)),
            false => [0.0; D],
        };
        // Such a wall asks for one component only.
        let across = (0..D).filter(|&a| normal[a] != 0.0);
        let into = rule.separation
            + across
                .map(|a| (solid[a] - on_face(tiles, before, axis, face, a)) * normal[a])
                .sum::<f64>();
        let leaves = into < 0.0;
        if leaves
            && separation
                .as_ref()
                .is_some_and(|cells| cells.may_leave(tiles, face, axis))
        {
            return 0.0;
        }
        (into * normal[axis]) as f32
    };
    // All axes are read before any is written. The changes are as exact as the particles that will read them.
    let with_spray = rule.walls != Walls::Separating;
    let cells = Tiles::<D>::CELLS;
    let changes: [(Vec<u32>, Vec<f32>); D] = std::array::from_fn(|axis| {
        let continued = CellSet::in_field(tiles, &state[axis], |state| {
            let own = state == FaceState::Known || state == FaceState::Unknown;
            !own && (with_spray || state != FaceState::Spray)
        });
        let slots = (0..tiles.len()).into_par_iter().with_min_len(8);
        let faces: Vec<u32> = slots
            .filter(|&slot| with_spray || !cut.is_open(slot))
            .flat_map_iter(|slot| continued.within(slot * cells..(slot + 1) * cells))
            .filter(|&face| {
                state[axis][face] == FaceState::Spray || cut.open_face(axis, face) < 1.0
            })
            .map(|face| face as u32)
            .collect();
        let mut pushes = Vec::new();
        let in_order = faces.par_iter().with_min_len(256);
        in_order
            .map(|&face| push(axis, face as usize))
            .collect_into_vec(&mut pushes);
        (faces, pushes)
    });
    for (velocity, (faces, pushes)) in velocity.iter_mut().zip(changes) {
        for (face, push) in faces.into_iter().zip(pushes) {
            velocity[face as usize] += push as f64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::particles::transfer::sample;

    #[test]
    fn the_velocity_on_a_face_is_that_at_its_middle() {
        let mut tiles = Tiles::<3>::new([24; 3]);
        tiles.cover([[9, 12, 15]].par_iter().copied(), 4);
        let mut field: FaceField<3> = std::array::from_fn(|_| Vec::new());
        for (a, field) in field.iter_mut().enumerate() {
            tiles.reset(field, 0.0);
            for index in 0..tiles.cells() {
                field[index] = ((index * 7919 + a * 31) % 101) as f64;
            }
        }
        let inside = |&face: &usize| tiles.around(face).iter().all(|&near| tiles.exists(near));
        for face in (0..tiles.cells()).filter(inside) {
            for axis in 0..3 {
                let offset: [f64; 3] = face_offset(axis);
                let cell = tiles.coord(face);
                let x = std::array::from_fn(|a| cell[a] as f64 + offset[a]);
                let expected = sample(&tiles, &field, x);
                for a in 0..3 {
                    let found = on_face(&tiles, &field, axis, face, a);
                    assert!((found - expected[a]).abs() < 1e-10, "{axis} {a}");
                }
            }
        }
    }
}
