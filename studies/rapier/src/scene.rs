//! Scenes, independent of any engine. Lengths in metres, gravity down the third axis.

/// Solid of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solid {
    /// Half of the sides of a box.
    Cuboid([f64; 3]),
    /// Radius of a ball.
    Ball(f64),
    /// Inner radius of a half of a hollow sphere, open at the top. Always fixed.
    Bowl(f64),
}

/// A body.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    pub solid: Solid,
    /// In kg/m3; `None` is fixed.
    pub density: Option<f64>,
    pub at: [f64; 3],
    /// Axis times angle.
    pub turned: [f64; 3],
    pub velocity: [f64; 3],
    pub friction: f64,
    pub restitution: f64,
}

/// Pose of a body.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    pub at: [f64; 3],
    /// `world_from_body`, by rows.
    pub rotation: [[f64; 3]; 3],
    pub velocity: [f64; 3],
    pub angular_velocity: [f64; 3],
}

/// A scene.
#[derive(Clone, Debug)]
pub struct Scene {
    pub name: &'static str,
    pub bodies: Vec<Body>,
}

/// Friction of all bodies.
const FRICTION: f64 = 0.5;

impl Body {
    /// A body at rest that forces move.
    pub fn free(solid: Solid, density: f64, at: [f64; 3]) -> Self {
        Self {
            density: Some(density),
            ..Self::fixed(solid, at)
        }
    }

    /// A body that nothing moves.
    pub fn fixed(solid: Solid, at: [f64; 3]) -> Self {
        Self {
            solid,
            density: None,
            at,
            turned: [0.0; 3],
            velocity: [0.0; 3],
            friction: FRICTION,
            restitution: 0.0,
        }
    }
}

impl Scene {
    /// The scenes of the study, by name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "pile" => Some(pile()),
            "wall" => Some(wall()),
            "bowl" => Some(bowl()),
            _ => None,
        }
    }
}

/// A floor whose surface is at height zero.
pub fn floor() -> Body {
    Body::fixed(Solid::Cuboid([20.0, 20.0, 0.5]), [0.0, 0.0, -0.5])
}

/// 500 boxes that fall into a pile.
fn pile() -> Scene {
    let mut bodies = vec![floor()];
    for k in 0..500 {
        let (i, j, l) = (k % 5, k / 5 % 5, k / 25);
        let shift = 0.008 * ((k * 7) % 5) as f64;
        let at = [
            0.25 * i as f64 + shift,
            0.25 * j as f64 - shift,
            0.11 + 0.25 * l as f64,
        ];
        bodies.push(Body::free(Solid::Cuboid([0.1; 3]), 500.0, at));
    }
    Scene {
        name: "pile",
        bodies,
    }
}

/// 20 rows of 10 bricks, hit by a ball.
fn wall() -> Scene {
    let mut bodies = vec![floor()];
    for row in 0..20 {
        for k in 0..10 {
            let x = 0.402 * k as f64 + if row % 2 == 0 { 0.0 } else { 0.2 };
            let at = [x, 0.0, 0.0502 + 0.1002 * row as f64];
            bodies.push(Body::free(Solid::Cuboid([0.2, 0.1, 0.05]), 1800.0, at));
        }
    }
    bodies.push(Body {
        velocity: [0.0, 8.0, 0.0],
        ..Body::free(Solid::Ball(0.3), 5000.0, [2.0, -3.0, 1.2])
    });
    Scene {
        name: "wall",
        bodies,
    }
}

/// 2,000 balls that fall into a bowl.
fn bowl() -> Scene {
    let mut bodies = vec![Body::fixed(Solid::Bowl(2.0), [0.0; 3])];
    for k in 0..2000 {
        let (i, j, l) = (k % 14, k / 14 % 14, k / 196);
        let shift = 0.003 * ((k * 7) % 5) as f64;
        let at = [
            0.16 * (i as f64 - 6.5) + shift,
            0.16 * (j as f64 - 6.5) - shift,
            -0.9 + 0.16 * l as f64,
        ];
        bodies.push(Body::free(Solid::Ball(0.07), 1000.0, at));
    }
    Scene {
        name: "bowl",
        bodies,
    }
}
