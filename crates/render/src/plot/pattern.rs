//! Sparsity pattern of a matrix.

use super::{DRAWN, INK, letters};
use meniscus_lcp::Csr;
use plotters::prelude::*;

/// Side of the picture in points.
const SIDE: u32 = 480;
/// Margin for text.
const MARGIN: u32 = 40;
/// Largest number of boxes along a side: larger matrices are drawn by the fraction of entries per box.
const BOXES: usize = 240;

/// Nonzero entries of a matrix, positive in blue, negative in orange, both mixed in grey; darker
/// where a box of a large matrix has more of them. The content of an SVG file.
pub fn fill_pattern(matrix: &Csr, title: &str) -> String {
    let n = matrix.rows();
    let boxes = n.clamp(1, BOXES);
    let mut counts = vec![[0_u32; 2]; boxes * boxes];
    for row in 0..n {
        let (columns, values) = matrix.row(row);
        for (&column, &value) in columns.iter().zip(values) {
            let at = (row * boxes / n) * boxes + column as usize * boxes / n;
            if value != 0.0 {
                counts[at][usize::from(value < 0.0)] += 1;
            }
        }
    }
    let most = counts.iter().map(|c| c[0] + c[1]).max().unwrap_or(0).max(1);
    let mut out = String::new();
    {
        let size = (SIDE + 2 * MARGIN, SIDE + 2 * MARGIN);
        let area = SVGBackend::with_string(&mut out, size).into_drawing_area();
        area.fill(&WHITE).expect(DRAWN);
        let (from, to) = (MARGIN as i32, (MARGIN + SIDE) as i32);
        let edge = |k: usize| from + (k as f64 * f64::from(SIDE) / boxes as f64).round() as i32;
        for (at, &[positive, negative]) in counts.iter().enumerate() {
            let all = positive + negative;
            if all == 0 {
                continue;
            }
            let colour = match (positive, negative) {
                (_, 0) => RGBColor(0, 114, 178),
                (0, _) => RGBColor(213, 94, 0),
                _ => RGBColor(90, 90, 90),
            };
            let shade = 0.35 + 0.65 * f64::from(all) / f64::from(most);
            let (row, column) = (at / boxes, at % boxes);
            let corners = [(edge(column), edge(row)), (edge(column + 1), edge(row + 1))];
            area.draw(&Rectangle::new(corners, colour.mix(shade).filled()))
                .expect(DRAWN);
        }
        area.draw(&Rectangle::new([(from, from), (to, to)], INK))
            .expect(DRAWN);
        area.draw(&Text::new(title.to_owned(), (from, 12), letters(18)))
            .expect(DRAWN);
        let words = format!("{n} rows, {} entries", matrix.nonzeros());
        area.draw(&Text::new(words, (from, to + 10), letters(14)))
            .expect(DRAWN);
        area.present().expect(DRAWN);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_coloured_by_sign() {
        let matrix = Csr::new(2, vec![0, 2, 3], vec![0, 1, 1], vec![1.0, -1.0, 2.0]).unwrap();
        let svg = fill_pattern(&matrix, "two by two");
        assert!(svg.contains("two by two") && svg.contains("2 rows, 3 entries"));
        assert_eq!(svg.matches("#0072B2").count(), 2);
        assert_eq!(svg.matches("#D55E00").count(), 1);
    }

    #[test]
    fn a_matrix_without_rows_can_be_drawn() {
        assert!(fill_pattern(&Csr::default(), "nothing").contains("0 rows"));
    }
}
