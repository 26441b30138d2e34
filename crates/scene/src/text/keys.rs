//! Keys of scene files: the settings. Liquids, solids, emitters and drains are in `objects.rs`, rigid bodies in `bodies.rs`,
//! shapes in `shapes.rs`, the camera and colours in `appearance.rs`.

use super::access::{Field, bound, field, read_by};
use super::appearance::CAMERA;
use super::bodies::{BODY, CONTACT, JOINT};
use super::cloth::CLOTH;
use super::coupling::COUPLING;
use super::grammar::{Kind, OPTIONAL, REQUIRED, Range, Table, default, key};
use super::objects::{DRAIN, EMITTER, LIQUID, SOLID};
use super::projective::PROJECTIVE;
use super::shell::SHELL;
use super::soft::SOFT;
use super::tree::Value;
use crate::{OnDrift, Style, SurfaceSettings, SurfaceSource};
use meniscus_liquid::fas::{Boundaries, Coarse, Interpolation};
use meniscus_liquid::solvers::{Inner, Start};
use meniscus_liquid::{Physics, Preconditioner, Solver, Transfer, Walls};

/// Most cells along a side: more than any machine holds. The memory of this one is checked later.
pub(crate) const MOST_CELLS: u64 = 1 << 16;
/// Most frames: about eleven hours at 24 frames per second.
pub(crate) const MOST_FRAMES: u64 = 999_999;

/// Names of the sides of the domain: low and high of every axis in 3D; in 2D without the middle pair.
pub const SIDES: [&str; 6] = ["left", "right", "front", "back", "bottom", "top"];

/// A scene file.
pub static SCENE: Table = Table {
    title: "a scene",
    about: "Keys at the top of the file, before the first table. All numbers are in SI units: metres, seconds, \
            kilograms. The lower corner of the domain is the origin and up is the last axis.",
    keys: &[
        key!("name": Kind::Text, read_by!(|scene, node, _reader| scene.name.read(node)), Output, "\"faucet\"",
            "Short name, also that of the output folder: letters, digits, `-` and `_`. Default: the name of the file."),
        key!("summary": Kind::Text, field!(summary), Output, "\"water runs from a faucet into a basin with a drain\"",
            "Description of the scene in one line."),
        key!("method": Kind::Word(&["grid", "projective"]), field!(method), Physics, "\"projective\"",
            "Method that simulates the liquid: `grid` with particles on a grid and a pressure solve there, `projective` with \
             particles alone, whose density is constrained; its settings are in `[projective]`."),
        key!("gravity": Kind::Vector("m/s²"), field!(physics.gravity), Physics, "[0, 0, -1.62]",
            "Gravitational acceleration."),
        key!("density": Kind::Number(Range::POSITIVE, "kg/m³"), field!(physics.density), Physics, "1260",
            "Mass of the liquid per volume; per area in 2D."),
        key!("domain": Kind::Table(&DOMAIN), REQUIRED, Physics, "", "The simulated space."),
        key!("time": Kind::Table(&TIME), default("{}"), Physics, "", "Frames and time steps."),
        key!("walls": Kind::Table(&WALLS), default("{}"), Physics, "", "Boundary condition at solids and closed sides."),
        key!("solver": Kind::Table(&SOLVER), default("{}"), Physics, "", "The pressure solver."),
        key!("particles": Kind::Table(&PARTICLES), default("{}"), Physics, "", "The particles that carry the liquid."),
        key!("contact": Kind::Table(&CONTACT), OPTIONAL, Physics, "", "Contacts between rigid bodies."),
        key!("coupling": Kind::Table(&COUPLING), OPTIONAL, Physics, "", "Liquid and rigid bodies together."),
        key!("projective": Kind::Table(&PROJECTIVE), OPTIONAL, Physics, "", "The particle method."),
        key!("run": Kind::Table(&RUN), default("{}"), Output, "", "Limits at which a run warns and ends."),
        key!("output": Kind::Table(&OUTPUT), default("{}"), Output, "", "Files that a run writes."),
        key!("camera": Kind::Table(&CAMERA), read_by!(|scene, node, reader| reader.camera(scene, node)), Appearance, "",
            "The camera of pictures. Default: it sees all solids and liquid."),
        key!("liquid": Kind::Tables(&LIQUID, 0), read_by!(|scene, node, reader| reader.liquids(scene, node)), Physics, "",
            "Volumes of liquid at the start."),
        key!("solid": Kind::Tables(&SOLID, 0), read_by!(|scene, node, reader| reader.solids(scene, node)), Physics, "",
            "Solids, at rest or moving."),
        key!("body": Kind::Tables(&BODY, 0), read_by!(|scene, node, reader| reader.bodies(scene, node)), Physics, "",
            "Rigid bodies."),
        key!("joint": Kind::Tables(&JOINT, 0), read_by!(|scene, node, reader| reader.joints(scene, node)), Physics, "",
            "Joints between rigid bodies."),
        key!("emitter": Kind::Tables(&EMITTER, 0), read_by!(|scene, node, reader| reader.emitters(scene, node)), Physics,
            "", "Sources of liquid."),
        key!("cloth": Kind::Tables(&CLOTH, 0), read_by!(|scene, node, reader| reader.cloth(scene, node)), Physics, "",
            "Cloth, with `method = \"projective\"`."),
        key!("soft": Kind::Tables(&SOFT, 0), read_by!(|scene, node, reader| reader.soft(scene, node)), Physics, "",
            "Soft bodies, with `method = \"projective\"`."),
        key!("shell": Kind::Tables(&SHELL, 0), read_by!(|scene, node, reader| reader.shells(scene, node)), Physics, "",
            "Thin walls, with `method = \"projective\"`."),
        key!("drain": Kind::Tables(&DRAIN, 0), read_by!(|scene, node, reader| reader.drains(scene, node)), Physics, "",
            "Sinks of liquid."),
    ],
    one_of: &[],
};

static DOMAIN: Table = Table {
    title: "the domain",
    about: "The box that is simulated. Its number of sides is the dimension of the scene: two or three. Memory and time \
            follow the liquid, so empty space costs next to nothing.",
    keys: &[
        key!("size": Kind::Lengths, field!(domain).required(), Physics, "[2, 0.5, 1]",
            "Width, depth and height; width and height in 2D."),
        key!("resolution": Kind::Whole(1, MOST_CELLS), field!(resolution), Physics, "96",
            "Cells along the longest side. In 3D, twice as many need eight times the memory and about sixteen times the \
             time."),
        key!("open": Kind::Words(&SIDES),
            bound!(|_scene| Value::List(Vec::new()), |scene, node, reader| scene.open = reader.open_sides(node)),
            Physics, "[\"left\", \"right\"]",
            "Sides through which liquid leaves the domain; all others are walls. `left` and `right` bound the x axis, \
             `front` and `back` the y axis, `bottom` and `top` the z axis (y in 2D)."),
    ],
    one_of: &[],
};

static TIME: Table = Table {
    title: "time",
    about: "Frame 0 is the initial state, and one more frame is written at the end of every interval of 1/rate seconds. \
            Steps in between are as long as the CFL number allows.",
    keys: &[
        key!("frames": Kind::Whole(1, MOST_FRAMES), field!(frames), Output, "240",
            "Number of frames to simulate after frame 0, the initial state."),
        key!("rate": Kind::Number(Range::up_to(1e6), "frames per second"), field!(frame_rate), Physics, "30",
            "Frames per second. A higher rate gives slow motion."),
        key!("cfl": Kind::Number(Range::up_to(Physics::<3>::MAX_CFL), "cells"), field!(physics.cfl), Physics, "1",
            "CFL number: cells that liquid and solids may cross in one step; the fastest thousandth of the particles may \
             cross 2.5 times as many. A smaller one is slower and more accurate."),
        key!("max_step": Kind::Number(Range::POSITIVE, "s"), field!(physics.max_step), Physics, "0.01",
            "Longest time step."),
    ],
    one_of: &[],
};

static WALLS: Table = Table {
    title: "walls",
    about: "Solids and the closed sides of the domain.",
    keys: &[
        key!("kind": Kind::Word(Walls::WORDS), field!(physics.walls), Physics, "\"slip\"",
            "`separating` walls push the liquid but do not pull it, so that it can leave them; along `slip` walls it slides \
             and never leaves; to `stick` walls it sticks (no slip). Viscous liquid sticks to separating walls, too, until it is \
             pulled off. Default where a liquid has viscosity: `stick`."),
        key!("adhesion": Kind::Number(Range::UP_TO_INFINITY, "Pa"),
            read_by!(|scene, node, _reader| scene.adhesion = node.number()), Physics, "500",
            "Suction that separating walls bear before viscous liquid leaves them. Default: the weight of a cell of liquid per \
             area."),
        key!("separation_speed": Kind::Number(Range::NOT_NEGATIVE, "m/s"), field!(physics.separation), Physics, "0.05",
            "Least speed at which liquid leaves separating walls. Zero lets it leave without a push."),
    ],
    one_of: &[],
};

static SOLVER: Table = Table {
    title: "the solver",
    about: "Solver of the pressure problem of every step. A step whose solve fails is tried again with half its length; if \
            that does not help, the run ends with exit code 5 and keeps the problem.",
    keys: &[
        key!("method": Kind::Word(Solver::WORDS), field!(physics.pressure.solver), Physics, "\"newton\"",
            "`auto` uses multigrid for many unknowns (`mg` with slip walls, `tn-mg` with separating ones), `cg` and \
             `pi-pcg` for few, and another method should these fail. `newton` is minimum map Newton; `pi-pcg` (also \
             `policy`) and `pi-mg` are policy iteration, `pe-pcg` and `pe-mg` penalty iteration, with conjugate gradients \
             inside, preconditioned as below or by a multigrid cycle; `mprgp-mg` is gradient projection with such a cycle; \
             `fas-mg` is multigrid by the full approximation scheme, `fmg` full multigrid, for comparison. `cg`, `mg` and \
             `mg-pcg` are for slip walls."),
        key!("preconditioner": Kind::Word(Preconditioner::WORDS), field!(physics.pressure.preconditioner), Physics,
            "\"jacobi\"", "Preconditioner of the linear systems of methods without multigrid."),
        key!("inner": Kind::Word(Inner::WORDS), field!(physics.pressure.inner), Physics, "\"gmres\"",
            "Linear solver of `newton`."),
        key!("interpolation": Kind::Word(Interpolation::WORDS), field!(physics.pressure.fas.levels.interpolation), Physics,
            "\"trilinear\"",
            "Interpolation from coarse to fine levels of `fas-mg`: barycentric in triangles or tetrahedra, multilinear, or \
             from the nearest point."),
        key!("boundaries": Kind::Word(Boundaries::WORDS), field!(physics.pressure.fas.levels.boundaries), Physics,
            "\"plain\"", "Whether the levels of `fas-mg` leave out what is behind a solid, or ignore solids."),
        key!("coarse": Kind::Word(Coarse::WORDS), field!(physics.pressure.fas.levels.coarse), Physics, "\"direct\"",
            "Coarse matrices of `fas-mg`: Galerkin products, or the equations discretised again."),
        key!("start": Kind::Word(Start::WORDS), field!(physics.pressure.start), Physics, "\"psor\"",
            "Start of a solve: the pressure of the last step, zero, or that pressure after ten sweeps of PSOR or ten \
             projected gradient steps."),
        key!("tolerance": Kind::Number(Range::POSITIVE, "1/s"), field!(physics.pressure.tolerance), Physics, "1e-8",
            "Largest divergence that a solve may leave."),
        key!("max_iterations": Kind::Whole(1, 1_000_000), field!(physics.pressure.max_iterations), Physics, "200",
            "Outer iterations after which a solve has failed."),
    ],
    one_of: &[],
};

static PARTICLES: Table = Table {
    title: "particles",
    about: "Particles carry the liquid; the grid holds what is transferred from them.",
    keys: &[
        key!("spacing": Kind::Number(Range::POSITIVE, "m"), read_by!(|scene, node, _reader| scene.spacing = node.number()),
            Physics, "0.02",
            "Distance between particles with `method = \"projective\"`. Default: that of as many particles per cell as the grid \
             method has, half a cell in 3D and a third in 2D."),
        key!("count": Kind::Whole(1, 1_000_000_000), read_by!(|scene, node, _reader| scene.particle_count = node.number()),
            Physics, "200000",
            "Number of particles with `method = \"projective\"`, instead of their spacing: those at the start and all that \
             emitters may add."),
        key!("per_cell": Kind::Whole(1, Physics::<3>::MAX_PARTICLES_PER_CELL as u64), field!(physics.particles_per_cell),
            Physics, "16", "Particles in a full cell."),
        key!("seed": Kind::Whole(0, i64::MAX as u64), field!(physics.seed), Physics, "7",
            "Seed of the random offsets of the particles' first positions. Another seed gives another, equally good run."),
        key!("transfer": Kind::Word(&["apic", "flip"]), bound!(
                |scene| Value::Text(scene.physics.transfer.name().into()),
                |scene, node, _reader| scene.physics.transfer = match node.text() {
                    Some("flip") => Transfer::Flip { pic: Transfer::DEFAULT_PIC },
                    _ => Transfer::Apic,
                }
            ), Physics, "\"flip\"",
            "Velocity transfer between particles and grid: `apic` conserves angular momentum and is calm, `flip` is livelier \
             and noisier."),
        key!("pic": Kind::Number(Range::between(0.0, 1.0), ""), bound!(
                |_scene| Value::Number(Transfer::DEFAULT_PIC),
                |scene, node, _reader| if let Transfer::Flip { pic } = &mut scene.physics.transfer {
                    pic.read(node);
                }
            ), Physics, "0.02",
            "Share of PIC in `flip`, which damps noise. Not used by `apic`."),
    ],
    one_of: &[],
};

static RUN: Table = Table {
    title: "limits of a run",
    about: "What a run does when the simulation loses or gains liquid. The drift is the volume of the liquid, including \
            sheets and drops thinner than a cell, over what it should be, less one, as far as particles are too close together or \
            too few inside: errors of the surface in jets and drops a few cells across do not count. It is measured at every \
            frame, and counts as drift if it lasts for more than a few hundredths of a second. These keys do not change the \
            motion: a run can be resumed with others.",
    keys: &[
        key!("max_drift": Kind::Number(Range::between(0.0, 1.0), ""), field!(limits.max_drift), Output, "0.02",
            "Drift of the volume, as a share, above which a run warns and names the likely cause."),
        key!("on_drift": Kind::Word(OnDrift::WORDS), field!(limits.on_drift), Output, "\"warn\"",
            "What happens when the drift exceeds 0.3, or `max_drift` if that is larger: `stop` ends the run with exit code 5 \
             and keeps its frames and a checkpoint, `warn` continues."),
    ],
    one_of: &[],
};

static OUTPUT: Table = Table {
    title: "output",
    about: "Files that a run writes besides its statistics. None of these keys changes the motion.",
    keys: &[
        key!("particles_every": Kind::Whole(1, MOST_FRAMES), field!(output.particles_every), Output, "2",
            "Frames from one that is written to the next."),
        key!("attributes": Kind::Switch, field!(output.attributes), Output, "true",
            "Whether particles have a stable id, their age in seconds and their source (0: the liquid at the start, k: the \
             k-th emitter), in frames and exports."),
        key!("preview": Kind::Switch, field!(output.preview), Output, "false",
            "Whether `preview.gif` is drawn. With more than 60 frames per second, some frames are left out."),
        key!("preview_side": Kind::Whole(64, 2000), field!(output.preview_side), Output, "640",
            "Longest side of the preview, in pixels."),
        key!("preview_style": Kind::Word(Style::WORDS), field!(output.preview_style), Appearance, "\"particles\"",
            "How the preview draws the liquid: `surface` as one clear body, `particles` as spheres coloured by their speed."),
        key!("surface": Kind::Switch, field!(output.surface), Output, "true",
            "Whether the surface of the liquid is written for every frame, as `meniscus mesh` does later."),
        key!("surface_from": Kind::Word(SurfaceSource::WORDS), field!(output.surface_settings.source), Output,
            "\"particles\"",
            "Method of surface reconstruction: the level set of the simulation, with thin features from the particles, or the \
             particles alone by splashsurf, in 3D only."),
        key!("surface_resolution": Kind::Whole(1, SurfaceSettings::FINEST as u64), field!(output.surface_settings.resolution),
            Output, "3",
            "Lattice points of the surface reconstruction along a cell of thick liquid; twice as many in liquid thinner than a \
             cell."),
        key!("surface_smoothing": Kind::Whole(0, SurfaceSettings::SMOOTHEST as u64), field!(output.surface_settings.smoothing),
            Output, "0", "Passes of Taubin smoothing on the triangles of a surface, thin features excepted."),
        key!("checkpoint_every": Kind::Whole(1, MOST_FRAMES), field!(output.checkpoint_every), Output, "5",
            "Frames from one checkpoint, from which an interrupted run resumes, to the next."),
        key!("keep_checkpoints": Kind::Whole(1, 1000), field!(output.keep_checkpoints), Output, "2",
            "Number of latest checkpoints to keep."),
        key!("milestone_every": Kind::Whole(0, MOST_FRAMES), field!(output.milestone_every), Output, "50",
            "Frames from one checkpoint that is never deleted to the next, so that `--from-frame` can start there; 0 for \
             none."),
    ],
    one_of: &[],
};
