//! Bodies in liquid beside theory: force and righting moment, draft, added mass, heave, and the failures that users of other tools
//! report.

use crate::prelude::*;
use meniscus_coupled::{Coupled, Settings};
use meniscus_liquid::{Liquid, Settings as LiquidSettings};
use meniscus_rigid::{Bodies, Body, Mass, Settings as BodySettings, Wrench};
use meniscus_shapes::{Pose, Rotation, Shape};
use std::f64::consts::PI;

const G: f64 = 9.81;
const WATER: f64 = 1000.0;
/// Density of bodies that are held, so that they do not move while forces on them are measured.
const HELD: f64 = 1e6;
/// Loads of the raft, in shares of what it carries.
const LOADS: [f64; 4] = [0.97, 1.03, 1.1, 1.2];
/// Half of the sides of the box.
const HALF: [f64; 2] = [0.2, 0.1];

/// The study.
pub struct Archimedes;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells per metre at most; half of it and a quarter are run, too
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = value_parser!(u32).range(32..=512))]
    cells: u32,
}

fn wrong(what: impl std::fmt::Display) -> Error {
    Error::new(Kind::Resources, what.to_string())
}

/// A body in a tank of one metre with a level surface, or in a vessel that is full.
fn world<const D: usize>(
    n: usize,
    vessel: Shape<D>,
    body: Body<D>,
    level: f64,
) -> Result<Coupled<D>, Error> {
    let dx = 1.0 / n as f64;
    let settings = LiquidSettings::new([n; D], dx);
    let body_settings = BodySettings::default()
        .gravity(settings.physics.gravity)
        .resting_gap(Some(0.02 * dx));
    let mut bodies = Bodies::new(body_settings).map_err(wrong)?;
    bodies.add(Body::fixed("vessel", vessel)).map_err(wrong)?;
    bodies.add(body).map_err(wrong)?;
    let liquid = Liquid::new(settings).map_err(wrong)?;
    let mut world = Coupled::new(liquid, bodies, Settings::default()).map_err(wrong)?;
    world.fill(&|x: [f64; D]| x[D - 1] - level, &|_| [0.0; D]);
    Ok(world)
}

fn tank<const D: usize>() -> Shape<D> {
    Shape::Box {
        low: [0.0; D],
        high: [1.0; D],
    }
    .inverted()
}

fn block() -> Shape<2> {
    Shape::Box {
        low: HALF.map(|h| -h),
        high: HALF,
    }
}

fn ball<const D: usize>(radius: f64) -> Shape<D> {
    Shape::Sphere {
        center: [0.0; D],
        radius,
    }
}

fn free<const D: usize>(shape: Shape<D>, density: f64, pose: Pose<D>) -> Result<Body<D>, Error> {
    let mass = Mass::of_density(&shape, density).map_err(wrong)?;
    Ok(Body::free("body", shape, mass).at(pose))
}

/// Mean force of the liquid upwards, and torque about the last axis, on a body that is held.
fn held_force<const D: usize>(
    n: usize,
    shape: Shape<D>,
    pose: Pose<D>,
    level: f64,
) -> Result<(f64, f64), Error> {
    let body = free(shape, HELD, pose)?;
    let weight = body.mass.map_or(0.0, |mass| mass.mass) * G;
    let mut world = world(n, tank(), body, level)?;
    let mut hold = Wrench::<D>::ZERO;
    hold.force[D - 1] = weight;
    let (mut force, mut torque) = (0.0, 0.0);
    // Velocities belong to the middle of a step: the first one is different.
    const STEPS: usize = 10;
    for step in 0..=STEPS {
        // Gravity acts for half of the first step only.
        let mut now = hold;
        if step == 0 {
            now.force[D - 1] *= 0.5;
        }
        let report = world
            .step_with(0.002, &[Wrench::ZERO, now], &mut ())
            .map_err(wrong)?;
        if step > 0 {
            force += report.loads[1].liquid.force[D - 1] / STEPS as f64;
            torque += report.loads[1].liquid.torque[2] / STEPS as f64;
        }
    }
    Ok((force, torque))
}

/// Area of the box below a level through its center, turned by an angle, and how far its centroid is to the side.
fn submerged_box(angle: f64) -> (f64, f64) {
    let (s, c) = angle.sin_cos();
    let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
        .map(|k: [f64; 2]| [k[0] * HALF[0], k[1] * HALF[1]])
        .map(|x| [c * x[0] - s * x[1], s * x[0] + c * x[1]]);
    let mut clipped: Vec<[f64; 2]> = Vec::new();
    for (k, a) in corners.iter().enumerate() {
        let b = corners[(k + 1) % 4];
        if a[1] <= 0.0 {
            clipped.push(*a);
        }
        if (a[1] <= 0.0) != (b[1] <= 0.0) {
            let t = a[1] / (a[1] - b[1]);
            clipped.push([a[0] + t * (b[0] - a[0]), 0.0]);
        }
    }
    let (mut area, mut moment) = (0.0, 0.0);
    for (k, a) in clipped.iter().enumerate() {
        let b = clipped[(k + 1) % clipped.len()];
        let cross = 0.5 * (a[0] * b[1] - b[0] * a[1]);
        area += cross;
        moment += cross * (a[0] + b[0]) / 3.0;
    }
    (area, moment / area)
}

fn forces(resolutions: &[usize]) -> Result<Table, Error> {
    let mut table = Table::columns(
        "body | tilt, degrees | cells per m | force beside Archimedes, % | righting arm, mm | exact, mm",
    );
    let level = 0.507;
    for &n in resolutions {
        for tilt in [0.0f64, 10.0, 20.0, 45.0] {
            let angle = tilt.to_radians();
            let pose = Pose {
                rotation: Rotation::from_angle(angle),
                translation: [0.503, level],
            };
            let (force, torque) = held_force(n, block(), pose, level)?;
            let (area, arm) = submerged_box(angle);
            table.push([
                "box 0.4 m x 0.2 m, half submerged".into(),
                Cell::Number(tilt, 0),
                Cell::Whole(n as u64),
                Cell::Number(100.0 * (force / (WATER * G * area) - 1.0), 2),
                Cell::Number(1e3 * torque / force, 2),
                Cell::Number(1e3 * arm, 2),
            ]);
        }
        let (force, _) = held_force::<2>(n, ball(0.15), Pose::translated([0.503, 0.3]), 0.7)?;
        table.push([
            "cylinder, radius 0.15 m, submerged".into(),
            Cell::Missing,
            Cell::Whole(n as u64),
            Cell::Number(100.0 * (force / (WATER * G * PI * 0.0225) - 1.0), 2),
            Cell::Missing,
            Cell::Missing,
        ]);
    }
    let n = resolutions[0].max(24);
    let (force, _) = held_force::<3>(n, ball(0.2), Pose::translated([0.503, 0.511, level]), level)?;
    let exact = WATER * G * 2.0 / 3.0 * PI * 0.008;
    table.push([
        "sphere, radius 0.2 m, half submerged".into(),
        Cell::Missing,
        Cell::Whole(n as u64),
        Cell::Number(100.0 * (force / exact - 1.0), 2),
        Cell::Missing,
        Cell::Missing,
    ]);
    Ok(table)
}

/// Heights of a body over time, from rest at its draft plus `off`.
fn heave(n: usize, density: f64, off: f64, seconds: f64) -> Result<Vec<(f64, f64)>, Error> {
    let level = 0.5;
    let at = level + HALF[1] - density / WATER * 2.0 * HALF[1];
    let body = free(block(), density, Pose::translated([0.5, at + off]))?;
    let mut world = world(n, tank(), body, level)?;
    let mut heights = Vec::new();
    while world.time() < seconds {
        let dt = world.step_limit(0.01).dt;
        world.step(dt, &mut ()).map_err(wrong)?;
        heights.push((world.time(), world.bodies().pose(1).translation[1] - at));
    }
    Ok(heights)
}

fn drafts(resolutions: &[usize]) -> Result<(Table, f64), Error> {
    let mut table = Table::columns(
        "density, kg/m³ | cells per m | draft, cm | off in the last second, cells | % of the height | largest, cells",
    );
    let mut worst = 0.0f64;
    for &n in resolutions {
        for density in [300.0, 500.0, 900.0] {
            let heights = heave(n, density, 0.0, 3.0)?;
            let last: Vec<f64> = (heights.iter().filter(|(t, _)| *t > 2.0))
                .map(|(_, y)| *y)
                .collect();
            let mean = last.iter().sum::<f64>() / last.len().max(1) as f64;
            let largest = heights.iter().fold(0.0f64, |m, (_, y)| m.max(y.abs()));
            let allowed = (0.01 * 2.0 * HALF[1]).max(0.1 / n as f64);
            worst = worst.max(mean.abs() / allowed);
            table.push([
                Cell::Number(density, 0),
                Cell::Whole(n as u64),
                Cell::Number(density / WATER * 200.0 * HALF[1], 1),
                Cell::Number(mean * n as f64, 3),
                Cell::Number(100.0 * mean / (2.0 * HALF[1]), 2),
                Cell::Number(largest * n as f64, 3),
            ]);
        }
    }
    Ok((table, worst))
}

fn added_masses(resolutions: &[usize]) -> Result<Table, Error> {
    let mut table = Table::columns(
        "density, kg/m³ | cells per m | acceleration in g | exact, in g | difference, %",
    );
    let (r, big) = (0.15f64, 0.45f64);
    let area = PI * r * r;
    let added = WATER * area * (big * big + r * r) / (big * big - r * r);
    for &n in resolutions {
        for density in [1.0, 500.0, 3000.0] {
            let center = [0.503, 0.504];
            let hollow = Shape::Sphere {
                center,
                radius: big,
            };
            let body = free(ball(r), density, Pose::translated(center))?;
            let mut world = world(n, hollow.inverted(), body, 2.0)?;
            let dt = 0.002;
            let kick = world.liquid().kick(dt);
            world.step(dt, &mut ()).map_err(wrong)?;
            let found = world.bodies().twist(1).linear[1] / (kick * G);
            let exact = (WATER - density) * area / (density * area + added);
            table.push([
                Cell::Number(density, 0),
                Cell::Whole(n as u64),
                Cell::Number(found, 4),
                Cell::Number(exact, 4),
                Cell::Number(100.0 * (found / exact - 1.0), 2),
            ]);
        }
    }
    Ok(table)
}

/// Mean time between crossings of the mean height, twice: the period.
fn period(heights: &[(f64, f64)]) -> Option<f64> {
    let mean = heights.iter().map(|h| h.1).sum::<f64>() / heights.len() as f64;
    let crossings: Vec<f64> = (heights.windows(2))
        .filter(|w| (w[0].1 > mean) != (w[1].1 > mean))
        .map(|w| w[0].0 + (w[1].0 - w[0].0) * (w[0].1 - mean) / (w[0].1 - w[1].1))
        .collect();
    let (first, last) = (crossings.first()?, crossings.last()?);
    (crossings.len() > 2).then(|| 2.0 * (last - first) / (crossings.len() - 1) as f64)
}

fn heaves(resolutions: &[usize]) -> Result<Table, Error> {
    let mut table = Table::columns("cells per m | period, s | without added mass, s");
    let mass = 500.0 * 4.0 * HALF[0] * HALF[1];
    // Liquid that the box displaces rises beside it, in a tank of one metre.
    let stiffness = WATER * G * 2.0 * HALF[0] / (1.0 - 2.0 * HALF[0]);
    for &n in resolutions {
        let heights = heave(n, 500.0, 0.02, 3.0)?;
        table.push([
            Cell::Whole(n as u64),
            Cell::maybe(period(&heights), 3),
            Cell::Number(2.0 * PI * (mass / stiffness).sqrt(), 3),
        ]);
    }
    Ok(table)
}

/// What users of other tools report, here: a description, what should be, and what is.
fn failures(n: usize) -> Result<(Table, [f64; 3]), Error> {
    let mut table = Table::columns("report | what should be | here");
    let (force, _) = held_force::<2>(n, ball(0.12), Pose::translated([0.5, 0.3]), 0.7)?;
    let ratio = force / (WATER * G * PI * 0.0144);
    table.push([
        "a body floats in suspension only at 7 to 10 times its density (a user of SPlisHSPlasH)"
            .into(),
        "1.000 times".into(),
        format!("{ratio:.3} times").into(),
    ]);
    // A raft of 1 m x 0.35 m and 50 kg per metre displaces 350 kg and carries 300 kg, which weigh 2940 N.
    let carries = |load: f64| -> Result<f64, Error> {
        let half = [0.25, 0.0875];
        let shape = Shape::Box {
            low: half.map(|h| -h),
            high: half,
        };
        // At half the size the masses are a quarter.
        let density = (50.0 + load) / 0.35;
        let level = 0.6;
        let draft = (density / WATER).min(1.0) * 2.0 * half[1];
        let at = level - draft + half[1];
        let body = free(shape, density, Pose::translated([0.5, at]))?;
        let mut world = world(n, tank(), body, level)?;
        while world.time() < 3.0 {
            let dt = world.step_limit(0.01).dt;
            world.step(dt, &mut ()).map_err(wrong)?;
        }
        Ok(at - world.bodies().pose(1).translation[1])
    };
    let mut sunk = [0.0; 4];
    for (sunk, share) in sunk.iter_mut().zip(LOADS) {
        *sunk = carries(share * 300.0)?;
    }
    let words: Vec<String> = (LOADS.iter().zip(sunk))
        .map(|(share, sunk)| format!("{:.0} mm under {:.0} %", 1e3 * sunk, 100.0 * share))
        .collect();
    table.push([
        "a raft that should carry 2940 N sinks under 500 N (a user of Isaac Lab)".into(),
        "floats under 97 %, sinks under 103 % of it".into(),
        format!("in 3 s it sinks by {}", words.join(", ")).into(),
    ]);
    let [less, more, ..] = sunk;
    Ok((table, [ratio, less, more]))
}

impl Study for Archimedes {
    const NAME: &'static str = "archimedes";
    const SUMMARY: &'static str =
        "buoyancy, righting moment, draft, added mass and heave of bodies beside theory";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let most = options.cells as usize;
        let resolutions = [most / 4, most / 2, most];
        let forces = forces(&resolutions)?;
        let (drafts, worst) = drafts(&resolutions[1..])?;
        let added = added_masses(&resolutions[1..])?;
        let heave = heaves(&resolutions[1..])?;
        let (failures, [ratio, less, more]) = failures(most / 2)?;
        let targets = [
            Target::new(
                "draft off, in units of 1 % of the height or 0.1 cell, whichever is larger",
                Bound::AtMost(1.0),
                "",
                Some(worst),
                2,
            ),
            Target::new(
                "force on a submerged body beside that of what it displaces, difference",
                Bound::AtMost(2.0),
                "%",
                Some(100.0 * (ratio - 1.0).abs()),
                2,
            ),
            Target::new(
                "raft under 97 % of the load: sinks in 3 s",
                Bound::AtMost(0.1 * 2e3 / most as f64),
                "mm",
                Some(1e3 * less),
                1,
            ),
            Target::new(
                "raft under 103 % of the load: sinks in 3 s",
                Bound::AtLeast(50.0),
                "mm",
                Some(1e3 * more),
                0,
            ),
        ];
        Ok(Findings {
            study: Self::NAME,
            variant: (options.cells != 64).then(|| options.cells.to_string()),
            setting: vec![
                "Whole steps with particles and default settings, in a tank of one metre, in the plane unless a sphere is \
                 named. Held bodies have 1000 times the density of water and a force that carries them; forces are means \
                 over 20 ms. Other tools were not run: what their users report is quoted."
                    .into(),
                machine::sentence(load),
            ],
            pictures: Vec::new(),
            sections: vec![
                target::section(Vec::new(), &targets),
                Section::new(
                    "Reported failures of other tools, here",
                    ["Liquid floods a deck in a layer of about a cell: until then a raft that is too heavy lies with its deck below \
                      the level, and does not sink."],
                    failures,
                ),
                Section::table("Force and righting moment", forces),
                Section::table("Draft of a box of 0.4 m x 0.2 m over 3 s", drafts.clone()),
                Section::new(
                    "Added mass: a cylinder of radius 0.15 m released in a full vessel of radius 0.45 m",
                    ["Acceleration of the first step, upwards."],
                    added,
                ),
                Section::new(
                    "Heave of the box of 500 kg/m³, released 2 cm above its draft",
                    ["The added mass of a box at a surface in a tank has no closed form: the period without it is a lower bound."],
                    heave,
                ),
            ],
            data: drafts,
        })
    }
}
