//! The solvers that are compared.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A solver.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub enum Contender {
    /// What scenes take unless told otherwise.
    Auto,
    /// The truncated iteration with multigrid.
    TnMg,
    /// Policy iteration, conjugate gradients with MIC(0) inside.
    PiPcg,
    /// Penalty iteration, the same inside.
    PePcg,
    /// Minimum map Newton, the same inside.
    Newton,
    /// MPRGP with MIC(0).
    Mprgp,
    /// The linear problem of slip walls by multigrid.
    Mg,
    /// The same by conjugate gradients with MIC(0).
    Cg,
}

impl Contender {
    const ALL: [(Self, &'static str); 8] = [
        (Self::Auto, "auto"),
        (Self::TnMg, "tn-mg"),
        (Self::PiPcg, "pi-pcg"),
        (Self::PePcg, "pe-pcg"),
        (Self::Newton, "newton"),
        (Self::Mprgp, "mprgp"),
        (Self::Mg, "mg"),
        (Self::Cg, "cg"),
    ];

    /// Those of the usual run.
    pub const USUAL: [Self; 4] = [Self::TnMg, Self::PiPcg, Self::Mg, Self::Cg];

    /// Whether its iterations are cycles of multigrid.
    pub fn cycles(self) -> bool {
        matches!(self, Self::Auto | Self::TnMg | Self::Mg)
    }

    /// Whether it solves the linear problem.
    pub fn is_linear(self) -> bool {
        matches!(self, Self::Mg | Self::Cg)
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = Self::ALL.iter().find(|(one, _)| one == self);
        f.pad(found.map_or("", |(_, name)| name))
    }
}

impl FromStr for Contender {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(_, one)| *one == name);
        found.map(|(one, _)| *one).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(_, name)| *name).collect();
            format!(
                "there is no solver {name} here; there are {}",
                names.join(", ")
            )
        })
    }
}
