//! The sparse staggered grid: tiles of cells, sets of cells, solids and free surface in them, velocities on their faces.

pub mod cell_set;
pub mod cut_cells;
pub mod extrapolate;
pub mod level_set;
pub mod solenoidal;
pub mod thick_walls;
pub(crate) mod tile_halo;
pub mod tiles;
pub mod wall_velocity;
