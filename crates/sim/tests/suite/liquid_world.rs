//! A liquid as a world.

use meniscus_liquid::{Liquid, Settings};
use meniscus_shapes::{Ease, Keyframe, Motion, Rotation, ScriptedSolid, Shape};

use meniscus_sim::{Layers, LiquidWorld, World};

#[test]
fn bodies_have_the_velocity_of_their_keyframes_and_sides_are_no_body() {
    let key = |time: f64, x: f64, angle: f64| Keyframe {
        time,
        position: [x, 0.0, 0.0],
        rotation: Rotation::exp(&[[0.0, -angle, 0.0], [angle, 0.0, 0.0], [0.0; 3]]),
    };
    let paddle = ScriptedSolid {
        name: "paddle".into(),
        shape: Shape::Sphere {
            center: [0.0; 3],
            radius: 0.1,
        },
        motion: Motion::Keyframes {
            keys: vec![key(-1.0, -2.0, -0.5), key(1.0, 2.0, 0.5)],
            ease: Ease::Linear,
        },
    };
    let sides = ScriptedSolid::still(
        "domain",
        Shape::Box {
            low: [0.0; 3],
            high: [1.0; 3],
        }
        .inverted(),
    );
    let liquid = Liquid::new(Settings::new([4; 3], 0.25)).unwrap();
    let world = LiquidWorld::new(liquid, vec![paddle], sides);
    let [body] = &world.snapshot(Layers::default()).bodies[..] else {
        panic!("one body")
    };
    assert_eq!(body.translation, [0.0; 3]);
    let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
    assert!(close(body.velocity[0], 2.0) && close(body.angular_velocity[2], 0.5));
    assert_eq!(LiquidWorld::<3>::of(&world).map(World::dimension), Some(3));
    assert!(LiquidWorld::<2>::of(&world).is_none());
}
