//! Liquids on a sparse staggered grid.
