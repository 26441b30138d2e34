//! Cloth: equilibrium, strain limits, contacts and momentum.

use meniscus_projective::{Cloth, Fluid, MeshFault, Pin, Settings, Sheet, TetrahedralMesh};
use meniscus_shapes::{Bounds, Motion, ScriptedSolid, Shape};

use crate::stage::tank;

/// A rectangle of cloth from `origin` along two sides, with so many squares along them.
pub fn rectangle(origin: [f64; 3], sides: [[f64; 3]; 2], squares: [usize; 2]) -> Sheet {
    let mut sheet = Sheet {
        name: "cloth".into(),
        vertices: Vec::new(),
        triangles: Vec::new(),
        tetrahedra: Vec::new(),
        density: 0.3,
        stretch: 1e4,
        poisson_ratio: 0.0,
        bend: 1e-4,
        strain_limit: None,
        friction: 0.3,
        thickness: 0.004,
        velocity: [0.0; 3],
        pins: Vec::new(),
    };
    let [m, n] = squares;
    for j in 0..=n {
        for i in 0..=m {
            let (s, t) = (i as f64 / m as f64, j as f64 / n as f64);
            sheet.vertices.push(std::array::from_fn(|axis| {
                origin[axis] + s * sides[0][axis] + t * sides[1][axis]
            }));
        }
    }
    let at = |i: usize, j: usize| (j * (m + 1) + i) as u32;
    for j in 0..n {
        for i in 0..m {
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            // Diagonals alternate, so that no direction is special.
            if (i + j) % 2 == 0 {
                sheet.triangles.extend([[a, b, c], [a, c, d]]);
            } else {
                sheet.triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    sheet
}

fn pinned_where(sheet: &mut Sheet, is_pinned: impl Fn([f64; 3]) -> bool) {
    let numbers = 0..sheet.vertices.len() as u32;
    let vertices = numbers.filter(|&v| is_pinned(sheet.vertices[v as usize]));
    let vertices: Vec<u32> = vertices.collect();
    assert!(!vertices.is_empty());
    let motion = Motion::Still;
    sheet.pins.push(Pin { vertices, motion });
}

fn fluid(settings: Settings<3>, sheets: Vec<Sheet>) -> Fluid<3> {
    let spacing = settings.spacing;
    let mut fluid = Fluid::new(settings).unwrap();
    fluid.set_cloth(Cloth::new(sheets, spacing).unwrap());
    fluid
}

fn steps(fluid: &mut Fluid<3>, solids: &[ScriptedSolid<3>], dt: f64, count: usize) {
    for _ in 0..count {
        fluid.step(solids, dt, &mut |_| ()).unwrap();
    }
}

#[test]
fn a_hanging_strip_is_stretched_by_the_weight_below() {
    let mut sheet = rectangle(
        [0.0, 0.0, 1.0],
        [[0.1, 0.0, 0.0], [0.0, 0.0, -0.5]],
        [4, 20],
    );
    // Soft enough for a strain of several per cent, so that the geometry counts.
    (sheet.stretch, sheet.density) = (40.0, 0.8);
    pinned_where(&mut sheet, |x| x[2] > 0.999);
    let mut fluid = fluid(Settings::new(0.05), vec![sheet]);
    steps(&mut fluid, &[], 0.01, 400);
    let cloth = fluid.cloth().unwrap();
    // Without a ratio of Poisson: strain = weight below per width / stretch.
    let expected = 0.8 * 9.81 * 0.5 * 0.5 / (2.0 * 40.0);
    for v in 100..105 {
        let extension = 0.5 - cloth.positions(0)[v][2];
        assert!(
            (extension / expected - 1.0).abs() < 1e-3,
            "{extension} {expected}"
        );
    }
    assert!(cloth.max_speed() < 1e-3);
    let force = cloth.pin_force()[2] / (cloth.mass() * 9.81);
    assert!((force - 1.0).abs() < 1e-3, "{force}");
}

#[test]
fn a_cantilever_bends_as_a_beam() {
    let sag_of = |bend: f64, length: f64| {
        // Clamped by two rows of vertices.
        let mut sheet = rectangle(
            [0.0, 0.0, 1.0],
            [[length, 0.0, 0.0], [0.0, 0.04, 0.0]],
            [(length / 0.01).round() as usize, 4],
        );
        (sheet.stretch, sheet.density, sheet.bend) = (100.0, 0.1, bend);
        pinned_where(&mut sheet, |x| x[0] < 0.0101);
        let tip = (length / 0.01).round() as usize;
        let mut fluid = fluid(Settings::new(0.05), vec![sheet]);
        steps(&mut fluid, &[], 0.01, 400);
        let sag = 1.0 - fluid.cloth().unwrap().positions(0)[tip][2];
        // The curvature at the edge of the clamp has the length of a whole edge.
        sag / (0.1 * 9.81 * (length - 0.005).powi(4) / (8.0 * bend))
    };
    let sags = [sag_of(0.02, 0.2), sag_of(0.01, 0.2), sag_of(0.01, 0.15)];
    println!("{sags:?}");
    assert!(sags.iter().all(|sag| (sag - 1.0).abs() < 0.02), "{sags:?}");
}

#[test]
fn a_strain_limit_holds_what_the_elasticity_does_not() {
    let mut sheet = rectangle(
        [0.0, 0.0, 1.0],
        [[0.1, 0.0, 0.0], [0.0, 0.0, -0.5]],
        [4, 20],
    );
    (sheet.stretch, sheet.density) = (40.0, 4.0);
    sheet.strain_limit = Some(0.05);
    pinned_where(&mut sheet, |x| x[2] > 0.999);
    let mut fluid = fluid(Settings::new(0.05), vec![sheet]);
    for step in 0..400 {
        fluid.step(&[], 0.01, &mut |_| ()).unwrap();
        let stretch = fluid.cloth().unwrap().largest_stretch();
        assert!(stretch < 1.0511, "step {step}: {stretch}");
    }
    let cloth = fluid.cloth().unwrap();
    // Without the limit, a mean strain of 0.25 would be reached.
    let lowest = cloth.positions(0).iter().map(|x| x[2]);
    let lowest = lowest.fold(f64::INFINITY, f64::min);
    assert!(
        lowest > 1.0 - 0.5 * 1.0511 && lowest < 1.0 - 0.5 * 1.03,
        "{lowest}"
    );
    let force = cloth.pin_force()[2] / (cloth.mass() * 9.81);
    assert!((force - 1.0).abs() < 0.01, "{force}");
}

#[test]
fn cloth_in_free_fall_falls_exactly_and_keeps_its_momentum() {
    let mut sheet = rectangle([0.0; 3], [[0.3, 0.0, 0.0], [0.0, 0.3, 0.0]], [8, 8]);
    sheet.velocity = [0.5, -0.25, 1.0];
    let mut fluid = fluid(Settings::new(0.05), vec![sheet]);
    let start = fluid.cloth().unwrap().positions(0)[0];
    for dt in [0.004, 0.001, 0.003, 0.004, 0.002] {
        steps(&mut fluid, &[], dt, 1);
    }
    let t = fluid.time();
    let cloth = fluid.cloth().unwrap();
    let expected = [0.5 * t, -0.25 * t, t - 0.5 * 9.81 * t * t];
    for axis in 0..3 {
        let moved = cloth.positions(0)[0][axis] - start[axis];
        assert!(
            (moved - expected[axis]).abs() < 1e-9,
            "{moved} {expected:?}"
        );
    }
}

#[test]
fn cloth_lies_on_a_ball_and_does_not_enter_it() {
    let ball = Shape::Sphere {
        center: [0.0, 0.0, 0.3],
        radius: 0.15,
    };
    let solids = [ScriptedSolid::still("ball", ball.clone())];
    let mut sheet = rectangle(
        [-0.2, -0.2, 0.47],
        [[0.4, 0.0, 0.0], [0.0, 0.4, 0.0]],
        [20, 20],
    );
    sheet.friction = 0.5;
    let mut fluid = fluid(Settings::new(0.03), vec![sheet]);
    for step in 0..200 {
        fluid.step(&solids, 0.005, &mut |_| ()).unwrap();
        let cloth = fluid.cloth().unwrap();
        let least = cloth.positions(0).iter().map(|x| ball.distance(*x));
        let least = least.fold(f64::INFINITY, f64::min);
        assert!(least > 0.0, "step {step}: {least}");
    }
    let cloth = fluid.cloth().unwrap();
    let top = cloth.positions(0)[220];
    assert!(top[0].hypot(top[1]) < 0.02 && top[2] > 0.44, "{top:?}");
}

#[test]
fn friction_holds_cloth_on_a_slope_that_is_flat_enough() {
    // A slope of 1 in 4: friction 0.3 holds, 0.2 does not.
    let slope = Shape::HalfSpace {
        point: [0.0; 3],
        normal: [0.25 / 1.0625_f64.sqrt(), 0.0, 1.0 / 1.0625_f64.sqrt()],
    };
    let solids = [ScriptedSolid::still("slope", slope)];
    for (friction, holds) in [(0.3, true), (0.2, false)] {
        let mut sheet = rectangle(
            [0.0, 0.0, 0.002],
            [[0.2, 0.0, -0.05], [0.0, 0.2, 0.0]],
            [8, 8],
        );
        sheet.friction = friction;
        let mut fluid = fluid(Settings::new(0.04), vec![sheet]);
        steps(&mut fluid, &solids, 0.005, 100);
        let moved = fluid.cloth().unwrap().positions(0)[40][0] - 0.1;
        println!("friction {friction}: moved {moved}");
        // Without friction it would slide by 0.28 m; with 0.2 by a fifth of that.
        assert_eq!(moved < 0.003, holds, "{friction}: {moved}");
    }
}

#[test]
fn cloth_that_falls_on_itself_does_not_pass() {
    let low = {
        let mut sheet = rectangle([0.0; 3], [[0.3, 0.0, 0.0], [0.0, 0.3, 0.0]], [10, 10]);
        pinned_where(&mut sheet, |x| {
            x[0] < 1e-9 || x[0] > 0.2999 || x[1] < 1e-9 || x[1] > 0.2999
        });
        sheet
    };
    let mut high = rectangle(
        [0.08, 0.07, 0.1],
        [[0.12, 0.02, 0.03], [-0.02, 0.12, 0.0]],
        [5, 5],
    );
    high.velocity = [0.0, 0.0, -3.0];
    let mut fluid = fluid(Settings::new(0.05), vec![low, high]);
    let (mut force, mut count) = (0.0, 0.0);
    for step in 0..400 {
        steps(&mut fluid, &[], 0.005, 1);
        let cloth = fluid.cloth().unwrap();
        let least = cloth.positions(1).iter().map(|x| x[2]);
        let least = least.fold(f64::INFINITY, f64::min);
        assert!(least > -0.1, "{step}: {least}");
        if step >= 200 {
            force += cloth.pin_force()[2];
            count += 1.0;
        }
    }
    // The pins carry both sheets.
    let share = force / count / (fluid.cloth().unwrap().mass() * 9.81);
    println!("share {share}");
    assert!((share - 1.0).abs() < 0.03, "{share}");
}

/// Mean force of the pins over the weight that they carry, of water on a sheet that is pinned all round. Asserts that nothing
/// passes. Returns the mean force over the weight, and the same without what changed the momentum meanwhile.
fn share_of_the_pins(seconds: f64, settled: f64) -> (f64, f64) {
    let settings = Settings::new(0.05);
    let solids = tank([0.8, 0.8, 1.2]);
    let mut sheet = rectangle(
        [0.0, 0.0, 0.6],
        [[0.8, 0.0, 0.0], [0.0, 0.8, 0.0]],
        [20, 20],
    );
    sheet.stretch = 2e4;
    pinned_where(&mut sheet, |x| {
        x[0] < 1e-9 || x[0] > 0.7999 || x[1] < 1e-9 || x[1] > 0.7999
    });
    let mut fluid = fluid(settings, vec![sheet]);
    let block = Bounds {
        low: [0.2, 0.2, 0.65],
        high: [0.6, 0.6, 0.8],
    };
    fluid.fill(&block, &solids, &|_| Some(0), &|_| [0.0; 3]);
    let mass = fluid.particles().len() as f64 * fluid.settings().particle_mass();
    let (mut impulse, mut time) = (0.0, 0.0);
    let momentum = |fluid: &Fluid<3>| {
        let liquid = fluid.particles().velocity.iter().map(|v| f64::from(v.0[2]));
        let liquid = fluid.settings().particle_mass() * liquid.sum::<f64>();
        liquid + fluid.cloth().unwrap().momentum()[2]
    };
    let mut before = 0.0;
    while fluid.time() < seconds {
        fluid.step(&solids, 0.0025, &mut |_| ()).unwrap();
        if fluid.time() <= settled {
            before = momentum(&fluid);
        } else {
            impulse += 0.0025 * fluid.cloth().unwrap().pin_force()[2];
            time += 0.0025;
        }
        // Nothing is below the cloth: it sags by less than this.
        let lowest = fluid.particles().position.iter().map(|x| x.0[2]);
        assert!(lowest.fold(f32::INFINITY, f32::min) > 0.4);
    }
    let cloth = fluid.cloth().unwrap();
    println!("largest stretch {}", cloth.largest_stretch());
    let weight = (mass + cloth.mass()) * 9.81;
    let gained = momentum(&fluid) - before;
    (impulse / time / weight, (impulse - gained) / time / weight)
}

#[test]
fn water_stays_on_pinned_cloth_and_the_pins_carry_its_weight() {
    // The water still swings on the sheet.
    let (mean, share) = share_of_the_pins(1.6, 0.6);
    println!("mean {mean}, share {share}");
    assert!((share - 1.0).abs() < 0.03, "{share}");
}

#[test]
#[ignore = "long: a minute, ten seconds of water on cloth"]
fn water_stays_on_pinned_cloth_for_ten_seconds() {
    let (share, _) = share_of_the_pins(10.0, 5.0);
    println!("share {share}");
    assert!((share - 1.0).abs() < 0.03, "{share}");
}

#[test]
fn a_ball_of_water_and_free_cloth_keep_their_momentum() {
    let mut settings = Settings::new(0.04);
    settings.gravity = [0.0; 3];
    let sheet = rectangle(
        [-0.3, -0.3, 0.0],
        [[0.6, 0.0, 0.0], [0.0, 0.6, 0.0]],
        [20, 20],
    );
    let mut fluid = fluid(settings, vec![sheet]);
    let block = Bounds {
        low: [-0.12, -0.12, 0.04],
        high: [0.12, 0.12, 0.2],
    };
    fluid.fill(&block, &[], &|_| Some(0), &|_| [0.1, 0.05, -1.0]);
    let total = |fluid: &Fluid<3>| {
        let mass = fluid.settings().particle_mass();
        let mut sum = fluid.cloth().unwrap().momentum();
        for v in &fluid.particles().velocity {
            for axis in 0..3 {
                sum[axis] += mass * f64::from(v.0[axis]);
            }
        }
        sum
    };
    let before = total(&fluid);
    steps(&mut fluid, &[], 0.002, 60);
    let after = total(&fluid);
    let size = before.iter().map(|p| p * p).sum::<f64>().sqrt();
    for axis in 0..3 {
        let change = (after[axis] - before[axis]) / size;
        assert!(change.abs() < 1e-4, "{change}");
    }
    // The cloth has taken its part.
    let cloth = fluid.cloth().unwrap();
    assert!(cloth.momentum()[2] < -0.1 * cloth.mass());
}

#[test]
fn cloth_has_the_same_bits_for_any_number_of_threads_and_after_a_restart() {
    let make = || {
        let mut sheet = rectangle(
            [-0.2, -0.2, 0.2],
            [[0.4, 0.0, 0.0], [0.0, 0.4, 0.0]],
            [10, 10],
        );
        sheet.strain_limit = Some(0.05);
        pinned_where(&mut sheet, |x| x[0] < -0.199);
        let mut fluid = fluid(Settings::new(0.05), vec![sheet.clone()]);
        let block = Bounds {
            low: [-0.1, -0.1, 0.25],
            high: [0.1, 0.1, 0.4],
        };
        fluid.fill(&block, &[], &|_| Some(0), &|_| [0.0; 3]);
        (fluid, Cloth::new(vec![sheet], 0.05).unwrap())
    };
    let run = |threads: usize, restarts: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let (mut fluid, cloth) = make();
            steps(&mut fluid, &[], 0.004, 10);
            if restarts {
                let settings = fluid.settings().clone();
                fluid = Fluid::restore_with(settings, Some(cloth), &fluid.state()).unwrap();
            }
            steps(&mut fluid, &[], 0.004, 10);
            fluid.state()
        })
    };
    let one = run(1, false);
    assert_eq!(one, run(3, false));
    assert_eq!(one, run(2, true));
    let (fluid, cloth) = make();
    assert!(Fluid::<3>::restore(fluid.settings().clone(), &one).is_err());
    let mut short = one;
    short.pop();
    assert!(Fluid::<3>::restore_with(fluid.settings().clone(), Some(cloth), &short).is_err());
}

#[test]
fn meshes_that_are_no_cloth_are_refused() {
    let mut sheet = rectangle([0.0; 3], [[0.3, 0.0, 0.0], [0.0, 0.3, 0.0]], [2, 2]);
    let fault = |sheet: &Sheet| Cloth::new(vec![sheet.clone()], 0.1).unwrap_err().1;
    let mut flat = sheet.clone();
    flat.vertices[4] = flat.vertices[0];
    flat.vertices[1] = flat.vertices[0];
    assert!(matches!(fault(&flat), MeshFault::NoArea(_)));
    let mut book = sheet.clone();
    book.vertices.push([0.1, 0.1, 0.4]);
    book.triangles.push([0, 4, 9]);
    assert!(matches!(fault(&book), MeshFault::NotManifold([0, 4])));
    let mut loose = sheet.clone();
    loose.vertices.push([0.1, 0.1, 0.4]);
    assert_eq!(fault(&loose), MeshFault::Loose(9));
    sheet.triangles[0][1] = 77;
    assert_eq!(fault(&sheet), MeshFault::NoSuchVertex);
}

/// Energy of cloth in J. Velocities belong to the middle of a step, so the height is that of the middle.
fn energy(fluid: &Fluid<3>) -> f64 {
    let cloth = fluid.cloth().unwrap();
    let gravity = fluid.settings().gravity;
    let momentum = cloth.momentum();
    let back: f64 = (0..3).map(|axis| gravity[axis] * momentum[axis]).sum();
    let height = cloth.potential_energy(gravity) + 0.5 * fluid.last_step() * back;
    cloth.kinetic_energy() + height + cloth.elastic_energy()
}

#[test]
fn a_swinging_flag_never_gains_energy() {
    // The last one is so soft that the limit holds it.
    for (stretch, strain_limit, bend, dt) in [
        (1000.0, None, 1e-5, 0.004),
        (1000.0, None, 1e-3, 0.002),
        (20.0, Some(0.02), 1e-4, 0.004),
    ] {
        let mut sheet = rectangle([0.0; 3], [[0.6, 0.0, 0.0], [0.0, 0.4, 0.0]], [12, 8]);
        (sheet.stretch, sheet.density, sheet.bend) = (stretch, 0.12, bend);
        sheet.strain_limit = strain_limit;
        pinned_where(&mut sheet, |x| x[0] < 1e-9);
        let mut fluid = fluid(Settings::new(0.05), vec![sheet]);
        let fall = 0.5 * 0.6 * 9.81 * fluid.cloth().unwrap().mass();
        let (mut least, mut gain) = (energy(&fluid), 0.0_f64);
        while fluid.time() < 1.2 {
            steps(&mut fluid, &[], dt, 1);
            let now = energy(&fluid);
            gain = gain.max((now - least) / fall);
            least = least.min(now);
        }
        println!(
            "{stretch} {strain_limit:?}: gain {gain}, lost {}",
            -least / fall
        );
        assert!(gain < 1e-3, "{stretch} {strain_limit:?}: {gain}");
        // It has swung.
        assert!(-least < 0.9 * fall);
    }
}

/// A soft block that fills a box, with edges of the given length.
fn block(low: [f64; 3], high: [f64; 3], edge: f64) -> Sheet {
    let mesh = TetrahedralMesh::of(&Shape::Box { low, high }, edge).expect("bounded");
    let mut sheet = rectangle([0.0; 3], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [1, 1]);
    (sheet.vertices, sheet.triangles) = (mesh.vertices, mesh.triangles);
    sheet.tetrahedra = mesh.tetrahedra;
    (sheet.density, sheet.stretch, sheet.bend) = (1000.0, 2e4, 0.0);
    sheet
}

#[test]
fn a_soft_bar_stretches_and_narrows_as_its_constants_say() {
    // A hanging bar: the mean strain is half of that at the top, and the middle narrows by Poisson's ratio.
    let (length, width) = (0.6, 0.12);
    for ratio in [0.0, 0.3, 0.45] {
        let mut bar = block([0.0, 0.0, 0.0], [width, width, length], 0.06);
        (bar.stretch, bar.poisson_ratio) = (1e5, ratio);
        pinned_where(&mut bar, |x| x[2] > length - 1e-6);
        let middle = |x: &[f64; 3]| (x[2] - 0.5 * length).abs() < 0.01;
        let across: Vec<usize> = (0..bar.vertices.len())
            .filter(|&v| middle(&bar.vertices[v]))
            .collect();
        let mut fluid = fluid(Settings::new(0.05), vec![bar.clone()]);
        // At rest for longer than a period, which takes 0.24 s.
        let (mut speed, mut calm) = (f64::INFINITY, 0);
        while calm < 40 && fluid.time() < 30.0 {
            fluid.step(&[], 0.01, &mut |_| ()).unwrap();
            speed = fluid.cloth().unwrap().max_speed();
            calm = if speed < 3e-4 { calm + 1 } else { 0 };
        }
        let now = fluid.cloth().unwrap().positions(0);
        let lowest = now.iter().map(|x| x[2]).fold(f64::INFINITY, f64::min);
        // Strains of ρ g z / E.
        let expected = 1000.0 * 9.81 * length * length / (2.0 * 1e5);
        // The pinned end cannot narrow, and is stiffer for it.
        let slack = if ratio == 0.0 { 0.02 } else { 0.1 };
        assert!(
            (-lowest / expected - 1.0).abs() < slack,
            "{ratio}: {lowest} for {expected}, at {speed} m/s"
        );
        let extent = |x: &mut dyn Iterator<Item = f64>| {
            let (low, high) = x.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                (low.min(x), high.max(x))
            });
            high - low
        };
        let narrow = 1.0 - extent(&mut across.iter().map(|&v| now[v][0])) / width;
        let strain = 1000.0 * 9.81 * 0.5 * length / 1e5;
        assert!(
            (narrow - ratio * strain).abs() < 0.15 * strain.max(0.01) * ratio.max(0.1),
            "{ratio}: narrows by {narrow} at {strain}"
        );
    }
}

#[test]
fn a_soft_block_floats_in_water_and_lets_none_in() {
    let spacing = 0.05;
    let solids = tank([0.6, 0.6, 1.0]);
    let low = [0.2, 0.2, 0.26];
    let high = [0.4, 0.4, 0.46];
    let mut light = block(low, high, 0.8 * spacing);
    (light.density, light.stretch, light.poisson_ratio) = (500.0, 3e4, 0.3);
    let mut settings = Settings::new(spacing);
    settings.max_step = 0.004;
    let mut fluid = fluid(settings, vec![light.clone()]);
    let pool = Bounds {
        low: [0.0; 3],
        high: [0.6, 0.6, 0.4],
    };
    let shape = Shape::Box { low, high };
    let outside = |x: [f64; 3]| (shape.distance(x) > 0.49 * spacing).then_some(0);
    fluid.fill(&pool, &solids, &outside, &|_| [0.0; 3]);
    let mut heights = Vec::new();
    for step in 0..300 {
        fluid.step(&solids, 0.004, &mut |_| ()).unwrap();
        if step >= 150 {
            let x = fluid.cloth().unwrap().positions(0);
            heights.push(x.iter().map(|x| x[2]).sum::<f64>() / x.len() as f64);
        }
    }
    let height = heights.iter().sum::<f64>() / heights.len() as f64;
    let level = surface_height(&fluid);
    // Half of it is under water, within a spacing.
    assert!((height - level).abs() < spacing, "{height} for {level}");
    let now = fluid.cloth().unwrap().positions(0);
    for x in &fluid.particles().position {
        let x: [f64; 3] = x.point();
        for t in &light.tetrahedra {
            assert!(!is_in(x, t.map(|v| now[v as usize])), "{x:?}");
        }
    }
}

/// Height of the surface: half a spacing above the highest tenth of the particles.
fn surface_height(fluid: &Fluid<3>) -> f64 {
    let heights = fluid.particles().position.iter();
    let mut heights: Vec<f64> = heights.map(|x| x.point::<3>()[2]).collect();
    heights.sort_by(f64::total_cmp);
    heights[heights.len() * 19 / 20] + 0.5 * fluid.settings().spacing
}

fn is_in(x: [f64; 3], [a, b, c, d]: [[f64; 3]; 4]) -> bool {
    let side = |p: [f64; 3], q: [f64; 3], r: [f64; 3], s: [f64; 3]| {
        let (u, v, w) = (minus(q, p), minus(r, p), minus(s, p));
        u[0] * (v[1] * w[2] - v[2] * w[1])
            + u[1] * (v[2] * w[0] - v[0] * w[2])
            + u[2] * (v[0] * w[1] - v[1] * w[0])
    };
    let whole = side(a, b, c, d);
    [
        side(x, b, c, d),
        side(a, x, c, d),
        side(a, b, x, d),
        side(a, b, c, x),
    ]
    .iter()
    .all(|part| part * whole > 0.0)
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|k| a[k] - b[k])
}

/// A pool that a thin wall at its middle parts.
fn parted_pool(levels: [f64; 2]) -> Fluid<3> {
    let spacing = 0.05;
    let solids = tank([0.8, 0.4, 0.8]);
    let mut wall = rectangle(
        [0.4, 0.0, 0.0],
        [[0.0, 0.4, 0.0], [0.0, 0.0, 0.8]],
        [10, 20],
    );
    pinned_where(&mut wall, |_| true);
    let mut fluid = fluid(Settings::new(spacing), vec![wall]);
    for (side, level) in levels.into_iter().enumerate() {
        let low = 0.4 * side as f64;
        let pool = Bounds {
            low: [low, 0.0, 0.0],
            high: [low + 0.4, 0.4, level],
        };
        fluid.fill(&pool, &solids, &|_| Some(side as u32), &|_| [0.0; 3]);
    }
    fluid
}

#[test]
fn a_thin_wall_parts_two_pools() {
    let mut fluid = parted_pool([0.6, 0.2]);
    let solids = tank([0.8, 0.4, 0.8]);
    let mut converged = 0;
    for _ in 0..200 {
        let report = fluid.step(&solids, 0.004, &mut |_| ()).unwrap();
        converged += usize::from(report.solve.has_converged);
    }
    let particles = fluid.particles();
    for (x, source) in particles.position.iter().zip(&particles.source) {
        assert_eq!(u32::from(x.0[0] > 0.4), *source, "{x:?}");
    }
    assert!(converged > 150, "{converged}");
    // Both pools are about as high as at the start: a wall that counted the liquid behind it would push the sides apart.
    for (side, level) in [0.6, 0.2].into_iter().enumerate() {
        let of_side = particles.position.iter().zip(&particles.source);
        let of_side = of_side.filter(|(_, source)| **source == side as u32);
        let mean: f64 = of_side.clone().map(|(x, _)| f64::from(x.0[2])).sum();
        let mean = mean / of_side.count() as f64;
        assert!((mean / (0.5 * level) - 1.0).abs() < 0.12, "{side}: {mean}");
    }
}

#[test]
fn particles_do_not_feel_others_through_a_thin_wall() {
    let still = |levels: [f64; 2]| {
        let mut fluid = parted_pool(levels);
        let solids = tank([0.8, 0.4, 0.8]);
        fluid.step(&solids, 0.001, &mut |_| ()).unwrap();
        // Pressures of the left side.
        let particles = fluid.particles();
        let left = particles.multiplier.iter().zip(&particles.source);
        let left = left.filter(|(_, source)| **source == 0);
        left.map(|(l, _)| f64::from(*l)).sum::<f64>()
    };
    let (alone, beside) = (still([0.4, 0.0]), still([0.4, 0.4]));
    assert!(
        alone > 0.0 && (beside / alone - 1.0).abs() < 0.02,
        "{beside} {alone}"
    );
}

#[test]
fn a_stone_on_a_pinned_sheet_is_carried_by_it() {
    use crate::bodies::Stone;
    let spacing = 0.05;
    let mut sheet = rectangle(
        [0.0, 0.0, 0.5],
        [[0.6, 0.0, 0.0], [0.0, 0.6, 0.0]],
        [15, 15],
    );
    sheet.stretch = 2e4;
    pinned_where(&mut sheet, |x| {
        x[0] < 1e-9 || x[0] > 0.5999 || x[1] < 1e-9 || x[1] > 0.5999
    });
    let mut fluid = fluid(Settings::new(spacing), vec![sheet]);
    let ball = Shape::Sphere {
        center: [0.0; 3],
        radius: 0.1,
    };
    let mut stone = Stone::new(&ball, [0.3, 0.3, 0.605], 8.0);
    let momentum = |fluid: &Fluid<3>, stone: &Stone<'_>| {
        fluid.cloth().unwrap().momentum()[2] + 8.0 * stone.velocity()[2]
    };
    // After the first step, which gravity acts in for half its length.
    let (mut impulse, mut before) = (0.0, 0.0);
    for step in 0..300 {
        stone.begin(0.0025);
        fluid
            .step_with(&[], Some(&mut stone), 0.0025, &mut |_| ())
            .unwrap();
        match step {
            0 => before = momentum(&fluid, &stone),
            _ => impulse += 0.0025 * fluid.cloth().unwrap().pin_force()[2],
        }
    }
    // What the pins gave is in the momentum, or was taken by gravity.
    let weight = (8.0 + fluid.cloth().unwrap().mass()) * 9.81;
    let fallen = 299.0 * 0.0025 * weight;
    let left = impulse - fallen - (momentum(&fluid, &stone) - before);
    assert!(left.abs() < 0.01 * fallen, "{left} of {fallen}");
    assert!(impulse > 0.5 * fallen, "{impulse} of {fallen}");
    // It lies on the sheet, not in it.
    let lowest = stone.center()[2] - 0.1;
    let cloth = fluid.cloth().unwrap();
    let middle = cloth
        .positions(0)
        .iter()
        .map(|x| x[2])
        .fold(f64::INFINITY, f64::min);
    assert!((lowest - middle).abs() < 0.3 * spacing, "{lowest} {middle}");
    assert!(lowest > 0.3, "{lowest}");
}
