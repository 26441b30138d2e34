//! The keys of a scene file.

use super::appearance_keys::{CAMERA, PREVIEW_STYLE};
use super::grammar::{Absent, Effect, Key, Kind, Range, Table};
use super::run_keys::RUN;
use super::thing_keys::{DRAIN, EMITTER, LIQUID, SOLID};
use crate::SurfaceSource;
use Absent::{ByDimension, Default, Nothing, Refused};
use meniscus_liquid::fas::{Boundaries, Coarse, Interpolation};
use meniscus_liquid::solvers::{Inner, Start};
use meniscus_liquid::{Preconditioner, Solver, Walls};

/// More cells along a side than any machine holds; the memory of this one is looked at later.
const MOST_CELLS: u64 = 1 << 16;
/// About eleven hours at 24 frames a second.
pub(super) const MOST_FRAMES: u64 = 999_999;

/// Names of the sides of the domain: low and high of every axis, in space; in the plane without the middle pair.
pub const SIDES: [&str; 6] = ["left", "right", "front", "back", "bottom", "top"];

/// The whole file.
pub static SCENE: Table = Table {
    title: "a scene",
    about: "Keys at the top of the file, before the first table. All numbers are in SI units: metres, seconds, \
            kilograms. The lower corner of the domain is the origin and up is the last axis.",
    keys: &[
        Key {
            name: "name",
            kind: Kind::Text,
            absent: Nothing,
            effect: Effect::Output,
            about: "Short name, also that of the output folder: letters, digits, `-` and `_`. Without it the file's \
                    own name counts.",
            example: "\"faucet\"",
        },
        Key {
            name: "summary",
            kind: Kind::Text,
            absent: Default("\"\""),
            effect: Effect::Output,
            about: "What the scene shows, in one line.",
            example: "\"water runs from a faucet into a basin with a drain\"",
        },
        Key {
            name: "gravity",
            kind: Kind::Vector("m/s²"),
            absent: ByDimension("[0.0, -9.81]", "[0.0, 0.0, -9.81]"),
            effect: Effect::Physics,
            about: "Acceleration of free fall.",
            example: "[0, 0, -1.62]",
        },
        Key {
            name: "density",
            kind: Kind::Number(Range::POSITIVE, "kg/m³"),
            absent: Default("1000.0"),
            effect: Effect::Physics,
            about: "Mass of the liquid per volume; per area in the plane.",
            example: "1000",
        },
        Key {
            name: "domain",
            kind: Kind::Table(&DOMAIN),
            absent: Refused,
            effect: Effect::Physics,
            about: "The space that is simulated.",
            example: "",
        },
        Key {
            name: "time",
            kind: Kind::Table(&TIME),
            absent: Default("{}"),
            effect: Effect::Physics,
            about: "Frames and steps.",
            example: "",
        },
        Key {
            name: "walls",
            kind: Kind::Table(&WALLS),
            absent: Default("{}"),
            effect: Effect::Physics,
            about: "What solids and closed sides do to the liquid.",
            example: "",
        },
        Key {
            name: "solver",
            kind: Kind::Table(&SOLVER),
            absent: Default("{}"),
            effect: Effect::Physics,
            about: "How the pressure is found.",
            example: "",
        },
        Key {
            name: "particles",
            kind: Kind::Table(&PARTICLES),
            absent: Default("{}"),
            effect: Effect::Physics,
            about: "What carries the liquid.",
            example: "",
        },
        Key {
            name: "run",
            kind: Kind::Table(&RUN),
            absent: Default("{}"),
            effect: Effect::Output,
            about: "When a run warns and when it ends.",
            example: "",
        },
        Key {
            name: "output",
            kind: Kind::Table(&OUTPUT),
            absent: Default("{}"),
            effect: Effect::Output,
            about: "What is written, and how often.",
            example: "",
        },
        Key {
            name: "camera",
            kind: Kind::Table(&CAMERA),
            absent: Nothing,
            effect: Effect::Appearance,
            about: "From where pictures are taken. Without it they show all solids and liquid.",
            example: "",
        },
        Key {
            name: "liquid",
            kind: Kind::Tables(&LIQUID, 0),
            absent: Nothing,
            effect: Effect::Physics,
            about: "Volumes of liquid at the start.",
            example: "",
        },
        Key {
            name: "solid",
            kind: Kind::Tables(&SOLID, 0),
            absent: Nothing,
            effect: Effect::Physics,
            about: "Solids, at rest or moving.",
            example: "",
        },
        Key {
            name: "emitter",
            kind: Kind::Tables(&EMITTER, 0),
            absent: Nothing,
            effect: Effect::Physics,
            about: "Where liquid comes in.",
            example: "",
        },
        Key {
            name: "drain",
            kind: Kind::Tables(&DRAIN, 0),
            absent: Nothing,
            effect: Effect::Physics,
            about: "Where liquid goes away.",
            example: "",
        },
    ],
    one_of: &[],
};

static DOMAIN: Table = Table {
    title: "the domain",
    about: "The box that is simulated. Its number of sides is the dimension of the scene: two for a scene in the \
            plane, three for one in space. Memory and time follow the liquid, so empty space costs next to nothing.",
    keys: &[
        Key {
            name: "size",
            kind: Kind::Lengths,
            absent: Refused,
            effect: Effect::Physics,
            about: "Width, depth and height; width and height in the plane.",
            example: "[2, 0.5, 1]",
        },
        Key {
            name: "resolution",
            kind: Kind::Whole(1, MOST_CELLS),
            absent: Default("64"),
            effect: Effect::Physics,
            about: "Cells along the longest side. Twice as many take eight times the memory in space, and about \
                    sixteen times as long.",
            example: "96",
        },
        Key {
            name: "open",
            kind: Kind::Words(&SIDES),
            absent: Default("[]"),
            effect: Effect::Physics,
            about: "Sides through which liquid leaves for good; all others are walls. `left` and `right` end the x \
                    axis, `front` and `back` the y axis, `bottom` and `top` the z axis (y in the plane).",
            example: "[\"left\", \"right\"]",
        },
    ],
    one_of: &[],
};

static TIME: Table = Table {
    title: "time",
    about: "Frame 0 is the initial state, and one more frame is written at the end of every interval of 1/rate seconds. \
            Steps in between are as long as the CFL number allows.",
    keys: &[
        Key {
            name: "frames",
            kind: Kind::Whole(1, MOST_FRAMES),
            absent: Default("100"),
            effect: Effect::Output,
            about: "How many frames to simulate after frame 0, the initial state.",
            example: "240",
        },
        Key {
            name: "rate",
            kind: Kind::Number(Range::up_to(1e6), "frames a second"),
            absent: Default("24.0"),
            effect: Effect::Physics,
            about: "Frames a second. A higher one films in slow motion.",
            example: "30",
        },
        Key {
            name: "cfl",
            kind: Kind::Number(Range::up_to(5.0), "cells"),
            absent: Default("2.0"),
            effect: Effect::Physics,
            about: "Cells that the fastest liquid or solid may cross in a step. Smaller is slower and more exact.",
            example: "1",
        },
        Key {
            name: "max_step",
            kind: Kind::Number(Range::POSITIVE, "s"),
            absent: Default("0.041666666666666664"),
            effect: Effect::Physics,
            about: "The longest step.",
            example: "0.01",
        },
    ],
    one_of: &[],
};

static WALLS: Table = Table {
    title: "walls",
    about: "Solids and the closed sides of the domain.",
    keys: &[
        Key {
            name: "kind",
            kind: Kind::Word(Walls::WORDS),
            absent: Default("\"separating\""),
            effect: Effect::Physics,
            about: "`separating` walls push the liquid and let it go; `slip` walls also hold it, so that it slides \
                    along but never leaves.",
            example: "\"slip\"",
        },
        Key {
            name: "separation_speed",
            kind: Kind::Number(Range::NOT_NEGATIVE, "m/s"),
            absent: Default("0.0"),
            effect: Effect::Physics,
            about: "Speed at which liquid is made to leave separating walls. Zero lets it go without a push.",
            example: "0.05",
        },
    ],
    one_of: &[],
};

static SOLVER: Table = Table {
    title: "the solver",
    about: "The pressure problem of every step. A solve that fails is tried again with a shorter step; a run in which \
            that does not help ends with exit code 5 and keeps the problem.",
    keys: &[
        Key {
            name: "method",
            kind: Kind::Word(Solver::WORDS),
            absent: Default("\"auto\""),
            effect: Effect::Physics,
            about: "`auto` takes multigrid for many unknowns (`mg` with slip walls, `tn-mg` with separating ones), for few \
                    `cg` and `pi-pcg`, and another should that fail. `newton` is minimum map Newton; `pi-pcg` (also \
                    `policy`) and `pi-mg` are policy iteration, `pe-pcg` and `pe-mg` penalty iteration, with \
                    conjugate gradients inside that a preconditioner or a multigrid cycle speeds up; `mprgp-mg` is \
                    gradient projection with such a cycle; `fas-mg` is multigrid by the full approximation scheme, `fmg` \
                    full multigrid, for comparison. `cg`, `mg` and `mg-pcg` are for slip walls.",
            example: "\"newton\"",
        },
        Key {
            name: "preconditioner",
            kind: Kind::Word(Preconditioner::WORDS),
            absent: Default("\"mic0\""),
            effect: Effect::Physics,
            about: "Of the linear systems inside, where no multigrid cycle is.",
            example: "\"jacobi\"",
        },
        Key {
            name: "inner",
            kind: Kind::Word(Inner::WORDS),
            absent: Default("\"cg\""),
            effect: Effect::Physics,
            about: "What solves the linear systems of `newton`.",
            example: "\"gmres\"",
        },
        Key {
            name: "interpolation",
            kind: Kind::Word(Interpolation::WORDS),
            absent: Default("\"barycentric\""),
            effect: Effect::Physics,
            about: "How the finer levels of `fas-mg` take their values from the coarser ones: from the corners of a triangle or \
                    tetrahedron, from all points around, or from the nearest alone.",
            example: "\"trilinear\"",
        },
        Key {
            name: "boundaries",
            kind: Kind::Word(Boundaries::WORDS),
            absent: Default("\"one-sided\""),
            effect: Effect::Physics,
            about: "Whether the levels of `fas-mg` leave out what is behind a solid, or do not look at solids.",
            example: "\"plain\"",
        },
        Key {
            name: "coarse",
            kind: Kind::Word(Coarse::WORDS),
            absent: Default("\"galerkin\""),
            effect: Effect::Physics,
            about: "Coarse matrices of `fas-mg`: products of the fine one with the interpolation, or the equations again.",
            example: "\"direct\"",
        },
        Key {
            name: "start",
            kind: Kind::Word(Start::WORDS),
            absent: Default("\"given\""),
            effect: Effect::Physics,
            about: "Where a solve starts: at the pressure of the last step, at zero, or at what ten sweeps of PSOR or ten \
                    gradient steps make of that pressure.",
            example: "\"psor\"",
        },
        Key {
            name: "tolerance",
            kind: Kind::Number(Range::POSITIVE, "1/s"),
            absent: Default("1e-6"),
            effect: Effect::Physics,
            about: "Largest divergence that the pressure may leave.",
            example: "1e-8",
        },
        Key {
            name: "max_iterations",
            kind: Kind::Whole(1, 1_000_000),
            absent: Default("100"),
            effect: Effect::Physics,
            about: "Outer iterations after which a solve has failed.",
            example: "200",
        },
    ],
    one_of: &[],
};

static PARTICLES: Table = Table {
    title: "particles",
    about: "The liquid is carried by particles; the grid sees only what they bring.",
    keys: &[
        Key {
            name: "per_cell",
            kind: Kind::Whole(1, 1000),
            absent: ByDimension("9", "8"),
            effect: Effect::Physics,
            about: "Particles in a full cell.",
            example: "8",
        },
        Key {
            name: "seed",
            kind: Kind::Whole(0, i64::MAX as u64),
            absent: Default("1"),
            effect: Effect::Physics,
            about: "Start of the random numbers that shake the particles' first places. Another seed is another, \
                    equally good run.",
            example: "7",
        },
        Key {
            name: "transfer",
            kind: Kind::Word(&["apic", "flip"]),
            absent: Default("\"apic\""),
            effect: Effect::Physics,
            about: "How velocity travels between particles and grid: `apic` keeps rotation and is calm, `flip` is \
                    livelier and noisier.",
            example: "\"flip\"",
        },
        Key {
            name: "pic",
            kind: Kind::Number(Range::between(0.0, 1.0), ""),
            absent: Default("0.05"),
            effect: Effect::Physics,
            about: "Share of plain PIC in `flip`, which calms it. Has no part in `apic`.",
            example: "0.02",
        },
    ],
    one_of: &[],
};

static OUTPUT: Table = Table {
    title: "output",
    about: "What a run leaves in its folder besides statistics and its own state.",
    keys: &[
        Key {
            name: "particles_every",
            kind: Kind::Whole(1, MOST_FRAMES),
            absent: Default("1"),
            effect: Effect::Physics,
            about: "Particles are written every so many frames.",
            example: "2",
        },
        Key {
            name: "attributes",
            kind: Kind::Switch,
            absent: Default("false"),
            effect: Effect::Physics,
            about: "Whether particles keep an id from birth to death, and have their age in seconds and their source (0: the liquid at the start, k: the k-th emitter), in frames and exports.",
            example: "true",
        },
        Key {
            name: "preview",
            kind: Kind::Switch,
            absent: Default("true"),
            effect: Effect::Physics,
            about: "Whether `preview.gif` is drawn. With more than 60 frames per second, not every frame is.",
            example: "false",
        },
        Key {
            name: "preview_side",
            kind: Kind::Whole(64, 2000),
            absent: Default("320"),
            effect: Effect::Physics,
            about: "Longest side of the preview in pixels.",
            example: "640",
        },
        PREVIEW_STYLE,
        Key {
            name: "surface",
            kind: Kind::Switch,
            absent: Default("false"),
            effect: Effect::Physics,
            about: "Whether the liquid's surface is made of every frame whose particles are written, as `meniscus mesh` does \
                    later.",
            example: "true",
        },
        Key {
            name: "surface_from",
            kind: Kind::Word(SurfaceSource::WORDS),
            absent: Default("\"level-set\""),
            effect: Effect::Physics,
            about: "What surfaces are made from: the level set of the simulation, with thin features from the particles, or the particles alone by splashsurf, in space only.",
            example: "\"particles\"",
        },
        Key {
            name: "surface_resolution",
            kind: Kind::Whole(1, 8),
            absent: Default("2"),
            effect: Effect::Physics,
            about: "Points of a surface's lattice along a cell of thick liquid; twice as many in liquid thinner than a cell.",
            example: "3",
        },
        Key {
            name: "surface_smoothing",
            kind: Kind::Whole(0, 100),
            absent: Default("4"),
            effect: Effect::Physics,
            about: "Passes of Taubin smoothing on a surface's triangles, thin features excepted.",
            example: "0",
        },
        Key {
            name: "checkpoint_every",
            kind: Kind::Whole(1, MOST_FRAMES),
            absent: Default("1"),
            effect: Effect::Physics,
            about: "The state, from which an interrupted run goes on, is kept every so many frames.",
            example: "5",
        },
        Key {
            name: "keep_checkpoints",
            kind: Kind::Whole(1, 1000),
            absent: Default("3"),
            effect: Effect::Physics,
            about: "How many of the last states are kept.",
            example: "2",
        },
        Key {
            name: "milestone_every",
            kind: Kind::Whole(0, MOST_FRAMES),
            absent: Default("25"),
            effect: Effect::Physics,
            about: "States of every so many frames are kept for good, so that `--from-frame` can start there; 0 keeps \
                    none.",
            example: "50",
        },
    ],
    one_of: &[],
};
