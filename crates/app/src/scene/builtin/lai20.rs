//! The scenes of Lai et al. (2020). Where the text gives no number, the number is ours.

use super::ane17;
use crate::scene::{Scene, Volume};
use meniscus_shapes::{Body, Shape};

/// Of the circle and the sphere, in a domain of side one.
const RADIUS: f64 = 0.45;

pub(super) fn plane_scenes() -> [Scene<2>; 3] {
    let liquids = vec![left_half()];
    [
        Scene {
            solids: vec![container(Shape::Sphere {
                center: [0.5; 2],
                radius: RADIUS,
            })],
            liquids: liquids.clone(),
            ..Scene::new("circle", "2D: a circle, its left half full", [1.0; 2], 128)
        },
        Scene {
            liquids,
            ..Scene::new("square", "2D: a square, its left half full", [1.0; 2], 128)
        },
        Scene {
            solids: [vec![ane17::tank()], ane17::shelves()].concat(),
            liquids: ane17::maze_liquid(),
            ..Scene::new(
                "maze",
                "2D: the maze of ane17-3, at 128 cells",
                [1.0; 2],
                128,
            )
        },
    ]
}

pub(super) fn space_scenes() -> [Scene<3>; 3] {
    [sphere(), sphere_with_cuboid(), double_sphere()]
}

fn container<const D: usize>(hollow: Shape<D>) -> Body<D> {
    Body::still("container", hollow.inverted())
}

/// What lies left of the middle of the unit square or cube.
fn left_half<const D: usize>() -> Volume<D> {
    let mut normal = [0.0; D];
    normal[0] = 1.0;
    Volume::at_rest(Shape::HalfSpace {
        point: [0.5; D],
        normal,
    })
}

fn sphere() -> Scene<3> {
    Scene {
        solids: vec![container(Shape::Sphere {
            center: [0.5; 3],
            radius: RADIUS,
        })],
        liquids: vec![left_half()],
        ..Scene::new("sphere", "a sphere, its left half full", [1.0; 3], 64)
    }
}

/// A slab in the middle of the sphere, flat, so that liquid comes and goes on its bottom face.
fn sphere_with_cuboid() -> Scene<3> {
    let slab = Shape::Box {
        low: [0.35, 0.35, 0.45],
        high: [0.65, 0.65, 0.55],
    };
    let mut scene = sphere();
    scene.name = "sphere-cuboid".into();
    scene.summary = "the half full sphere with a slab in its middle".into();
    scene.solids.push(Body::still("cuboid", slab));
    scene
}

/// Two joined spheres, one above the other, each with a hollow ball in it; the lower ball has a hole
/// along each axis.
fn double_sphere() -> Scene<3> {
    const MIDDLE: f64 = 0.3125;
    let upper = [MIDDLE, MIDDLE, 0.7];
    let lower = [MIDDLE, MIDDLE, 0.3];
    let ball = |center, radius| Shape::Sphere { center, radius };
    let hollow_ball = |center| ball(center, 0.12).shell(0.04);
    let holes = (0..3).map(|axis| {
        let (mut from, mut to) = (lower, lower);
        from[axis] -= 0.2;
        to[axis] += 0.2;
        Shape::Capsule {
            from,
            to,
            radius: 0.05,
        }
    });
    let radius = 0.28;
    let left_of_upper = Shape::Intersection(vec![
        ball(upper, radius),
        Shape::HalfSpace {
            point: upper,
            normal: [1.0, 0.0, 0.0],
        },
        // Not what already hangs in the lower sphere.
        Shape::HalfSpace {
            point: [MIDDLE, MIDDLE, 0.5],
            normal: [0.0, 0.0, -1.0],
        },
    ]);
    Scene {
        solids: vec![
            container(Shape::Union(vec![ball(upper, radius), ball(lower, radius)])),
            Body::still("upper ball", hollow_ball(upper)),
            Body::still("lower ball", hollow_ball(lower).without(holes.collect())),
        ],
        // The hollow of the upper ball is dry.
        liquids: vec![Volume::at_rest(
            left_of_upper.without(vec![ball(upper, 0.12)]),
        )],
        ..Scene::new(
            "double-sphere",
            "from one sphere into another, past a hollow ball and through one with holes",
            [2.0 * MIDDLE, 2.0 * MIDDLE, 1.0],
            64,
        )
    }
}
