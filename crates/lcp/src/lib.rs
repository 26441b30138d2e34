//! Complementarity problems with box bounds.
