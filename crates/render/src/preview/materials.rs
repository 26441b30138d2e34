//! Default materials of solids.

use meniscus_scene::{Material, Scene};
use meniscus_shapes::{Bounds, Shape};
use std::array::from_fn;

/// Points along a side of the lattice by which volumes are compared.
const LATTICE: usize = 20;
/// Largest filled fraction of a hollow shape.
const MAX_FILLED_FRACTION: f64 = 0.5;

/// Materials of the solids and bodies of a scene, as set or by their shapes.
pub fn materials_of<const D: usize>(scene: &Scene<D>) -> Vec<Material> {
    let shapes = scene.solids.iter().map(|solid| &solid.shape);
    let shapes = shapes.chain(scene.bodies.iter().map(|body| &body.shape));
    let chosen = scene.all_materials().into_iter();
    shapes
        .zip(chosen)
        .map(|(shape, chosen)| chosen.unwrap_or_else(|| material_of(shape)))
        .collect()
}

/// Glass for possible containers of liquid: containers, shells, and shapes more hollow than solid, such as a cup. Stone for
/// everything else.
pub fn material_of<const D: usize>(shape: &Shape<D>) -> Material {
    let hollow = match shape {
        Shape::Inverted(_) | Shape::Shell { .. } => true,
        Shape::Placed { shape, .. } | Shape::Rounded { shape, .. } => {
            return material_of(shape);
        }
        Shape::Difference(whole, parts) => {
            matches!(material_of(whole), Material::Glass) || is_hollowed(whole, parts, shape)
        }
        _ => false,
    };
    match hollow {
        true => Material::Glass,
        false => Material::Stone,
    }
}

/// Whether subtracting the parts removes most of the whole, from its inside.
fn is_hollowed<const D: usize>(whole: &Shape<D>, parts: &[Shape<D>], left: &Shape<D>) -> bool {
    let Some(bounds) = whole.bounds().filter(|b| b.is_finite() && !b.is_empty()) else {
        return false;
    };
    let volume = |shape: &Shape<D>| {
        let points = lattice(&bounds).filter(|&x| shape.distance(x) < 0.0);
        points.count() as f64
    };
    let middle = from_fn(|i| 0.5 * (bounds.low[i] + bounds.high[i]));
    let open = parts.iter().any(|part| part.distance(middle) < 0.0);
    open && volume(left) < MAX_FILLED_FRACTION * volume(whole)
}

fn lattice<const D: usize>(bounds: &Bounds<D>) -> impl Iterator<Item = [f64; D]> {
    (0..LATTICE.pow(D as u32)).map(|index| {
        from_fn(|axis| {
            let step = index / LATTICE.pow(axis as u32) % LATTICE;
            let share = (step as f64 + 0.5) / LATTICE as f64;
            bounds.low[axis] + share * (bounds.high[axis] - bounds.low[axis])
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_scene::{AnyScene, builtin};

    #[test]
    fn cups_and_containers_default_to_glass_and_obstacles_to_stone() {
        for (scene, solid, expected) in [
            ("cup", "cup", Material::Glass),
            ("thrown-sphere", "glass", Material::Glass),
            ("double-sphere", "upper ball", Material::Glass),
            ("double-sphere", "lower ball", Material::Glass),
            ("knot", "ball", Material::Stone),
            ("paddle", "wheel", Material::Stone),
            ("sphere-cuboid", "cuboid", Material::Stone),
            ("faucet", "pipe", Material::Stone),
            ("faucet", "floor", Material::Stone),
        ] {
            let AnyScene::Three(loaded) = builtin::named(scene).unwrap() else {
                panic!("{scene} is 3D")
            };
            let body = loaded.solids.iter().find(|b| b.name == solid).unwrap();
            assert_eq!(material_of(&body.shape), expected, "{solid} of {scene}");
        }
    }
}
