//! Unknowns of a level, and the faces between them.

use crate::grid::tiles::Coord;
use crate::stencil::{NO_NEIGHBOUR, Stencil};

/// The face to another unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Link {
    pub to: u32,
    /// `2 axis`, and one more on the high side.
    pub side: u8,
    pub weight: f64,
}

/// Unknowns, and the faces between them.
#[derive(Clone, Debug, Default)]
pub(super) struct Level<const D: usize> {
    /// Cells of the unknowns, from zero on.
    pub cells: Vec<Coord<D>>,
    /// Where the links of an unknown begin.
    pub starts: Vec<usize>,
    pub links: Vec<Link>,
    /// What its faces to the air add to the diagonal.
    pub dirichlet: Vec<f64>,
    /// A bit for each side on which there is air.
    pub air: Vec<u8>,
    /// Weight of a full face.
    pub full_weight: f64,
}

impl<const D: usize> Level<D> {
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    pub fn links(&self, unknown: usize) -> &[Link] {
        &self.links[self.starts[unknown]..self.starts[unknown + 1]]
    }

    /// The finest level.
    pub fn finest(stencil: &Stencil<D>) -> Self {
        let cells = stencil.cells();
        let first = cells.first().copied().unwrap_or([0; D]);
        let low = cells.iter().fold(first, |low, cell| {
            std::array::from_fn(|a| low[a].min(cell[a]))
        });
        let mut level = Self {
            cells: Vec::with_capacity(cells.len()),
            starts: vec![0],
            full_weight: stencil.full_weight(),
            ..Self::default()
        };
        for (row, cell) in cells.iter().enumerate() {
            let own = stencil.row(row);
            let sides = own.neighbours.as_flattened().iter();
            let sides = sides.zip(own.weight.as_flattened()).zip(0u8..);
            let links = sides.filter(|((near, _), _)| **near != NO_NEIGHBOUR);
            level
                .links
                .extend(links.map(|((&to, &weight), side)| Link { to, side, weight }));
            level.starts.push(level.links.len());
            let cell = std::array::from_fn(|a| cell[a].wrapping_sub(low[a]));
            level.cells.push(cell);
            level.dirichlet.push(own.dirichlet());
            level.air.push(own.air);
        }
        level
    }
}
