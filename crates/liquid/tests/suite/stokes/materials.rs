//! Liquids of different viscosity, and the walls that they touch.

use meniscus_liquid::stokes::{Rheology, SolidWall};
use meniscus_liquid::{Emitter, Liquid, Settings, Sources, Walls};
use meniscus_shapes::{ScriptedSolid, Shape, Solids};

fn room<const D: usize>(settings: &Settings<D>) -> ScriptedSolid<D> {
    let (low, high) = ([0.0; D], settings.domain());
    ScriptedSolid::still("room", Shape::Box { low, high }.inverted())
}

fn viscous<const D: usize>(n: usize, materials: Vec<Rheology>, walls: Walls) -> Settings<D> {
    let mut settings = Settings::<D>::new([n; D], 1.0 / n as f64);
    settings.physics.materials = materials;
    settings.physics.walls = walls;
    settings
}

/// Two columns of different liquid at the sides of a tank, and an emitter of the second between them.
fn two_columns() -> (Liquid<2>, Solids<2>, Sources<2>) {
    let materials = vec![
        Rheology::newtonian(5.0),
        Rheology {
            yield_stress: 100.0,
            consistency: 30.0,
            flow_index: 0.6,
            smallest_rate: 0.1,
        },
    ];
    let settings = viscous::<2>(32, materials, Walls::Stick);
    let solids = Solids::new(vec![room(&settings)]);
    let mut liquid = Liquid::new(settings).unwrap();
    let columns = |x: [f64; 2]| (x[0] - 0.25).min(0.8 - x[0]).max(x[1] - 0.5);
    liquid.fill(&columns, &|_| [0.0; 2], &solids);
    liquid.set_materials(&|x| u8::from(x[0] > 0.5));
    let sources = Sources {
        emitters: vec![Emitter {
            shape: Shape::Box {
                low: [0.45, 0.8],
                high: [0.55, 0.9],
            },
            velocity: [0.0, -1.0],
            active: 0.0..10.0,
        }],
        drains: Vec::new(),
        materials: vec![1],
    };
    liquid.set_sources(sources.clone());
    (liquid, solids, sources)
}

fn bytes<const D: usize>(liquid: &Liquid<D>) -> Vec<u8> {
    let mut bytes = Vec::new();
    liquid.state().write(&mut bytes).unwrap();
    assert_eq!(bytes.len(), liquid.state().len());
    bytes
}

#[test]
fn particles_keep_their_material_through_sorting_emission_and_a_checkpoint() {
    let (mut liquid, solids, sources) = two_columns();
    for _ in 0..6 {
        liquid.step(&solids, 0.02, &mut ()).unwrap();
    }
    let particles = liquid.particles();
    let material = particles.material.as_ref().unwrap();
    assert_eq!(material.len(), particles.len());
    // The first column has not reached what falls in the middle.
    for (x, &material) in particles.position.iter().zip(material) {
        match x[0] {
            x if x < 0.4 => assert_eq!(material, 0, "{x}"),
            x if x > 0.46 => assert_eq!(material, 1, "{x}"),
            _ => {}
        }
    }
    let saved = bytes(&liquid);
    let mut restored = Liquid::restore(liquid.settings().clone(), &saved).unwrap();
    restored.set_sources(sources);
    for liquid in [&mut liquid, &mut restored] {
        for _ in 0..4 {
            liquid.step(&solids, 0.02, &mut ()).unwrap();
        }
    }
    assert!(bytes(&liquid) == bytes(&restored), "resumed to other bytes");
    let mut damaged = saved;
    let place = damaged.len() - 1;
    damaged[place] = 7;
    assert!(Liquid::restore(liquid.settings().clone(), &damaged).is_err());
}

#[test]
fn steps_of_viscous_liquid_have_the_same_bits_for_any_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let (mut liquid, solids, _) = two_columns();
            for _ in 0..5 {
                liquid.step(&solids, 0.02, &mut ()).unwrap();
            }
            bytes(&liquid)
        })
    };
    let one = run(1);
    assert!(run(2) == one && run(5) == one, "bits depend on threads");
}

#[test]
fn liquids_side_by_side_flow_as_each_does_alone() {
    let front = |materials: Vec<Rheology>, left: bool| {
        let settings = viscous::<2>(32, materials, Walls::Stick);
        let solids = Solids::new(vec![room(&settings)]);
        let both = settings.physics.materials.len() > 1;
        let mut liquid = Liquid::new(settings).unwrap();
        let column = |x: [f64; 2]| {
            let (a, b) = (x[0] - 0.2, 0.8 - x[0]);
            let side = match (both, left) {
                (true, _) => a.min(b),
                (false, true) => a,
                (false, false) => b,
            };
            side.max(x[1] - 0.4)
        };
        liquid.fill(&column, &|_| [0.0; 2], &solids);
        liquid.set_materials(&|x| u8::from(x[0] > 0.5));
        for _ in 0..10 {
            liquid.step(&solids, 0.02, &mut ()).unwrap();
        }
        let positions = liquid.particles().position.iter();
        match left {
            true => positions
                .map(|x| x[0])
                .filter(|&x| x < 0.5)
                .fold(0.0, f32::max),
            false => {
                1.0 - positions
                    .map(|x| x[0])
                    .filter(|&x| x > 0.5)
                    .fold(1.0, f32::min)
            }
        }
    };
    let (thin, thick) = (Rheology::newtonian(20.0), Rheology::newtonian(2000.0));
    let together = [true, false].map(|left| front(vec![thin, thick], left));
    let alone = [front(vec![thin], true), front(vec![thick], false)];
    println!("together {together:?}, alone {alone:?}");
    for (together, alone) in together.iter().zip(alone) {
        assert!((together - alone).abs() < 0.3 / 32.0, "{together} {alone}");
    }
    assert!(alone[0] > alone[1] + 0.05, "{alone:?}");
}

/// Height that the middle of liquid falls in 0.1 s, of what it would fall freely; it hangs from a ceiling or at a wall.
fn fallen(
    walls: Walls,
    adhesion: f64,
    viscosity: f64,
    ceiling: bool,
    own: Option<SolidWall>,
) -> f64 {
    let mut settings = viscous::<2>(24, vec![Rheology::newtonian(viscosity)], walls);
    settings.physics.adhesion = adhesion;
    settings.physics.solid_walls = own.into_iter().collect();
    let solids = Solids::new(vec![room(&settings)]);
    let mut liquid = Liquid::new(settings).unwrap();
    let block = move |x: [f64; 2]| match ceiling {
        true => (x[0] - 0.5).abs() - 0.2,
        false => x[0] - 0.2,
    };
    let height = move |x: [f64; 2]| match ceiling {
        true => 0.8 - x[1],
        false => (x[1] - 0.6).abs() - 0.2,
    };
    liquid.fill(&|x| block(x).max(height(x)), &|_| [0.0; 2], &solids);
    let middle = |liquid: &Liquid<2>| {
        let y = liquid.particles().position.iter().map(|x| f64::from(x[1]));
        y.sum::<f64>() / liquid.particles().len() as f64
    };
    let before = middle(&liquid);
    for _ in 0..10 {
        liquid.step(&solids, 0.01, &mut ()).unwrap();
    }
    // Gravity acts for half of the first step.
    let free = 0.5 * 9.81 * 0.01 * 10.0 * 0.1;
    (before - middle(&liquid)) / free
}

#[test]
fn liquid_falls_from_separating_ceilings_and_hangs_from_sticking_ones() {
    for viscosity in [1.0, 1e3, 1e5] {
        let falls = fallen(Walls::Separating, 0.0, viscosity, true, None);
        let hangs = fallen(Walls::Stick, 0.0, viscosity, true, None);
        let held = fallen(Walls::Separating, 1e9, viscosity, true, None);
        println!("{viscosity:e}: separating {falls:.4}, stick {hangs:.4}, adhesion {held:.4}");
        // Particles at the ceiling lag behind for a few steps.
        assert!((falls - 1.0).abs() < 0.12, "{viscosity:e}: {falls}");
        assert!(
            hangs < 0.9 && hangs == held,
            "{viscosity:e}: {hangs} {held}"
        );
    }
    assert!(fallen(Walls::Stick, 0.0, 1e5, true, None) < 0.01);
}

#[test]
fn liquid_slides_down_slip_walls_and_stays_at_sticking_ones() {
    let slides = fallen(Walls::Slip, 0.0, 1e4, false, None);
    let stays = fallen(Walls::Stick, 0.0, 1e4, false, None);
    println!("slip {slides:.4}, stick {stays:.4}");
    assert!((slides - 1.0).abs() < 0.02, "{slides}");
    assert!(stays < 0.1, "{stays}");
}

#[test]
fn single_solids_have_walls_of_their_own() {
    let own = |kind: Walls| SolidWall {
        kind,
        adhesion: 0.0,
    };
    for (usual, kind) in [(Walls::Stick, Walls::Slip), (Walls::Slip, Walls::Stick)] {
        let mixed = fallen(usual, 0.0, 1e4, false, Some(own(kind)));
        assert_eq!(mixed, fallen(kind, 0.0, 1e4, false, None), "{usual} {kind}");
    }
}

#[test]
fn as_viscosity_vanishes_the_flow_becomes_the_inviscid_one() {
    let middle = |viscosity: Option<f64>| {
        let materials = viscosity.map(Rheology::newtonian).into_iter().collect();
        let settings = viscous::<2>(32, materials, Walls::Slip);
        let solids = Solids::new(vec![room(&settings)]);
        let mut liquid = Liquid::new(settings).unwrap();
        let column = |x: [f64; 2]| (x[0] - 0.4).max(x[1] - 0.6);
        liquid.fill(&column, &|_| [0.0; 2], &solids);
        for _ in 0..20 {
            liquid.step(&solids, 0.01, &mut ()).unwrap();
        }
        let positions = &liquid.particles().position;
        let sum = positions
            .iter()
            .fold([0.0; 2], |sum, x| [sum[0] + x[0], sum[1] + x[1]]);
        sum.map(|s| s / positions.len() as f32)
    };
    let inviscid = middle(None);
    let apart = [100.0, 10.0, 1.0, 1e-2, 1e-6].map(|viscosity| {
        let own = middle(Some(viscosity));
        (own[0] - inviscid[0]).hypot(own[1] - inviscid[1])
    });
    println!("{apart:?}");
    assert!(
        apart[0] > 5.0 * apart[1] && apart[1] > 3.0 * apart[4],
        "{apart:?}"
    );
    // What is left is that of two discretisations of walls and surface: a fiftieth of a cell.
    assert!(
        apart[2..].iter().all(|&apart| apart < 0.02 / 32.0),
        "{apart:?}"
    );
    // And it no longer depends on the viscosity.
    assert!((apart[3] - apart[4]).abs() < 1e-2 * apart[4], "{apart:?}");
}

#[test]
fn thick_liquid_leaves_an_emitter_at_its_speed_and_hangs_from_it() {
    let settings = viscous::<2>(32, vec![Rheology::newtonian(1e5)], Walls::Stick);
    let solids = Solids::new(vec![room(&settings)]);
    let mut liquid = Liquid::new(settings).unwrap();
    liquid.set_sources(Sources {
        emitters: vec![Emitter {
            shape: Shape::Box {
                low: [0.4, 0.8],
                high: [0.6, 0.9],
            },
            velocity: [0.0, -0.5],
            active: 0.0..10.0,
        }],
        drains: Vec::new(),
        materials: Vec::new(),
    });
    for _ in 0..60 {
        liquid.step(&solids, 0.02, &mut ()).unwrap();
    }
    // The weight of 0.5 m stretches it by rho g h/(4 eta) < 0.02/s; the column has passed 0.6 m.
    let particles = liquid.particles();
    let lowest = particles.position.iter().fold(1.0, |m: f32, x| m.min(x[1]));
    let fastest = particles
        .velocity
        .iter()
        .fold(0.0, |m: f32, v| m.max(v[1].abs()));
    println!("lowest {lowest}, fastest {fastest}");
    assert!((lowest - 0.3).abs() < 1.5 / 32.0, "{lowest}");
    assert!(fastest < 0.53, "{fastest}");
}

#[test]
fn a_heap_melts_faster_if_pressure_and_viscosity_are_solved_in_turn() {
    let sunk = |viscosity: f64, in_turn: bool| {
        let mut settings = viscous::<2>(48, vec![Rheology::newtonian(viscosity)], Walls::Stick);
        settings.physics.decoupled_viscosity = in_turn;
        let solids = Solids::new(vec![room(&settings)]);
        let mut liquid = Liquid::new(settings).unwrap();
        let heap = |x: [f64; 2]| (x[0] - 0.5).hypot(x[1]) - 0.35;
        liquid.fill(&heap, &|_| [0.0; 2], &solids);
        for _ in 0..6 {
            liquid.step(&solids, 0.02, &mut ()).unwrap();
        }
        let velocities = liquid.particles().velocity.iter();
        velocities.map(|v| -f64::from(v[1])).sum::<f64>() / liquid.particles().len() as f64
    };
    for (viscosity, range) in [(1e2, 0.9..1.2), (1e4, 1.25..1.6)] {
        let (at_once, in_turn) = (sunk(viscosity, false), sunk(viscosity, true));
        let ratio = in_turn / at_once;
        println!("{viscosity:e}: {at_once:.5} m/s at once, {in_turn:.5} in turn, ratio {ratio:.3}");
        assert!(range.contains(&ratio), "{viscosity:e}: {ratio}");
    }
}

#[test]
fn a_hemisphere_of_particles_on_the_floor_takes_at_most_thirty_iterations() {
    let mut settings = viscous::<3>(32, vec![Rheology::newtonian(1e4)], Walls::Stick);
    settings.physics.max_step = 0.02;
    let solids = Solids::new(vec![room(&settings)]);
    let mut liquid = Liquid::new(settings).unwrap();
    let ball = |x: [f64; 3]| (x[0] - 0.5).hypot(x[1] - 0.5).hypot(x[2]) - 0.272;
    liquid.fill(&ball, &|_| [0.0; 3], &solids);
    for step in 0..3 {
        let report = liquid.step(&solids, 0.02, &mut ()).unwrap();
        let iterations = report.outer_iterations;
        println!(
            "step {step}: {iterations} iterations, {} unknowns",
            report.unknowns
        );
        assert!(iterations <= 30, "{iterations}");
    }
}
