//! What comes in and what leaves: the amounts are right, and the liquid takes note.

use crate::common::advance;
use crate::common::{run, tank};
use meniscus_liquid::{Drain, Emitter, Liquid, Settings, Sources};
use meniscus_shapes::{ScriptedSolid, Shape, Solids};

const ALWAYS: std::ops::Range<f64> = 0.0..f64::INFINITY;

/// A box around a point, half as wide in all directions but the first.
fn block<const D: usize>(center: [f64; D], half: f64) -> Shape<D> {
    let reach = |a: usize| if a == 0 { half } else { 0.5 * half };
    Shape::Box {
        low: std::array::from_fn(|a| center[a] - reach(a)),
        high: std::array::from_fn(|a| center[a] + reach(a)),
    }
}

fn along<const D: usize>(axis: usize, speed: f64) -> [f64; D] {
    std::array::from_fn(|a| if a == axis { speed } else { 0.0 })
}

fn jet_keeps_its_speed<const D: usize>() {
    let dx = 1.0 / 32.0;
    let mut settings = Settings::<D>::new(std::array::from_fn(|a| [48, 16, 16][a]), dx);
    settings.physics.gravity = [0.0; D];
    let each = settings.particle_volume();
    let solids = tank(&settings);
    let mut liquid = Liquid::new(settings).unwrap();
    let middle: [f64; D] = std::array::from_fn(|a| if a == 0 { 0.1 } else { 0.253 });
    liquid.set_sources(Sources {
        materials: Vec::new(),
        emitters: vec![Emitter {
            shape: block(middle, 0.06),
            velocity: along(0, 2.0),
            active: 0.125..0.625,
        }],
        drains: vec![],
    });
    let mut emitted = 0.0;
    run(&mut liquid, &solids, 0.75, |liquid, report| {
        emitted += report.emitted;
        let bound = if report.time < 0.126 { 1.0 } else { dx };
        assert!(report.dt <= 1.001 * bound, "emitters count for the step");
        assert!(report.time > 0.125 || liquid.particles().is_empty());
    });
    let due = 0.06f64.powi(D as i32 - 1) * 2.0 * 0.5;
    assert!(
        (emitted / due - 1.0).abs() < 0.02,
        "{emitted} instead of {due}"
    );
    assert!((emitted - liquid.particles().len() as f64 * each).abs() < 1e-9);
    for &v in &liquid.particles().velocity {
        assert!((v[0] as f64 - 2.0).abs() < 0.02, "{v:?}");
    }
    // From 0.04 m on for half a second to an eighth of a second: a block of 1 m.
    let places = &liquid.particles().position;
    let front = places.iter().map(|x| x[0] as f64).fold(0.0, f64::max);
    let end = places.iter().map(|x| x[0] as f64).fold(9.0, f64::min);
    assert!((front - 1.29).abs() < 1.5 * dx, "front at {front}");
    assert!((end - 0.29).abs() < 1.5 * dx, "end at {end}");
}

#[test]
fn a_jet_without_gravity_flies_on_at_the_speed_of_its_emitter_in_2d() {
    jet_keeps_its_speed::<2>();
}

#[test]
fn a_jet_without_gravity_flies_on_at_the_speed_of_its_emitter_in_3d() {
    jet_keeps_its_speed::<3>();
}

fn an_empty_tank_is_filled<const D: usize>() {
    let dx = 1.0 / 24.0;
    let settings = Settings::<D>::new(std::array::from_fn(|a| [12, 24, 24][a + 3 - D]), dx);
    let solids = tank(&settings);
    let domain = settings.domain();
    let mut liquid = Liquid::new(settings).unwrap();
    let mouth: [f64; D] = std::array::from_fn(|a| if a == D - 1 { 0.8 } else { 0.5 * domain[a] });
    liquid.set_sources(Sources {
        materials: Vec::new(),
        emitters: vec![Emitter {
            shape: block(mouth, 0.13),
            velocity: along(D - 1, -2.0),
            active: 0.25..1.0,
        }],
        drains: vec![],
    });
    let (mut emitted, mut drift) = (0.0, 0.0);
    run(&mut liquid, &solids, 3.0, |_, report| {
        emitted += report.emitted;
        assert!(report.volume.is_finite() && report.kinetic_energy.is_finite());
        if report.expected_volume > 0.0 {
            drift = report.volume / report.expected_volume - 1.0;
        }
    });
    let due = 0.26 * 0.13f64.powi(D as i32 - 2) * 2.0 * 0.75;
    let volume = liquid.volume(&solids);
    eprintln!("{D}D: {due:.4} due, {emitted:.4} emitted, {volume:.4} there, drift {drift:.4}");
    assert!(
        (emitted / due - 1.0).abs() < 0.02,
        "{emitted} instead of {due}"
    );
    assert!(
        (volume / emitted - 1.0).abs() < 0.03,
        "{volume} of {emitted}"
    );
    assert!(drift.abs() < 0.03, "drift {drift}");
}

#[test]
fn an_emitter_fills_an_empty_tank_with_the_right_volume_in_2d() {
    an_empty_tank_is_filled::<2>();
}

#[test]
fn an_emitter_fills_an_empty_tank_with_the_right_volume_in_3d() {
    an_empty_tank_is_filled::<3>();
}

/// Still water, 0.5 m deep; half a second later the ports open for three quarters of a second. Returns volumes before
/// and after, emitted and drained, and the level, before and after, the latter as the mean of the last second.
fn pool<const D: usize>(ports: impl Fn([f64; D]) -> Sources<D>) -> ([f64; 4], [f64; 2]) {
    let dx = 1.0 / 24.0;
    let settings = Settings::<D>::new(std::array::from_fn(|a| [12, 24, 24][a + 3 - D]), dx);
    let solids = tank(&settings);
    let domain = settings.domain();
    let mut liquid = Liquid::new(settings).unwrap();
    liquid.fill(&|x| x[D - 1] - 0.5, &|_| [0.0; D], &solids);
    let before = liquid.volume(&solids);
    let high = level(&liquid);
    liquid.set_sources(ports(domain));
    let (mut emitted, mut drained, mut levels) = (0.0, 0.0, Vec::new());
    run(&mut liquid, &solids, 4.0, |liquid, report| {
        emitted += report.emitted;
        drained += report.drained;
        if liquid.time() > 3.0 {
            levels.push(level(liquid));
        }
    });
    let after = liquid.volume(&solids);
    let low = levels.iter().sum::<f64>() / levels.len() as f64;
    ([before, after, emitted, drained], [high, low])
}

/// Twice the mean height of the particles in each column of cells, and of that the mean over columns: the mean level
/// whatever the shape of the surface, so that it does not depend on the phase of sloshing liquid.
fn level<const D: usize>(liquid: &Liquid<D>) -> f64 {
    let inverse_dx = (1.0 / liquid.settings().dx) as f32;
    let mut columns = std::collections::BTreeMap::new();
    for x in &liquid.particles().position {
        let mut column = x.map(|x| (x * inverse_dx) as i32);
        column[D - 1] = 0;
        let (sum, count) = columns.entry(column).or_insert((0.0, 0));
        *sum += x[D - 1] as f64;
        *count += 1;
    }
    let heights = columns
        .values()
        .map(|(sum, count)| 2.0 * sum / *count as f64);
    heights.sum::<f64>() / columns.len() as f64
}

fn check_the_pool<const D: usize>(ports: impl Fn([f64; D]) -> Sources<D>) -> [f64; 2] {
    let ([before, after, emitted, drained], [high, low]) = pool(ports);
    let due = before + emitted - drained;
    eprintln!(
        "{D}D: {before:.4} + {emitted:.4} - {drained:.4}: {after:.4}, due {due:.4}; height {high:.4} to {low:.4}"
    );
    assert!((after / due - 1.0).abs() < 0.02, "{after} instead of {due}");
    let height = high * due / before;
    assert!(
        (low / height - 1.0).abs() < 0.03,
        "{low} instead of {height}"
    );
    [emitted / before, drained / before]
}

fn emitter_under_water<const D: usize>() {
    let [emitted, _] = check_the_pool(|domain: [f64; D]| Sources {
        materials: Vec::new(),
        emitters: vec![Emitter {
            shape: block(domain.map(|side| 0.3 * side), 0.12),
            velocity: along(0, 1.5),
            active: 0.5..1.25,
        }],
        drains: vec![],
    });
    assert!(emitted > 0.05, "too little to be seen: {emitted}");
}

#[test]
fn an_emitter_under_water_raises_the_level_by_what_it_adds_in_2d() {
    emitter_under_water::<2>();
}

#[test]
fn an_emitter_under_water_raises_the_level_by_what_it_adds_in_3d() {
    emitter_under_water::<3>();
}

fn drain_under_water<const D: usize>() {
    let [_, drained] = check_the_pool(|domain: [f64; D]| Sources {
        materials: Vec::new(),
        emitters: vec![],
        drains: vec![Drain {
            shape: block(domain.map(|side| 0.3 * side), 0.12),
            active: 0.5..1.25,
        }],
    });
    assert!(drained > 0.05, "too little to be seen: {drained}");
}

#[test]
fn a_drain_under_water_lowers_the_level_by_what_it_takes_in_2d() {
    drain_under_water::<2>();
}

#[test]
fn a_drain_under_water_lowers_the_level_by_what_it_takes_in_3d() {
    drain_under_water::<3>();
}

fn drained_at_once<const D: usize>() {
    let settings = Settings::<D>::new([24; D], 1.0 / 24.0);
    let solids = tank(&settings);
    let mut liquid = Liquid::new(settings).unwrap();
    liquid.fill(&|x| x[D - 1] - 0.6, &|_| [0.0; D], &solids);
    let shape = Shape::Sphere {
        center: [0.45; D],
        radius: 0.3,
    };
    let drain = Drain {
        shape,
        active: ALWAYS,
    };
    liquid.set_sources(Sources {
        materials: Vec::new(),
        emitters: vec![],
        drains: vec![drain],
    });
    let report = advance(&mut liquid, &solids, 0.01).unwrap();
    // A disc and a ball less what is above the water, half a radius from their centre.
    let r = 0.3f64;
    let due = match D {
        2 => r * r * (2.0 / 3.0 * std::f64::consts::PI + 3f64.sqrt() / 4.0),
        _ => r.powi(3) * std::f64::consts::PI * (4.0 / 3.0 - 5.0 / 24.0),
    };
    eprintln!("{D}D: {} drained, {due} due", report.drained);
    assert!(
        (report.drained / due - 1.0).abs() < 0.02,
        "{} instead of {due}",
        report.drained
    );
}

#[test]
fn a_drain_in_still_water_takes_its_own_volume_at_once() {
    drained_at_once::<2>();
    drained_at_once::<3>();
}

#[test]
fn a_tank_that_runs_dry_stays_dry_and_can_be_filled_again() {
    let settings = Settings::<2>::new([16; 2], 1.0 / 16.0);
    let solids = tank(&settings);
    let mut liquid = Liquid::new(settings).unwrap();
    liquid.fill(&|x| x[1] - 0.3, &|_| [0.0; 2], &solids);
    let everything = Shape::HalfSpace {
        point: [0.0, 2.0],
        normal: [0.0, 1.0],
    };
    liquid.set_sources(Sources {
        materials: Vec::new(),
        emitters: vec![Emitter {
            shape: block([0.5, 0.5], 0.2),
            velocity: [0.0, -1.0],
            active: 1.0..1.5,
        }],
        drains: vec![Drain {
            shape: everything,
            active: 0.25..0.5,
        }],
    });
    let (mut dry, mut wet) = (0, 0);
    run(&mut liquid, &solids, 2.0, |liquid, report| {
        let numbers = [report.volume, report.kinetic_energy, report.max_speed];
        assert!(numbers.iter().all(|n| n.is_finite()), "{report:?}");
        if liquid.particles().is_empty() {
            assert!(report.time > 0.25 && report.time < 1.1, "{report:?}");
            dry += 1;
        } else if report.time > 1.0 {
            wet += 1;
        }
    });
    assert!(dry > 5 && wet > 5, "{dry} steps dry, {wet} wet");
}

/// A tank whose side at the high or low end of an axis is open.
fn open_tank<const D: usize>(
    settings: &Settings<D>,
    axis: usize,
    is_high: bool,
) -> (Solids<D>, Sources<D>) {
    let (mut low, mut high) = ([0.0; D], settings.domain());
    let at = if is_high { high[axis] } else { 0.0 };
    if is_high {
        high[axis] += 1.0;
    } else {
        low[axis] -= 1.0;
    }
    let walls = Shape::Box { low, high }.inverted();
    let ports = Sources {
        materials: Vec::new(),
        emitters: vec![],
        drains: vec![Drain::open_side(axis, is_high, at, settings.dx)],
    };
    (
        Solids::new(vec![ScriptedSolid::still("tank", walls)]),
        ports,
    )
}

fn falls_out_of_the_bottom<const D: usize>() {
    let dx = 1.0 / 24.0;
    let settings = Settings::<D>::new([24; D], dx);
    let each = settings.particle_volume();
    let (solids, ports) = open_tank(&settings, D - 1, false);
    let mut liquid = Liquid::new(settings).unwrap();
    liquid.set_sources(ports);
    let falling = block([0.5; D], 0.2);
    liquid.fill(&|x| falling.distance(x), &|_| [0.0; D], &solids);
    let count = liquid.particles().len();
    let mut drained = 0.0;
    run(&mut liquid, &solids, 0.45, |liquid, report| {
        drained += report.drained;
        // Velocities belong to the middle of the step.
        let speed = 9.81 * (report.time - 0.5 * report.dt);
        let lag = |v: &[f32; D]| (v[D - 1] as f64 + speed).abs();
        let worst = liquid
            .particles()
            .velocity
            .iter()
            .map(lag)
            .fold(0.0, f64::max);
        assert!(
            worst < 0.01 * speed,
            "{worst} of {speed} m/s at {}",
            report.time
        );
    });
    // The upper end leaves after sqrt(2 0.6 / g) = 0.35 s.
    assert!(
        liquid.particles().is_empty(),
        "{} left",
        liquid.particles().len()
    );
    assert!((drained - count as f64 * each).abs() < 1e-9);
}

#[test]
fn a_block_falls_out_of_an_open_bottom_without_slowing_down() {
    falls_out_of_the_bottom::<2>();
    falls_out_of_the_bottom::<3>();
}

fn runs_out_of_a_side<const D: usize>(is_high: bool) {
    let dx = 1.0 / 32.0;
    let (length, depth) = (1.0, 0.5f64);
    let settings = Settings::<D>::new(
        std::array::from_fn(|a| if D == 3 && a == 1 { 6 } else { 32 }),
        dx,
    );
    let width: f64 = settings.domain()[1..D - 1].iter().product();
    let (solids, ports) = open_tank(&settings, 0, is_high);
    let mut liquid = Liquid::new(settings).unwrap();
    liquid.set_sources(ports);
    liquid.fill(&|x| x[D - 1] - depth, &|_| [0.0; D], &solids);
    let start = length * depth * width;
    let (mut out, mut half) = (0.0, 0.0);
    let wave = (9.81 * depth).sqrt();
    run(&mut liquid, &solids, 2.5, |_, report| {
        out += report.drained;
        // Until the wave that runs back from the opening meets the far wall, 8/27 of depth times speed of the wave
        // leaves it.
        if report.time <= length / wave {
            half = out / (8.0 / 27.0 * depth * wave * report.time * width);
        }
    });
    eprintln!(
        "{D}D: {half:.3} of the outflow of shallow water, {:.4} left",
        1.0 - out / start
    );
    assert!(
        (half - 1.0).abs() < 0.25,
        "{half} of the outflow of shallow water"
    );
    // The shallower, the slower: `dh/dt = -(2/3)^1.5 sqrt(g) h^1.5 / length` leaves this.
    let slowness = 1.0 / depth.sqrt() + 0.5 * (2.0 / 3.0f64).powf(1.5) * 9.81f64.sqrt() * 2.5;
    let left = length * width / (slowness * slowness);
    assert!(start - out < left, "{} is left of {start}", start - out);
}

#[test]
fn a_column_runs_out_of_an_open_side_as_from_a_broken_dam_in_2d() {
    runs_out_of_a_side::<2>(true);
    runs_out_of_a_side::<2>(false);
}

#[test]
fn a_column_runs_out_of_an_open_side_as_from_a_broken_dam_in_3d() {
    runs_out_of_a_side::<3>(true);
}
