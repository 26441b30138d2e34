//! Settings of a liquid.

use std::fmt;

use crate::solvers;
use crate::stokes::{Rheology, SolidWall};

/// What a wall does to the liquid that touches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walls {
    /// The liquid slides along and never leaves: a linear system.
    Slip,
    /// The wall pushes but does not pull: a complementarity problem.
    Separating,
    /// No slip: the liquid at the wall moves with it. Only viscous liquid can stick.
    Stick,
}

/// How velocity travels between particles and grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transfer {
    /// Affine particle-in-cell: particles carry a velocity gradient.
    Apic,
    /// Particles receive the change on the grid, blended with a share `pic` of the grid's velocity itself.
    Flip {
        /// Share of plain PIC, 0 to 1.
        pic: f64,
    },
}

impl Transfer {
    /// Default share of PIC in FLIP.
    pub const DEFAULT_PIC: f64 = 0.05;

    /// Name: `apic` or `flip`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Apic => "apic",
            Self::Flip { .. } => "flip",
        }
    }
}

/// Method for the pressure; [`solvers`] has them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// Multigrid for many unknowns; for few, conjugate gradients with slip walls and policy iteration with separating ones.
    Auto,
    /// Preconditioned conjugate gradients; slip walls only.
    Cg,
    /// Minimum map Newton; with slip walls it is one linear solve.
    Newton,
    /// Policy iteration, preconditioned conjugate gradients inside; with slip walls it is one linear solve.
    PiPcg,
    /// Policy iteration, conjugate gradients preconditioned by a multigrid cycle inside.
    PiMg,
    /// Penalty iteration, preconditioned conjugate gradients inside.
    PePcg,
    /// Penalty iteration, conjugate gradients preconditioned by a multigrid cycle inside.
    PeMg,
    /// Gradient projection with proportioning, preconditioned by a multigrid cycle.
    MprgpMg,
    /// Multigrid by the full approximation scheme; with slip walls it is linear multigrid.
    FasMg,
    /// Full multigrid with bounds on the finest level alone, for comparison.
    Fmg,
    /// Truncated Newton multigrid; with slip walls it is plain multigrid.
    TnMg,
    /// Multigrid; slip walls only.
    Mg,
    /// Conjugate gradients preconditioned by a multigrid cycle; slip walls only.
    MgPcg,
}

impl Solver {
    /// Whether it solves linear systems only, and so cannot let walls go.
    pub fn is_linear(self) -> bool {
        matches!(self, Self::Cg | Self::Mg | Self::MgPcg)
    }

    /// Whether it uses the [`Preconditioner`] of the settings.
    pub fn is_preconditioned(self) -> bool {
        matches!(
            self,
            Self::Auto | Self::Cg | Self::Newton | Self::PiPcg | Self::PePcg
        )
    }

    /// Whether its iterations are those of a Krylov method, so that no others are inside.
    pub fn is_krylov(self) -> bool {
        matches!(self, Self::Cg | Self::MgPcg | Self::MprgpMg)
    }
}

/// Preconditioner of the linear systems inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preconditioner {
    /// Modified incomplete Cholesky factors.
    Mic0,
    /// Incomplete Cholesky factors.
    Ic0,
    /// The diagonal.
    Jacobi,
    /// A symmetric sweep of successive over-relaxation.
    Ssor,
    /// A sparse approximate inverse.
    Ainv,
    /// None.
    None,
}

macro_rules! words {
    ($type:ident, $what:literal, $($variant:ident = $word:literal $(or $other:literal)?),+) => {
        impl $type {
            /// Every choice, by its word.
            pub const WORDS: &'static [&'static str] = &[$($word $(, $other)?),+];
            /// Every choice.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
        }

        impl $type {
            /// Its word.
            pub fn name(self) -> &'static str {
                match self { $($type::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                match word {
                    $($word $(| $other)? => Ok($type::$variant),)+
                    _ => Err(format!("{word:?} is no {}; write one of {}", $what, Self::WORDS.join(", "))),
                }
            }
        }
    };
}
pub(crate) use words;

words!(
    Walls,
    "kind of wall",
    Slip = "slip",
    Separating = "separating",
    Stick = "stick"
);
words!(
    Solver,
    "pressure solver",
    Auto = "auto",
    Cg = "cg",
    Newton = "newton",
    PiPcg = "pi-pcg" or "policy",
    PiMg = "pi-mg",
    PePcg = "pe-pcg",
    PeMg = "pe-mg",
    MprgpMg = "mprgp-mg",
    FasMg = "fas-mg",
    Fmg = "fmg",
    TnMg = "tn-mg",
    Mg = "mg",
    MgPcg = "mg-pcg"
);
words!(
    Preconditioner,
    "preconditioner",
    Mic0 = "mic0",
    Ic0 = "ic0",
    Jacobi = "jacobi",
    Ssor = "ssor",
    Ainv = "ainv",
    None = "none"
);

/// Settings of a liquid on its grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings<const D: usize> {
    /// Cells of the domain, whose lower corner is the origin.
    pub cells: [usize; D],
    /// Width of a cell, in metres.
    pub dx: f64,
    /// Whether particles keep [`Attributes`](crate::Attributes). Default: no.
    pub attributes: bool,
    /// What determines the motion besides the grid.
    pub physics: Physics<D>,
}

/// What determines the motion of a liquid besides its grid, its initial state and its solids. SI units.
#[derive(Clone, Debug, PartialEq)]
pub struct Physics<const D: usize> {
    /// Gravitational acceleration. Default: 9.81 m/s² downwards.
    pub gravity: [f64; D],
    /// Mass per volume (per area in 2D). Default: 1000.
    pub density: f64,
    /// Viscosities of the liquids of which particles are, by their material; none if the liquid is inviscid. Default: none.
    pub materials: Vec<Rheology>,
    /// Limit on rounds of viscosity and velocity in a step, for liquids whose viscosity depends on the flow. Default: 2.
    pub viscosity_rounds: usize,
    /// Whether pressure, viscosity and pressure again are solved for one after the other, for comparison: soft shapes then
    /// collapse too fast. Default: no.
    pub decoupled_viscosity: bool,
    /// Wall boundary condition. Default: separating.
    pub walls: Walls,
    /// Suction in Pa that separating walls bear before viscous liquid leaves them. Default: 0.
    pub adhesion: f64,
    /// Walls of viscous liquid at single solids, by their numbers; those beyond the end are as [`walls`](Self::walls) says.
    /// Default: none.
    pub solid_walls: Vec<SolidWall>,
    /// Desired speed of separation, kappa of [ANE17 (48)]: liquid on separating walls leaves at least this fast.
    /// Default: 0.
    pub separation: f64,
    /// Transfer between particles and grid. Default: APIC.
    pub transfer: Transfer,
    /// Pressure solver. Its start is the pressure of the last step, its tolerance a divergence in 1/s.
    pub pressure: solvers::Settings,
    /// Particles seeded in a full cell. Default: 9 in 2D and 8 in 3D.
    pub particles_per_cell: usize,
    /// Seed of their random offsets. Default: 1.
    pub seed: u64,
    /// Cells that all but the fastest thousandth of the particles may cross in one step, at most [`Physics::MAX_CFL`];
    /// those may cross 2.5 times as many. Default: 2.
    pub cfl: f64,
    /// Longest step in seconds. Default: 1/24.
    pub max_step: f64,
}

impl<const D: usize> Physics<D> {
    /// Largest CFL number: beyond it, particles would leave the band of tiles around the liquid in one step.
    pub const MAX_CFL: f64 = 5.0;
    /// Largest number of particles per cell.
    pub const MAX_PARTICLES_PER_CELL: usize = 1000;

    /// Largest number of materials.
    pub const MAX_MATERIALS: usize = 256;

    /// Whether any of the liquid has viscosity.
    pub fn is_viscous(&self) -> bool {
        self.materials
            .iter()
            .any(|material| !material.is_inviscid())
    }

    /// Magnitude of the gravitational acceleration.
    pub fn gravity_magnitude(&self) -> f64 {
        self.gravity.iter().map(|g| g * g).sum::<f64>().sqrt()
    }
}

impl<const D: usize> Default for Physics<D> {
    fn default() -> Self {
        let mut gravity = [0.0; D];
        gravity[D - 1] = -9.81;
        Self {
            gravity,
            density: 1000.0,
            materials: Vec::new(),
            viscosity_rounds: 2,
            decoupled_viscosity: false,
            walls: Walls::Separating,
            adhesion: 0.0,
            solid_walls: Vec::new(),
            separation: 0.0,
            transfer: Transfer::Apic,
            pressure: solvers::Settings {
                max_inner_iterations: 100_000,
                fall_back: true,
                ..Default::default()
            },
            // Three along each axis of the plane: fewer leave holes where the liquid is stretched, more cost little there.
            particles_per_cell: if D == 2 { 9 } else { 8 },
            seed: 1,
            cfl: 2.0,
            max_step: 1.0 / 24.0,
        }
    }
}

/// A setting out of range.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsError {
    /// Name of the field.
    pub field: &'static str,
    /// What it must be.
    pub must: &'static str,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} must be {}", self.field, self.must)
    }
}

impl std::error::Error for SettingsError {}

impl<const D: usize> Settings<D> {
    /// Water on a grid of `cells` cells of width `dx`.
    pub fn new(cells: [usize; D], dx: f64) -> Self {
        Self {
            cells,
            dx,
            attributes: false,
            physics: Physics::default(),
        }
    }

    /// Speed at which liquid is to leave its walls: none unless they separate.
    pub(crate) fn desired_separation(&self) -> f64 {
        match self.physics.walls {
            Walls::Slip | Walls::Stick => 0.0,
            Walls::Separating => self.physics.separation,
        }
    }

    /// Unit vector against gravity; zero without gravity.
    pub(crate) fn up(&self) -> [f64; D] {
        let strength = self.physics.gravity_magnitude();
        if strength > 0.0 {
            self.physics.gravity.map(|g| -g / strength)
        } else {
            [0.0; D]
        }
    }

    /// Volume a particle stands for.
    pub fn particle_volume(&self) -> f64 {
        self.dx.powi(D as i32) / self.physics.particles_per_cell as f64
    }

    /// Size of the domain in metres.
    pub fn domain(&self) -> [f64; D] {
        self.cells.map(|n| n as f64 * self.dx)
    }

    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let Physics {
            gravity,
            density,
            ref materials,
            viscosity_rounds,
            decoupled_viscosity: _,
            walls,
            adhesion,
            solid_walls: _,
            separation,
            transfer,
            pressure,
            particles_per_cell,
            seed: _,
            cfl,
            max_step,
        } = self.physics;
        let rules = [
            (
                "cells",
                self.cells.iter().all(|&n| (1..=1 << 20).contains(&n)),
                "from 1 to 1,048,576 along every axis",
            ),
            ("dx", positive(self.dx), "a positive number of metres"),
            ("gravity", gravity.iter().all(|g| g.is_finite()), "finite"),
            ("density", positive(density), "positive"),
            (
                "materials",
                materials.len() <= Physics::<D>::MAX_MATERIALS,
                "at most 256",
            ),
            (
                "materials",
                materials.iter().all(Rheology::is_sound),
                "of finite viscosities that are not negative, with a flow index and a smallest shear rate above 0",
            ),
            ("viscosity_rounds", viscosity_rounds > 0, "at least 1"),
            ("adhesion", adhesion >= 0.0, "zero or a pressure in Pa"),
            (
                "walls",
                walls != Walls::Stick || self.physics.is_viscous(),
                "slip or separating where the liquid has no viscosity",
            ),
            (
                "separation",
                separation >= 0.0 && separation.is_finite(),
                "zero or a speed in m/s",
            ),
            (
                "transfer",
                !matches!(transfer, Transfer::Flip { pic } if !(0.0..=1.0).contains(&pic)),
                "apic, or flip with a share of pic from 0 to 1",
            ),
            (
                "solver",
                !(walls == Walls::Separating
                    && !self.physics.is_viscous()
                    && pressure.solver.is_linear()),
                "none of cg, mg and mg-pcg with separating walls: these solve linear systems only",
            ),
            ("tolerance", positive(pressure.tolerance), "positive"),
            ("max_iterations", pressure.max_iterations > 0, "at least 1"),
            (
                "max_inner_iterations",
                pressure.max_inner_iterations > 0,
                "at least 1",
            ),
            (
                "particles_per_cell",
                (1..=Physics::<D>::MAX_PARTICLES_PER_CELL).contains(&particles_per_cell),
                "from 1 to 1000",
            ),
            (
                "cfl",
                positive(cfl) && cfl <= Physics::<D>::MAX_CFL,
                "above 0 and at most 5",
            ),
            (
                "max_step",
                positive(max_step),
                "a positive number of seconds",
            ),
        ];
        match rules.into_iter().find(|&(_, holds, _)| !holds) {
            Some((field, _, must)) => Err(SettingsError { field, must }),
            None => Ok(()),
        }
    }
}
