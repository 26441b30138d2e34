use crate::image::{Rgb, RgbImage};
use crate::preview::camera::{Box3, Camera};
use crate::preview::{View, draw};
use meniscus_scene::{Material, Style};
use meniscus_shapes::{
    Bounds, Ease, Keyframe, Motion, Rotation, ScriptedSolid, Shape, TriangleMesh,
};
use std::collections::HashSet;
use std::sync::Arc;

pub(super) const SIZE: (u32, u32) = (160, 160);
const CENTRE: [f64; 3] = [0.5, 0.5, 0.55];
const RADIUS: f64 = 0.4;

/// Centres of small cubes.
pub(super) fn lattice() -> impl Iterator<Item = [f32; 3]> {
    const N: u32 = 48;
    (0..N * N * N).map(|k| [k % N, k / N % N, k / N / N].map(|c| (c as f32 + 0.5) / N as f32))
}

fn glass() -> ScriptedSolid<3> {
    ScriptedSolid::still(
        "glass",
        Shape::Sphere {
            center: CENTRE,
            radius: RADIUS,
        }
        .inverted(),
    )
}

/// Lower half of the glass.
pub(super) fn half_full() -> Vec<[f32; 3]> {
    let glass = glass();
    lattice()
        .filter(|p| p[2] < 0.55 && glass.distance(p.map(f64::from), 0.0) > 0.01)
        .collect()
}

pub(super) fn view<'a, const D: usize>(
    positions: &'a [[f32; D]],
    bodies: &'a [ScriptedSolid<D>],
) -> View<'a, D> {
    View {
        positions,
        velocities: &[],
        radius: 0.5 / 24.0,
        bodies,
        materials: &[],
        colours: &[],
        cloth: &[],
        liquid_colour: None,
        per_cell: 8.0,
        time: 0.0,
        domain: [1.0; D],
        frame: unit(),
        camera: meniscus_scene::Camera::default(),
        style: Style::Surface,
        fastest: 5.0,
        caption: None,
    }
}

/// Unit cube.
fn unit<const D: usize>() -> Bounds<D> {
    Bounds {
        low: [0.0; D],
        high: [1.0; D],
    }
}

/// Camera that sees a whole box.
fn camera(domain: [f32; 3], size: (usize, usize)) -> Camera {
    let box_ = Box3 {
        low: [0.0; 3],
        high: domain,
    };
    Camera::new(&meniscus_scene::Camera::<3>::default(), &box_, size)
}

fn colours(picture: &RgbImage) -> usize {
    picture.pixels().iter().collect::<HashSet<_>>().len()
}

/// Number of pixels that differ.
pub(super) fn differing(a: &RgbImage, b: &RgbImage) -> usize {
    a.pixels()
        .iter()
        .zip(b.pixels())
        .filter(|(a, b)| a != b)
        .count()
}

/// Pixel of a point of the unit cube.
pub(super) fn at(picture: &RgbImage, point: [f32; 3]) -> Rgb {
    let size = (
        picture.dimensions().0 as usize,
        picture.dimensions().1 as usize,
    );
    let ([x, y], _) = camera([1.0; 3], size)
        .project(point)
        .expect("before the camera");
    *picture.get_pixel(x as u32, y as u32)
}

pub(super) fn blueness([r, _, b]: Rgb) -> i32 {
    i32::from(b) - i32::from(r)
}

/// 2D tank with liquid in its left part.
pub(super) fn flat_dam() -> (Vec<[f32; 2]>, Vec<ScriptedSolid<2>>) {
    let tank = Shape::Box {
        low: [0.1; 2],
        high: [0.9; 2],
    };
    let positions = lattice()
        .filter(|p| p[2] < 0.02 && p[0] > 0.1 && p[0] < 0.5 && p[1] > 0.1 && p[1] < 0.6)
        .map(|[x, y, _]| [x, y])
        .collect();
    (
        positions,
        vec![ScriptedSolid::still("tank", tank.inverted())],
    )
}

#[test]
fn pictures_are_not_blank() {
    let water = half_full();
    let picture = draw(&view(&water, &[glass()]), SIZE);
    assert_eq!(picture.dimensions(), SIZE);
    assert!(colours(&picture) > 2000, "{}", colours(&picture));
    let (positions, bodies) = flat_dam();
    let flat = draw(&view(&positions, &bodies), SIZE);
    assert!(colours(&flat) > 100, "{}", colours(&flat));
}

#[test]
fn images_do_not_depend_on_the_number_of_threads() {
    let water = half_full();
    let glass = [glass()];
    let (positions, bodies) = flat_dam();
    let with_threads = |count: usize| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .build()
            .expect("threads")
            .install(|| {
                let velocities: Vec<[f32; 3]> = water.iter().map(|p| p.map(|c| 4.0 * c)).collect();
                let moving = View {
                    velocities: &velocities,
                    caption: Some("1 2 3"),
                    ..view(&water, &glass)
                };
                (draw(&moving, SIZE), draw(&view(&positions, &bodies), SIZE))
            })
    };
    let one = with_threads(1);
    assert_eq!(one, with_threads(2));
    assert_eq!(one, with_threads(3));
}

#[test]
fn water_is_visible_only_inside_the_glass() {
    let bodies = [glass()];
    let water = half_full();
    let full = draw(&view(&water, &bodies), SIZE);
    let empty = draw(&view(&[], &bodies), SIZE);
    for low in [[0.5, 0.5, 0.35], [0.4, 0.5, 0.4], [0.6, 0.4, 0.4]] {
        assert!(blueness(at(&full, low)) > 70, "{:?}", at(&full, low));
        assert!(blueness(at(&empty, low)) < 40, "{:?}", at(&empty, low));
    }
    for high in [[0.5, 0.5, 0.85], [0.1, 0.1, 0.9], [0.9, 0.9, 0.95]] {
        assert_eq!(at(&full, high), at(&empty, high));
    }
}

#[test]
fn liquid_does_not_reach_through_the_glass() {
    let bodies = [glass()];
    let water: Vec<[f32; 3]> = lattice()
        .filter(|p| p[2] < 0.55 && glass().distance(p.map(f64::from), 0.0) > 0.0)
        .collect();
    let size = (480, 480);
    let full = draw(&view(&water, &bodies), size);
    let empty = draw(&view(&[], &bodies), size);
    let camera = camera([1.0; 3], (480, 480));
    let ([x, y], depth) = camera
        .project(CENTRE.map(|c| c as f32))
        .expect("before the camera");
    // Seen from close, a sphere is slightly larger than its radius; the shadow falls to the right.
    let outline = RADIUS as f32 * camera.focal / (depth * depth - (RADIUS * RADIUS) as f32).sqrt();
    for step in 0..20 {
        let angle = 2.1 + 0.05 * step as f32;
        let away = outline + 3.0;
        let (px, py) = (x + away * angle.cos(), y + away * angle.sin());
        let place = (px as u32, py as u32);
        assert_eq!(
            full.get_pixel(place.0, place.1),
            empty.get_pixel(place.0, place.1),
            "{place:?}"
        );
    }
}

#[test]
fn glass_is_visible_and_transparent() {
    let bare = draw(&view::<3>(&[], &[]), SIZE);
    let glass = draw(&view(&[], &[glass()]), SIZE);
    let [before, through] = [&bare, &glass].map(|picture| at(picture, [0.55, 0.5, 0.5]));
    for i in 0..3 {
        assert!(through[i].abs_diff(before[i]) < 40);
    }
    // Its outline and its shadow.
    let covered = differing(&bare, &glass);
    let all = (SIZE.0 * SIZE.1) as usize;
    assert!((all / 10..all * 9 / 10).contains(&covered), "{covered}");
}

#[test]
fn glass_moves_with_its_solid() {
    let key = |time: f64, x: f64| Keyframe {
        time,
        position: [x, 0.0, 0.0],
        rotation: Rotation::IDENTITY,
    };
    let mut moving = glass();
    moving.motion = Motion::Keyframes {
        keys: vec![key(0.0, 0.0), key(1.0, 0.1)],
        ease: Ease::Linear,
    };
    let bodies = [moving];
    let first = draw(&view(&[], &bodies), SIZE);
    assert_eq!(first, draw(&view(&[], &[glass()]), SIZE));
    let last = View {
        time: 1.0,
        ..view(&[], &bodies)
    };
    assert!(differing(&first, &draw(&last, SIZE)) > 500);
}

#[test]
fn stone_hides_the_water_behind_it() {
    let water: Vec<[f32; 3]> = lattice().filter(|p| p[1] > 0.5 && p[2] < 0.6).collect();
    let wall = [ScriptedSolid::still(
        "wall",
        Shape::Box {
            low: [0.0, 0.1, 0.0],
            high: [1.0, 0.2, 0.9],
        },
    )];
    let middle = [0.5, 0.5, 0.3];
    let seen = at(&draw(&view(&water, &[]), SIZE), middle);
    let hidden = at(&draw(&view(&water, &wall), SIZE), middle);
    assert!(blueness(seen) > 70, "{seen:?}");
    assert!(blueness(hidden) < 30, "{hidden:?}");
}

#[test]
fn a_box_of_triangles_is_drawn_like_the_box() {
    let (low, high) = ([0.2, 0.3, 0.1], [0.7, 0.6, 0.5]);
    let vertices: Vec<[f64; 3]> = (0..8)
        .map(|k| [0, 1, 2].map(|i| if k >> i & 1 == 0 { low[i] } else { high[i] }))
        .collect();
    let quads = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let triangles: Vec<[u32; 3]> = quads
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
        .collect();
    let (mesh, _) = TriangleMesh::new(&vertices, &triangles).unwrap();
    let drawn = |shape: Shape<3>| draw(&view(&[], &[ScriptedSolid::still("box", shape)]), SIZE);
    let (exact, meshed) = (
        drawn(Shape::Box { low, high }),
        drawn(Shape::Mesh(Arc::new(mesh))),
    );
    let shown = differing(&exact, &draw(&view::<3>(&[], &[]), SIZE));
    let apart = differing(&exact, &meshed);
    assert!(shown > 2000 && apart < shown / 20, "{apart} of {shown}");
}

#[test]
fn the_domain_is_drawn_as_edges() {
    let bare = draw(&view::<3>(&[], &[]), SIZE);
    let edges = [ScriptedSolid::still(
        "domain",
        Shape::Box {
            low: [0.0; 3],
            high: [1.0; 3],
        }
        .inverted(),
    )];
    let drawn = draw(&view(&[], &edges), SIZE);
    let changed = differing(&bare, &drawn);
    assert!((400..4000).contains(&changed), "{changed}");
    let cube = Box3 {
        low: [0.0; 3],
        high: [1.0; 3],
    };
    for (k, corner) in cube.corners().into_iter().enumerate() {
        assert_ne!(at(&bare, corner), at(&drawn, corner), "corner {k}");
    }
}

#[test]
fn the_whole_domain_is_in_the_picture() {
    for domain in [[1.0; 3], [2.0, 0.5, 1.0], [0.1, 0.1, 3.0], [5.0, 1.0, 0.2]] {
        for size in [(480, 480), (640, 200), (100, 300)] {
            let box_ = Box3 {
                low: [0.0; 3],
                high: domain,
            };
            let camera = camera(domain, size);
            for corner in box_.corners() {
                let ([x, y], _) = camera.project(corner).expect("before the camera");
                assert!((0.0..size.0 as f32).contains(&x), "{domain:?} {size:?} {x}");
                assert!((0.0..size.1 as f32).contains(&y), "{domain:?} {size:?} {y}");
            }
        }
    }
}

#[test]
fn particles_without_a_finite_position_are_ignored() {
    let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30];
    let lost: Vec<[f32; 3]> = bad.iter().map(|&c| [0.5, c, 0.5]).collect();
    let bodies = [glass()];
    let empty = draw(&view(&[], &bodies), SIZE);
    assert_eq!(draw(&view(&lost, &bodies), SIZE), empty);
    let flat: Vec<[f32; 2]> = bad.iter().map(|&c| [c, 0.5]).collect();
    assert_eq!(
        draw(&view(&flat, &[]), SIZE),
        draw(&view::<2>(&[], &[]), SIZE)
    );
}

#[test]
fn invalid_views_do_not_crash() {
    let positions = [[0.5; 3], [0.2; 3]];
    let velocities = [[f32::NAN; 3]];
    let broken = [
        ScriptedSolid::still(
            "broken",
            Shape::Sphere {
                center: [f64::NAN; 3],
                radius: -1.0,
            },
        ),
        ScriptedSolid::still("nothing", Shape::Union(vec![])),
    ];
    for radius in [f64::NAN, 0.0, -1.0, 1e9] {
        for side in [f64::NAN, 0.0, f64::INFINITY] {
            let senseless = View {
                positions: &positions,
                velocities: &velocities,
                radius,
                bodies: &broken,
                materials: &[Material::Glass],
                colours: &[],
                cloth: &[],
                liquid_colour: None,
                per_cell: radius,
                time: f64::NAN,
                domain: [1.0, side, 1.0],
                frame: Bounds {
                    low: [side; 3],
                    high: [1.0; 3],
                },
                camera: meniscus_scene::Camera {
                    position: Some([0.5, side, 0.5]),
                    target: Some([0.5; 3]),
                    ..meniscus_scene::Camera::default()
                },
                style: if radius > 0.0 {
                    Style::Particles
                } else {
                    Style::Surface
                },
                fastest: side,
                caption: Some("\u{0}\u{fffd}\n"),
            };
            draw(&senseless, (20, 20));
        }
    }
    for size in [(0, 0), (0, 5), (1, 1), (1, 9), (9, 1)] {
        let picture = draw(&view(&positions, &[glass()]), size);
        assert_eq!(picture.dimensions(), size);
        let (flat, bodies) = flat_dam();
        assert_eq!(draw(&view(&flat, &bodies), size).dimensions(), size);
    }
}

#[test]
fn captions_are_drawn_in_the_lower_left_corner() {
    let bare = view::<3>(&[], &[]);
    let captioned = View {
        caption: Some("t = 1.25 s"),
        ..bare
    };
    let (without, with) = (draw(&bare, SIZE), draw(&captioned, SIZE));
    let rows: HashSet<u32> = without
        .enumerate_pixels()
        .filter(|(x, y, pixel)| with.get_pixel(*x, *y) != *pixel)
        .map(|(_, y, _)| y)
        .collect();
    assert!(rows.len() > 7 && rows.iter().all(|&y| y > SIZE.1 * 8 / 10));
}

#[test]
fn liquid_in_2d_is_drawn_at_its_particles_and_below_walls() {
    let (positions, bodies) = flat_dam();
    let picture = draw(&view(&positions, &bodies), SIZE);
    let dry = draw(&view(&[], &bodies), SIZE);
    // By the margins of the layout: the domain is 0.855 of the image, 0.0725 from its left.
    let at = |picture: &RgbImage, x: f32, y: f32| {
        let side = 0.855 * SIZE.0 as f32;
        let left = 0.0725 * SIZE.0 as f32;
        let bottom = 0.9 * SIZE.1 as f32;
        *picture.get_pixel((left + side * x) as u32, (bottom - side * y) as u32)
    };
    for (x, y) in [(0.15, 0.15), (0.3, 0.3), (0.45, 0.55)] {
        assert!(blueness(at(&picture, x, y)) > 70);
        assert!(blueness(at(&dry, x, y)) < 30);
    }
    for (x, y) in [
        (0.7, 0.3),
        (0.3, 0.8),
        (0.05, 0.3),
        (0.95, 0.5),
        (0.3, 0.05),
    ] {
        assert_eq!(at(&picture, x, y), at(&dry, x, y), "{x} {y}");
    }
}

#[test]
fn faster_liquid_in_2d_is_lighter() {
    let (positions, bodies) = flat_dam();
    let mean = |speed: f32| {
        let velocities = vec![[speed, 0.0]; positions.len()];
        let moving = View {
            velocities: &velocities,
            ..view(&positions, &bodies)
        };
        let picture = draw(&moving, SIZE);
        picture
            .pixels()
            .iter()
            .map(|p| u64::from(p[1]))
            .sum::<u64>()
    };
    let (still, slow, fast) = (mean(0.0), mean(1.0), mean(3.0));
    assert!(still < slow && slow < fast);
}
