//! Nearest-neighbour search in a set of points.

/// k-d tree, stored as the points in median order.
pub struct KdTree<const D: usize> {
    points: Vec<[f32; D]>,
}

impl<const D: usize> KdTree<D> {
    /// Builds the tree.
    pub fn new(mut points: Vec<[f32; D]>) -> Self {
        sort(&mut points, 0);
        KdTree { points }
    }

    /// Distance to the nearest point; infinite if there is none.
    pub fn distance(&self, x: &[f32; D]) -> f64 {
        let mut best = f64::INFINITY;
        search(&self.points, 0, x, &mut best);
        best.sqrt()
    }
}

/// The median along an axis splits the points; each half is split along the next axis.
fn sort<const D: usize>(points: &mut [[f32; D]], axis: usize) {
    if points.len() < 2 {
        return;
    }
    let middle = points.len() / 2;
    points.select_nth_unstable_by(middle, |a, b| a[axis].total_cmp(&b[axis]));
    let (low, high) = points.split_at_mut(middle);
    sort(low, (axis + 1) % D);
    sort(&mut high[1..], (axis + 1) % D);
}

fn search<const D: usize>(points: &[[f32; D]], axis: usize, x: &[f32; D], best: &mut f64) {
    let middle = points.len() / 2;
    let Some(point) = points.get(middle) else {
        return;
    };
    let off = |axis: usize| f64::from(x[axis]) - f64::from(point[axis]);
    let square: f64 = (0..D).map(|axis| off(axis) * off(axis)).sum();
    *best = best.min(square);
    let (low, high) = (&points[..middle], &points[middle + 1..]);
    let across = off(axis);
    let (near, far) = if across < 0.0 {
        (low, high)
    } else {
        (high, low)
    };
    let next = (axis + 1) % D;
    search(near, next, x, best);
    if across * across < *best {
        search(far, next, x, best);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_nearest_distance_equals_that_of_brute_force(
            points in prop::collection::vec(prop::array::uniform3(-9i8..9), 0..60),
            x in prop::array::uniform3(-12i8..12),
        ) {
            let points: Vec<[f32; 3]> = points.into_iter().map(|p| p.map(f32::from)).collect();
            let x = x.map(f32::from);
            let to = |p: &[f32; 3]| (0..3).map(|i| f64::from(p[i] - x[i]).powi(2)).sum::<f64>().sqrt();
            let expected = points.iter().map(to).fold(f64::INFINITY, f64::min);
            prop_assert_eq!(KdTree::new(points).distance(&x), expected);
        }
    }
}
