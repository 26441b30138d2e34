//! Joining the pieces of a contour from many blocks.

use super::{Contour, TooLarge};
use rayon::slice::ParallelSliceMut;

/// Piece of the contour in one block.
pub struct Piece<const D: usize> {
    /// Unique keys of its vertices.
    pub keys: Vec<u64>,
    /// Positions and smoothing weights of its vertices.
    pub vertices: Vec<([f64; D], f32)>,
    /// Vertex indices within the piece.
    pub triangles: Vec<[u32; 3]>,
}

/// Merges vertices shared by several blocks. Indices follow the order of keys, independent of threads.
pub fn join<const D: usize>(pieces: Vec<Piece<D>>) -> Result<Contour<D>, TooLarge> {
    let mut all: Vec<(u64, u32, u32)> = Vec::new();
    for (p, piece) in pieces.iter().enumerate() {
        let local = piece.keys.iter().enumerate();
        all.extend(local.map(|(v, &key)| (key, p as u32, v as u32)));
    }
    all.par_sort_unstable();
    let mut numbers: Vec<Vec<u32>> = pieces.iter().map(|p| vec![0; p.keys.len()]).collect();
    let (mut vertices, mut smoothing_weight) = (Vec::new(), Vec::new());
    let mut last = None;
    for (key, p, v) in all {
        if last != Some(key) {
            last = Some(key);
            let (place, loose) = pieces[p as usize].vertices[v as usize];
            vertices.push(place);
            smoothing_weight.push(loose);
        }
        let number = u32::try_from(vertices.len() - 1).map_err(|_| TooLarge)?;
        numbers[p as usize][v as usize] = number;
    }
    let of_piece = |(piece, numbers): (&Piece<D>, &Vec<u32>)| -> Vec<[u32; 3]> {
        let renumbered = |triangle: &[u32; 3]| triangle.map(|v| numbers[v as usize]);
        piece.triangles.iter().map(renumbered).collect()
    };
    let triangles = pieces.iter().zip(&numbers).flat_map(of_piece).collect();
    Ok(Contour {
        vertices,
        smoothing_weight,
        triangles,
    })
}
