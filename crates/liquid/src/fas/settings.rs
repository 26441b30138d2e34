//! Settings of the levels.

use crate::settings::words;

/// How a fine cell takes its value from coarse ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// From the nearest point and one along each axis: the corners of a triangle or tetrahedron. [Lai20 fig. 4.1, fig. 4.2]
    Barycentric,
    /// From the four or eight points around it.
    Trilinear,
    /// From the nearest point alone.
    Constant,
}

/// What is done about coarse points that a solid is in front of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundaries {
    /// They are left out, and the other weights grow to a sum of one. [Lai20 fig. 4.3]
    OneSided,
    /// Nothing: solids are not looked at, and where no liquid is the value is zero.
    Plain,
}

/// Matrices of the coarse levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coarse {
    /// `R A P`
    Galerkin,
    /// The equations of the fine grid again, with the mean opening of faces and the mean distance to the air.
    Direct,
}

words!(
    Interpolation,
    "interpolation between levels",
    Barycentric = "barycentric",
    Trilinear = "trilinear",
    Constant = "constant"
);
words!(
    Boundaries,
    "way of dealing with solids",
    OneSided = "one-sided",
    Plain = "plain"
);
words!(
    Coarse,
    "kind of coarse matrices",
    Galerkin = "galerkin",
    Direct = "direct"
);

/// What the levels are made of. The defaults are those of the paper, the others its ablations. [Lai20 table 12]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Default: barycentric.
    pub interpolation: Interpolation,
    /// Default: one-sided.
    pub boundaries: Boundaries,
    /// Default: Galerkin.
    pub coarse: Coarse,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            interpolation: Interpolation::Barycentric,
            boundaries: Boundaries::OneSided,
            coarse: Coarse::Galerkin,
        }
    }
}

impl Settings {
    /// The words of all choices.
    pub const WORDS: &'static [&'static str] = &[
        "barycentric",
        "trilinear",
        "constant",
        "one-sided",
        "plain",
        "galerkin",
        "direct",
    ];

    /// Makes a choice by its word; says whether there is such a one.
    pub fn choose(&mut self, word: &str) -> bool {
        if let Ok(interpolation) = word.parse() {
            self.interpolation = interpolation;
        } else if let Ok(boundaries) = word.parse() {
            self.boundaries = boundaries;
        } else if let Ok(coarse) = word.parse() {
            self.coarse = coarse;
        } else {
            return false;
        }
        true
    }
}
