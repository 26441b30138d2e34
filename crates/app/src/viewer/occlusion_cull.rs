//! Particles that others hide, from wherever outside the liquid one looks: a page without a graphics card is spared them.

use meniscus_store::cache::Frame;
use std::array::from_fn;

/// If the particles are spread over more cells than this, all of them count as seen.
const MOST_CELLS: usize = 1 << 26;
/// Cells of liquid that hide what is behind them.
const DEPTH: isize = 2;

/// Whether each particle is hidden: all cells around its own have particles, and so have those [`DEPTH`] cells away along
/// the axes. In the plane none is.
pub fn hidden<const D: usize>(frame: &Frame<D>) -> Vec<bool> {
    let positions = &frame.positions;
    let nothing = vec![false; positions.len()];
    if D < 3 || positions.is_empty() {
        return nothing;
    }
    let cell =
        |x: &[f32; D]| -> [i64; D] { from_fn(|a| (f64::from(x[a]) / frame.dx).floor() as i64) };
    let (mut low, mut high) = ([i64::MAX; D], [i64::MIN; D]);
    for index in positions.iter().map(cell) {
        low = from_fn(|axis| low[axis].min(index[axis]));
        high = from_fn(|axis| high[axis].max(index[axis]));
    }
    // A margin of empty cells all around, so that every neighbour exists.
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
    // Particles come sorted by cell: most have the answer of the one before.
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

    #[test]
    fn only_what_is_two_cells_deep_is_hidden() {
        let side = 7;
        let cells = (0..side * side * side).map(|i| [i % side, i / side % side, i / side / side]);
        let frame = Frame {
            number: 1,
            time: 0.0,
            dx: 0.5,
            positions: cells
                .map(|cell| cell.map(|i| i as f32 * 0.5 - 1.25))
                .collect(),
            velocities: Vec::new(),
            pressures: Vec::new(),
        };
        let found = hidden(&frame);
        for (position, hidden) in frame.positions.iter().zip(found) {
            // Of seven cells along an axis the middle three, around 0.25.
            let inner = position.iter().all(|x| (x - 0.25).abs() < 0.6);
            assert_eq!(hidden, inner, "{position:?}");
        }
        let far = Frame {
            positions: vec![[-1e6; 3], [1e6; 3]],
            ..frame.clone()
        };
        assert_eq!(hidden(&far), [false; 2]);
        assert!(
            hidden(&Frame {
                positions: Vec::new(),
                ..frame
            })
            .is_empty()
        );
    }

    #[test]
    fn in_the_plane_everything_is_seen() {
        let frame = Frame {
            number: 1,
            time: 0.0,
            dx: 1.0,
            positions: (0..100)
                .map(|i| [(i % 10) as f32, (i / 10) as f32])
                .collect(),
            velocities: Vec::new(),
            pressures: Vec::new(),
        };
        assert_eq!(hidden(&frame), [false; 100]);
    }
}
