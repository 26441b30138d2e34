//! Occlusion culling: particles hidden from every viewpoint outside the liquid are not sent to pages without a GPU.

use meniscus_store::cache::Frame;
use std::array::from_fn;

/// Largest number of cells for culling; beyond it, all particles count as visible.
const MOST_CELLS: usize = 1 << 26;
/// Depth of liquid in cells that occludes what is behind it.
const DEPTH: isize = 2;

/// Whether each particle is hidden: all neighbours of its cell have particles, and so have the cells [`DEPTH`] away along
/// the axes. In 2D none is.
pub fn hidden<const D: usize>(frame: &Frame<D>) -> Vec<bool> {
    let positions = frame.positions();
    let nothing = vec![false; positions.len()];
    if D < 3 || positions.is_empty() {
        return nothing;
    }
    let dx = frame.spacing();
    let cell = |x: &[f32; D]| -> [i64; D] { from_fn(|a| (f64::from(x[a]) / dx).floor() as i64) };
    let (mut low, mut high) = ([i64::MAX; D], [i64::MIN; D]);
    for index in positions.iter().map(cell) {
        low = from_fn(|axis| low[axis].min(index[axis]));
        high = from_fn(|axis| high[axis].max(index[axis]));
    }
    // A margin of empty cells, so that every neighbour exists.
    let size: [usize; D] = from_fn(|axis| (high[axis] - low[axis] + 1 + 2 * DEPTH as i64) as usize);
    let cells = size
        .iter()
        .try_fold(1usize, |all, &side| all.checked_mul(side));
    let Some(cells) = cells.filter(|&cells| cells <= MOST_CELLS) else {
        return nothing;
    };
    let mut stride = [1isize; D];
    for axis in 1..D {
        stride[axis] = stride[axis - 1] * size[axis - 1] as isize;
    }
    let number = |x: &[f32; D]| -> usize {
        let index = cell(x);
        (0..D)
            .map(|axis| (index[axis] - low[axis] + DEPTH as i64) as usize * stride[axis] as usize)
            .sum()
    };
    let mut full = vec![false; cells];
    for position in positions {
        full[number(position)] = true;
    }
    let mut around: Vec<isize> = vec![0];
    for step in stride {
        around = around
            .iter()
            .flat_map(|&offset| [-1, 0, 1].map(|i| offset + i * step))
            .collect();
    }
    around.extend(
        stride
            .iter()
            .flat_map(|&step| [-DEPTH * step, DEPTH * step]),
    );
    let is_hidden = |at: usize| {
        around.iter().all(|&offset| {
            at.checked_add_signed(offset)
                .is_some_and(|other| full[other])
        })
    };
    // Particles are sorted by cell: most have the result of the one before.
    let mut last = (usize::MAX, false);
    positions
        .iter()
        .map(|position| {
            let at = number(position);
            if last.0 != at {
                last = (at, is_hidden(at));
            }
            last.1
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_store::cache::PointLayer;

    fn frame_of<const D: usize>(dx: f64, positions: Vec<[f32; D]>) -> Frame<D> {
        let velocities = vec![[0.0; D]; positions.len()];
        Frame {
            number: 1,
            time: 0.0,
            points: vec![PointLayer::liquid(dx, positions, velocities)],
            bodies: Vec::new(),
            loads: Vec::new(),
            meshes: Vec::new(),
        }
    }

    #[test]
    fn only_particles_two_cells_deep_are_hidden() {
        let side = 7;
        let cells = (0..side * side * side).map(|i| [i % side, i / side % side, i / side / side]);
        let positions = cells.map(|cell| cell.map(|i| i as f32 * 0.5 - 1.25));
        let frame = frame_of(0.5, positions.collect());
        let found = hidden(&frame);
        for (position, hidden) in frame.positions().iter().zip(found) {
            // Of seven cells along an axis the middle three, around 0.25.
            let inner = position.iter().all(|x| (x - 0.25).abs() < 0.6);
            assert_eq!(hidden, inner, "{position:?}");
        }
        let far = frame_of(0.5, vec![[-1e6; 3], [1e6; 3]]);
        assert_eq!(hidden(&far), [false; 2]);
        assert!(hidden(&frame_of::<3>(0.5, Vec::new())).is_empty());
    }

    #[test]
    fn no_particle_is_hidden_in_2d() {
        let positions = (0..100).map(|i| [(i % 10) as f32, (i / 10) as f32]);
        let frame = frame_of(1.0, positions.collect());
        assert_eq!(hidden(&frame), [false; 100]);
    }
}
