//! Causes of volume drift, from the data of a step.

use super::*;
use meniscus_scene::Volume;
use meniscus_shapes::{ScriptedSolid, Shape};

/// A box of liquid in a domain of 1 m and 20 cells, with a vertical plate of the given thickness in the middle.
fn scene(plate: f64) -> Scene<2> {
    let mut scene = Scene::new("test", "", [1.0, 1.0], 20);
    let whole = Shape::Box {
        low: [0.0; 2],
        high: [1.0, 0.5],
    };
    scene.liquids.push(Volume::at_rest(whole));
    let plate = Shape::Box {
        low: [0.5, 0.0],
        high: [0.5 + plate, 1.0],
    };
    scene.solids.push(ScriptedSolid::still("glass", plate));
    scene
}

fn report(volume: f64, thin: f64) -> VolumeReport {
    VolumeReport {
        start: 0.09,
        volume,
        thin_volume: thin,
        expected_volume: 0.5,
        own_volume: 0.5,
        ..Default::default()
    }
}

fn warning(scene: &Scene<2>, report: &VolumeReport) -> Option<DriftWarning> {
    check_drift(scene, &scene.solids_and_walls(), 7, report)
}

#[test]
fn thin_liquid_and_surface_noise_are_not_reported_as_drift() {
    let mut scene = scene(0.1);
    assert_eq!(warning(&scene, &report(0.4, 0.1)), None);
    assert_eq!(warning(&scene, &report(0.48, 0.0)), None);
    // Nor is a surface that was too small at the start and grows to its particles' volume.
    let grown = VolumeReport {
        own_volume: 0.6,
        ..report(0.58, 0.0)
    };
    assert_eq!(warning(&scene, &grown), None);
    // Nor one that was too large and shrinks to it.
    let shrunk = VolumeReport {
        own_volume: 0.4,
        ..report(0.41, 0.0)
    };
    assert_eq!(warning(&scene, &shrunk), None);
    let gained = warning(&scene, &report(0.6, 0.0)).expect("a fifth is gained");
    assert!(
        gained.message().contains("gained 20.0 %"),
        "{}",
        gained.message()
    );
    let lost = warning(&scene, &report(0.4, 0.05)).expect("a tenth is lost");
    assert!((lost.drift + 0.1).abs() < 1e-12 && lost.frame == 7);
    assert!(lost.message().contains("lost 10.0 %"), "{}", lost.message());
    assert!(
        lost.cause.contains("below the grid's resolution: 10.0 %"),
        "{}",
        lost.cause
    );
    scene.limits.max_drift = 0.2;
    assert_eq!(warning(&scene, &report(0.4, 0.05)), None);
    // A few cells of spray more or fewer do not cause a warning.
    scene.limits.max_drift = 0.0;
    let spray = VolumeReport {
        expected_volume: 0.02,
        ..report(0.012, 0.0)
    };
    assert_eq!(warning(&scene, &spray), None);
}

#[test]
fn a_surface_that_is_wrong_while_its_particles_are_not_is_no_drift() {
    let scene = scene(0.1);
    // A jet a few cells across, and a splash of swollen sheets.
    let jet = VolumeReport {
        compressed_volume: Some(0.01),
        ..report(0.44, 0.0)
    };
    assert!((drift(&jet) + 0.02).abs() < 1e-12);
    assert_eq!(warning(&scene, &jet), None);
    let splash = VolumeReport {
        diluted_volume: Some(0.01),
        ..report(0.56, 0.0)
    };
    assert!((drift(&splash) - 0.02).abs() < 1e-12);
    assert_eq!(warning(&scene, &splash), None);
    // Particles that are compressed as much are a loss, and diluted ones a gain.
    let compressed = VolumeReport {
        compressed_volume: Some(0.07),
        ..report(0.44, 0.0)
    };
    let lost = warning(&scene, &compressed).expect("an eighth is lost");
    assert!((lost.drift + 0.12).abs() < 1e-12);
    assert!(lost.cause.contains("closer together"), "{}", lost.cause);
    let diluted = VolumeReport {
        diluted_volume: Some(0.07),
        ..report(0.56, 0.0)
    };
    assert!((warning(&scene, &diluted).unwrap().drift - 0.12).abs() < 1e-12);
}

#[test]
fn compression_by_an_impact_is_reported_once_it_lasts() {
    let scene = scene(0.1);
    let after = |recent: f64| VolumeReport {
        compressed_volume: Some(0.05),
        recent_drift: Some(recent),
        ..report(0.45, 0.0)
    };
    assert_eq!(warning(&scene, &after(-0.02)), None);
    assert_eq!(warning(&scene, &after(0.06)), None);
    assert!((warning(&scene, &after(-0.06)).unwrap().drift + 0.1).abs() < 1e-12);
}

#[test]
fn crowded_particles_are_attributed_to_the_adjacent_solid_and_its_thickness() {
    let crowded = |place: [f64; 2]| VolumeReport {
        crowded: Some((place.to_vec(), 12.0)),
        ..report(0.3, 0.0)
    };
    let thin = warning(&scene(0.04), &crowded([0.475, 0.025])).unwrap();
    assert_eq!(thin.place, Some(vec![0.475, 0.025]));
    let named = "particles piled up at (0.475, 0.025), 12 times as many as a cell should contain, \
                 next to solid `glass`, which is 0.8 cells thick there";
    assert_eq!(thin.cause, named);
    assert!(thin.remedy.contains("0.100 m"), "{}", thin.remedy);
    assert!(
        thin.remedy.contains("domain.resolution = 50"),
        "{}",
        thin.remedy
    );
    let thick = warning(&scene(0.4), &crowded([0.475, 0.5])).unwrap();
    assert!(
        thick.cause.ends_with("next to solid `glass`"),
        "{}",
        thick.cause
    );
    let side = warning(&scene(0.04), &crowded([0.025, 0.4])).unwrap();
    assert!(
        side.cause.ends_with("next to a side of the domain"),
        "{}",
        side.cause
    );
    let free = warning(&scene(0.04), &crowded([0.25, 0.4])).unwrap();
    assert!(!free.cause.contains("next to"), "{}", free.cause);
}

#[test]
fn the_largest_drift_is_recorded_with_its_first_frame() {
    let scene = scene(0.1);
    let of = |volume, frame| {
        check_drift(
            &scene,
            &scene.solids_and_walls(),
            frame,
            &report(volume, 0.0),
        )
        .unwrap()
    };
    let both = of(0.3, 5).or_larger(of(0.4, 6)).or_larger(of(0.2, 8));
    assert_eq!((both.first_frame, both.frame), (5, 8));
    assert!((both.drift + 0.6).abs() < 1e-12);
}
