//! Liquids whose viscosity depends on the shear rate.

use meniscus_liquid::stokes::{Geometry, Rheology, System, Viscosity};

use super::{Case, medium, tiles};

const LOW: f64 = 0.1137;
const HIGH: f64 = 0.8713;

/// Speed of the flow between the walls at [`LOW`] and [`HIGH`] under a force of 1.
fn profile(liquid: &Rheology, y: f64) -> f64 {
    let (r, half, middle) = (liquid.flow_index, 0.5 * (HIGH - LOW), 0.5 * (HIGH + LOW));
    let plug = liquid.yield_stress;
    let away = ((y - middle).abs().min(half) - plug).max(0.0);
    let power = 1.0 + 1.0 / r;
    r / (r + 1.0)
        * liquid.consistency.powf(-1.0 / r)
        * ((half - plug).powf(power) - away.powf(power))
}

/// Steady flow of a liquid in a channel after so many rounds; largest error relative to the largest speed, and the heights of the
/// edges with less than one and a half times the smallest rate.
fn channel(n: usize, liquid: &Rheology, rounds: usize) -> (f64, Vec<f64>) {
    let dx = 1.0 / n as f64;
    let medium = medium(dx, 1e6, 1.0);
    let (left, right) = (4.0 * dx, 2.0 - 4.0 * dx);
    let solid_distance = move |x: [f64; 2]| {
        (x[1] - LOW)
            .min(HIGH - x[1])
            .min(x[0] - left)
            .min(right - x[0])
    };
    let geometry = Geometry::of_distances(tiles([2 * n, n]), dx, &|_| -1.0, &solid_distance);
    let length = geometry.tiles.field_len();
    let mut viscosity = Viscosity {
        cell: vec![liquid.viscosity(1.0); length],
        edge: Some([vec![liquid.viscosity(1.0); length], Vec::new(), Vec::new()]),
    };
    let mut case = Case {
        system: System::new(geometry.clone(), medium, &viscosity),
        medium,
    };
    let solid = case.field(|axis, x| {
        if axis == 0 {
            profile(liquid, x[1])
        } else {
            0.0
        }
    });
    let before = case.field(|axis, _| if axis == 0 { medium.dt } else { 0.0 });
    let mut x = Vec::new();
    let mut rates = viscosity.clone();
    for _ in 0..rounds {
        case.system = System::new(geometry.clone(), medium, &viscosity);
        let mut b = case.system.rhs(&before, Some(&solid));
        case.system.make_solvable(&mut b);
        x = case.solve_directly(&b);
        rates = case.system.shear_rates(&x, Some(&solid));
        viscosity = liquid.relaxed(&viscosity, &rates);
    }
    let velocity = case.system.liquid_velocity(&x, Some(&solid));
    let largest = profile(liquid, 0.5 * (LOW + HIGH));
    let mut worst = 0.0_f64;
    for ((axis, index), u) in case.system.faces().zip(velocity) {
        let place = case.place(axis, index);
        let (_, open) = case.system.face_shares(axis, index);
        if axis == 0 && open > 0.99 && (place[0] - 1.0).abs() < 2.0 * dx {
            worst = worst.max((u - profile(liquid, place[1])).abs() / largest);
        }
    }
    let edges = &rates.edge.as_ref().unwrap()[0];
    let tiles = &geometry.tiles;
    let plug = (0..tiles.cells()).filter_map(|index| {
        let [i, j] = tiles.coord(index);
        let y = j as f64 * dx;
        let inside = i == n as i32 && y > LOW + dx && y < HIGH - dx;
        (inside && edges[index] < 1.5 * liquid.smallest_rate).then_some(y)
    });
    (worst, plug.collect())
}

fn liquid(consistency: f64, flow_index: f64, yield_stress: f64, smallest_rate: f64) -> Rheology {
    Rheology {
        yield_stress,
        consistency,
        flow_index,
        smallest_rate,
    }
}

#[test]
fn power_law_liquids_have_their_profile_between_walls() {
    for (liquid, rounds) in [
        (liquid(0.3, 0.5, 0.0, 1e-4), 25),
        (liquid(0.1, 2.0, 0.0, 1e-4), 25),
    ] {
        let (error, _) = channel(32, &liquid, rounds);
        println!("{liquid:?}: {error:e}");
        assert!(error <= 1.3e-2, "{liquid:?}: {error:e}");
    }
}

#[test]
fn a_bingham_liquid_has_a_plug_between_walls() {
    let liquid = liquid(0.1, 1.0, 0.15, 1e-3);
    let n = 32;
    let (error, plug) = channel(n, &liquid, 40);
    println!("{error:e}, plug {:?} to {:?}", plug.first(), plug.last());
    assert!(error <= 1.3e-2, "{error:e}");
    // The plug ends between its last node and the next one.
    let dx = 1.0 / n as f64;
    let low = plug.iter().copied().fold(1.0, f64::min) - 0.5 * dx;
    let high = plug.iter().copied().fold(0.0, f64::max) + 0.5 * dx;
    let middle = 0.5 * (LOW + HIGH);
    assert!(
        (low - (middle - 0.15)).abs() <= dx && (high - (middle + 0.15)).abs() <= dx,
        "{low} {high}"
    );
}

/// Largest speed of a block of height 0.4 on a floor that holds it, after 0.16 s, with `rho g h` so many times the yield stress.
fn block(ratio: f64, smallest_rate: f64) -> f64 {
    let (n, h, floor) = (32, 0.4, 0.11);
    let dx = 1.0 / n as f64;
    let dt = 0.02;
    let medium = medium(dx, dt, 1000.0);
    let liquid = liquid(10.0, 1.0, 1000.0 * 9.81 * h / ratio, smallest_rate);
    let block = move |x: [f64; 2]| ((x[0] - 0.5).abs() - 0.5 * h).max(x[1] - floor - h);
    let geometry = Geometry::of_distances(tiles([n, n]), dx, &block, &move |x| x[1] - floor);
    let length = geometry.tiles.field_len();
    let viscosity = |eta: f64| Viscosity {
        cell: vec![eta; length],
        edge: Some([vec![eta; length], Vec::new(), Vec::new()]),
    };
    let mut viscosity = viscosity(liquid.viscosity(0.0));
    let mut case = Case {
        system: System::new(geometry.clone(), medium, &viscosity),
        medium,
    };
    let mut before = case.field(|_, _| 0.0);
    let mut fastest = 0.0;
    for _ in 0..8 {
        before[1].iter_mut().for_each(|v| *v -= 9.81 * dt);
        let mut velocity = Vec::new();
        for _ in 0..6 {
            case.system = System::new(geometry.clone(), medium, &viscosity);
            let x = case.solve_directly(&case.system.rhs(&before, None));
            viscosity = liquid.relaxed(&viscosity, &case.system.shear_rates(&x, None));
            velocity = case.system.liquid_velocity(&x, None);
        }
        fastest = 0.0_f64;
        for ((axis, index), &u) in case.system.faces().zip(&velocity) {
            before[axis][index] = u;
            let (liquid, open) = case.system.face_shares(axis, index);
            if liquid > 0.1 && open > 0.5 {
                fastest = fastest.max(u.abs());
            }
        }
    }
    fastest
}

#[test]
fn a_block_below_its_yield_stress_does_not_flow_and_one_above_does() {
    for smallest_rate in [1e-2, 1e-3] {
        let creep = block(1.8, smallest_rate);
        println!(
            "creep {:e} of the smallest rate times the height",
            creep / (smallest_rate * 0.4)
        );
        assert!(creep <= 0.25 * smallest_rate * 0.4, "{creep:e}");
    }
    let flow = block(6.0, 1e-2);
    println!("flow {flow}");
    assert!(flow >= 0.1, "{flow}");
}
