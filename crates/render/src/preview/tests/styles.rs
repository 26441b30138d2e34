//! Styles, cameras and materials.

use super::pictures::{SIZE, at, blueness, differing, flat_dam, half_full, lattice, view};
use crate::image::RgbImage;
use crate::preview::{View, draw, material_of};
use meniscus_scene::{Material, Style};
use meniscus_shapes::{ScriptedSolid, Shape};

#[test]
fn particles_are_coloured_by_speed_with_a_legend() {
    let water = half_full();
    let (flat, _) = flat_dam();
    let shown = |speed: f32| {
        let velocities = vec![[speed, 0.0, 0.0]; water.len()];
        let space = View {
            velocities: &velocities,
            style: Style::Particles,
            ..view(&water, &[])
        };
        let velocities = vec![[0.0, speed]; flat.len()];
        let plane = View {
            velocities: &velocities,
            style: Style::Particles,
            ..view(&flat, &[])
        };
        [draw(&space, SIZE), draw(&plane, SIZE)]
    };
    let reddest = |picture: &RgbImage| {
        let pixels = picture.enumerate_pixels();
        // Below the legend.
        let below = pixels.filter(|(_, y, _)| *y > 40).map(|(.., p)| *p);
        below.map(|p| -blueness(p)).max().unwrap()
    };
    for (slow, fast) in shown(0.2).iter().zip(&shown(5.0)) {
        assert!(reddest(slow) < 40 && reddest(fast) > 100);
        // The legend is independent of the particles.
        let legend = |picture: &RgbImage| {
            let corner = picture.enumerate_pixels();
            let corner = corner.filter(|(x, y, _)| *x > 110 && *y < 25);
            corner.map(|(.., p)| *p).collect::<Vec<_>>()
        };
        assert_eq!(legend(slow), legend(fast));
        assert!(legend(slow).iter().any(|&p| -blueness(p) > 100));
    }
}

#[test]
fn the_camera_follows_its_overrides() {
    let water = half_full();
    let looking = |position: Option<[f64; 3]>, target: Option<[f64; 3]>, angle: Option<f64>| {
        let camera = meniscus_scene::Camera {
            position,
            target,
            field_of_view: angle,
            height: None,
        };
        draw(
            &View {
                camera,
                ..view(&water, &[])
            },
            SIZE,
        )
    };
    let blue = |picture: &RgbImage| {
        picture
            .pixels()
            .iter()
            .filter(|p| blueness(**p) > 60)
            .count()
    };
    let middle = |picture: &RgbImage| *picture.get_pixel(SIZE.0 / 2, SIZE.1 / 2);
    let (near, far) = ([1.5, -1.5, 1.0], [5.0, -5.0, 3.0]);
    let water_there = Some([0.5, 0.5, 0.3]);
    let close = looking(Some(near), water_there, None);
    assert!(blueness(middle(&close)) > 60);
    assert!(blue(&close) > 4 * blue(&looking(Some(far), water_there, None)));
    assert!(blue(&close) > 2 * blue(&looking(Some(near), water_there, Some(60.0))));
    // Looking past it, from straight above, and from below the ground.
    assert!(blueness(middle(&looking(Some(near), Some([3.0, 0.5, 0.5]), None))) < 60);
    assert!(blue(&looking(Some([0.5, 0.5, 4.0]), None, None)) > 100);
    assert!(blueness(middle(&looking(None, water_there, None))) > 60);
    looking(Some([0.5, 0.5, -3.0]), None, None);
}

#[test]
fn a_2d_camera_shows_its_target() {
    let (positions, bodies) = flat_dam();
    let seen = |target: [f64; 2], height: f64| {
        let camera = meniscus_scene::Camera {
            target: Some(target),
            height: Some(height),
            ..meniscus_scene::Camera::default()
        };
        draw(
            &View {
                camera,
                ..view(&positions, &bodies)
            },
            SIZE,
        )
    };
    let blue = |picture: &RgbImage| {
        picture
            .pixels()
            .iter()
            .filter(|p| blueness(**p) > 60)
            .count()
    };
    let all = (SIZE.0 * SIZE.1) as usize;
    assert_eq!(blue(&seen([0.3, 0.3], 0.1)), all);
    assert_eq!(blue(&seen([0.7, 0.7], 0.1)), 0);
    assert!((all / 200..all / 20).contains(&blue(&seen([0.3, 0.3], 3.0))));
}

#[test]
fn a_glass_cup_is_transparent_and_a_stone_cup_is_not() {
    let cylinder = |low: f64, high: f64, radius: f64| Shape::Cylinder {
        from: [0.5, 0.5, low],
        to: [0.5, 0.5, high],
        radius,
    };
    let shape = cylinder(0.1, 0.7, 0.3).without(vec![cylinder(0.15, 0.9, 0.26)]);
    assert_eq!(material_of(&shape), Material::Glass);
    let cup = [ScriptedSolid::still("cup", shape)];
    let water: Vec<[f32; 3]> = lattice()
        .filter(|p| p[2] > 0.15 && p[2] < 0.5 && (p[0] - 0.5).hypot(p[1] - 0.5) < 0.25)
        .collect();
    let of = |material: Material| {
        let materials = [material];
        let seen = View {
            materials: &materials,
            ..view(&water, &cup)
        };
        at(&draw(&seen, SIZE), [0.5, 0.5, 0.3])
    };
    assert!(
        blueness(of(Material::Glass)) > 50,
        "{:?}",
        of(Material::Glass)
    );
    assert!(
        blueness(of(Material::Stone)) < 30,
        "{:?}",
        of(Material::Stone)
    );
}

#[test]
fn a_huge_empty_domain_does_not_change_the_image() {
    let water = half_full();
    let wide = View {
        domain: [40.0; 3],
        ..view(&water, &[])
    };
    let apart = differing(&draw(&wide, SIZE), &draw(&view(&water, &[]), SIZE));
    assert_eq!(apart, 0);
}
