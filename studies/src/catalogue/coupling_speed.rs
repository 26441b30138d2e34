//! Cost of bodies in the pressure problem: the pressure alone, pressure and contact at once, and the method of the paper.

use crate::phase_timer::PhaseTimer;
use crate::prelude::*;
use meniscus_coupled::{Coupled, Method, Scheme, Settings};
use meniscus_liquid::{Liquid, Settings as LiquidSettings, Walls};
use meniscus_rigid::{Bodies, Body, Mass, Settings as BodySettings};
use meniscus_shapes::{Pose, Shape};

/// Cycles of a cold start at most.
const MOST_CYCLES: f64 = 12.0;
/// Times the CPU time of the pressure alone that the unified problem may take.
const MOST_RATIO: f64 = 1.3;
/// Times the CPU time of the unified problem that SOR-MPRGP takes at least, with 64 cells.
const LEAST_GAIN: f64 = 20.0;
/// Density of water.
const WATER: f64 = 1000.0;

/// The study.
pub struct CouplingSpeed;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along each side of the tank
    #[arg(long, value_name = "N", default_values_t = [32, 64], value_delimiter = ',', value_parser = value_parser!(u32).range(16..=256))]
    cells: Vec<u32>,
    /// Densities of the bodies, in densities of water
    #[arg(long, value_name = "X", default_values_t = [0.01, 0.1, 1.0, 10.0], value_delimiter = ',')]
    densities: Vec<f64>,
    /// Most iterations of SOR-MPRGP
    #[arg(long, value_name = "N", default_value_t = 5000)]
    most_iterations: u32,
}

/// Boxes or balls in a tank, by kind.
fn bodies(kind: &str, density: f64, dx: f64) -> Result<Vec<Body<3>>, Error> {
    let free = |shape: Shape<3>, at: [f64; 3]| -> Result<Body<3>, Error> {
        let mass = Mass::of_density(&shape, density * WATER).map_err(wrong)?;
        let speed = [0.2 * (17.0 * at[0]).sin(), 0.1, 0.2 * (11.0 * at[1]).cos()];
        let body = Body::free("body", shape, mass).at(Pose::translated(at));
        Ok(body.friction(0.0).moving(speed, [0.1, 0.2, -0.1]))
    };
    let block = |half: [f64; 3]| Shape::Box {
        low: half.map(|h| -h),
        high: half,
    };
    let ball = |radius: f64| Shape::Sphere {
        center: [0.0; 3],
        radius,
    };
    let gap = 0.02 * dx;
    match kind {
        "one" => Ok(vec![free(ball(0.15), [0.47, 0.52, 0.4])?]),
        "ground" => Ok(vec![free(
            block([0.18, 0.18, 0.12]),
            [0.47, 0.51, 0.12 + gap],
        )?]),
        "stack" => Ok(vec![
            free(block([0.3, 0.3, 0.08]), [0.5, 0.5, 0.08 + gap])?,
            free(block([0.1; 3]), [0.35, 0.4, 0.26 + 2.0 * gap])?,
            free(block([0.1; 3]), [0.62, 0.6, 0.26 + 2.0 * gap])?,
            free(block([0.1; 3]), [0.35, 0.4, 0.46 + 3.0 * gap])?,
        ]),
        _ => (0..50)
            .map(|k| {
                // Layers of 5 by 5 balls that touch within a layer.
                let (i, j, layer) = (k % 5, k / 5 % 5, k / 25);
                let radius = 0.07;
                let at = |c: usize| 0.5 + (c as f64 - 2.0) * (2.0 * radius + gap);
                free(ball(radius), [at(i), at(j), 0.2 + 0.25 * layer as f64])
            })
            .collect(),
    }
}

fn wrong(what: impl std::fmt::Display) -> Error {
    Error::new(Kind::Resources, what.to_string())
}

/// What the first step of a scene takes.
struct Cost {
    cycles: usize,
    cpu: f64,
    contacts: usize,
    unknowns: usize,
}

/// The scene of a case at its start.
pub fn world(
    case: &Case,
    scheme: Scheme,
    method: Method,
    most_iterations: u32,
) -> Result<Coupled<3>, Error> {
    let n = case.cells as usize;
    let dx = 1.0 / n as f64;
    let mut settings = LiquidSettings::new([n; 3], dx);
    settings.physics.walls = case.walls;
    let body_settings = BodySettings::default()
        .gravity(settings.physics.gravity)
        .resting_gap(Some(0.02 * dx));
    let mut all = Bodies::new(body_settings).map_err(wrong)?;
    let tank = Shape::Box {
        low: [0.0; 3],
        high: [1.0; 3],
    };
    all.add(Body::fixed("tank", tank.inverted()).friction(0.0))
        .map_err(wrong)?;
    for body in bodies(case.kind, case.density, dx)? {
        all.add(body).map_err(wrong)?;
    }
    let mut coupling = Settings::default();
    coupling.scheme = scheme;
    coupling.method = method;
    coupling.max_iterations = most_iterations as usize;
    let liquid = Liquid::new(settings).map_err(wrong)?;
    let mut world = Coupled::new(liquid, all, coupling).map_err(wrong)?;
    let swirl = |x: [f64; 3]| {
        [
            (6.0 * x[2]).sin(),
            0.5 * (6.0 * x[0]).cos(),
            -(6.0 * x[0]).cos(),
        ]
    };
    world.fill(&|x: [f64; 3]| x[2] - 0.75, &swirl);
    Ok(world)
}

fn cost(
    case: &Case,
    scheme: Scheme,
    method: Method,
    most_iterations: u32,
) -> Result<Option<Cost>, Error> {
    let mut world = world(case, scheme, method, most_iterations)?;
    let dx = world.liquid().settings().dx;
    let mut phase = PhaseTimer::of_pressure_contact();
    match world.step(0.25 * dx, &mut phase) {
        Ok(report) => Ok(Some(Cost {
            cycles: report.cycles,
            cpu: phase.cpu,
            contacts: report.contacts,
            unknowns: report.liquid.unknowns,
        })),
        // A method that does not end is a result, too.
        Err(meniscus_coupled::StepError::Liquid(_)) => Ok(None),
        Err(error) => Err(wrong(error)),
    }
}

/// A scene.
pub struct Case {
    /// Bodies: one, ground, stack or fifty.
    pub kind: &'static str,
    /// Cells along each side.
    pub cells: u32,
    /// Density of the bodies, in that of water.
    pub density: f64,
    /// Kind of walls.
    pub walls: Walls,
}

impl Study for CouplingSpeed {
    const NAME: &'static str = "coupling-speed";
    const SUMMARY: &'static str =
        "cycles and CPU time of pressure alone, unified solves and SOR-MPRGP";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let mut table = Table::columns(
            "cells | walls | bodies | density | unknowns | contacts | cycles of the pressure alone | cycles, unified | CPU ms of the pressure alone | CPU ms, unified | iterations of SOR-MPRGP | CPU ms of SOR-MPRGP | times unified",
        );
        let (mut most_cycles, mut most_ratio, mut least_gain) = (0.0f64, 0.0f64, None::<f64>);
        for &cells in &options.cells {
            for walls in [Walls::Slip, Walls::Separating] {
                for kind in ["one", "ground", "stack", "fifty"] {
                    for &density in &options.densities {
                        let case = Case {
                            kind,
                            cells,
                            density,
                            walls,
                        };
                        let of =
                            |scheme, method| cost(&case, scheme, method, options.most_iterations);
                        let alone = of(Scheme::PressureContact, Method::Multigrid)?;
                        let unified = of(Scheme::Unified, Method::Multigrid)?;
                        let paper = of(Scheme::Unified, Method::SorMprgp)?;
                        let ratio = |a: &Option<Cost>, b: &Option<Cost>| {
                            Some(a.as_ref()?.cpu / b.as_ref()?.cpu)
                        };
                        let gain = ratio(&paper, &unified);
                        most_cycles = most_cycles.max(match &unified {
                            Some(unified) => unified.cycles as f64,
                            None => f64::INFINITY,
                        });
                        most_ratio =
                            most_ratio.max(ratio(&unified, &alone).unwrap_or(f64::INFINITY));
                        if let (64, Some(gain)) = (cells, gain) {
                            least_gain = Some(least_gain.map_or(gain, |least| least.min(gain)));
                        }
                        let count = |cost: &Option<Cost>| match cost {
                            Some(cost) => Cell::Whole(cost.cycles as u64),
                            None => "not solved".into(),
                        };
                        let time = |cost: &Option<Cost>| {
                            Cell::maybe(cost.as_ref().map(|cost| 1e3 * cost.cpu), 1)
                        };
                        table.push([
                            Cell::Whole(cells as u64),
                            walls.to_string().as_str().into(),
                            kind.into(),
                            Cell::Number(density, 2),
                            unified
                                .as_ref()
                                .map_or(Cell::Missing, |c| Cell::Whole(c.unknowns as u64)),
                            unified
                                .as_ref()
                                .map_or(Cell::Missing, |c| Cell::Whole(c.contacts as u64)),
                            count(&alone),
                            count(&unified),
                            time(&alone),
                            time(&unified),
                            count(&paper),
                            time(&paper),
                            Cell::maybe(gain, 1),
                        ]);
                    }
                }
            }
        }
        let targets = [
            Target::new(
                "cycles of the unified problem, cold, at most",
                Bound::AtMost(MOST_CYCLES),
                "",
                Some(most_cycles),
                0,
            ),
            Target::new(
                "CPU time of the unified problem beside the pressure alone, at most",
                Bound::AtMost(MOST_RATIO),
                "times",
                Some(most_ratio),
                2,
            ),
            Target::new(
                "CPU time of SOR-MPRGP beside the unified problem with 64 cells, at least",
                Bound::AtLeast(LEAST_GAIN),
                "times",
                least_gain,
                1,
            ),
        ];
        let usual = options.cells == [32, 64] && options.densities == [0.01, 0.1, 1.0, 10.0];
        let name = || {
            let cells: Vec<String> = options.cells.iter().map(u32::to_string).collect();
            format!("{}-{}", cells.join("-"), options.densities.len())
        };
        Ok(Findings {
            study: Self::NAME,
            variant: (!usual).then(name),
            setting: vec![
                "First steps, from cold starts, of a tank of one metre filled to three quarters with a swirl and moving bodies without \
                 friction: a ball in the liquid, a box on the floor, four boxes in a stack, fifty balls in two layers. The time is that of \
                 the phase of pressure and contact, which may have several solves; pressure alone is scheme P-C, \
                 whose contacts are solved once after the pressure. SOR-MPRGP has omega = 1. Multigrid as a preconditioner of MPRGP on the joint \
                 system was not run, nor were warm starts."
                    .into(),
                machine::sentence(load),
            ],
            pictures: Vec::new(),
            sections: vec![
                target::section(Vec::new(), &targets),
                Section::table("All cases", table.clone()),
            ],
            data: table,
        })
    }
}
