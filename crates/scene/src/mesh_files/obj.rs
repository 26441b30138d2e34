//! Wavefront OBJ.

use super::bytes::{lines, number, point, shown, words};
use super::faces::{Faces, Limits, fan};
use super::{Fault, Place};

pub(super) fn parse(bytes: &[u8], limits: &Limits) -> Result<Faces, Fault> {
    let mut faces = Faces::default();
    let mut polygon = Vec::new();
    let mut texture = Vec::new();
    // The largest index so far and its line: vertices may come after the faces that use them.
    let mut largest = (0, 0);
    let mut joined = Vec::new();
    let mut rest = lines(bytes);
    while let Some((line, text)) = rest.next() {
        let mut text = text;
        if text.ends_with(b"\\") {
            // Continues in the next line.
            joined.clear();
            let mut part = text;
            while let Some(open) = part.strip_suffix(b"\\") {
                joined.extend_from_slice(open);
                joined.push(b' ');
                part = rest.next().map_or(&[], |(_, next)| next);
            }
            joined.extend_from_slice(part);
            text = &joined;
        }
        let place = Place::Line(line);
        let mut words = words(text);
        match words.next() {
            Some(b"v") => faces.add_vertex(point(words, place)?, place, limits)?,
            Some(b"vt") if faces.texture.len() < limits.vertices => {
                // What is wrong with a texture is no reason to refuse a mesh.
                let mut number = || words.next().and_then(|word| number(word, place).ok());
                let pair = [number(), number()].map(|x| x.unwrap_or(0.0) as f32);
                faces.texture.push(pair);
            }
            Some(b"f") => {
                polygon.clear();
                texture.clear();
                for word in words.take_while(|word| !word.starts_with(b"#")) {
                    let vertex = index(word, faces.vertices.len(), place)?;
                    if vertex >= largest.0 {
                        largest = (vertex, line);
                    }
                    if polygon.len() > limits.triangles {
                        return Err(super::faces::too_many("triangles", limits.triangles));
                    }
                    polygon.push(vertex);
                    let second = word.split(|&b| b == b'/').nth(1);
                    texture.extend(second.and_then(|word| signed_index(word, faces.texture.len())));
                }
                faces.add_polygon(&polygon, place, limits)?;
                if texture.len() == polygon.len() {
                    faces.texture_triangles.extend(fan(&texture));
                }
            }
            // Normals, groups and comments are ignored.
            _ => {}
        }
    }
    let count = faces.vertices.len();
    if !faces.triangles.is_empty() && largest.0 as usize >= count {
        return Err(Fault::at(
            Place::Line(largest.1),
            format!(
                "a face refers to vertex {}, but there are {count}",
                u64::from(largest.0) + 1
            ),
        ));
    }
    let pairs = faces.texture.len();
    let mut corners = faces.texture_triangles.iter().flatten();
    if faces.texture_triangles.len() < faces.triangles.len()
        || corners.any(|&corner| corner as usize >= pairs)
    {
        faces.texture.clear();
        faces.texture_triangles.clear();
    }
    Ok(faces)
}

/// The vertex of `12`, `12/3`, `12//4` or `12/3/4`, counted from zero; negative ones count back from the last.
fn index(word: &[u8], vertices: usize, place: Place) -> Result<u32, Fault> {
    let first = word.split(|&b| b == b'/').next().unwrap_or(word);
    signed_index(first, vertices).ok_or_else(|| {
        Fault::at(
            place,
            format!("{} is not the index of a vertex", shown(word)),
        )
    })
}

/// A number counted from one, from zero on; negative ones count back from the last of `count`.
fn signed_index(word: &[u8], count: usize) -> Option<u32> {
    let value: i64 = std::str::from_utf8(word).ok()?.parse().ok()?;
    match value {
        0 => None,
        1.. => u32::try_from(value - 1).ok(),
        _ => u32::try_from(count as i64 + value.max(-(1 << 40))).ok(),
    }
}
