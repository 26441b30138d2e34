//! Thin walls, thickened to what the grid can resolve.
//!
//! A wall thinner than a cell leaves no node inside it, and liquid passes it; one that is a little thicker leaves cells
//! with open faces on both of its sides, and their liquid mixes. Here every wall is at least as thick as the diagonal of
//! a cell: a thinner one of thickness `t` grows by `(least - t) / 2` on either side. Then no cell is open on both sides,
//! no particle sees another through the wall, and no step, which is cut into pieces of half a cell, jumps it.
//!
//! The thickness at a point is found by a probe: from the nearest point of the surface straight in by the least
//! thickness. If the probe comes out on the other side it goes back by its distance from the wall (sphere tracing) until it
//! touches it. Beside edges the probe runs along another wall; there the thin parts next to the edge count. Simple solids
//! that are thick enough, and containers around them, need no probe.

use crate::solids::{SolidField, SolidId, SolidMotion};

/// Thickness beyond the diagonal of a cell, in cells.
const MARGIN: f64 = 0.1;
/// Steps of a probe, at most. Two find the thickness of a flat wall, the others that of walls near edges and corners.
const PROBES: usize = 48;
/// Distance at which a probe touches the wall, as a share of the least thickness.
const NEGLIGIBLE: f64 = 0.01;
/// Thickness below which a wall may be none at all, as a share of the least thickness.
const PHANTOM: f64 = 0.1;
/// Growth, as a share of the least thickness, below which the wall may be thinner beside an edge.
const EDGE: f64 = 0.25;
/// Distances along the surface, as shares of the least thickness, at which a point beside an edge looks for a thin wall.
const ASIDE: [f64; 6] = [0.05, 0.1, 0.15, 0.2, 0.25, 0.33];
/// Depth of the middle of a wall, as a share of its thickness, below which there is an edge.
const PLATE: f64 = 0.48;
/// Cosine of the angle between normals of one face, at least. Beyond the edge of a plate, where normals turn, probes cut across it.
const SAME_FACE: f64 = 0.99;
/// Distance within which walls have their thickness, in cells: what cutting cells and reflecting particles need.
const NEAR: f64 = 4.0;

/// Solids with walls of a least thickness.
pub struct ThickWalls<'a, const D: usize> {
    solids: &'a dyn SolidMotion<D>,
    dx: f64,
}

impl<'a, const D: usize> ThickWalls<'a, D> {
    /// The same solids on a grid with cells of width `dx`.
    pub fn new(solids: &'a dyn SolidMotion<D>, dx: f64) -> Self {
        Self { solids, dx }
    }

    /// The solids over one step, as [`SolidMotion::over_step`].
    pub fn over_step(&self, t: f64, dt: f64) -> PosedThickWalls<'a, D> {
        PosedThickWalls::new(self.solids.over_step(t, dt), self.dx)
    }

    /// Bound on the speed of solids inside a box, as [`SolidMotion::max_speed`].
    pub fn max_speed(&self, t: f64, dt: f64, low: [f64; D], high: [f64; D]) -> f64 {
        self.solids.max_speed(t, dt, low, high)
    }
}

/// Least thickness of walls, in cells.
pub fn least_thickness<const D: usize>() -> f64 {
    (D as f64).sqrt() + MARGIN
}

/// Solids with walls of a least thickness, over one step.
pub struct PosedThickWalls<'a, const D: usize> {
    solids: Box<dyn SolidField<D> + 'a>,
    /// In metres.
    least: f64,
    near: f64,
    /// By how much any wall grows, at most: zero if all are known to be thick enough.
    most_growth: f64,
}

impl<'a, const D: usize> PosedThickWalls<'a, D> {
    fn new(solids: Box<dyn SolidField<D> + 'a>, dx: f64) -> Self {
        let least = least_thickness::<D>() * dx;
        let thinnest = (0..solids.count())
            .map(|solid| solids.least_thickness(SolidId(solid as u32)))
            .fold(f64::INFINITY, f64::min);
        Self {
            most_growth: if thinnest < least { 0.5 * least } else { 0.0 },
            solids,
            least,
            near: NEAR * dx,
        }
    }

    /// By how much a wall grows at the surface nearest to `x`, which is `distance` away.
    fn growth(&self, x: [f64; D], distance: f64) -> f64 {
        if self.most_growth == 0.0 {
            return 0.0;
        }
        match self.solids.closest(x) {
            Some(solid) => self.growth_of(solid, x, distance),
            None => 0.0,
        }
    }

    /// By how much a solid grows at its surface nearest to `x`, which is `distance` away.
    fn growth_of(&self, solid: SolidId, x: [f64; D], distance: f64) -> f64 {
        if self.is_thick(solid) {
            return 0.0;
        }
        let normal = self.solids.normal(x);
        let thickness = self.thickness(x, distance, normal).unwrap_or(self.least);
        let growth = 0.5 * (self.least - thickness);
        if growth > EDGE * self.least || distance.abs() >= self.most_growth {
            return growth;
        }
        // The middle of a plate is half its thickness deep.
        let middle = std::array::from_fn(|a| x[a] - (distance + 0.5 * thickness) * normal[a]);
        match -self.solids.distance_within(middle, self.least) > PLATE * thickness {
            true => growth,
            false => growth.max(self.growth_beside_edge(x, distance, normal)),
        }
    }

    /// The same without edges, which particles may touch: they are never thinner than the wall that they end.
    fn growth_of_sides(&self, x: [f64; D], distance: f64) -> f64 {
        match self.solids.closest(x) {
            Some(solid) if !self.is_thick(solid) => {
                let thickness = self.thickness(x, distance, self.solids.normal(x));
                thickness.map_or(0.0, |thickness| 0.5 * (self.least - thickness))
            }
            _ => 0.0,
        }
    }

    fn is_thick(&self, solid: SolidId) -> bool {
        self.solids.least_thickness(solid) >= self.least
    }

    /// Thickness of the wall along the normal of its surface nearest to `x`; `None` if it is the least thickness or more, or seems
    /// to be.
    fn thickness(&self, x: [f64; D], distance: f64, normal: [f64; D]) -> Option<f64> {
        let probe = |depth: f64| std::array::from_fn(|a| x[a] - (distance + depth) * normal[a]);
        let mut depth = self.least;
        let touches = (0..PROBES).any(|_| {
            let beyond = self.solids.distance_within(probe(depth), self.least);
            let touches = beyond <= NEGLIGIBLE * self.least;
            if !touches {
                depth = (depth - beyond).max(0.0);
            }
            touches
        });
        // Steps of a probe that moves along another wall, in it or just beside it, are short.
        if depth == self.least || !touches {
            return None;
        }
        // Where a shape is cut out of another up to its very end, the distance is nearly zero with nothing there.
        let is_phantom =
            depth < PHANTOM * self.least && self.solids.distance(probe(0.5 * depth)) >= 0.0;
        (!is_phantom).then_some(depth)
    }

    /// Growth beside an edge. There the probe runs along the other wall of the edge, and a thin wall seems to be thick; but
    /// the thin part next to the edge grows by `G` around its own surface points `s`, and reaches `x` if `|x - s| < G`.
    fn growth_beside_edge(&self, x: [f64; D], distance: f64, normal: [f64; D]) -> f64 {
        let reach = |direction: [f64; D]| {
            ASIDE.into_iter().find_map(|share| {
                let y = std::array::from_fn(|a| x[a] + share * self.least * direction[a]);
                let away = self.solids.distance(y);
                let there = self.solids.normal(y);
                // The sides of a plate say nothing about its end.
                if (0..D).map(|a| normal[a] * there[a]).sum::<f64>() < SAME_FACE {
                    return None;
                }
                let growth = 0.5 * (self.least - self.thickness(y, away, there)?);
                let square = |a: usize| (x[a] - (y[a] - away * there[a])).powi(2);
                Some(growth + distance - (0..D).map(square).sum::<f64>().sqrt())
            })
        };
        let reaches = along_surface(normal).into_iter().filter_map(reach);
        reaches.fold(0.0, f64::max)
    }
}

/// Unit vectors at right angles to a normal: two in the plane, eight around it in space.
fn along_surface<const D: usize>(normal: [f64; D]) -> Vec<[f64; D]> {
    let least = (0..D).fold(0, |a, b| {
        if normal[b].abs() < normal[a].abs() {
            b
        } else {
            a
        }
    });
    let across = |a: usize| f64::from(u8::from(a == least)) - normal[least] * normal[a];
    let length = (0..D).map(|a| across(a).powi(2)).sum::<f64>().sqrt();
    let first: [f64; D] = std::array::from_fn(|a| across(a) / length);
    if D < 3 {
        return vec![first, first.map(|c| -c)];
    }
    let cross = |a: usize| {
        let (b, c) = ((a + 1) % 3, (a + 2) % 3);
        normal[b] * first[c] - normal[c] * first[b]
    };
    (0..8)
        .map(|k| {
            let (sin, cos) = (f64::from(k) * std::f64::consts::FRAC_PI_4).sin_cos();
            std::array::from_fn(|a| cos * first[a] + sin * cross(a))
        })
        .collect()
}

impl<const D: usize> SolidField<D> for PosedThickWalls<'_, D> {
    fn count(&self) -> usize {
        self.solids.count()
    }

    fn sample(&self, points: &[[f64; D]], band: f64, distance: &mut [f64], owner: &mut [SolidId]) {
        self.solids.sample(points, band, distance, owner);
        if self.most_growth == 0.0 {
            return;
        }
        let reach = self.near.min(band);
        for ((&x, distance), &owner) in points.iter().zip(distance).zip(&*owner) {
            if distance.abs() < reach {
                *distance -= self.growth_of(owner, x, *distance);
            } else if distance.abs() == reach {
                // Such a distance may be the limit of a farther one, whose owner is then not known.
                *distance -= self.growth(x, *distance);
            }
        }
    }

    fn distance(&self, x: [f64; D]) -> f64 {
        let distance = self.solids.distance(x);
        if distance.abs() > self.near {
            distance
        } else {
            distance - self.growth(x, distance)
        }
    }

    fn distance_within(&self, x: [f64; D], band: f64) -> f64 {
        let distance = self.solids.distance_within(x, band);
        if distance.abs() > self.near.min(band) {
            distance
        } else {
            distance - self.growth(x, distance)
        }
    }

    fn clearance(&self, x: [f64; D]) -> f64 {
        let distance = self.solids.distance(x);
        if distance >= self.most_growth || self.most_growth == 0.0 {
            distance - self.most_growth
        } else if distance < self.growth_of_sides(x, distance) {
            f64::NEG_INFINITY
        } else {
            0.0
        }
    }

    /// Without the growth, which does not decide whose wall is the closest.
    fn distance_to(&self, solid: SolidId, x: [f64; D]) -> f64 {
        self.solids.distance_to(solid, x)
    }

    fn distance_to_within(&self, solid: SolidId, x: [f64; D], band: f64) -> f64 {
        self.solids.distance_to_within(solid, x, band)
    }

    fn has_curved_faces(&self) -> bool {
        self.solids.has_curved_faces()
    }

    fn contact_gap(&self) -> f64 {
        self.solids.contact_gap()
    }

    fn closest(&self, x: [f64; D]) -> Option<SolidId> {
        self.solids.closest(x)
    }

    fn normal(&self, x: [f64; D]) -> [f64; D] {
        self.solids.normal(x)
    }

    fn velocity(&self, solid: SolidId, x: [f64; D]) -> [f64; D] {
        self.solids.velocity(solid, x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::cut_cells::CutCells;
    use crate::grid::tiles::Tiles;
    use meniscus_shapes::{Pose, Rotation, ScriptedSolid, Shape, Solids};
    use rayon::prelude::*;

    #[test]
    fn the_mouth_of_a_cup_cut_out_to_its_rim_is_open() {
        let cone = |low: f64, high: f64, radius: f64| Shape::Cone {
            from: [0.5, low],
            to: [0.5, high],
            radius_from: radius,
            radius_to: radius + 0.1,
        };
        let cup = cone(0.1, 0.8, 0.23).without(vec![cone(0.13, 0.80001, 0.2)]);
        let solids = Solids::new(vec![ScriptedSolid::still("cup", cup)]);
        let thick = ThickWalls::new(&solids, 0.05);
        let posed = thick.over_step(0.0, 0.0);
        for height in [0.70, 0.78, 0.79999, 0.80002, 0.82, 0.9] {
            assert!(posed.distance([0.5, height]) > 0.0, "closed at {height}");
            assert!(posed.clearance([0.5, height]) >= 0.0);
        }
        assert!(posed.clearance([0.5, 0.115]) < 0.0);
    }

    #[test]
    fn thin_walls_grow_to_the_least_thickness_and_thick_ones_keep_theirs() {
        let dx = 0.1;
        for (thickness, grown) in [(0.03, true), (0.08, true), (0.15, true), (0.4, false)] {
            for slope in [0.0f64, 0.3, 1.0] {
                let normal = [1.0, slope];
                let length = (1.0 + slope * slope).sqrt();
                let side = |sign: f64| Shape::HalfSpace {
                    point: [5.0 + sign * 0.5 * thickness * length, 5.0],
                    normal: normal.map(|n| sign * n),
                };
                let wall =
                    ScriptedSolid::still("wall", Shape::Intersection(vec![side(1.0), side(-1.0)]));
                let solids = Solids::new(vec![wall]);
                let thick = ThickWalls::new(&solids, dx);
                let posed = thick.over_step(0.0, 0.0);
                let expected = if grown {
                    least_thickness::<2>() * dx
                } else {
                    thickness
                };
                for away in [-0.02, 0.01, 0.1, 0.2] {
                    let x = [5.0, 5.0];
                    let x = std::array::from_fn(|a| {
                        x[a] + (0.5 * thickness + away) * normal[a] / length
                    });
                    let found = posed.distance(x);
                    let exact = 0.5 * (thickness - expected) + away;
                    if away < 0.0 && -2.0 * away > thickness {
                        continue;
                    }
                    assert!(
                        (found - exact).abs() < NEGLIGIBLE * posed.least,
                        "{thickness} {slope} {away}: {found} {exact}"
                    );
                    assert_eq!(posed.clearance(x) < 0.0, exact < 0.0);
                }
            }
        }
    }

    /// Cells with open faces on both sides of the walls of a turned box, over several places on the grid.
    fn open_on_both_sides<const D: usize>(thickness: f64, turns: [f64; 2]) -> usize {
        const CELLS: i32 = 24;
        let dx = 0.1;
        let block = Shape::Box {
            low: [-0.53; D],
            high: [0.53; D],
        };
        let mut tiles = Tiles::<D>::new([CELLS as usize; D]);
        tiles.cover([[CELLS / 2; D]].par_iter().copied(), CELLS);
        let mut cut = CutCells::new();
        let mut found = 0;
        for k in 0..6 {
            let shift = |a: usize| [0.618_03, 0.754_87, 0.569_84][a] * f64::from(k) % 1.0 * dx;
            let mut generator = [[0.0; D]; D];
            for (a, b, turn) in [(0, D - 1, turns[0]), (0, 1, turns[1])] {
                generator[a][b] += turn;
                generator[b][a] -= turn;
            }
            let pose = Pose {
                translation: std::array::from_fn(|a| 1.2 + shift(a)),
                rotation: Rotation::exp(&generator),
            };
            let block = block.clone().placed(pose);
            let wall = ScriptedSolid::still("wall", block.clone().shell(thickness * dx));
            let solids = Solids::new(vec![wall]);
            let thick = ThickWalls::new(&solids, dx);
            cut.sample(&tiles, dx, &thick.over_step(0.0, 0.0));
            let inner = (CELLS - 2).pow(D as u32);
            for cell in 0..inner {
                let cell =
                    std::array::from_fn(|a| 1 + cell / (CELLS - 2).pow(a as u32) % (CELLS - 2));
                let index = tiles.index(cell);
                // Whether a face is open inside, and outside the box.
                let mut sides = [false; 2];
                for axis in 0..D {
                    for (face, up) in [(index, 0), (tiles.above(index, axis), 1)] {
                        if cut.open_face(axis, face) == 0.0 {
                            continue;
                        }
                        for node in (0..1 << D).filter(|node| node >> axis & 1 == up) {
                            let node = std::array::from_fn(|a| cell[a] + (node >> a & 1));
                            if cut.node[tiles.index(node)] > 0.0 {
                                let x = node.map(|c| f64::from(c) * dx);
                                sides[usize::from(block.distance(x) > 0.0)] = true;
                            }
                        }
                    }
                }
                found += usize::from(sides == [true; 2]);
            }
        }
        found
    }

    /// Through such a cell the pressure inside would act on the air outside.
    #[test]
    fn no_cell_is_open_on_both_sides_of_a_wall_its_edges_and_corners() {
        for thickness in [0.1, 0.3, 0.5, 0.8, 1.0, 1.3] {
            for turn in [0.0, 0.0873, 0.35, 0.6, 0.785] {
                let found = open_on_both_sides::<2>(thickness, [turn, 0.0]);
                assert_eq!(found, 0, "2D, {thickness} cells thick, turned by {turn}");
                for other in [0.0, 0.45] {
                    let found = open_on_both_sides::<3>(thickness, [turn, other]);
                    assert_eq!(found, 0, "3D, {thickness} cells thick, {turn} and {other}");
                }
            }
        }
    }

    /// Solids whose thickness is not known.
    struct Unknown<'a, const D: usize>(meniscus_shapes::PosedSolids<'a, D>);

    impl<const D: usize> SolidField<D> for Unknown<'_, D> {
        fn count(&self) -> usize {
            self.0.len()
        }
        fn sample(&self, x: &[[f64; D]], band: f64, d: &mut [f64], owner: &mut [SolidId]) {
            SolidField::sample(&self.0, x, band, d, owner);
        }
        fn distance(&self, x: [f64; D]) -> f64 {
            self.0.distance(x)
        }
        fn distance_to(&self, solid: SolidId, x: [f64; D]) -> f64 {
            SolidField::distance_to(&self.0, solid, x)
        }
        fn closest(&self, x: [f64; D]) -> Option<SolidId> {
            SolidField::closest(&self.0, x)
        }
        fn normal(&self, x: [f64; D]) -> [f64; D] {
            SolidField::normal(&self.0, x)
        }
        fn velocity(&self, solid: SolidId, x: [f64; D]) -> [f64; D] {
            SolidField::velocity(&self.0, solid, x)
        }
    }

    /// Whether a probe finds what is known about a shape, and how many points had one.
    fn compare<const D: usize>(shape: &Shape<D>, dx: f64) -> usize {
        let solids = Solids::new(vec![ScriptedSolid::still("shape", shape.clone())]);
        let least = least_thickness::<D>() * dx;
        assert!(shape.least_thickness() >= least, "{shape:?}");
        let probed = PosedThickWalls::new(Box::new(Unknown(solids.over_step(0.0, 0.0))), dx);
        assert_eq!(probed.most_growth, 0.5 * least);
        let mut near = 0;
        for k in 0..20_000 {
            let x = std::array::from_fn(|a| [0.618_03, 0.754_87, 0.569_84][a] * k as f64 % 1.0);
            let distance = solids.distance(x, 0.0);
            if distance.abs() < probed.near {
                near += 1;
                assert_eq!(probed.growth(x, distance), 0.0, "{shape:?} at {x:?}");
            }
        }
        near
    }

    fn shapes<const D: usize>() -> Vec<Shape<D>> {
        let at = |x: f64, y: f64| {
            let mut place = [0.5; D];
            (place[0], place[D - 1]) = (x, y);
            place
        };
        let radius = 0.2;
        let (center, from, to) = ([0.5; D], at(0.3, 0.4), at(0.7, 0.55));
        let (low, high) = (
            at(0.3, 0.35).map(|x| x - 0.1),
            at(0.6, 0.8).map(|x| x + 0.1),
        );
        let simple = vec![
            Shape::Sphere { center, radius },
            Shape::Box { low, high },
            Shape::Capsule { from, to, radius },
            Shape::Cylinder { from, to, radius },
            Shape::HalfSpace {
                point: center,
                normal: at(0.3, 0.8),
            },
        ];
        let cone = Shape::Cone {
            from,
            to,
            radius_from: 0.0,
            radius_to: radius,
        };
        let half = |sign: f64| Shape::HalfSpace {
            point: center,
            normal: at(sign, 1.0),
        };
        let vee = Shape::Intersection(vec![half(0.9), half(-0.9)]);
        let hollows = simple.iter().chain([&cone, &vee]);
        let mut all: Vec<Shape<D>> = hollows.map(|s| s.clone().inverted()).collect();
        all.push(simple[1].clone().shell(0.15));
        all.push(simple[3].clone().rounded(0.05));
        all.push(Shape::Torus {
            center,
            axis: at(0.2, 1.0),
            major: 0.3,
            minor: 0.12,
        });
        all.push(Shape::Union(simple.clone()));
        all.extend(simple);
        all
    }

    #[test]
    fn walls_that_are_known_to_be_thick_are_found_thick_by_probes() {
        for shape in shapes::<2>() {
            assert!(compare(&shape, 0.04) > 100);
        }
        for shape in shapes::<3>() {
            assert!(compare(&shape, 0.04) > 100);
        }
    }
}
