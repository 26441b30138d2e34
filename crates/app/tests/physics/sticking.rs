//! Liquid separates from separating walls, and only from them.

use meniscus_app::runner::Simulation;
use meniscus_liquid::Walls;

use crate::{liquid_of, play, scene};

fn highest_and_lowest(simulation: &Simulation<3>) -> (f64, f64) {
    let heights = liquid_of(simulation)
        .particles()
        .position
        .iter()
        .map(|x| x[2] as f64);
    heights.fold((f64::NEG_INFINITY, f64::INFINITY), |(high, low), z| {
        (high.max(z), low.min(z))
    })
}

#[test]
fn a_box_kicked_upward_leaves_the_floor_and_meets_the_ceiling_with_separating_walls() {
    let scene = scene::<3>("box-kick", Walls::Separating);
    let (top, dx) = (scene.domain[2], scene.dx());
    let (mut met, mut dry) = (None, false);
    play(
        &scene,
        7,
        |_| {},
        |frame, simulation| {
            let (high, low) = highest_and_lowest(simulation);
            if high > top - dx && met.is_none() {
                met = Some(frame);
            }
            dry |= low > dx;
        },
    );
    assert!(
        met.is_some(),
        "the liquid has not met the ceiling by frame 7"
    );
    assert!(dry, "the floor was never dry");
}

#[test]
fn a_box_kicked_upward_never_leaves_the_floor_with_slip_walls() {
    let scene = scene::<3>("box-kick", Walls::Slip);
    let dx = scene.dx();
    play(
        &scene,
        7,
        |_| {},
        |frame, simulation| {
            let (high, low) = highest_and_lowest(simulation);
            assert!(low < dx, "the floor is dry at frame {frame}");
            assert!(
                high < 0.6 * scene.domain[2],
                "liquid at {high} m in frame {frame}"
            );
        },
    );
}

/// Fraction of the particles within three cells of the ceiling at a frame.
fn on_the_ceiling(walls: Walls, at: u32) -> f64 {
    let scene = scene::<3>("ceiling-ball", walls);
    let limit = scene.domain[2] - 3.0 * scene.dx();
    let mut share = 0.0;
    play(
        &scene,
        at,
        |_| {},
        |_, simulation| {
            let positions = &liquid_of(simulation).particles().position;
            let near = positions.iter().filter(|x| x[2] as f64 > limit).count();
            share = near as f64 / positions.len() as f64;
        },
    );
    share
}

#[test]
fn a_ball_thrown_at_the_ceiling_separates_by_frame_18_with_separating_walls_only() {
    let separating = on_the_ceiling(Walls::Separating, 18);
    let slip = on_the_ceiling(Walls::Slip, 18);
    eprintln!("on the ceiling: separating {separating:.4}, slip {slip:.4}");
    assert!(
        separating < 0.05,
        "{separating} of the particles are on the ceiling"
    );
    assert!(
        separating <= 0.5 * slip,
        "{separating} with separating walls, {slip} with slip walls"
    );
}

/// Particles within two cells of the glass and above its centre, averaged over the last ten frames.
fn on_the_glass(walls: Walls) -> f64 {
    let scene = scene::<3>("thrown-sphere", walls);
    let dx = scene.dx();
    let mut sum = 0.0;
    play(
        &scene,
        scene.frames,
        |_| {},
        |frame, simulation| {
            if frame + 10 > scene.frames {
                let t = liquid_of(simulation).time();
                let glass = &scene.solids[0];
                let centre = glass.motion.world_from_body(t).apply([0.0; 3]);
                let near = liquid_of(simulation)
                    .particles()
                    .position
                    .iter()
                    .filter(|x| {
                        let x = x.map(|x| x as f64);
                        x[2] > centre[2] && glass.distance(x, t) < 2.0 * dx
                    });
                sum += near.count() as f64 / 10.0;
            }
        },
    );
    sum
}

#[test]
fn in_the_thrown_sphere_far_fewer_particles_stay_on_the_upper_glass_with_separating_walls() {
    let (separating, slip) = (on_the_glass(Walls::Separating), on_the_glass(Walls::Slip));
    eprintln!("on the upper glass: separating {separating:.1}, slip {slip:.1}");
    assert!(
        slip > 40.0,
        "only {slip} particles on the glass with slip walls: nothing to compare with"
    );
    assert!(
        separating <= 0.25 * slip,
        "{separating} with separating walls, {slip} with slip walls"
    );
}

/// Remainder of the lining of the upper walls after 0.15 s, in which free fall covers 0.11 m: particles above the
/// centre within the initial thickness of the lining, as a fraction of those at the start.
fn lining_left(walls: Walls) -> f64 {
    let scene = scene::<2>("ane17-2", walls);
    let solids = scene.solids_and_walls();
    let hanging = |simulation: &Simulation<2>| {
        let near = liquid_of(simulation)
            .particles()
            .position
            .iter()
            .filter(|x| {
                let x = x.map(|x| x as f64);
                x[1] > 0.6 && solids.distance(x, 0.0) < 0.0575 + scene.dx()
            });
        near.count() as f64
    };
    let start = hanging(&Simulation::new(&scene).expect("a scene that makes sense"));
    let mut left = 0.0;
    play(
        &scene,
        16,
        |_| {},
        |_, simulation| left = hanging(simulation) / start,
    );
    left
}

#[test]
fn the_lining_of_two_circles_falls_with_separating_walls_and_stays_with_slip_walls() {
    let (separating, slip) = (lining_left(Walls::Separating), lining_left(Walls::Slip));
    eprintln!("lining left: separating {separating:.4}, slip {slip:.4}");
    assert!(
        separating < 0.1 && slip > 0.5,
        "{separating} with separating walls, {slip} with slip walls"
    );
}
