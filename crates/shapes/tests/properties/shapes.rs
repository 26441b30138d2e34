//! Distances, normals and bounds.

use crate::arbitrary;

use meniscus_shapes::{Bounds, Shape};
use proptest::prelude::*;
use std::array::from_fn;
use std::f64::consts::{PI, TAU};

fn minus<const D: usize>(a: [f64; D], b: [f64; D]) -> [f64; D] {
    from_fn(|i| a[i] - b[i])
}

fn dot<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
    (0..D).map(|i| a[i] * b[i]).sum()
}

fn length<const D: usize>(a: [f64; D]) -> f64 {
    dot(a, a).sqrt()
}

/// Points on the surface of a simple solid, written down without any distance, and how far at most a
/// point of the surface is from one of them.
fn surface<const D: usize>(shape: &Shape<D>) -> (Vec<[f64; D]>, f64) {
    const N: usize = 160;
    // Each solid of revolution as pieces of its profile: (along, away) for 0 <= s <= 1, with its length.
    type Piece = (f64, Box<dyn Fn(f64) -> [f64; 2]>);
    fn line(a: [f64; 2], b: [f64; 2]) -> Piece {
        let at = move |s: f64| [a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])];
        (length(minus(b, a)), Box::new(at))
    }
    fn arc(c: [f64; 2], r: f64, from: f64, to: f64) -> Piece {
        let at = move |s: f64| {
            let angle = from + s * (to - from);
            [c[0] + r * angle.cos(), c[1] + r * angle.sin()]
        };
        (r * (to - from).abs(), Box::new(at))
    }
    let (origin, axis, pieces): ([f64; D], [f64; D], Vec<Piece>) = match *shape {
        Shape::Sphere { center, radius } => (
            center,
            from_fn(|i| (i == 0) as usize as f64),
            vec![arc([0.0; 2], radius, 0.0, PI)],
        ),
        Shape::Capsule { from, to, radius } => {
            let l = length(minus(to, from));
            let pieces = vec![
                arc([0.0, 0.0], radius, PI / 2.0, PI),
                line([0.0, radius], [l, radius]),
                arc([l, 0.0], radius, 0.0, PI / 2.0),
            ];
            (from, minus(to, from), pieces)
        }
        Shape::Cylinder { from, to, radius } => {
            let l = length(minus(to, from));
            let pieces = vec![
                line([0.0, 0.0], [0.0, radius]),
                line([0.0, radius], [l, radius]),
                line([l, radius], [l, 0.0]),
            ];
            (from, minus(to, from), pieces)
        }
        Shape::Cone {
            from,
            to,
            radius_from,
            radius_to,
        } => {
            let l = length(minus(to, from));
            let pieces = vec![
                line([0.0, 0.0], [0.0, radius_from]),
                line([0.0, radius_from], [l, radius_to]),
                line([l, radius_to], [l, 0.0]),
            ];
            (from, minus(to, from), pieces)
        }
        Shape::Torus {
            center,
            axis,
            major,
            minor,
        } => (center, axis, vec![arc([0.0, major], minor, 0.0, TAU)]),
        Shape::Box { low, high } => return faces(low, high),
        _ => panic!("not a simple solid"),
    };
    let axis = axis.map(|c| c / length(axis));
    // Vectors at right angles to the axis, by Gram and Schmidt.
    let mut around: Vec<[f64; D]> = Vec::new();
    for i in 0..D {
        let mut e: [f64; D] = from_fn(|j| (i == j) as usize as f64);
        for u in around.iter().chain([&axis]) {
            let part = dot(e, *u);
            e = from_fn(|j| e[j] - part * u[j]);
        }
        if length(e) > 0.3 && around.len() < D - 1 {
            around.push(e.map(|c| c / length(e)));
        }
    }
    assert_eq!(around.len(), D - 1);
    let directions: Vec<[f64; D]> = if D == 2 {
        vec![around[0], around[0].map(|c| -c)]
    } else {
        (0..N)
            .map(|k| {
                let (sin, cos) = (TAU * k as f64 / N as f64).sin_cos();
                from_fn(|i| cos * around[0][i] + sin * around[1][i])
            })
            .collect()
    };
    let mut points = Vec::new();
    let (mut step, mut widest) = (0.0_f64, 0.0_f64);
    for (piece_length, piece) in &pieces {
        step = step.max(piece_length / N as f64);
        for k in 0..=N {
            let [along, away] = piece(k as f64 / N as f64);
            widest = widest.max(away);
            for d in &directions {
                points.push(from_fn(|i| origin[i] + along * axis[i] + away * d[i]));
            }
        }
    }
    let around_step = if D == 2 { 0.0 } else { PI * widest / N as f64 };
    (points, 0.5 * step + around_step)
}

fn faces<const D: usize>(low: [f64; D], high: [f64; D]) -> (Vec<[f64; D]>, f64) {
    const N: usize = 60;
    let mut points = Vec::new();
    for axis in 0..D {
        for side in [low[axis], high[axis]] {
            for k in 0..(N + 1).pow(D as u32 - 1) {
                let mut rest = k;
                points.push(from_fn(|i| {
                    if i == axis {
                        return side;
                    }
                    let at = (rest % (N + 1)) as f64 / N as f64;
                    rest /= N + 1;
                    low[i] + at * (high[i] - low[i])
                }));
            }
        }
    }
    (points, 0.5 * length(minus(high, low)) / N as f64)
}

/// Whether a point is inside a simple solid, without any distance.
fn inside<const D: usize>(shape: &Shape<D>, x: [f64; D]) -> bool {
    let seen = |from: [f64; D], along: [f64; D]| {
        let offset = minus(x, from);
        let at = dot(offset, along) / length(along);
        (at, (dot(offset, offset) - at * at).max(0.0).sqrt())
    };
    match *shape {
        Shape::Sphere { center, radius } => length(minus(x, center)) < radius,
        Shape::Box { low, high } => (0..D).all(|i| low[i] < x[i] && x[i] < high[i]),
        Shape::Capsule { from, to, radius } => {
            let (at, away) = seen(from, minus(to, from));
            let middle = at > 0.0 && at < length(minus(to, from)) && away < radius;
            middle || length(minus(x, from)) < radius || length(minus(x, to)) < radius
        }
        Shape::Cylinder { from, to, radius } => {
            let (at, away) = seen(from, minus(to, from));
            at > 0.0 && at < length(minus(to, from)) && away < radius
        }
        Shape::Cone {
            from,
            to,
            radius_from,
            radius_to,
        } => {
            let (at, away) = seen(from, minus(to, from));
            let s = at / length(minus(to, from));
            s > 0.0 && s < 1.0 && away < radius_from + s * (radius_to - radius_from)
        }
        Shape::Torus {
            center,
            axis,
            major,
            minor,
        } => {
            let (at, away) = seen(center, axis);
            at.hypot(away - major) < minor
        }
        _ => panic!("not a simple solid"),
    }
}

fn distance_is_that_of_the_sampled_surface<const D: usize>(
    shape: &Shape<D>,
    queries: &[[f64; D]],
) -> Result<(), TestCaseError> {
    let (points, spacing) = surface(shape);
    for &x in queries {
        let distance = shape.distance(x);
        let sampled = points
            .iter()
            .map(|&p| length(minus(x, p)))
            .fold(f64::INFINITY, f64::min);
        prop_assert!(
            distance.abs() <= sampled + 1e-12 && sampled <= distance.abs() + spacing,
            "{distance} but sampled {sampled} +- {spacing} at {x:?}"
        );
        if distance.abs() > 1e-12 {
            prop_assert_eq!(distance < 0.0, inside(shape, x));
        }
    }
    Ok(())
}

fn bounds_touch_the_surface<const D: usize>(shape: &Shape<D>) -> Result<(), TestCaseError> {
    let (points, spacing) = surface(shape);
    let bounds = shape.bounds().expect("a simple solid has an end");
    for axis in 0..D {
        let low = points.iter().map(|p| p[axis]).fold(f64::INFINITY, f64::min);
        let high = points
            .iter()
            .map(|p| p[axis])
            .fold(f64::NEG_INFINITY, f64::max);
        prop_assert!(bounds.low[axis] <= low + 1e-12 && low - spacing <= bounds.low[axis]);
        prop_assert!(bounds.high[axis] >= high - 1e-12 && high + spacing >= bounds.high[axis]);
    }
    Ok(())
}

fn distance_changes_no_faster_than_the_point<const D: usize>(
    shape: &Shape<D>,
    a: [f64; D],
    b: [f64; D],
) -> Result<(), TestCaseError> {
    let change = (shape.distance(a) - shape.distance(b)).abs();
    prop_assert!(change <= length(minus(a, b)) + 1e-12);
    Ok(())
}

fn gradient_is_the_change_of_the_distance<const D: usize>(
    shape: &Shape<D>,
    x: [f64; D],
) -> Result<(), TestCaseError> {
    let gradient = shape.gradient(x);
    prop_assert!((length(gradient) - 1.0).abs() < 1e-12);
    let shifted = |axis: usize, h: f64| {
        let mut y = x;
        y[axis] += h;
        shape.distance(y)
    };
    let h = 1e-5;
    let central: [f64; D] = from_fn(|i| (shifted(i, h) - shifted(i, -h)) / (2.0 * h));
    let one_sided: [f64; D] = from_fn(|i| (shifted(i, h) - shape.distance(x)) / h);
    // Elsewhere two parts meet within h, and there is no gradient.
    if length(minus(central, one_sided)) < 1e-2 {
        prop_assert!(length(minus(central, gradient)) < 2e-2);
    }
    Ok(())
}

fn bounds_hold_every_inner_point<const D: usize>(
    shape: &Shape<D>,
    x: [f64; D],
) -> Result<(), TestCaseError> {
    if let Some(bounds) = shape.bounds()
        && shape.distance(x) <= 0.0
    {
        prop_assert!(bounds.expanded(1e-12).contains(x), "{bounds:?} {x:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(120) })]

    #[test]
    fn distances_in_the_plane_are_those_of_sampled_surfaces(
        shape in arbitrary::simple::<2>(), x in prop::collection::vec(arbitrary::point(1.5), 20),
    ) {
        distance_is_that_of_the_sampled_surface(&shape, &x)?;
        bounds_touch_the_surface(&shape)?;
    }

    #[test]
    fn distances_in_space_are_those_of_sampled_surfaces(
        shape in arbitrary::simple::<3>(), x in prop::collection::vec(arbitrary::point(1.5), 20),
    ) {
        distance_is_that_of_the_sampled_surface(&shape, &x)?;
        bounds_touch_the_surface(&shape)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn no_distance_changes_faster_than_the_point_moves(
        flat in arbitrary::shape::<2>(), solid in arbitrary::shape::<3>(),
        a in arbitrary::point(1.5), b in arbitrary::point(1.5), c in arbitrary::point(1.5), d in arbitrary::point(1.5),
    ) {
        distance_changes_no_faster_than_the_point(&flat, a, b)?;
        distance_changes_no_faster_than_the_point(&solid, c, d)?;
    }

    #[test]
    fn distances_within_a_band_are_the_distances_there_and_safe_beyond(
        flat in arbitrary::shape::<2>(), solid in arbitrary::shape::<3>(),
        a in arbitrary::point(1.5), b in arbitrary::point(1.5), band in 0.0..0.5,
    ) {
        let pairs = [
            (flat.distance(a), flat.distance_within(a, band)),
            (solid.distance(b), solid.distance_within(b, band)),
        ];
        for (exact, banded) in pairs {
            if exact.abs() <= band {
                prop_assert!((exact - banded).abs() < 1e-12, "{} {}", exact, banded);
            } else {
                prop_assert!(exact * banded >= 0.0 && banded.abs() >= band - 1e-12);
                prop_assert!(banded.abs() <= exact.abs() + 1e-12);
            }
        }
    }

    #[test]
    fn gradients_have_length_one_and_follow_the_distance(
        flat in arbitrary::shape::<2>(), solid in arbitrary::shape::<3>(),
        a in arbitrary::point(1.5), b in arbitrary::point(1.5),
    ) {
        gradient_is_the_change_of_the_distance(&flat, a)?;
        gradient_is_the_change_of_the_distance(&solid, b)?;
    }

    #[test]
    fn bounds_hold_the_whole_solid(
        flat in arbitrary::shape::<2>(), solid in arbitrary::shape::<3>(),
        a in prop::collection::vec(arbitrary::point(1.5), 20), b in prop::collection::vec(arbitrary::point(1.5), 20),
    ) {
        for x in a {
            bounds_hold_every_inner_point(&flat, x)?;
        }
        for x in b {
            bounds_hold_every_inner_point(&solid, x)?;
        }
    }

    #[test]
    fn combinations_are_those_of_sets(
        a in arbitrary::shape::<3>(), b in arbitrary::shape::<3>(), x in arbitrary::point(1.5),
    ) {
        let (in_a, in_b) = (a.distance(x) < 0.0, b.distance(x) < 0.0);
        prop_assume!(a.distance(x) != 0.0 && b.distance(x) != 0.0);
        let both = vec![a.clone(), b.clone()];
        prop_assert_eq!(Shape::Union(both.clone()).distance(x) < 0.0, in_a || in_b);
        prop_assert_eq!(Shape::Intersection(both).distance(x) < 0.0, in_a && in_b);
        prop_assert_eq!(a.clone().without(vec![b.clone()]).distance(x) < 0.0, in_a && !in_b);
        prop_assert_eq!(a.inverted().distance(x) < 0.0, !in_a);
    }

    #[test]
    fn a_flat_shape_is_the_cut_through_the_solid_one(
        shape in arbitrary::simple::<2>(), x in arbitrary::point::<2>(1.5),
    ) {
        let lift = |[a, b]: [f64; 2]| [a, b, 0.0];
        let solid = match shape {
            Shape::Sphere { center, radius } => Shape::Sphere { center: lift(center), radius },
            // The only one that is not a solid of revolution: long enough, its ends don't matter.
            Shape::Box { low: [a, b], high: [c, d] } => Shape::Box { low: [a, b, -9.0], high: [c, d, 9.0] },
            Shape::Capsule { from, to, radius } => Shape::Capsule { from: lift(from), to: lift(to), radius },
            Shape::Cylinder { from, to, radius } => Shape::Cylinder { from: lift(from), to: lift(to), radius },
            Shape::Cone { from, to, radius_from, radius_to } =>
                Shape::Cone { from: lift(from), to: lift(to), radius_from, radius_to },
            Shape::Torus { center, axis, major, minor } =>
                Shape::Torus { center: lift(center), axis: lift(axis), major, minor },
            _ => unreachable!(),
        };
        prop_assert!((shape.distance(x) - solid.distance(lift(x))).abs() < 1e-14);
        let [a, b] = shape.gradient(x);
        let [c, d, e] = solid.gradient(lift(x));
        prop_assert!(length([a - c, b - d, e]) < 1e-9 || shape.distance(x).abs() < 1e-9);
    }
}

/// The volume of {distance < 0} by midpoints, each cell weighed by how deep its middle is.
fn volume<const D: usize>(shape: &Shape<D>, cells: usize) -> f64 {
    let Bounds { low, high } = shape.bounds().expect("an end").expanded(0.05);
    let size: [f64; D] = from_fn(|i| (high[i] - low[i]) / cells as f64);
    let width = length(size) / (D as f64).sqrt();
    let mut sum = 0.0;
    for k in 0..cells.pow(D as u32) {
        let mut rest = k;
        let x = from_fn(|i| {
            let at = rest % cells;
            rest /= cells;
            low[i] + (at as f64 + 0.5) * size[i]
        });
        sum += (0.5 - shape.distance(x) / width).clamp(0.0, 1.0);
    }
    sum * size.iter().product::<f64>()
}

#[test]
fn volumes_are_those_of_geometry() {
    let tilt = [0.3, -0.2, 0.5];
    let l = length(tilt);
    let (from, to) = ([0.1, 0.2, 0.3], [0.4, 0.0, 0.8]);
    let solid = [
        (
            Shape::Sphere {
                center: [0.1, 0.0, 0.2],
                radius: 0.4,
            },
            4.0 / 3.0 * PI * 0.064,
        ),
        (
            Shape::Box {
                low: [0.0; 3],
                high: [0.5, 0.7, 0.9],
            },
            0.315,
        ),
        (
            Shape::Capsule {
                from,
                to,
                radius: 0.2,
            },
            PI * 0.04 * l + 4.0 / 3.0 * PI * 0.008,
        ),
        (
            Shape::Cylinder {
                from,
                to,
                radius: 0.2,
            },
            PI * 0.04 * l,
        ),
        (
            Shape::Cone {
                from,
                to,
                radius_from: 0.3,
                radius_to: 0.1,
            },
            PI * l / 3.0 * (0.09 + 0.03 + 0.01),
        ),
        (
            Shape::Torus {
                center: from,
                axis: tilt,
                major: 0.4,
                minor: 0.15,
            },
            2.0 * PI * PI * 0.4 * 0.0225,
        ),
        (
            Shape::Sphere {
                center: [0.0; 3],
                radius: 0.4,
            }
            .shell(0.1),
            4.0 / 3.0 * PI * (0.45_f64.powi(3) - 0.35_f64.powi(3)),
        ),
        (
            // Steiner's formula: volume, area, edges, corners.
            Shape::Box {
                low: [0.0; 3],
                high: [0.5, 0.6, 0.7],
            }
            .rounded(0.1),
            0.21 + 2.14 * 0.1 + PI * 1.8 * 0.01 + 4.0 / 3.0 * PI * 0.001,
        ),
    ];
    for (shape, exact) in &solid {
        let found = volume(shape, 96);
        assert!(
            (found / exact - 1.0).abs() < 3e-3,
            "{shape:?}: {found} is not {exact}"
        );
    }
    let flat = [
        (
            Shape::Cylinder {
                from: [0.0, 0.1],
                to: [0.3, 0.5],
                radius: 0.2,
            },
            0.2,
        ),
        (
            Shape::Cone {
                from: [0.0, 0.1],
                to: [0.3, 0.5],
                radius_from: 0.2,
                radius_to: 0.0,
            },
            0.1,
        ),
        (
            Shape::Torus {
                center: [0.0, 0.1],
                axis: [1.0, 2.0],
                major: 0.4,
                minor: 0.2,
            },
            2.0 * PI * 0.04,
        ),
    ];
    for (shape, exact) in &flat {
        let found = volume(shape, 400);
        assert!(
            (found / exact - 1.0).abs() < 3e-3,
            "{shape:?}: {found} is not {exact}"
        );
    }
}

#[test]
fn half_spaces_along_the_axes_bound_what_they_enclose() {
    let mut parts = Vec::new();
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            parts.push(Shape::HalfSpace {
                point: [0.5 + 0.5 * side; 3],
                normal: from_fn(|i| if i == axis { 2.0 * side } else { 0.0 }),
            });
        }
    }
    let bounds = Shape::Intersection(parts.clone()).bounds();
    assert_eq!(
        bounds,
        Some(Bounds {
            low: [0.0; 3],
            high: [1.0; 3],
        })
    );
    // The box grown by a radius, and by half the thickness of a wall along its surface.
    let grown = |grow: &dyn Fn(Box<Shape<3>>) -> Shape<3>| {
        let each = parts.iter().map(|part| grow(Box::new(part.clone())));
        Shape::Intersection(each.collect()).bounds()
    };
    let larger = Some(Bounds {
        low: [-0.25; 3],
        high: [1.25; 3],
    });
    assert_eq!(
        grown(&|shape| Shape::Rounded {
            shape,
            radius: 0.25
        }),
        larger
    );
    assert_eq!(
        grown(&|shape| Shape::Shell {
            shape,
            thickness: 0.5
        }),
        larger
    );
    parts.pop();
    assert_eq!(Shape::Intersection(parts).bounds(), None);
}

#[test]
fn solids_without_an_end_have_no_bounds() {
    let ball = Shape::Sphere {
        center: [0.0; 2],
        radius: 1.0,
    };
    assert_eq!(ball.clone().inverted().bounds(), None);
    assert_eq!(ball.clone().inverted().inverted().bounds(), ball.bounds());
    let far = Shape::Sphere {
        center: [5.0, 0.0],
        radius: 1.0,
    };
    let apart = Shape::Intersection(vec![ball, far]).bounds();
    assert!(apart.expect("known to be empty").is_empty());
}
