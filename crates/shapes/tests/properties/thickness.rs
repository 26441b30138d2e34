//! Thickness of solids.

use meniscus_shapes::Shape;
use std::array::from_fn;

/// A cup with slanted sides, whose bottom and sides are equally thick.
fn cup<const D: usize>(thickness: f64, slope: f64) -> Shape<D> {
    let at = |height: f64| from_fn(|axis| if axis + 1 == D { height } else { 0.2 });
    let radius = |height: f64| 0.09 + slope * (height - 0.05);
    let cone = |low: f64, high: f64, wider: f64| Shape::Cone {
        from: at(low),
        to: at(high),
        radius_from: radius(low) + wider,
        radius_to: radius(high) + wider,
    };
    let across = thickness * (1.0 + slope * slope).sqrt();
    cone(0.05, 0.35, across).without(vec![cone(0.05 + thickness, 0.3501, 0.0)])
}

#[test]
fn the_thickness_of_a_cup_is_exact_however_thin_and_slanted_it_is() {
    for thickness in [0.0011, 0.004, 0.0123] {
        for slope in [0.0, 0.2, 0.6] {
            for found in [
                cup::<2>(thickness, slope).thinnest(),
                cup::<3>(thickness, slope).thinnest(),
            ] {
                let error = found.unwrap() / thickness - 1.0;
                assert!(error.abs() < 1e-3, "{thickness} {slope}: {error}");
            }
        }
    }
}
