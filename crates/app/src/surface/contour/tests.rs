use super::*;
use crate::surface::{Surface, upright};

/// Field given by a function of position, on a lattice with or without fine cells.
struct Field<F, const D: usize>(F, Lattice<D>, bool);

impl<F: Fn([f64; D]) -> f64 + Sync, const D: usize> Implicit<D> for Field<F, D> {
    type Local = ();
    fn enter(&self, _block: [i32; D], _local: &mut ()) {}
    fn value(&self, _local: &(), point: [i32; D]) -> f64 {
        self.0(self.1.place(point))
    }
    fn matters(&self, _local: &(), _cell: [i32; D]) -> bool {
        true
    }
    // Single cells, and whole regions.
    fn is_fine(&self, _local: &(), cell: [i32; D]) -> bool {
        let mixed = cell.iter().fold(17i32, |k, c| k.wrapping_mul(31) + c * 7);
        self.2 && (mixed % 5 == 0 || cell[0] > 12)
    }
    fn any_fine(&self, _local: &()) -> bool {
        self.2
    }
}

fn contour_of<const D: usize>(
    parts: i32,
    fine: bool,
    field: impl Fn([f64; D]) -> f64 + Sync,
) -> Surface {
    let lattice = Lattice {
        origin: [-1.01; D],
        width: 0.125,
        parts: 2 * parts,
    };
    let blocks: Vec<[i32; D]> = offsets(3).map(|o: [i32; D]| o.map(|c| c * BLOCK)).collect();
    let contour = contour(&lattice, &blocks, &Field(field, lattice, fine)).unwrap();
    Surface {
        positions: contour
            .vertices
            .iter()
            .map(|&x| upright(x).map(|c| c as f32))
            .collect(),
        triangles: contour.triangles,
        ..Default::default()
    }
}

fn length<const D: usize>(x: [f64; D]) -> f64 {
    x.iter().map(|c| c * c).sum::<f64>().sqrt()
}

#[test]
fn a_ball_is_closed_and_has_the_right_volume() {
    for (parts, fine) in [(1, false), (2, false), (3, false), (1, true), (2, true)] {
        let ball = contour_of::<3>(parts, fine, |x| length(x) - 0.7);
        assert_eq!(ball.open_edges(), 0);
        let expected = 4.0 / 3.0 * std::f64::consts::PI * 0.7f64.powi(3);
        assert!((ball.volume() / expected - 1.0).abs() < 0.03, "{parts}");
    }
}

#[test]
fn a_disc_is_filled_and_has_the_right_area() {
    let disc = contour_of::<2>(2, false, |x| length(x) - 0.7);
    let expected = std::f64::consts::PI * 0.7f64.powi(2);
    assert!((disc.area() / expected - 1.0).abs() < 0.02);
    // No triangle is flipped.
    for &[a, b, c] in &disc.triangles {
        let [a, b, c] = [a, b, c].map(|v| disc.positions[v as usize]);
        let doubled = (b[0] - a[0]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[0] - a[0]);
        assert!(doubled >= 0.0);
    }
}

#[test]
fn the_contour_of_noise_is_closed() {
    // It contains every set of corners, ambiguous faces included.
    let noise = |x: [f64; 3]| {
        let wave = x.map(|c| (c * 37.0).sin() * 43758.547).iter().sum::<f64>();
        let outside = x.iter().fold(0.0f64, |m, c| m.max(c.abs())) > 0.9;
        if outside { 1.0 } else { wave.fract() }
    };
    for fine in [false, true] {
        let surface = contour_of::<3>(1, fine, noise);
        assert!(surface.triangles.len() > 1000);
        assert_eq!(surface.open_edges(), 0);
    }
}
