//! Rotations and poses.

use crate::arbitrary;

use meniscus_shapes::{Generator, Pose, Rotation, angle_of};
use proptest::prelude::*;
use std::array::from_fn;
use std::f64::consts::PI;

fn difference<const D: usize>(a: &[[f64; D]; D], b: &[[f64; D]; D]) -> f64 {
    let rows = a.iter().flatten().zip(b.iter().flatten());
    rows.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn with_angle<const D: usize>(generator: Generator<D>, angle: f64) -> Generator<D> {
    let factor = angle / angle_of(&generator);
    generator.map(|row| row.map(|c| c * factor))
}

fn log_undoes_exp<const D: usize>(
    generator: Generator<D>,
    angle: f64,
) -> Result<(), TestCaseError> {
    prop_assume!(angle_of(&generator) > 1e-3);
    let turn = with_angle(generator, angle);
    let rotation = Rotation::exp(&turn);
    let product = rotation.compose(&rotation.inverse());
    prop_assert!(difference(product.matrix(), Rotation::IDENTITY.matrix()) < 1e-14);
    let found = rotation.log();
    prop_assert!(
        difference(&found, &turn) < 1e-13 * angle.max(1e-2),
        "{found:?} is not {turn:?}"
    );
    prop_assert!(difference(Rotation::exp(&found).matrix(), rotation.matrix()) < 1e-14);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn the_logarithm_undoes_the_exponential(
        flat in arbitrary::generator::<2>(1.0), solid in arbitrary::generator::<3>(1.0),
        angle in prop_oneof![
            0.0..PI,
            (1.0..12.0).prop_map(|e: f64| 10_f64.powf(-e)),
            // Nearer to half a turn the sense is lost in rounding.
            (1.0..12.0).prop_map(|e: f64| PI - 10_f64.powf(-e)),
        ],
    ) {
        log_undoes_exp(flat, angle)?;
        log_undoes_exp(solid, angle)?;
    }

    #[test]
    fn half_a_turn_has_a_logarithm_of_either_sense(solid in arbitrary::generator::<3>(1.0)) {
        prop_assume!(angle_of(&solid) > 1e-3);
        let rotation = Rotation::exp(&with_angle(solid, PI));
        prop_assert!((rotation.angle() - PI).abs() < 1e-14);
        prop_assert!(difference(Rotation::exp(&rotation.log()).matrix(), rotation.matrix()) < 1e-14);
    }

    #[test]
    fn poses_go_there_and_back(
        a in arbitrary::pose::<3>(), b in arbitrary::pose::<3>(), x in arbitrary::point::<3>(1.0),
    ) {
        let close = |p: [f64; 3], q: [f64; 3]| (0..3).all(|i| (p[i] - q[i]).abs() < 1e-14);
        prop_assert!(close(a.apply_inverse(a.apply(x)), x));
        prop_assert!(close(a.inverse().apply(x), a.apply_inverse(x)));
        prop_assert!(close(a.compose(&b).apply(x), a.apply(b.apply(x))));
        let about = Pose::turned_about(x, a.rotation);
        prop_assert!(close(about.apply(x), x));
    }
}

#[test]
fn half_a_turn_of_the_plane_has_a_logarithm() {
    let rotation = Rotation::from_angle(PI);
    assert!((rotation.angle() - PI).abs() < 1e-15);
}

#[test]
fn positive_angles_are_counterclockwise_and_right_handed() {
    let quarter = Rotation::from_angle(0.5 * PI).apply([1.0, 0.0]);
    assert!(quarter[0].abs() < 1e-15 && (quarter[1] - 1.0).abs() < 1e-15);
    for axis in 0..3 {
        let unit = |k: usize| from_fn(|i| if i == k % 3 { 1.0 } else { 0.0 });
        let turned: [f64; 3] =
            Rotation::from_axis_angle(unit(axis).map(|c: f64| 7.0 * c), 0.5 * PI)
                .apply(unit(axis + 1));
        let expected: [f64; 3] = unit(axis + 2);
        assert!((0..3).all(|i| (turned[i] - expected[i]).abs() < 1e-15));
    }
    assert_eq!(Rotation::from_axis_angle([0.0; 3], 1.0), Rotation::IDENTITY);
}
