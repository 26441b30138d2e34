//! Renders synthetic scenes, to inspect previews without a simulation:
//! `cargo run --release -p meniscus-app --example preview -- FOLDER`

use image::RgbImage;
use meniscus_render::preview::{View, draw};
use meniscus_scene::{Camera, Material, Style};
use meniscus_shapes::{Bounds, ScriptedSolid, Shape};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("say into which folder")?;
    let folder = Path::new(&folder);
    glass_sphere().save(folder.join("glass-sphere.png"))?;
    tank_with_post().save(folder.join("tank-with-post.png"))?;
    flat_dam().save(folder.join("flat-dam.png"))?;
    Ok(())
}

/// Pseudo-random numbers between 0 and 1, the same in every run.
struct Scatter(u64);

impl Scatter {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn point<const D: usize>(&mut self, domain: [f64; D]) -> [f64; D] {
        domain.map(|side| side * self.next())
    }

    /// Points of the domain that satisfy a condition.
    fn points<const D: usize>(
        &mut self,
        count: usize,
        domain: [f64; D],
        wanted: impl Fn([f64; D]) -> bool,
    ) -> Vec<[f32; D]> {
        let mut points = Vec::with_capacity(count);
        while points.len() < count {
            let x = self.point(domain);
            if wanted(x) {
                points.push(x.map(|c| c as f32));
            }
        }
        points
    }
}

/// The whole domain.
fn whole<const D: usize>(high: [f64; D]) -> Bounds<D> {
    Bounds {
        low: [0.0; D],
        high,
    }
}

/// A glass sphere, half full and tilted, with a ripple on the water.
fn glass_sphere() -> RgbImage {
    let center = [0.5, 0.5, 0.55];
    let sphere = Shape::Sphere {
        center,
        radius: 0.4,
    };
    let bodies = [ScriptedSolid::still("glass", sphere.clone().inverted())];
    let positions = Scatter(1).points(150_000, [1.0; 3], |x| {
        let [a, b, c] = [0, 1, 2].map(|i| x[i] - center[i]);
        let ripple = 0.015 * (14.0 * a).sin() * (11.0 * b).cos();
        sphere.distance(x) < -0.002 && c + 0.3 * a + 0.1 * b + ripple < 0.0
    });
    let view = View {
        positions: &positions,
        velocities: &[],
        radius: 0.5 / 64.0,
        bodies: &bodies,
        materials: &[Material::Glass],
        colours: &[],
        liquid_colour: None,
        per_cell: 8.0,
        time: 0.0,
        domain: [1.0; 3],
        frame: whole([1.0; 3]),
        camera: Camera::default(),
        style: Style::Surface,
        fastest: 1.0,
        caption: Some("glass sphere, 150000 particles"),
    };
    draw(&view, (480, 480))
}

/// A wave that runs around a post, in the box of the domain.
fn tank_with_post() -> RgbImage {
    let domain = [2.0, 0.6, 1.0];
    let bodies = [
        ScriptedSolid::still(
            "tank",
            Shape::Box {
                low: [0.0; 3],
                high: domain,
            }
            .inverted(),
        ),
        ScriptedSolid::still(
            "post",
            Shape::Box {
                low: [1.2, 0.2, 0.0],
                high: [1.4, 0.4, 0.6],
            },
        ),
    ];
    let mut scatter = Scatter(2);
    let mut positions = scatter.points(150_000, domain, |x| {
        let top = 0.7 - 0.25 * x[0] + 0.03 * (9.0 * x[0]).sin() * (1.0 + 0.3 * (14.0 * x[1]).cos());
        x[2] < top && bodies[1].distance(x, 0.0) > 0.0
    });
    let spray = scatter.points(200, domain, |x| x[0] > 1.6 && x[2] > 0.2 && x[2] < 0.9);
    positions.extend(&spray);
    let velocities: Vec<[f32; 3]> = positions.iter().map(|p| [1.6 * p[0], 0.0, p[2]]).collect();
    let view = View {
        positions: &positions,
        velocities: &velocities,
        radius: 0.5 / 64.0,
        bodies: &bodies,
        materials: &[Material::Glass, Material::Stone],
        colours: &[],
        liquid_colour: None,
        per_cell: 8.0,
        time: 0.0,
        domain,
        frame: whole(domain),
        camera: Camera::default(),
        style: Style::Surface,
        fastest: 5.0,
        caption: Some("tank with a post, 150200 particles"),
    };
    draw(&view, (480, 480))
}

/// Falling liquid in 2D.
fn flat_dam() -> RgbImage {
    let tank = Shape::Box {
        low: [0.1; 2],
        high: [0.9; 2],
    };
    let shelf = Shape::Box {
        low: [0.35, 0.55],
        high: [0.9, 0.62],
    };
    let bodies = [ScriptedSolid::still(
        "tank",
        tank.without(vec![shelf]).inverted(),
    )];
    let mut scatter = Scatter(3);
    let mut positions = scatter.points(40_000, [1.0; 2], |x| {
        let top = 0.5 - 0.4 * (x[0] - 0.1) + 0.02 * (20.0 * x[0]).sin();
        let ball = (x[0] - 0.7).hypot(x[1] - 0.76) < 0.07;
        bodies[0].distance(x, 0.0) > 0.001 && (x[1] < top || ball)
    });
    let spray = scatter.points(60, [0.5, 0.85], |x| x[0] > 0.12 && x[1] > 0.45);
    positions.extend(&spray);
    let velocities: Vec<[f32; 2]> = positions.iter().map(|p| [4.0 * p[0] - 0.4, 0.0]).collect();
    let view = View {
        positions: &positions,
        velocities: &velocities,
        radius: 0.005,
        bodies: &bodies,
        materials: &[],
        colours: &[],
        liquid_colour: None,
        per_cell: 8.0,
        time: 0.0,
        domain: [1.0; 2],
        frame: whole([1.0; 2]),
        camera: Camera::default(),
        style: Style::Surface,
        fastest: 5.0,
        caption: Some("flat dam, 40060 particles"),
    };
    draw(&view, (480, 480))
}
