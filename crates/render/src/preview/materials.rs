//! What a solid is made of if nobody says.

use meniscus_scene::{Material, Scene};
use meniscus_shapes::{Bounds, Shape};
use std::array::from_fn;

/// Points along a side of the lattice by which volumes are compared.
const LATTICE: usize = 20;
/// Share of a shape that may be left for it to count as hollow.
const HOLLOW: f64 = 0.5;

/// What the solids of a scene are made of, as it says or by their shapes.
pub fn materials_of<const D: usize>(scene: &Scene<D>) -> Vec<Material> {
    let chosen = scene.materials.iter().copied();
    let chosen = chosen.chain(std::iter::repeat(None));
    let materials = scene.solids.iter().zip(chosen);
    materials
        .map(|(body, chosen)| chosen.unwrap_or_else(|| material_of(&body.shape)))
        .collect()
}

/// Glass for what holds liquid or could: containers, shells, and what is more hollow than solid, such as a cup. Stone for
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

/// Whether cutting the parts out takes most of the whole, and takes it from its inside.
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
    open && volume(left) < HOLLOW * volume(whole)
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
    fn cups_and_containers_are_of_glass_and_obstacles_of_stone() {
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
                panic!("{scene} is in space")
            };
            let body = loaded.solids.iter().find(|b| b.name == solid).unwrap();
            assert_eq!(material_of(&body.shape), expected, "{solid} of {scene}");
        }
    }
}
