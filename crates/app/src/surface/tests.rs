//! Surfaces of particle clouds with known volumes.

use super::{Measures, Surface, SurfaceSource, measured};
use meniscus_scene::Scene;
use meniscus_scene::SurfaceSettings;
use meniscus_store::cache::{Frame, PointLayer};
use std::f64::consts::PI;

/// Cells along the domain, each one metre wide.
const SIDE: usize = 24;
const PER_CELL: f64 = 8.0;

/// Pseudo-random numbers between 0 and 1, with a fixed seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        let Random(state) = self;
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*state >> 40) as f64 / (1u64 << 24) as f64
    }
}

fn at_rest<const D: usize>(dx: f64, positions: Vec<[f32; D]>) -> PointLayer<D> {
    let velocities = vec![[0.0; D]; positions.len()];
    PointLayer::liquid(dx, positions, velocities)
}

fn surface_of(positions: Vec<[f32; 3]>, source: SurfaceSource) -> (Surface, Measures) {
    let scene = Scene::<3>::new("cloud", "", [SIDE as f64; 3], SIDE);
    assert_eq!(scene.physics.particles_per_cell as f64, PER_CELL);
    let frame = Frame {
        number: 1,
        time: 0.0,
        points: vec![at_rest(scene.dx(), positions)],
        bodies: Vec::new(),
        loads: Vec::new(),
        meshes: Vec::new(),
    };
    let settings = SurfaceSettings {
        source,
        ..Default::default()
    };
    measured(&scene, &frame, &settings).unwrap()
}

/// Box filled with particles by volume, jittered on a lattice that is stretched as its thin side is compressed,
/// rotated and centred in the domain.
fn slab(sides: [f64; 3]) -> Vec<[f32; 3]> {
    let mut random = Random(1);
    let spacing = PER_CELL.powf(-1.0 / 3.0);
    let layers = (sides[2] / spacing).round().max(1.0);
    let height = sides[2] / layers;
    let width = (1.0 / PER_CELL / height).sqrt();
    let counts = [sides[0] / width, sides[1] / width, layers].map(|n| n.round() as usize);
    let mut all = Vec::new();
    for k in 0..counts.iter().product() {
        let cell = [
            k % counts[0],
            k / counts[0] % counts[1],
            k / counts[0] / counts[1],
        ];
        let x: [f64; 3] = std::array::from_fn(|a| {
            sides[a] * ((cell[a] as f64 + random.next()) / counts[a] as f64 - 0.5)
        });
        all.push(turned(x));
    }
    all
}

/// Rotates about two axes through the centre of the domain.
fn turned([x, y, z]: [f64; 3]) -> [f32; 3] {
    let (x, z) = (0.9 * x - 0.19f64.sqrt() * z, 0.19f64.sqrt() * x + 0.9 * z);
    let (y, z) = (0.8 * y - 0.6 * z, 0.6 * y + 0.8 * z);
    [x, y, z].map(|c| (c + 0.5 * SIDE as f64 + 0.03) as f32)
}

/// Particles that fill a shape by volume.
fn cloud(bounds: f64, mut inside: impl FnMut([f64; 3]) -> bool) -> Vec<[f64; 3]> {
    let mut random = Random(2);
    let count = (2.0 * bounds).ceil() as usize * 2;
    let spacing = PER_CELL.powf(-1.0 / 3.0);
    let places = (0..count.pow(3)).map(|k| {
        [k % count, k / count % count, k / count / count]
            .map(|c| (c as f64 + random.next()) * spacing - 0.5 * count as f64 * spacing)
    });
    places.filter(|&x| inside(x)).collect()
}

fn filament(radius: f64) -> Vec<[f32; 3]> {
    let mut random = Random(3);
    let count = (PI * radius * radius * 16.0 * PER_CELL) as usize;
    let place = |k: usize| {
        let (r, angle) = (radius * random.next().sqrt(), 2.0 * PI * random.next());
        let along = 16.0 * ((k as f64 + random.next()) / count as f64 - 0.5);
        turned([along, r * angle.cos(), r * angle.sin()])
    };
    (0..count).map(place).collect()
}

/// 27 drops of `particles` particles each.
fn drops(particles: usize) -> Vec<[f32; 3]> {
    let mut random = Random(4);
    let radius = (particles as f64 / PER_CELL * 0.75 / PI).cbrt();
    let mut all = Vec::new();
    for k in 0..27 {
        let centre: [f64; 3] =
            [k % 3, k / 3 % 3, k / 9].map(|c| 4.0 + 7.0 * f64::from(c) + random.next());
        let before = all.len();
        while all.len() < before + particles {
            let x: [f64; 3] = std::array::from_fn(|_| 2.0 * random.next() - 1.0);
            if x.iter().map(|c| c * c).sum::<f64>() < 1.0 {
                all.push(std::array::from_fn(|a| (centre[a] + radius * x[a]) as f32));
            }
        }
    }
    all
}

fn assert_valid(what: &str, surface: &Surface, measures: &Measures, farthest: f64) {
    assert_eq!(surface.open_edges(), 0, "{what}");
    assert!(measures.error().abs() < 0.05, "{what}: {measures:?}");
    assert!((surface.volume() / measures.volume - 1.0).abs() < 1e-9);
    // The field alone has about the right volume: thin features are offset by a third of this.
    assert!(measures.offset.abs() < farthest, "{what}: {measures:?}");
}

#[test]
fn sheets_preserve_their_volume_and_have_no_holes() {
    for (thickness, most_pieces) in [(0.3, 8), (0.5, 1), (0.8, 1), (1.0, 1)] {
        let particles = slab([14.0, 12.0, thickness]);
        let (surface, measures) = surface_of(particles, SurfaceSource::LevelSet);
        let what = format!("{thickness}");
        assert_valid(&what, &surface, &measures, 0.15);
        assert!(measures.pieces <= most_pieces, "{what}: {measures:?}");
        let area = surface.area() / (2.0 * 14.0 * 12.0);
        assert!((0.85..1.25).contains(&area), "{what}: {area}");
        let thin = measures.thin_share().unwrap();
        assert!(thin > 0.95, "{what}: {thin}");
    }
}

#[test]
fn filaments_preserve_their_volume_and_stay_connected() {
    for radius in [0.4, 0.6] {
        let (surface, measures) = surface_of(filament(radius), SurfaceSource::LevelSet);
        assert_valid(&format!("{radius}"), &surface, &measures, 0.15);
        assert!(measures.pieces <= 2, "{radius}: {measures:?}");
    }
}

#[test]
fn drops_neither_vanish_nor_swell() {
    for particles in [1, 2, 5, 20] {
        let (surface, measures) = surface_of(drops(particles), SurfaceSource::LevelSet);
        assert_valid(&format!("{particles}"), &surface, &measures, 0.15);
        assert_eq!(measures.pieces, 27, "{particles}");
    }
}

#[test]
fn a_ball_is_round_and_has_the_right_volume() {
    let radius = 4.0;
    let ball = cloud(5.0, |x| {
        x.iter().map(|c| c * c).sum::<f64>() < radius * radius
    });
    let centre = 0.5 * SIDE as f64;
    let particles = ball
        .iter()
        .map(|x| x.map(|c| (c + centre) as f32))
        .collect();
    let (surface, measures) = surface_of(particles, SurfaceSource::LevelSet);
    assert_valid("ball", &surface, &measures, 0.25);
    let from_centre = |x: &[f32; 3]| {
        let square: f64 = x.iter().map(|&c| (f64::from(c) - centre).powi(2)).sum();
        square.sqrt() / radius - 1.0
    };
    let farthest = surface.positions.iter().map(from_centre);
    let farthest = farthest.map(f64::abs).fold(0.0, f64::max);
    assert!(farthest < 0.1, "{farthest}");
    assert!(measures.thin_share().unwrap() < 0.02, "{measures:?}");
}

#[test]
fn the_surface_of_a_pool_is_flat_without_bumps() {
    let mut random = Random(5);
    let (side, depth) = (2 * SIDE, 12);
    let particles: Vec<[f32; 3]> = (0..side * side * depth)
        .map(|k| [k % side, k / side % side, k / side / side])
        .map(|cell| cell.map(|c| (0.5 * (c as f64 + random.next())) as f32))
        .collect();
    let (surface, measures) = surface_of(particles, SurfaceSource::LevelSet);
    assert_valid("pool", &surface, &measures, 0.25);
    assert!(measures.thin_share().unwrap() < 0.001, "{measures:?}");
    let top = surface.positions.iter().zip(&surface.normals);
    let top: Vec<f64> = top
        .filter(|(_, n)| n[2] > 0.9)
        .map(|(x, _)| x[2].into())
        .collect();
    let mean = top.iter().sum::<f64>() / top.len() as f64;
    let deviation = top.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / top.len() as f64;
    assert!((mean - 6.0).abs() < 0.15, "{mean}");
    assert!(deviation.sqrt() < 0.08, "{}", deviation.sqrt());
}

#[test]
fn a_film_on_the_floor_preserves_its_volume() {
    let mut random = Random(6);
    let particles: Vec<[f32; 3]> = (0..SIDE * SIDE * 4)
        .map(|k| {
            let place = |c: usize, r: f64| (0.5 * (c as f64 + r)) as f32;
            let (x, y) = (k % (2 * SIDE), k / (2 * SIDE));
            let (x, y) = (place(x, random.next()), place(y, random.next()));
            [x, y, 0.5 * random.next() as f32]
        })
        .collect();
    let (surface, measures) = surface_of(particles, SurfaceSource::LevelSet);
    assert_valid("film", &surface, &measures, 0.3);
    assert!(measures.thin_share().unwrap() > 0.9, "{measures:?}");
}

#[test]
fn splashsurf_surfaces_preserve_the_volume() {
    for particles in [slab([14.0, 12.0, 1.0]), slab([10.0, 10.0, 4.0]), drops(20)] {
        let (surface, measures) = surface_of(particles, SurfaceSource::Particles);
        assert_eq!(surface.open_edges(), 0);
        assert!(measures.error().abs() < 0.05, "{measures:?}");
        assert_eq!(measures.thin_volume, None);
    }
}

#[test]
fn thin_surfaces_do_not_depend_on_the_number_of_threads() {
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let particles = [slab([14.0, 12.0, 0.4]), drops(3)].concat();
        pool.unwrap()
            .install(|| surface_of(particles, SurfaceSource::LevelSet))
    };
    let one = of(1);
    assert!(of(2) == one && of(5) == one);
}

#[test]
fn areas_in_2d_equal_those_of_the_particles() {
    let scene = Scene::<2>::new("plane", "", [SIDE as f64; 2], SIDE);
    for height in [0.5, 1.0, 6.0] {
        let mut random = Random(6);
        let count = (10.0 * height * scene.physics.particles_per_cell as f64) as usize;
        let positions: Vec<[f32; 2]> = (0..count)
            .map(|k| {
                let along = 10.0 * (k as f64 + random.next()) / count as f64;
                [(7.03 + along) as f32, (9.3 + height * random.next()) as f32]
            })
            .collect();
        let frame = Frame {
            number: 1,
            time: 0.0,
            points: vec![at_rest(scene.dx(), positions)],
            bodies: Vec::new(),
            loads: Vec::new(),
            meshes: Vec::new(),
        };
        let settings = SurfaceSettings::default();
        let (surface, measures) = measured(&scene, &frame, &settings).unwrap();
        assert!(measures.error().abs() < 0.01, "{height}: {measures:?}");
        assert!(surface.normals.iter().all(|n| n[1] < -0.99), "{height}");
    }
}
