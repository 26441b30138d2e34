//! What readers of others make of the same files.

use super::super::{Format, Limits, parse};
use super::files;
use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{DefaultElement, Property};
use std::io::Cursor;

type Corners = Vec<[[f64; 3]; 3]>;

fn ours(format: Format, bytes: &[u8]) -> Corners {
    files::corners(&parse(format, bytes, &Limits::default()).unwrap())
}

#[test]
fn tobj_reads_the_same_triangles() {
    let bytes = files::obj();
    let options = tobj::LoadOptions {
        triangulate: true,
        ..Default::default()
    };
    let no_materials = |_: &std::path::Path| Err(tobj::LoadError::OpenFileFailed);
    let (models, _) = tobj::load_obj_buf(&mut Cursor::new(&bytes), &options, no_materials).unwrap();
    let mut theirs = Corners::new();
    for model in &models {
        let places = &model.mesh.positions;
        for triangle in model.mesh.indices.chunks_exact(3) {
            let at = |v: u32| [0, 1, 2].map(|axis| f64::from(places[3 * v as usize + axis]));
            theirs.push([at(triangle[0]), at(triangle[1]), at(triangle[2])]);
        }
    }
    assert_eq!(ours(Format::Obj, &bytes), theirs);
}

#[test]
fn stl_io_reads_the_same_triangles() {
    // It takes binary files that begin with 'solid' for text.
    let mut binary = files::stl_binary();
    binary[..5].copy_from_slice(b"plain");
    for bytes in [files::stl_text(), binary] {
        let mesh = stl_io::read_stl(&mut Cursor::new(&bytes)).unwrap();
        let at = |v: usize| mesh.vertices[v].0.map(f64::from);
        let theirs: Corners = mesh
            .faces
            .iter()
            .map(|face| face.vertices.map(at))
            .collect();
        assert_eq!(ours(Format::Stl, &bytes), theirs);
    }
}

#[test]
fn ply_rs_reads_the_same_triangles() {
    for bytes in [
        files::ply_text(),
        files::ply_binary(false),
        files::ply_binary(true),
    ] {
        let ply = Parser::<DefaultElement>::new()
            .read_ply(&mut Cursor::new(&bytes))
            .unwrap();
        let coordinate = |vertex: &DefaultElement, axis: &str| match vertex[axis] {
            Property::Float(value) => f64::from(value),
            Property::Double(value) => value,
            ref other => panic!("{other:?}"),
        };
        let vertices: Vec<[f64; 3]> = ply.payload["vertex"]
            .iter()
            .map(|vertex| ["x", "y", "z"].map(|axis| coordinate(vertex, axis)))
            .collect();
        let mut theirs = Corners::new();
        for face in &ply.payload["face"] {
            let Property::ListInt(list) = &face["vertex_indices"] else {
                panic!("{face:?}");
            };
            let at = |v: i32| vertices[v as usize];
            theirs.extend(
                list[1..]
                    .windows(2)
                    .map(|w| [at(list[0]), at(w[0]), at(w[1])]),
            );
        }
        assert_eq!(ours(Format::Ply, &bytes), theirs);
    }
}
