//! A cup with walls two cells thick loses no particle, however it is moved.

use meniscus_app::runner::Simulation;
use meniscus_liquid::Walls;
use meniscus_scene::{Scene, Volume};
use meniscus_shapes::{Ease, Keyframe, Motion, Rotation, ScriptedSolid, Shape};

use crate::{liquid_of, play};

/// Half of the cavity's width, and half of its depth in 3D.
const HALF: [f64; 2] = [0.2, 0.15];
/// Height of the rim above the bottom.
const RIM: f64 = 1.6;
const WATER: f64 = 0.17;
/// Cells along the height of the domain, which is above any splash.
const CELLS: usize = 88;
const HEIGHT: f64 = 2.2;
const SIDE: f64 = 1.6;

/// Speed of the lift, the fastest motion.
const LIFT: f64 = 1.6;

/// Time, horizontal position and height of the inner bottom, and rotation in degrees. The cup is lifted, shaken at 0.8 m/s,
/// dropped at 1 m/s and tilted back and forth; its velocity jumps at every key. No splash comes near the rim: particles
/// outside have passed through a wall.
const WAY: [(f64, f64, f64, f64); 13] = [
    (0.1, 0.80, 0.15, 0.0),
    (0.1 + 0.4 / LIFT, 0.80, 0.55, 0.0),
    (0.7, 0.80, 0.55, 0.0),
    (0.8, 0.88, 0.55, 0.0),
    (0.9, 0.80, 0.55, 0.0),
    (1.0, 0.88, 0.55, 0.0),
    (1.1, 0.80, 0.55, 0.0),
    (1.5, 0.80, 0.55, 0.0),
    (1.7, 0.80, 0.35, 0.0),
    (2.1, 0.80, 0.35, 0.0),
    (2.5, 0.84, 0.38, 15.0),
    (3.2, 0.78, 0.38, -15.0),
    (3.5, 0.80, 0.35, 0.0),
];

/// Half of the cavity's width along a horizontal axis.
fn half(axis: usize) -> f64 {
    HALF[axis.min(1)]
}

fn turned<const D: usize>(degrees: f64) -> Rotation<D> {
    let mut generator = [[0.0; D]; D];
    generator[0][D - 1] = degrees.to_radians();
    generator[D - 1][0] = -degrees.to_radians();
    Rotation::exp(&generator)
}

fn cup<const D: usize>(walls: Walls) -> Scene<D> {
    let mut domain = [SIDE; D];
    domain[1] = 0.4 * SIDE;
    domain[D - 1] = HEIGHT;
    let mut scene = Scene::<D>::new("cup", "water in a cup that is moved about", domain, CELLS);
    // Steps of up to four cells: twice the thickness of the walls.
    scene.physics.cfl = 4.0;
    scene.physics.walls = walls;
    let thick = 2.0 * scene.dx();
    let up = |a: usize| a + 1 == D;
    let block = |grow: f64, low: f64, high: f64| Shape::Box {
        low: std::array::from_fn(|a| if up(a) { low } else { -half(a) - grow }),
        high: std::array::from_fn(|a| if up(a) { high } else { half(a) + grow }),
    };
    let place = |x: f64, height: f64| -> [f64; D] {
        std::array::from_fn(|a| match a {
            0 => x,
            _ if up(a) => height,
            _ => 0.5 * domain[a],
        })
    };
    let keys = WAY.map(|(time, x, height, degrees)| Keyframe {
        time,
        position: place(x, height),
        rotation: turned(degrees),
    });
    let start = keys[0].pose();
    scene.solids.push(ScriptedSolid {
        name: "cup".into(),
        shape: block(thick, -thick, RIM).without(vec![block(0.0, 0.0, 2.0)]),
        motion: Motion::Keyframes {
            keys: keys.to_vec(),
            ease: Ease::Linear,
        },
    });
    let water = block(0.0, 0.0, WATER).placed(start);
    scene.liquids.push(Volume::at_rest(water));
    scene
}

fn keeps_everything<const D: usize>(walls: Walls) {
    let scene = cup::<D>(walls);
    let dx = scene.dx();
    let count = Simulation::new(&scene)
        .expect("a scene that makes sense")
        .world()
        .cost()
        .points;
    let frames = (3.7 * scene.frame_rate) as u32;
    let (mut longest, mut highest) = (0.0f64, 0.0f64);
    play(
        &scene,
        frames,
        |report| longest = longest.max(report.dt),
        |frame, simulation| {
            let liquid = liquid_of(simulation);
            let particles = liquid.particles();
            assert_eq!(particles.len(), count, "at frame {frame}");
            let time = liquid.time();
            let pose = scene.solids[0].motion.world_from_body(time);
            for x in &particles.position {
                let inside = pose.apply_inverse(x.map(|x| x as f64));
                let across = (0..D - 1).all(|a| inside[a].abs() < half(a) + 0.1 * dx);
                assert!(
                    across && inside[D - 1] > -0.1 * dx,
                    "{D}D, {walls} walls, frame {frame}: a particle is outside, at {inside:?} of the cup"
                );
                highest = highest.max(inside[D - 1]);
            }
        },
    );
    eprintln!("{D}D {walls}: {count} particles, up to {highest:.3} m of {RIM} m");
    assert!(
        LIFT * longest > 2.0 * dx,
        "a lift moves by more than the walls are thick"
    );
    assert!(highest > WATER + 0.1, "nothing was shaken");
}

#[test]
fn a_thin_cup_lifted_shaken_dropped_and_tilted_loses_no_particle_in_2d() {
    keeps_everything::<2>(Walls::Separating);
    keeps_everything::<2>(Walls::Slip);
}

#[test]
fn a_thin_cup_lifted_shaken_dropped_and_tilted_loses_no_particle_in_3d() {
    keeps_everything::<3>(Walls::Separating);
}
