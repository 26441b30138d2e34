//! Walls as thick as the grid needs.
//!
//! A wall thinner than a cell leaves no node inside it, and liquid passes it; one that is a little thicker leaves cells
//! with open faces on both of its sides, and their liquid mixes. Here every wall is at least as thick as the diagonal of
//! a cell: a thinner one of thickness `t` grows by `(least - t) / 2` on either side. Then no cell is open on both sides,
//! no particle sees another through the wall, and no step, which is cut into pieces of half a cell, jumps it.
//!
//! The thickness at a point is found by a probe: from the nearest point of the surface straight in by the least
//! thickness. If the probe comes out on the other side it goes back by its distance from the wall (sphere tracing) until it
//! touches it.

use crate::solids::{PosedSolids, Solids};

/// Thickness beyond the diagonal of a cell, in cells.
const MARGIN: f64 = 0.1;
/// Probes for a thickness. One finds that of a flat wall, the others that of edges and corners.
const PROBES: usize = 6;
/// Distance at which a probe touches the wall, as a share of the least thickness.
const NEGLIGIBLE: f64 = 0.01;
/// Thickness below which a wall may be none at all, as a share of the least thickness.
const PHANTOM: f64 = 0.1;
/// Distance within which walls have their thickness, in cells: what cutting cells and reflecting particles need.
const NEAR: f64 = 4.0;

/// Solids with walls of a least thickness.
pub struct ThickWalls<'a, S> {
    solids: &'a S,
    dx: f64,
}

impl<'a, S> ThickWalls<'a, S> {
    /// The same solids on a grid with cells of width `dx`.
    pub fn new(solids: &'a S, dx: f64) -> Self {
        Self { solids, dx }
    }
}

impl<const D: usize, S: Solids<D>> Solids<D> for ThickWalls<'_, S> {
    type Posed<'b>
        = PosedThickWalls<S::Posed<'b>>
    where
        Self: 'b;

    fn during(&self, t: f64, dt: f64) -> Self::Posed<'_> {
        PosedThickWalls {
            solids: self.solids.during(t, dt),
            least: least_thickness::<D>() * self.dx,
            near: NEAR * self.dx,
        }
    }

    fn max_speed(&self, t: f64, dt: f64, low: [f64; D], high: [f64; D]) -> f64 {
        self.solids.max_speed(t, dt, low, high)
    }
}

/// Least thickness of walls, in cells.
pub fn least_thickness<const D: usize>() -> f64 {
    (D as f64).sqrt() + MARGIN
}

/// Solids with walls of a least thickness, during one step.
pub struct PosedThickWalls<P> {
    solids: P,
    /// In metres.
    least: f64,
    near: f64,
}

impl<P> PosedThickWalls<P> {
    /// By how much a wall grows at the surface nearest to `x`, which is `distance` away.
    fn growth<const D: usize>(&self, x: [f64; D], distance: f64) -> f64
    where
        P: PosedSolids<D>,
    {
        let normal = self.solids.normal(x);
        let mut depth = self.least;
        for _ in 0..PROBES {
            let probe = std::array::from_fn(|a| x[a] - (distance + depth) * normal[a]);
            let beyond = self.solids.distance_within(probe, self.least);
            if beyond <= NEGLIGIBLE * self.least {
                break;
            }
            depth = (depth - beyond).max(0.0);
        }
        if depth == self.least {
            return 0.0;
        }
        // Where a shape is cut out of another up to its very end, the distance is nearly zero with nothing there.
        let middle = std::array::from_fn(|a| x[a] - (distance + 0.5 * depth) * normal[a]);
        if depth < PHANTOM * self.least && self.solids.distance(middle) >= 0.0 {
            return 0.0;
        }
        0.5 * (self.least - depth)
    }
}

impl<const D: usize, P: PosedSolids<D>> PosedSolids<D> for PosedThickWalls<P> {
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

    fn is_inside(&self, x: [f64; D]) -> bool {
        // Walls grow by half of the least thickness at most.
        let distance = self.solids.distance(x);
        distance < 0.5 * self.least && distance < self.growth(x, distance)
    }

    fn normal(&self, x: [f64; D]) -> [f64; D] {
        self.solids.normal(x)
    }

    fn velocity(&self, x: [f64; D]) -> [f64; D] {
        self.solids.velocity(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_shapes::{Body, Scenery, Shape};

    #[test]
    fn the_mouth_of_a_cup_cut_out_to_its_rim_is_open() {
        let cone = |low: f64, high: f64, radius: f64| Shape::Cone {
            from: [0.5, low],
            to: [0.5, high],
            radius_from: radius,
            radius_to: radius + 0.1,
        };
        let cup = cone(0.1, 0.8, 0.23).without(vec![cone(0.13, 0.80001, 0.2)]);
        let scenery = Scenery::new(vec![Body::still("cup", cup)]);
        let thick = ThickWalls::new(&scenery, 0.05);
        let posed = Solids::during(&thick, 0.0, 0.0);
        for height in [0.70, 0.78, 0.79999, 0.80002, 0.82, 0.9] {
            assert!(posed.distance([0.5, height]) > 0.0, "closed at {height}");
            assert!(!posed.is_inside([0.5, height]));
        }
        assert!(posed.is_inside([0.5, 0.115]));
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
                let wall = Body::still("wall", Shape::Intersection(vec![side(1.0), side(-1.0)]));
                let scenery = Scenery::new(vec![wall]);
                let thick = ThickWalls::new(&scenery, dx);
                let posed = Solids::during(&thick, 0.0, 0.0);
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
                    assert_eq!(posed.is_inside(x), exact < 0.0);
                }
            }
        }
    }
}
