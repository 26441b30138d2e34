//! The equations of a level as a matrix: what the finest level has, on a coarser grid.

use meniscus_lcp::{Csr, InputError};

use super::level::Level;

/// The matrix with the level's own faces.
pub(super) fn discretise<const D: usize>(level: &Level<D>) -> Result<Csr, InputError> {
    let mut entries = Vec::with_capacity(level.links.len() + level.len());
    for i in 0..level.len() {
        let mut diagonal = level.dirichlet[i];
        for link in level.links(i) {
            diagonal += link.weight;
            entries.push((i as u32, link.to, -link.weight));
        }
        entries.push((i as u32, i as u32, diagonal));
    }
    Csr::from_entries(level.len(), entries)
}
