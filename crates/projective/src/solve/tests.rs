//! The dual problem against its definition, on particles few enough for dense matrices.

use super::*;
use crate::cells::{Cells, lists};
use crate::constraints::padding;
use crate::kernel::{HalfSpace, support};

const SPACING: f64 = 0.1;

/// Nothing but particles.
fn alone<'s, 'c, 'm, 'b>() -> Others<'s, 'c, 'm, 'b, 3> {
    Others {
        cloth: None,
        bodies: None,
    }
}

/// Particles of a block compressed to `scale`, with random displacements of at most `jitter` spacings, and their constraints
/// at these positions.
fn stage(scale: f64, jitter: f64) -> (Vec<Vec4<f64>>, Constraints<f64>, Kernel<f64>) {
    let mut positions = Vec::new();
    let mut random = 7u64;
    let mut unit = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 11) as f64 / (1u64 << 53) as f64
    };
    for i in 0..5 {
        for j in 0..5 {
            for k in 0..4 {
                let x = [i, j, k].map(|c| scale * SPACING * (f64::from(c) + jitter * unit()));
                positions.push(Vec4::of(x));
            }
        }
    }
    let id: Vec<u64> = (0..positions.len() as u64).collect();
    let reach = support::<3>() * SPACING;
    let (cells, order) = Cells::new(&positions, &id, reach);
    let mut sorted: Vec<Vec4<f64>> = order.iter().map(|&i| positions[i as usize]).collect();
    sorted.push(padding());
    let mut constraints = Constraints::default();
    lists(&cells, &sorted, reach, &mut constraints.lists);
    constraints.resize(positions.len());
    constraints.is_near_wall = vec![false; positions.len()];
    let kernel = Kernel::new::<3>(SPACING);
    let table = HalfSpace::new::<3>(SPACING);
    let walls = Walls::<3>::new(&[], 0.0, &table, SPACING);
    constraints.evaluate::<3, true>(&kernel, &walls, &sorted);
    (sorted, constraints, kernel)
}

/// `G` as a dense matrix, by differences of the constraints.
fn dense_gradient(
    positions: &[Vec4<f64>],
    constraints: &Constraints<f64>,
    kernel: &Kernel<f64>,
) -> Vec<Vec<f64>> {
    let n = positions.len() - 1;
    let table = HalfSpace::new::<3>(SPACING);
    let walls = Walls::<3>::new(&[], 0.0, &table, SPACING);
    let mut columns = Vec::new();
    for particle in 0..n {
        for axis in 0..3 {
            let at = |shift: f64| {
                let mut moved = positions.to_vec();
                moved[particle].0[axis] += shift;
                let mut constraints = constraints.clone();
                constraints.evaluate::<3, false>(kernel, &walls, &moved);
                constraints.excess
            };
            let (above, below) = (at(1e-6), at(-1e-6));
            columns.push(
                (0..n)
                    .map(|i| (above[i] - below[i]) / 2e-6)
                    .collect::<Vec<f64>>(),
            );
        }
    }
    columns
}

#[test]
fn products_are_those_with_the_derivatives_of_the_constraints() {
    let (positions, mut constraints, kernel) = stage(0.93, 0.2);
    let columns = dense_gradient(&positions, &constraints, &kernel);
    let n = positions.len() - 1;
    let multiplier: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
    constraints.transposed_product(&multiplier);
    for particle in 0..n {
        for axis in 0..3 {
            let column = &columns[3 * particle + axis];
            let exact: f64 = (0..n).map(|i| column[i] * multiplier[i]).sum();
            let error = (constraints.force[particle].0[axis] - exact).abs();
            assert!(error < 1e-5 / SPACING, "{error}");
        }
    }
    let mut image = vec![0.0; n];
    constraints.product(1.0, 0.0, &multiplier, &vec![true; n], &mut image);
    for i in 0..n {
        let exact: f64 = (0..n)
            .flat_map(|particle| (0..3).map(move |axis| (particle, axis)))
            .map(|(particle, axis)| {
                columns[3 * particle + axis][i] * constraints.force[particle].0[axis]
            })
            .sum();
        assert!(
            (image[i] - exact).abs() < 1e-3 * exact.abs().max(1.0),
            "{i}"
        );
    }
}

#[test]
fn the_matrix_of_the_dual_is_symmetric_and_positive() {
    let (_, mut constraints, _) = stage(0.93, 0.2);
    let n = constraints.excess.len();
    let vectors: [Vec<f64>; 2] = [
        (0..n).map(|i| (i as f64).cos()).collect(),
        (0..n).map(|i| ((i * i) as f64).sin()).collect(),
    ];
    let mut image = |vector: &[f64]| {
        let mut image = vec![0.0; n];
        constraints.transposed_product(vector);
        constraints.product(2.0, 1e-3, vector, &vec![true; n], &mut image);
        image
    };
    let (first, second) = (image(&vectors[0]), image(&vectors[1]));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let (a, b) = (dot(&vectors[1], &first), dot(&vectors[0], &second));
    assert!((a - b).abs() < 1e-12 * dot(&first, &first).sqrt() * dot(&second, &second).sqrt());
    assert!(dot(&vectors[0], &first) > 0.0 && dot(&vectors[1], &second) > 0.0);
}

/// The converged dual solution with frozen gradients minimises
/// `m / (2 dt²) |y - s|² + Σ K V / 2 max(C_i, 0)²`: its gradient there is zero.
#[test]
fn the_dual_solution_minimises_the_objective_of_the_paper() {
    let (positions, mut constraints, kernel) = stage(0.99, 0.02);
    let n = positions.len() - 1;
    let mut settings = Settings::<3>::new(SPACING);
    settings.bulk_modulus = 1e6;
    settings.rounds = 200;
    settings.inner_iterations = 200;
    (settings.max_error, settings.mean_error) = (1e-13, 1e-13);
    let table = HalfSpace::new::<3>(SPACING);
    let walls = Walls::<3>::new(&[], 0.0, &table, SPACING);
    let mut problem = Problem {
        settings: &settings,
        kernel: &kernel,
        walls,
        start: &positions[..n],
        predicted: &positions[..n],
        dt: 1e-3,
    };
    let mut unknowns = Unknowns {
        position: positions.clone(),
        multiplier: vec![0.0; n],
    };
    let report = solve(&mut problem, &mut constraints, &mut unknowns, alone());
    assert!(report.has_converged, "{report:?}");
    // Every pressure is the bulk modulus times the compression.
    let stiffness = settings.bulk_modulus * settings.particle_volume();
    let scale = unknowns.multiplier.iter().copied().fold(0.0, f64::max);
    assert!(scale > 0.0);
    for i in 0..n {
        let pressure = stiffness * constraints.excess[i].max(0.0);
        let error = (unknowns.multiplier[i] - pressure).abs();
        assert!(error < 1e-6 * scale, "{i}: {error} of {scale}");
    }
    // Forces of these pressures move the particles from their predicted places, to first order in the movement.
    constraints.transposed_product(&unknowns.multiplier);
    let mobility = problem.mobility();
    let (mut error, mut moved): (f64, f64) = (0.0, 0.0);
    for i in 0..n {
        let by_force = constraints.force[i].scaled(-mobility);
        let shift = (unknowns.position[i] - positions[i]).xyz();
        let apart = by_force - shift;
        error = error.max(apart.dot(apart).sqrt());
        moved = moved.max(shift.dot(shift).sqrt());
    }
    assert!(moved > 0.0 && error < 0.05 * moved, "{error} of {moved}");
}

/// [WKB16 (5)] With `D = P = I` the global matrix of a liquid is diagonal: conjugate gradients on it find what the division
/// of the method `paper` finds.
#[test]
fn conjugate_gradients_on_the_global_matrix_find_the_positions_of_the_division() {
    let (positions, mut constraints, kernel) = stage(0.93, 0.2);
    let n = positions.len() - 1;
    let mut settings = Settings::<3>::new(SPACING);
    settings.method = Method::Paper;
    settings.rounds = 1;
    let table = HalfSpace::new::<3>(SPACING);
    let walls = Walls::<3>::new(&[], 0.0, &table, SPACING);
    let mut problem = Problem {
        settings: &settings,
        kernel: &kernel,
        walls,
        start: &positions[..n],
        predicted: &positions[..n],
        dt: 1e-3,
    };
    let paths = paper::local_step(&problem, &constraints, &positions);
    let sums = paper::projections(&problem, &constraints, &positions, &paths);
    let inertia = settings.particle_mass() / (problem.dt * problem.dt);
    let weight = paper::weight(&settings);
    let mut unknowns = Unknowns {
        position: positions.clone(),
        multiplier: vec![0.0; n],
    };
    solve(&mut problem, &mut constraints, &mut unknowns, alone());
    for axis in 0..3 {
        // The matrix as the sum over the constraints, never as its diagonal.
        let apply = |x: &[f64]| -> Vec<f64> {
            let mut y: Vec<f64> = x.iter().map(|x| inertia * x).collect();
            for i in (0..n).filter(|&i| paths[i].len > 0) {
                let list = &constraints.lists[i / crate::cells::CHUNK];
                let range = list.range(i % crate::cells::CHUNK);
                let own = list.neighbour[range].iter().map(|&j| j as usize);
                for j in own.chain([i]).filter(|&j| j < n) {
                    y[j] += weight * x[j];
                }
            }
            y
        };
        let right: Vec<f64> = (0..n)
            .map(|j| inertia * positions[j].0[axis] + weight * sums[j].1.0[axis])
            .collect();
        let found = conjugate_gradients(&apply, &right);
        for j in 0..n {
            let error = (found[j] - unknowns.position[j].0[axis]).abs();
            assert!(error < 1e-9 * SPACING, "{error}");
        }
    }
}

fn conjugate_gradients(apply: &dyn Fn(&[f64]) -> Vec<f64>, right: &[f64]) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let mut x = vec![0.0; right.len()];
    let mut r = right.to_vec();
    let mut p = r.clone();
    let mut energy = dot(&r, &r);
    let end = 1e-28 * energy;
    while energy > end {
        let q = apply(&p);
        let step = energy / dot(&p, &q);
        for i in 0..x.len() {
            x[i] += step * p[i];
            r[i] -= step * q[i];
        }
        let next = dot(&r, &r);
        for i in 0..x.len() {
            p[i] = r[i] + next / energy * p[i];
        }
        energy = next;
    }
    x
}

/// With differential coordinates, the global step has no force left: neither inertia nor what pulls the positions of every
/// constraint, relative to their mean, to their projections.
#[test]
fn the_global_step_in_differential_coordinates_balances_all_forces() {
    let (positions, mut constraints, kernel) = stage(0.93, 0.2);
    let n = positions.len() - 1;
    let mut settings = Settings::<3>::new(SPACING);
    settings.method = Method::Paper;
    settings.coordinates = crate::Coordinates::Differential;
    (settings.rounds, settings.bulk_modulus) = (1, 1e7);
    let table = HalfSpace::new::<3>(SPACING);
    let mut problem = Problem {
        settings: &settings,
        kernel: &kernel,
        walls: Walls::<3>::new(&[], 0.0, &table, SPACING),
        start: &positions[..n],
        predicted: &positions[..n],
        dt: 1e-3,
    };
    let paths = paper::local_step(&problem, &constraints, &positions);
    let inertia = settings.particle_mass() / (problem.dt * problem.dt);
    let weight = paper::weight(&settings);
    let mut unknowns = Unknowns {
        position: positions.clone(),
        multiplier: vec![0.0; n],
    };
    solve(&mut problem, &mut constraints, &mut unknowns, alone());
    let y = &unknowns.position;
    let mut force: Vec<Vec4<f64>> = (0..n)
        .map(|j| (positions[j] - y[j]).scaled(inertia).xyz())
        .collect();
    let mut size = 0.0_f64;
    for i in (0..n).filter(|&i| paths[i].len > 0) {
        let list = &constraints.lists[i / crate::cells::CHUNK];
        let range = list.range(i % crate::cells::CHUNK);
        let set: Vec<usize> = list.neighbour[range].iter().map(|&j| j as usize).collect();
        let set: Vec<usize> = set.into_iter().filter(|&j| j < n).chain([i]).collect();
        let apart = |j: usize| match i == j {
            true => paths[i].end() - y[i],
            false => paper::replay(&kernel, &paths[i], positions[j]) - y[j],
        };
        let sum = set.iter().fold(Vec4::ZERO, |sum, &j| sum + apart(j));
        let mean = sum.scaled(1.0 / set.len() as f64);
        for j in set {
            let pull = (apart(j) - mean).scaled(weight).xyz();
            size = size.max(pull.dot(pull).sqrt());
            force[j] = force[j] + pull;
        }
    }
    assert!(size > 0.0);
    for force in force {
        let left = force.dot(force).sqrt();
        assert!(left < 1e-6 * size, "{left} of {size}");
    }
}
