//! Welding of equal vertices.

use std::array::from_fn;
use std::collections::HashMap;

/// The vertices that stay, and for each vertex the one it became: the first within `tolerance` of it. None is below
/// `low`.
pub(crate) fn weld(
    vertices: &[[f64; 3]],
    low: [f64; 3],
    tolerance: f64,
) -> (Vec<[f64; 3]>, Vec<u32>) {
    let tolerance = tolerance.max(f64::MIN_POSITIVE);
    // A cell is wider than the tolerance: what is near is in the cell or a neighbour of it, mostly in the cell.
    let width = 4.0 * tolerance;
    let cell = |x: [f64; 3], shift: [f64; 3]| -> [i64; 3] {
        from_fn(|i| ((x[i] - low[i] + shift[i] * tolerance) / width).floor() as i64)
    };
    let mut kept: Vec<[f64; 3]> = Vec::new();
    // The last vertex kept in a cell; each knows the one before it in the same cell.
    let mut last: HashMap<[i64; 3], u32> = HashMap::with_capacity(vertices.len());
    let mut before: Vec<Option<u32>> = Vec::new();
    let mut became = Vec::with_capacity(vertices.len());
    for &x in vertices {
        let (low, high) = (cell(x, [-1.0; 3]), cell(x, [1.0; 3]));
        let near = |other: [f64; 3]| (0..3).all(|i| (other[i] - x[i]).abs() <= tolerance);
        let mut found: Option<u32> = None;
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                for x in low[0]..=high[0] {
                    let mut at = last.get(&[x, y, z]).copied();
                    while let Some(candidate) = at {
                        if near(kept[candidate as usize]) && found.is_none_or(|f| candidate < f) {
                            found = Some(candidate);
                        }
                        at = before[candidate as usize];
                    }
                }
            }
        }
        became.push(found.unwrap_or_else(|| {
            let new = kept.len() as u32;
            kept.push(x);
            before.push(last.insert(cell(x, [0.0; 3]), new));
            new
        }));
    }
    (kept, became)
}
