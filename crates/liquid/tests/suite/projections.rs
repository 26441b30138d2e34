//! One projection: what must not depend on the names of the axes, the dimension, or the method.

use std::collections::HashMap;

use meniscus_liquid::grid::cut_cells::CutCells;
use meniscus_liquid::particles::Bins;
use meniscus_liquid::particles::transfer::FaceField;
use meniscus_liquid::{
    Coord, FaceState, Faces, Particles, PressureProjection, Projection, Settings, Solver, Sources,
    Tiles, Walls,
};
use meniscus_shapes::{Ease, Keyframe, Motion, Rotation, ScriptedSolid, Shape, Solids};
use rayon::prelude::*;

use crate::common::still;

struct Found<const D: usize> {
    velocity: Vec<HashMap<Coord<D>, f64>>,
    pressure: HashMap<Coord<D>, f64>,
}

/// One projection of a given field in a given geometry.
fn project<const D: usize>(
    settings: &Settings<D>,
    solids: Vec<Shape<D>>,
    phi: impl Fn([f64; D]) -> f64,
    field: impl Fn(usize, Coord<D>) -> f64,
    close: impl Fn(usize, Coord<D>) -> bool,
) -> Found<D> {
    let solids = solids.into_iter().map(|shape| still("solid", shape));
    project_among(settings, solids.collect(), phi, field, close)
}

/// The same among solids that may move.
fn project_among<const D: usize>(
    settings: &Settings<D>,
    solids: Vec<ScriptedSolid<D>>,
    phi: impl Fn([f64; D]) -> f64,
    field: impl Fn(usize, Coord<D>) -> f64,
    close: impl Fn(usize, Coord<D>) -> bool,
) -> Found<D> {
    let domain = Shape::Box {
        low: [0.0; D],
        high: settings.domain(),
    };
    let domain = if D == 3 && close(1, [0; D]) {
        extruded(domain)
    } else {
        domain
    }
    .inverted();
    let solids = solids.into_iter().chain([still("solid", domain)]);
    let solids = Solids::new(solids.collect());
    let mut tiles = Tiles::new(settings.cells);
    let all = (0..settings.cells.iter().product::<usize>())
        .into_par_iter()
        .map(|mut k| {
            std::array::from_fn(|a| {
                let c = k % settings.cells[a];
                k /= settings.cells[a];
                c as i32
            })
        });
    tiles.cover(all, 4);
    let posed = solids.over_step(0.0, 0.01);
    let mut cut = CutCells::new();
    cut.sample(&tiles, settings.dx, &posed);
    for (index, axis) in (0..tiles.cells()).flat_map(|index| (0..D).map(move |axis| (index, axis)))
    {
        if close(axis, tiles.coord(index)) {
            cut.close(axis, index);
        }
    }
    let mut distance = Vec::new();
    tiles.reset(&mut distance, settings.dx as f32);
    let mut velocity: FaceField<D> = std::array::from_fn(|_| Vec::new());
    let mut state: [Vec<FaceState>; D] = std::array::from_fn(|_| Vec::new());
    for a in 0..D {
        tiles.reset(&mut velocity[a], 0.0);
        tiles.reset(&mut state[a], FaceState::Unknown);
    }
    for index in 0..tiles.cells() {
        let cell = tiles.coord(index);
        let inside = (0..D).all(|a| (0..settings.cells[a] as i32).contains(&cell[a]));
        distance[index] = if inside {
            phi(cell.map(|c| (c as f64 + 0.5) * settings.dx)) as f32
        } else {
            settings.dx as f32
        };
        for a in 0..D {
            velocity[a][index] = field(a, cell);
        }
    }
    let mut projection = PressureProjection::default();
    let mut faces = Faces {
        kick: 0.0,
        particles: &Particles::default(),
        bins: &Bins::default(),
        sources: &Sources::default(),
        time: 0.0,
        settings,
        tiles: &tiles,
        cut: &cut,
        phi: &distance,
        number_density: &[],
        solids: &posed,
        velocity: &mut velocity,
        state: &mut state,
        displacement: &mut std::array::from_fn(|_| Vec::new()),
        phases: &mut (),
    };
    if let Err(error) = projection.project(&mut faces, 0.01) {
        panic!("{error}");
    }
    let faces = |a: usize| {
        (0..tiles.cells())
            .filter(|&i| state[a][i] == FaceState::Known)
            .map(|i| (tiles.coord(i), velocity[a][i]))
            .collect()
    };
    let rows = projection.cells().iter().zip(projection.solution());
    Found {
        velocity: (0..D).map(faces).collect(),
        pressure: rows
            .map(|(&cell, p)| (tiles.coord(cell as usize), *p))
            .collect(),
    }
}

/// A box without ends along the second axis.
fn extruded<const D: usize>(shape: Shape<D>) -> Shape<D> {
    let Shape::Box { mut low, mut high } = shape else {
        return shape;
    };
    (low[1], high[1]) = (-1e3, 1e3);
    Shape::Box { low, high }
}

fn nothing<const D: usize>(_axis: usize, _face: Coord<D>) -> bool {
    false
}

/// A number between -1 and 1 for a face, without pattern.
fn noise<const D: usize>(axis: usize, at: Coord<D>) -> f64 {
    let mut hash = 0x9E37_79B9_7F4A_7C15u64 ^ axis as u64;
    for c in at {
        hash = (hash ^ c as u32 as u64).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        hash ^= hash >> 29;
    }
    (hash >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn permuted<const D: usize, T: Copy>(x: [T; D], order: [usize; D]) -> [T; D] {
    std::array::from_fn(|a| x[order[a]])
}

fn inverse<const D: usize>(order: [usize; D]) -> [usize; D] {
    std::array::from_fn(|a| order.iter().position(|&o| o == a).unwrap_or(0))
}

fn exact<const D: usize>(cells: [usize; D], walls: Walls, solver: Solver) -> Settings<D> {
    let mut settings = Settings::<D>::new(cells, 0.1);
    (
        settings.physics.walls,
        settings.physics.pressure.solver,
        settings.physics.pressure.tolerance,
    ) = (walls, solver, 1e-11);
    settings
}

fn swapping_axes<const D: usize>(cells: [usize; D], orders: &[[usize; D]], walls: Walls) {
    let centre: [f64; D] = std::array::from_fn(|a| 0.043 * cells[a] as f64 + 0.07 * a as f64);
    let ball = |order| {
        vec![Shape::Sphere {
            center: permuted(centre, order),
            radius: 0.31,
        }]
    };
    let weights: [f64; D] = std::array::from_fn(|a| 0.3 + 0.25 * a as f64);
    let phi = |x: [f64; D]| (0..D).map(|a| weights[a] * x[a]).sum::<f64>() - 0.71;
    let identity = std::array::from_fn(|a| a);
    let plain = project(
        &exact(cells, walls, Solver::Auto),
        ball(identity),
        phi,
        noise,
        nothing,
    );
    assert!(plain.pressure.len() > 100);
    for &order in orders {
        let back = inverse(order);
        let mut settings = exact(permuted(cells, order), walls, Solver::Auto);
        // The bounds at separating walls depend on where ceilings are.
        settings.physics.gravity =
            permuted(exact(cells, walls, Solver::Auto).physics.gravity, order);
        let swapped = project(
            &settings,
            ball(order),
            |x| phi(permuted(x, back)),
            |axis, at| noise(order[axis], permuted(at, back)),
            nothing,
        );
        assert_eq!(plain.pressure.len(), swapped.pressure.len());
        for axis in 0..D {
            assert_eq!(
                plain.velocity[order[axis]].len(),
                swapped.velocity[axis].len()
            );
            for (at, value) in &swapped.velocity[axis] {
                let other = plain.velocity[order[axis]][&permuted(*at, back)];
                assert!(
                    (value - other).abs() < 1e-9,
                    "axis {axis} at {at:?}: {value} and {other}"
                );
            }
        }
    }
}

#[test]
fn a_projection_commutes_with_every_swap_of_axes_in_2d() {
    for walls in [Walls::Slip, Walls::Separating] {
        swapping_axes([21, 17], &[[1, 0]], walls);
    }
}

#[test]
fn a_projection_commutes_with_every_swap_of_axes_in_3d() {
    let orders = [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for walls in [Walls::Slip, Walls::Separating] {
        swapping_axes([13, 11, 12], &orders, walls);
    }
}

/// The 3D problem is closed across the extruded axis by faces, not by a solid, whose distance would round off the
/// edges where it meets the others. Its rows there are bounded although they have no wall in 2D, so the field of the
/// separating case has a positive pressure everywhere away from the walls that both have: falling.
#[test]
fn a_projection_in_2d_equals_the_same_field_extruded_in_3d() {
    for (walls, falling, shaking) in [(Walls::Slip, 0.0, 1.0), (Walls::Separating, -1.0, 0.0)] {
        let field = |axis: usize, at: Coord<2>| {
            shaking * noise(axis, at) + if axis == 1 { falling } else { 0.0 }
        };
        let phi = |x: f64, z: f64| z - 0.93 - 0.2 * x;
        let flat = project(
            &exact([20, 18], walls, Solver::Auto),
            vec![Shape::Sphere {
                center: [1.13, 0.61],
                radius: 0.29,
            }],
            |x| phi(x[0], x[1]),
            field,
            nothing,
        );
        let pillar = Shape::Capsule {
            from: [1.13, -5.0, 0.61],
            to: [1.13, 5.0, 0.61],
            radius: 0.29,
        };
        let deep = project(
            &exact([20, 5, 18], walls, Solver::Auto),
            vec![pillar],
            |x| phi(x[0], x[2]),
            |axis, at| {
                if axis == 1 {
                    0.0
                } else {
                    field(axis / 2, [at[0], at[2]])
                }
            },
            |axis, at| axis == 1 && (at[1] == 0 || at[1] == 5),
        );
        assert_eq!(flat.pressure.len() * 5, deep.pressure.len());
        for (&[x, y, z], p) in &deep.pressure {
            let other = flat.pressure[&[x, z]];
            assert!(
                (p - other).abs() < 1e-9 * 1e5,
                "pressure at {x} {y} {z}: {p} and {other}"
            );
        }
        for (axis, flat) in [(0, &flat.velocity[0]), (2, &flat.velocity[1])] {
            for (&[x, y, z], value) in &deep.velocity[axis] {
                let other = flat[&[x, z]];
                assert!(
                    (value - other).abs() < 1e-9,
                    "axis {axis} at {x} {y} {z}: {value} and {other}"
                );
            }
        }
    }
}

/// Solves the same problem with both, and returns how many rows have no pressure.
fn assert_same_pressure(walls: Walls, one: Solver, other: Solver) -> usize {
    let solve = |solver| {
        let mut settings = exact([24, 22, 20], walls, solver);
        settings.physics.pressure.tolerance = 1e-10;
        let ball = Shape::Sphere {
            center: [1.2, 1.1, 0.7],
            radius: 0.43,
        };
        project(
            &settings,
            vec![ball],
            |x| x[2] - 1.13 + 0.2 * x[0],
            |a, at| noise(a, at) - if a == 2 { 0.3 } else { 0.0 },
            nothing,
        )
    };
    let (one, other) = (solve(one).pressure, solve(other).pressure);
    let largest = one.values().fold(0.0, |m: f64, p| m.max(p.abs()));
    for (cell, p) in &one {
        let q = other[cell];
        assert!((p - q).abs() < 1e-6 * largest, "at {cell:?}: {p} and {q}");
    }
    one.values().filter(|&&p| p == 0.0).count()
}

#[test]
fn newton_and_policy_iteration_find_the_same_pressure() {
    let zero = assert_same_pressure(Walls::Separating, Solver::Newton, Solver::PiPcg);
    assert!(
        zero > 20,
        "only {zero} rows separated: the test would not see a difference"
    );
}

#[test]
fn multigrid_finds_the_same_pressure() {
    assert_same_pressure(Walls::Separating, Solver::PiPcg, Solver::TnMg);
    for multigrid in [Solver::TnMg, Solver::Mg, Solver::MgPcg] {
        assert_same_pressure(Walls::Slip, Solver::Cg, multigrid);
    }
}

/// One step of gravity on liquid at rest with an exact level, in a slanted and a curved container.
fn keeps_hydrostatic<const D: usize>(vessel: Shape<D>, level: f64, walls: Walls) {
    let settings = exact([24; D], walls, Solver::Auto);
    let dt = 0.01;
    let fall = |axis: usize, _: Coord<D>| settings.physics.gravity[axis] * dt;
    let found = project(
        &settings,
        vec![vessel.inverted()],
        |x| x[D - 1] - level,
        fall,
        nothing,
    );
    assert!(found.pressure.len() > 30);
    let fastest = found.velocity.iter().flat_map(|faces| faces.values());
    let fastest = fastest.fold(0.0f64, |most, v| most.max(v.abs()));
    // Distances are in single precision.
    assert!(fastest < 1e-6, "{D}D, {walls} walls: {fastest} m/s");
}

#[test]
fn an_exact_level_keeps_the_hydrostatic_state_in_slanted_and_curved_containers() {
    for walls in [Walls::Slip, Walls::Separating] {
        for level in [0.83, 1.2, 1.77] {
            let side = |slope: f64| Shape::HalfSpace {
                point: [1.2, 0.2],
                normal: [slope, -1.0],
            };
            let vee = Shape::Intersection(vec![side(0.6), side(-0.8)]);
            keeps_hydrostatic::<2>(vee, level, walls);
            let ball = Shape::Sphere {
                center: [1.2; 3],
                radius: 1.03,
            };
            keeps_hydrostatic::<3>(ball, level, walls);
        }
    }
}

#[test]
fn a_piston_drives_the_liquid_before_it_at_its_own_speed() {
    // A channel with the piston on the left and air on the right: all of the liquid in between moves with the piston.
    let speed = 0.5;
    for walls in [Walls::Slip, Walls::Separating] {
        let settings = exact([24, 8], walls, Solver::Auto);
        let key = |time: f64| Keyframe {
            time,
            position: [speed * time, 0.0],
            rotation: Rotation::IDENTITY,
        };
        let piston = ScriptedSolid {
            name: "piston".into(),
            shape: Shape::Box {
                low: [-1.0, -1.0],
                high: [0.63, 2.0],
            },
            motion: Motion::Keyframes {
                keys: vec![key(0.0), key(1.0)],
                ease: Ease::Linear,
            },
        };
        let found = project_among(
            &settings,
            vec![piston],
            |x| x[0] - 1.75,
            |_, _| 0.0,
            nothing,
        );
        let mut seen = 0;
        for (cell, along) in &found.velocity[0] {
            if (7..=17).contains(&cell[0]) && (0..8).contains(&cell[1]) {
                assert!((along - speed).abs() < 1e-6, "{walls} {cell:?}: {along}");
                seen += 1;
            }
        }
        assert_eq!(seen, 11 * 8, "{walls}");
    }
}

#[test]
fn a_ceiling_does_not_hold_liquid_that_falls() {
    // The centres of the uppermost cells lie inside the ceiling, where no air is near but at the ends.
    let settings = exact([24, 16], Walls::Separating, Solver::Auto);
    let ceiling = Shape::Box {
        low: [-1.0, 1.03],
        high: [4.0, 3.0],
    };
    let found = project(
        &settings,
        vec![ceiling],
        |x| 0.42 - x[1],
        |axis, _| if axis == 1 { -1.0 } else { 0.0 },
        nothing,
    );
    let above = |cell: &Coord<2>| cell[1] == 10;
    let held: Vec<_> = found
        .pressure
        .iter()
        .filter(|(cell, _)| above(cell))
        .collect();
    assert!(held.len() > 20, "{}", held.len());
    for (cell, pressure) in held {
        assert!(*pressure >= 0.0, "{cell:?}: {pressure}");
    }
    // It falls on as it did: nothing pulls it up.
    let columns = found.velocity[1]
        .iter()
        .filter(|(cell, _)| (5..=9).contains(&cell[1]) && (2..22).contains(&cell[0]));
    for (cell, down) in columns {
        assert!((down + 1.0).abs() < 1e-6, "{cell:?}: {down}");
    }
}
