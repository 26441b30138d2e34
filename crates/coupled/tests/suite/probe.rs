use crate::scene::{Setup, block, free, tank};
use meniscus_shapes::Shape;

fn probe<const D: usize>(body: Option<(Shape<D>, f64, f64)>, n: usize, seconds: f64) {
    let level = 0.5;
    let mut bodies = vec![tank([0.0; D], [1.0; D])];
    let at = std::array::from_fn(|a| {
        if a == D - 1 {
            level - body.as_ref().map_or(0.0, |b| b.2)
        } else {
            0.5
        }
    });
    let has = body.is_some();
    if let Some((shape, density, _)) = body {
        bodies.push(free("body", shape, density, at));
    }
    let mut world = Setup::new(n, bodies).fill(|x: [f64; D]| x[D - 1] - level);
    let own = world.liquid().particles().len() as f64 * world.liquid().settings().particle_volume();
    let start = world.volume();
    let mut next = 0.0;
    let (mut h, mut l, mut v, mut t) = (0.0, 0.0, 0.0, 0.0);
    println!("own {own:.6} start phi volume {start:.6}");
    while world.time() < seconds {
        let dt = world.step_limit(0.02).dt;
        let report = world.step(dt, &mut ()).unwrap();
        let cell: [i32; D] = std::array::from_fn(|a| if a == D - 1 { 2 } else { 3 });
        let p = world.liquid().pressure(cell).unwrap();
        l += dt * (p / 9810.0 + 2.5 / n as f64 - level) * n as f64;
        v += dt * (report.liquid.volume);
        if has {
            h += dt * (world.bodies().pose(1).translation[D - 1] - at[D - 1]) * n as f64;
        }
        t += dt;
        if world.time() >= next {
            println!(
                "{:6.2} s: body {:7.4} level {:7.4} cells, volume {:8.5} of own {:8.5} of start",
                world.time(),
                h / t,
                l / t,
                v / t / own,
                v / t / start
            );
            (h, l, v, t) = (0.0, 0.0, 0.0, 0.0);
            next += seconds / 12.0;
        }
    }
}

#[test]
fn probe_level() {
    println!("2D none");
    probe::<2>(None, 32, 4.0);
    println!("2D box");
    probe::<2>(Some((block([0.2, 0.1]), 500.0, 0.0)), 32, 6.0);
    println!("2D cylinder");
    let ball = Shape::Sphere {
        center: [0.0; 2],
        radius: 0.15,
    };
    probe::<2>(Some((ball, 500.0, 0.0)), 32, 6.0);
}

#[test]
fn probe_sphere() {
    println!("3D none");
    probe::<3>(None, 24, 2.0);
    println!("3D");
    let ball = Shape::Sphere {
        center: [0.0; 3],
        radius: 0.2,
    };
    probe::<3>(Some((ball, 500.0, 0.0)), 24, 8.0);
}

fn raft(n: usize, load: f64, seconds: f64) {
    // 8.96 kg is what it carries.
    let dx = 1.0 / n as f64;
    let mut bodies = vec![meniscus_rigid::Body::fixed(
        "tank",
        Shape::Box {
            low: [0.0; 3],
            high: [1.0, 1.0, 0.6],
        }
        .inverted(),
    )];
    let at = 0.3 - 0.08 * (3.84 + load * 8.96) / 12.8;
    bodies.push(free(
        "raft",
        block([0.2, 0.2, 0.04]),
        300.0,
        [0.5, 0.5, at + 0.04],
    ));
    for (x, y) in [
        (0.37, 0.5),
        (0.63, 0.5),
        (0.5, 0.37),
        (0.5, 0.63),
        (0.37, 0.37),
        (0.63, 0.63),
    ] {
        let density = load * 8.96 / 6.0 / 0.001;
        bodies.push(free(
            "weight",
            block([0.05; 3]),
            density,
            [x, y, at + 0.08 + 0.05 + 0.02 * dx],
        ));
    }
    let mut setup = Setup::new(n, bodies);
    setup.cells = [n, n, (0.6 * n as f64).round() as usize];
    let mut world = setup.fill(|x: [f64; 3]| x[2] - 0.3);
    let mut next = 0.0;
    let (mut steps, mut most, mut sum, mut rounds) = (0, 0, 0, 0);
    while world.time() < seconds {
        let dt = world.step_limit(0.02).dt;
        let report = match world.step(dt, &mut ()) {
            Ok(r) => r,
            Err(e) => {
                println!("FAILED at {:.3}: {e}", world.time());
                let problem = world.problem(dt).unwrap();
                for b in 1..8 {
                    println!(
                        "body {b} at {:?} up {:?}",
                        world.bodies().pose(b).translation,
                        world.bodies().pose(b).rotation.matrix()[2]
                    );
                }
                for part in problem.entries.chunk_by(|a, b| a.row == b.row) {
                    let row = part[0].row as usize;
                    if problem.pressure.cells[row][2] != 7 {
                        continue;
                    }
                    let (c, v) = problem.pressure.matrix.row(row);
                    println!(
                        "row {row} cell {:?} lower {} rhs {:.3e}",
                        problem.pressure.cells[row],
                        problem.pressure.lower[row],
                        problem.pressure.rhs[row]
                    );
                    println!(
                        "   L {:?}",
                        c.iter().zip(v).map(|(c, v)| (*c, *v)).collect::<Vec<_>>()
                    );
                    println!("   faces {:?}", problem.pressure.faces[row]);
                    println!(
                        "   C {:?}",
                        part.iter()
                            .map(|e| (
                                problem.bodies[e.group as usize].body,
                                e.value.map(|x| (x * dx * 1e3).round() / 1e3)
                            ))
                            .collect::<Vec<_>>()
                    );
                }
                break;
            }
        };
        for s in &report.bodies.solves {
            if s.status != meniscus_lcp::Status::Converged || report.rounds > 0 {
                println!(
                    "  {:.3}: {:?} rounds {} sweeps {} newton {} residual {:.2e} tolerance {:.2e} contacts {}; cycles {} solves {} rounds {}",
                    world.time(),
                    s.status,
                    s.rounds,
                    s.sweeps,
                    s.active_sets,
                    s.residual,
                    s.tolerance,
                    s.contacts,
                    report.cycles,
                    report.solves,
                    report.rounds
                );
            }
        }
        steps += 1;
        most = most.max(report.cycles);
        sum += report.cycles;
        rounds += report.rounds;
        if report.cycles > 20 {
            println!(
                "{:.3} s: {} cycles {} solves {} rounds {} contacts",
                world.time(),
                report.cycles,
                report.solves,
                report.rounds,
                report.contacts
            );
        }
        if world.time() >= next {
            println!(
                "{:5.2} s: deck {:8.5} m over the level, steps {steps}, most {most}, mean {:.1}, rounds {rounds}, volume {:.4}",
                world.time(),
                world.bodies().pose(1).translation[2] + 0.04 - 0.3,
                sum as f64 / steps as f64,
                report.liquid.volume
            );
            (steps, most, sum, rounds) = (0, 0, 0, 0);
            next += 0.2;
        }
    }
}

#[test]
fn probe_raft() {
    for load in [0.97, 1.03, 1.07] {
        println!("24 cells, {load}");
        raft(24, load, 4.0);
    }
}
