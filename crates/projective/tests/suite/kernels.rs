//! Kernels and walls at rest.

use meniscus_projective::{Fluid, HalfSpace, Settings};

use crate::stage::{block, tank};

#[test]
fn half_of_the_kernel_is_beyond_a_plane_through_its_centre() {
    for table in [HalfSpace::new::<2>(0.1), HalfSpace::new::<3>(0.1)] {
        let support = table.support();
        assert!((table.at(0.0).0 - 0.5).abs() < 1e-12);
        assert_eq!(table.at(support), (0.0, 0.0));
        assert_eq!(table.at(-support), (1.0, 0.0));
        for z in [-0.15, -0.03, 0.0, 0.01, 0.123, 0.19] {
            let (share, slope) = table.at(z);
            let (above, below) = (table.at(z + 1e-6).0, table.at(z - 1e-6).0);
            assert!(((above - below) / 2e-6 - slope).abs() < 1e-5 * 10.0);
            assert!((share + table.at(-z).0 - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn a_plane_at_0_5833_spacings_has_the_density_of_a_lattice_beyond_it() {
    let table = HalfSpace::new::<3>(1.0);
    assert!((table.at(0.5833).0 - 0.1497).abs() < 1e-4);
}

#[test]
fn a_wall_pushes_the_first_layer_of_a_lattice_as_the_lattice_does() {
    // Uniform multipliers: particles push with the sum of two, a wall with one.
    let table = HalfSpace::new::<3>(1.0);
    let place = table.first_layer();
    let (share, slope) = table.of_wall(place);
    assert!((share - table.at(place).0).abs() < 1e-6);
    // Twice the slope of the layer at a distance of one, by differences of the cubic spline.
    assert!((slope + 2.0 * 0.51002).abs() < 1e-3, "{slope}");
    for k in -199..200 {
        let z = 0.01 * f64::from(k);
        let (share, slope) = table.of_wall(z);
        let (above, below) = (table.of_wall(z + 1e-6).0, table.of_wall(z - 1e-6).0);
        assert!(((above - below) / 2e-6 - slope).abs() < 1e-4, "{z}");
        assert!(
            (-1e-6..=1.0 + 1e-6).contains(&share) && slope <= 1e-6,
            "{z}: {share} {slope}"
        );
        // Where the second layer is, it is what it was.
        assert!(z < 1.5 || (share - table.at(z).0).abs() < 1e-3);
    }
}

/// Liquid that fills a tank, first layer half a spacing from its walls, has the density of a lattice up to the faces; along
/// edges and in corners the error is that of a product of shares.
#[test]
fn a_lattice_that_fills_a_tank_is_hardly_compressed() {
    let mut settings = Settings::<2>::new(0.05);
    settings.gravity = [0.0; 2];
    let solids = tank([0.5, 0.5]);
    let mut fluid: Fluid<2, f64> = block(settings, &solids, [0.0; 2], [0.5; 2]);
    assert_eq!(fluid.particles().len(), 100);
    let report = fluid.step(&solids, 1e-4, &mut |_| ()).unwrap();
    assert!(report.solve.max_error < 1e-3, "{}", report.solve.max_error);
    let moved = report.max_speed * 1e-4 / 0.05;
    assert!(moved < 0.01, "{moved} spacings");
}

#[test]
fn the_density_of_a_lattice_is_one() {
    let mut plane = Settings::<2>::new(0.05);
    plane.gravity = [0.0; 2];
    let mut space = Settings::<3>::new(0.05);
    space.gravity = [0.0; 3];
    let mut fluid: Fluid<2, f64> = block(plane, &[], [0.0; 2], [0.5; 2]);
    let report = fluid.step(&[], 1e-3, &mut |_| ()).unwrap();
    assert!(report.solve.max_error < 1e-12 && report.solve.rounds == 0);
    let mut fluid: Fluid<3, f64> = block(space, &[], [0.0; 3], [0.4; 3]);
    let report = fluid.step(&[], 1e-3, &mut |_| ()).unwrap();
    assert!(report.solve.max_error < 1e-12 && report.solve.rounds == 0);
}
