//! Broad phase: sweep and prune along the axis on which the bodies spread most.

use meniscus_shapes::Bounds;

/// Box around a body over a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent<const D: usize> {
    pub body: usize,
    pub bounds: Bounds<D>,
    /// Whether forces move the body: two that do not are no pair.
    pub free: bool,
}

/// Pairs of bodies whose boxes overlap, in rising order, at least one of each free.
pub(crate) fn pairs<const D: usize>(extents: &[Extent<D>]) -> Vec<(usize, usize)> {
    let (mut bounded, unbounded): (Vec<_>, Vec<_>) = extents
        .iter()
        .copied()
        .partition(|extent| extent.bounds.is_finite());
    let axis = widest_axis(&bounded);
    bounded.sort_by(|x, y| {
        let low = x.bounds.low[axis].total_cmp(&y.bounds.low[axis]);
        low.then(x.body.cmp(&y.body))
    });
    let mut found = Vec::new();
    let mut check = |x: &Extent<D>, y: &Extent<D>| {
        if (x.free || y.free) && !x.bounds.intersection(&y.bounds).is_empty() {
            found.push((x.body.min(y.body), x.body.max(y.body)));
        }
    };
    for (i, x) in bounded.iter().enumerate() {
        for y in &bounded[i + 1..] {
            if y.bounds.low[axis] > x.bounds.high[axis] {
                break;
            }
            check(x, y);
        }
        for y in &unbounded {
            check(x, y);
        }
    }
    for (i, x) in unbounded.iter().enumerate() {
        for y in &unbounded[i + 1..] {
            check(x, y);
        }
    }
    found.sort_unstable();
    found
}

fn widest_axis<const D: usize>(extents: &[Extent<D>]) -> usize {
    let count = extents.len().max(1) as f64;
    let variance = |axis: usize| {
        let middle = |e: &Extent<D>| 0.5 * (e.bounds.low[axis] + e.bounds.high[axis]);
        let mean = extents.iter().map(middle).sum::<f64>() / count;
        extents
            .iter()
            .map(|e| (middle(e) - mean).powi(2))
            .sum::<f64>()
    };
    (0..D)
        .max_by(|&i, &j| variance(i).total_cmp(&variance(j)))
        .unwrap_or(0)
}
