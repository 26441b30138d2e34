//! Stanford PLY: a header, then numbers as text or binary.

mod body;
mod header;

use super::faces::{Faces, Limits, too_many};
use super::{Fault, Place};
use body::{Binary, Numbers, Text};
use header::{Element, Encoding, Header, Kind, Property};

pub(super) fn parse(bytes: &[u8], limits: &Limits) -> Result<Faces, Fault> {
    let header = Header::parse(bytes)?;
    let rest = bytes.len() - header.length;
    check(&header, rest, limits)?;
    let body = &bytes[header.length..];
    match header.encoding {
        Encoding::Text => elements(&header, Text::new(body, header.lines + 1), limits),
        Encoding::LittleEndian => {
            elements(&header, Binary::new(body, header.length, false), limits)
        }
        Encoding::BigEndian => elements(&header, Binary::new(body, header.length, true), limits),
    }
}

/// Checks the counts of the header against the size of the rest and the limits.
fn check(header: &Header, rest: usize, limits: &Limits) -> Result<(), Fault> {
    let mut least = 0;
    for element in &header.elements {
        let limit = match element.name.as_str() {
            "vertex" => limits.vertices,
            "face" => limits.triangles,
            _ => usize::MAX,
        };
        if element.count > limit as u64 {
            return Err(Fault::at(
                Place::Line(element.line),
                format!(
                    "the header promises {} elements '{}', more than the {limit} that can be handled",
                    element.count, element.name
                ),
            ));
        }
        let row = element.least_bytes(header.encoding);
        least = u64::saturating_add(least, element.count.saturating_mul(row));
        if least > rest as u64 {
            return Err(Fault::at(
                Place::Line(element.line),
                format!(
                    "the header promises {} elements '{}', which take more than the {rest} bytes that follow",
                    element.count, element.name
                ),
            ));
        }
    }
    for needed in ["vertex", "face"] {
        if !header.elements.iter().any(|element| element.name == needed) {
            return Err(Fault::whole(format!(
                "the header has no element '{needed}'"
            )));
        }
    }
    Ok(())
}

fn elements(header: &Header, mut body: impl Numbers, limits: &Limits) -> Result<Faces, Fault> {
    let mut faces = Faces::default();
    let vertices = header.elements.iter().find(|e| e.name == "vertex");
    let vertices = vertices.map_or(0, |element| element.count);
    for element in &header.elements {
        match element.name.as_str() {
            "vertex" => read_vertices(element, &mut body, &mut faces, limits)?,
            "face" => read_faces(element, vertices, &mut body, &mut faces, limits)?,
            // Nothing is stored of those without properties, however many they are.
            _ if element.properties.is_empty() => {}
            _ => {
                for _ in 0..element.count {
                    for property in &element.properties {
                        skip(&mut body, property.kind)?;
                    }
                }
            }
        }
    }
    if !faces.texture.is_empty() {
        faces.texture_triangles.clone_from(&faces.triangles);
    }
    Ok(faces)
}

/// Names of texture coordinates.
const TEXTURES: [[&str; 2]; 4] = [
    ["s", "t"],
    ["u", "v"],
    ["texture_u", "texture_v"],
    ["texture_s", "texture_t"],
];

fn read_vertices(
    element: &Element,
    body: &mut impl Numbers,
    faces: &mut Faces,
    limits: &Limits,
) -> Result<(), Fault> {
    // Where each property goes.
    let mut axes = Vec::with_capacity(element.properties.len());
    for property in &element.properties {
        let axis = ["x", "y", "z"]
            .iter()
            .position(|&axis| property.name == axis);
        axes.push(axis.filter(|_| matches!(property.kind, Kind::Scalar(_))));
    }
    for axis in 0..3 {
        if axes.iter().filter(|&&a| a == Some(axis)).count() != 1 {
            return Err(Fault::at(
                Place::Line(element.line),
                "vertices need one x, one y and one z",
            ));
        }
    }
    let named = |name: &str| {
        let is_it = |p: &Property| p.name == name && matches!(p.kind, Kind::Scalar(_));
        element.properties.iter().position(is_it)
    };
    let pairs = TEXTURES
        .iter()
        .find_map(|[u, v]| Some([named(u)?, named(v)?]));
    for (axis, at) in pairs.into_iter().flatten().enumerate() {
        axes[at] = Some(3 + axis);
    }
    for _ in 0..element.count {
        let mut numbers = [0.0; 5];
        let place = body.place();
        for (property, axis) in element.properties.iter().zip(&axes) {
            match (axis, property.kind) {
                (Some(axis), Kind::Scalar(scalar)) => numbers[*axis] = body.number(scalar)?,
                (_, kind) => skip(body, kind)?,
            }
        }
        let [x, y, z, u, v] = numbers;
        faces.add_vertex([x, y, z], place, limits)?;
        if pairs.is_some() {
            faces.texture.push([u as f32, v as f32]);
        }
    }
    Ok(())
}

fn read_faces(
    element: &Element,
    vertices: u64,
    body: &mut impl Numbers,
    faces: &mut Faces,
    limits: &Limits,
) -> Result<(), Fault> {
    let names = ["vertex_indices", "vertex_index"];
    let corners = |kind: Kind, name: &str| match kind {
        Kind::List { count, item } if names.contains(&name) => Some((count, item)),
        _ => None,
    };
    let found = element
        .properties
        .iter()
        .filter(|p| corners(p.kind, &p.name).is_some());
    if found.count() != 1 {
        return Err(Fault::at(
            Place::Line(element.line),
            "faces need one list vertex_indices",
        ));
    }
    let mut polygon = Vec::new();
    for _ in 0..element.count {
        for property in &element.properties {
            let Some((count, item)) = corners(property.kind, &property.name) else {
                skip(body, property.kind)?;
                continue;
            };
            let place = body.place();
            let count = whole(body.number(count)?)
                .ok_or_else(|| Fault::at(place, "the length of a list is not a whole number"))?;
            if count > limits.triangles as u64 + 2 {
                return Err(too_many("triangles", limits.triangles));
            }
            polygon.clear();
            for _ in 0..count {
                let at = body.place();
                let value = body.number(item)?;
                let vertex = whole(value).filter(|&v| v < vertices).ok_or_else(|| {
                    let there =
                        format!("a face refers to vertex {value}, but there are {vertices}");
                    Fault::at(at, there + ", counted from zero")
                })?;
                polygon.push(vertex as u32);
            }
            faces.add_polygon(&polygon, place, limits)?;
        }
    }
    Ok(())
}

fn skip(body: &mut impl Numbers, kind: Kind) -> Result<(), Fault> {
    match kind {
        Kind::Scalar(scalar) => body.number(scalar).map(|_| ()),
        Kind::List { count, item } => {
            let place = body.place();
            let count = whole(body.number(count)?)
                .ok_or_else(|| Fault::at(place, "the length of a list is not a whole number"))?;
            // Ends at the end of the file at the latest.
            (0..count).try_for_each(|_| body.number(item).map(|_| ()))
        }
    }
}

/// A number that counts something.
fn whole(value: f64) -> Option<u64> {
    (value >= 0.0 && value <= f64::from(u32::MAX) && value.fract() == 0.0).then_some(value as u64)
}
