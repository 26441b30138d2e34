//! Orientation of nested parts.

use super::part::Part;
use super::tree::Tree;

/// Only so many parts, the largest, are looked at as surroundings of others: meshes with more of them than this, one
/// in another, are none that anybody makes.
const MOST_SURROUNDINGS: usize = 64;
/// Points of a part that must be inside another one for it to be inside as a whole.
const SAMPLES: usize = 7;

/// For each part, the outermost part that it lies in.
pub(crate) fn outermost(
    parts: &[Part],
    vertices: &[[f64; 3]],
    faces: &[[u32; 3]],
) -> Vec<Option<usize>> {
    let mut by_size: Vec<usize> = (0..parts.len()).collect();
    by_size.sort_by(|&a, &b| parts[b].diagonal().total_cmp(&parts[a].diagonal()));
    let mut outermost = vec![None; parts.len()];
    for (rank, &outer) in by_size.iter().take(MOST_SURROUNDINGS).enumerate() {
        if outermost[outer].is_some() {
            continue;
        }
        let mut tree = None;
        for &inner in &by_size[rank + 1..] {
            let (around, within) = (&parts[outer].bounds, &parts[inner].bounds);
            if outermost[inner].is_some()
                || !(around.contains(within.low) && around.contains(within.high))
            {
                continue;
            }
            let tree = tree.get_or_insert_with(|| {
                let own: Vec<[u32; 3]> = parts[outer]
                    .faces
                    .iter()
                    .map(|&f| faces[f as usize])
                    .collect();
                Tree::new(vertices, &own)
            });
            let members = &parts[inner].faces;
            let step = members.len().div_ceil(SAMPLES);
            let inside = members.iter().step_by(step).all(|&face| {
                let vertex = faces[face as usize][0];
                tree.winding_number(vertices[vertex as usize]).abs() > 0.5
            });
            if inside {
                outermost[inner] = Some(outer);
            }
        }
    }
    outermost
}
