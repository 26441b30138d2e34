//! The five scenes of Andersen, Niebe and Erleben (2017), from the set-up of the authors' program.
//!
//! All of them lie in the unit square; g = 9.82, 20 particles a cell, frames of 0.01 s.

use crate::scene::{Scene, Volume};
use meniscus_shapes::{Body, Shape};

pub(super) fn scenes() -> [Scene<2>; 5] {
    [
        split_circle(),
        lined_circles(),
        maze(),
        one_column(),
        two_columns(),
    ]
}

fn unit_square(name: &str, summary: &str) -> Scene<2> {
    Scene {
        gravity: [0.0, -9.82],
        particles_per_cell: 20,
        frames: 200,
        frame_rate: 100.0,
        ..Scene::new(name, summary, [1.0, 1.0], 100)
    }
}

fn rectangle(low: [f64; 2], high: [f64; 2]) -> Shape<2> {
    Shape::Box { low, high }
}

fn circle(center: [f64; 2], radius: f64) -> Shape<2> {
    Shape::Sphere { center, radius }
}

/// The box that three of the scenes share.
pub(super) fn tank() -> Body<2> {
    Body::still("tank", rectangle([0.1, 0.1], [0.9, 0.9]).inverted())
}

/// The shelves of the maze. They go on inside the walls of the tank, so that no crack is left.
pub(super) fn shelves() -> Vec<Body<2>> {
    vec![
        Body::still("upper shelf", rectangle([0.3, 0.6], [1.0, 0.7])),
        Body::still("middle shelf", rectangle([0.0, 0.4], [0.7, 0.5])),
        Body::still("lower shelf", rectangle([0.3, 0.2], [1.0, 0.3])),
    ]
}

/// The liquid that runs through the maze.
pub(super) fn maze_liquid() -> Vec<Volume<2>> {
    vec![Volume::at_rest(circle([0.8, 0.8], 0.1))]
}

fn split_circle() -> Scene<2> {
    Scene {
        solids: vec![
            Body::still("circle", circle([0.5, 0.5], 0.4).inverted()),
            Body::still("bar", rectangle([0.2, 0.4], [0.8, 0.6])),
        ],
        liquids: vec![Volume::at_rest(Shape::HalfSpace {
            point: [0.5, 0.5],
            normal: [-1.0, 0.0],
        })],
        ..unit_square(
            "ane17-1",
            "2D: a circle with a bar inside, its right half full",
        )
    }
}

fn lined_circles() -> Scene<2> {
    let centers = [[0.3, 0.5], [0.7, 0.5]];
    let (radius, lining) = (0.25, 0.0575);
    let circles = |radius| Shape::Union(centers.map(|c| circle(c, radius)).to_vec());
    // The two smaller circles do not touch; the passage between them is open too, up to the lining of
    // the corners where the large circles meet, 0.15 above and below the middle.
    let corner = f64::sqrt(radius * radius - 0.2 * 0.2);
    let half_height = corner - lining;
    let passage = rectangle([0.3, 0.5 - half_height], [0.7, 0.5 + half_height]);
    Scene {
        solids: vec![Body::still("two circles", circles(radius).inverted())],
        liquids: vec![Volume::at_rest(
            circles(radius).without(vec![circles(radius - lining), passage]),
        )],
        ..unit_square(
            "ane17-2",
            "2D: a lining of liquid inside two joined circles; it falls, or it sticks",
        )
    }
}

fn maze() -> Scene<2> {
    Scene {
        solids: [vec![tank()], shelves()].concat(),
        liquids: maze_liquid(),
        ..unit_square("ane17-3", "2D: a drop runs down a maze of three shelves")
    }
}

// The columns reach into the walls of the tank: what overlaps a solid is left out, and no gap is left.
fn left_column() -> Volume<2> {
    Volume::at_rest(rectangle([0.0, 0.0], [0.3, 0.7]))
}

fn right_column() -> Volume<2> {
    Volume::at_rest(rectangle([0.7, 0.0], [1.0, 0.7]))
}

fn one_column() -> Scene<2> {
    Scene {
        solids: vec![tank()],
        liquids: vec![left_column()],
        ..unit_square("ane17-4", "2D: a column breaks in a tank")
    }
}

fn two_columns() -> Scene<2> {
    Scene {
        solids: vec![tank()],
        liquids: vec![left_column(), right_column()],
        ..unit_square(
            "ane17-5",
            "2D: two columns break and meet in the middle of a tank",
        )
    }
}
