//! Stereolithography files, text and binary.
//!
//! Many binary files begin with the word that text files begin with: the size decides.

use super::bytes::{lines, point, shown, words};
use super::faces::{Faces, Limits, too_many};
use super::{Fault, Place};

/// Bytes before the number of triangles.
const HEADER: usize = 80;
/// Bytes before the first triangle.
const START: usize = HEADER + 4;
/// Bytes of a triangle: normal, three vertices, two bytes of attributes.
const TRIANGLE: usize = 50;

pub(super) fn parse(bytes: &[u8], limits: &Limits) -> Result<Faces, Fault> {
    let promised = bytes
        .get(HEADER..START)
        .and_then(|count| count.try_into().ok())
        .map(|count| u32::from_le_bytes(count) as usize);
    let size = |count: usize| START as u64 + count as u64 * TRIANGLE as u64;
    let fits = promised.is_some_and(|count| size(count) == bytes.len() as u64);
    let is_text = !fits
        && bytes
            .trim_ascii_start()
            .get(..5)
            .is_some_and(|word| word.eq_ignore_ascii_case(b"solid"))
        && !bytes.contains(&0);
    match promised {
        _ if is_text => text(bytes, limits),
        Some(count) if fits => binary(&bytes[START..], count, limits),
        Some(count) => Err(Fault::at(
            Place::Byte(HEADER),
            format!(
                "the header promises {count} triangles, which take {} bytes, but the file has {}",
                size(count),
                bytes.len()
            ),
        )),
        None => Err(Fault::whole(
            "is neither text nor as long as the header of a binary file",
        )),
    }
}

fn binary(bytes: &[u8], count: usize, limits: &Limits) -> Result<Faces, Fault> {
    if count > limits.triangles {
        return Err(too_many("triangles", limits.triangles));
    }
    let mut faces = Faces::default();
    for (index, triangle) in bytes.chunks_exact(TRIANGLE).enumerate() {
        // After the normal, which follows from the vertices.
        let (numbers, _) = triangle[12..48].as_chunks::<4>();
        let numbers: Vec<f64> = numbers
            .iter()
            .map(|n| f64::from(f32::from_le_bytes(*n)))
            .collect();
        let place = Place::Byte(START + index * TRIANGLE + 12);
        let (vertices, _) = numbers.as_chunks::<3>();
        add(&mut faces, vertices, place, limits)?;
    }
    Ok(faces)
}

fn text(bytes: &[u8], limits: &Limits) -> Result<Faces, Fault> {
    let mut faces = Faces::default();
    let mut corners: Vec<[f64; 3]> = Vec::new();
    // A solid that has not ended, and a facet that has not ended.
    let (mut solid, mut facet) = (false, false);
    let mut last = 1;
    for (line, text) in lines(bytes) {
        let place = Place::Line(line);
        let mut words = words(text);
        let Some(first) = words.next() else {
            continue;
        };
        last = line;
        let unexpected = || Fault::at(place, format!("did not expect {} here", shown(first)));
        match first.to_ascii_lowercase().as_slice() {
            b"solid" if !solid => solid = true,
            b"endsolid" if solid && !facet => solid = false,
            b"facet" if solid && !facet => facet = true,
            b"outer" if facet => corners.clear(),
            b"vertex" if facet && corners.len() < 3 => corners.push(point(words, place)?),
            b"endloop" if facet => {
                if corners.len() != 3 {
                    return Err(Fault::at(
                        place,
                        format!("a facet has {} vertices, not three", corners.len()),
                    ));
                }
            }
            b"endfacet" if facet && corners.len() == 3 => {
                facet = false;
                add(&mut faces, &corners, place, limits)?;
                corners.clear();
            }
            _ => return Err(unexpected()),
        }
    }
    if solid {
        return Err(Fault::at(
            Place::Line(last),
            "the file ends before its solid does",
        ));
    }
    Ok(faces)
}

fn add(
    faces: &mut Faces,
    corners: &[[f64; 3]],
    place: Place,
    limits: &Limits,
) -> Result<(), Fault> {
    let first = faces.vertices.len() as u32;
    for &corner in corners {
        faces.add_vertex(corner, place, limits)?;
    }
    faces.add_polygon(&[first, first + 1, first + 2], place, limits)
}
