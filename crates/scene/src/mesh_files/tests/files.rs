//! A cube in every way it can be written, and reading it back.

use super::super::{Faces, Format, Limits, parse, read, read_faces};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The sides of a cube as quads, counter-clockwise seen from outside.
const QUADS: [[u32; 4]; 6] = [
    [0, 2, 3, 1],
    [4, 5, 7, 6],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 4, 6, 2],
    [1, 3, 7, 5],
];

/// A cube of the given side.
fn corner(index: u32, side: f32) -> [f32; 3] {
    [0, 1, 2].map(|axis| side * (index >> axis & 1) as f32)
}

pub(super) fn obj() -> Vec<u8> {
    let mut text = String::from("# a cube\nmtllib none.mtl\no cube\n");
    for index in 0..8 {
        let [x, y, z] = corner(index, 0.5);
        let _ = writeln!(text, "v {x} {y} {z} 1.0");
    }
    text += "vn 0 0 1\ns off\nusemtl none\n";
    for (k, quad) in QUADS.iter().enumerate() {
        let words = quad.map(|v| match k % 4 {
            0 => format!("{}", v + 1),
            1 => format!("{}//1", v + 1),
            2 => format!("{}", i64::from(v) - 8),
            _ => format!("{}/7/1", v + 1),
        });
        let _ = writeln!(text, "f {}", words.join(" "));
    }
    text.into_bytes()
}

fn ply_header(format: &str) -> String {
    format!(
        "ply\nformat {format} 1.0\ncomment a cube\nelement vertex 8\nproperty float x\nproperty double y\n\
         property uchar red\nproperty float z\nelement face 6\nproperty list uchar int vertex_indices\n\
         element edge 1\nproperty list uchar short path\nend_header\n"
    )
}

pub(super) fn ply_text() -> Vec<u8> {
    let mut text = ply_header("ascii");
    for index in 0..8 {
        let [x, y, z] = corner(index, 0.5);
        let _ = writeln!(text, "{x} {y} 255 {z}");
    }
    for [a, b, c, d] in QUADS {
        let _ = writeln!(text, "4 {a} {b} {c} {d}");
    }
    text += "3 0 1 2\n";
    text.into_bytes()
}

pub(super) fn ply_binary(big_endian: bool) -> Vec<u8> {
    let order = if big_endian { "big" } else { "little" };
    let mut bytes = ply_header(&format!("binary_{order}_endian")).into_bytes();
    let mut put = |number: &[u8]| {
        let mut number = number.to_vec();
        if big_endian {
            number.reverse();
        }
        bytes.extend(number);
    };
    for index in 0..8 {
        let [x, y, z] = corner(index, 0.5);
        put(&x.to_le_bytes());
        put(&f64::from(y).to_le_bytes());
        put(&[255]);
        put(&z.to_le_bytes());
    }
    for quad in QUADS {
        put(&[4]);
        quad.iter().for_each(|v| put(&v.to_le_bytes()));
    }
    put(&[2]);
    put(&7_i16.to_le_bytes());
    put(&(-7_i16).to_le_bytes());
    bytes
}

fn triangles() -> impl Iterator<Item = [[f32; 3]; 3]> {
    let fan = |[a, b, c, d]: [u32; 4]| [[a, b, c], [a, c, d]];
    QUADS
        .into_iter()
        .flat_map(fan)
        .map(|t| t.map(|v| corner(v, 0.5)))
}

pub(super) fn stl_text() -> Vec<u8> {
    let mut text = String::from("solid a cube of mine\n");
    for triangle in triangles() {
        text += "  facet normal 0 0 0\n    outer loop\n";
        for [x, y, z] in triangle {
            let _ = writeln!(text, "      vertex {x:e} {y} {z}");
        }
        text += "    endloop\n  endfacet\n";
    }
    text += "endsolid a cube of mine\n";
    text.into_bytes()
}

/// Begins with the word that text files begin with, as those of many programs do.
pub(super) fn stl_binary() -> Vec<u8> {
    let mut bytes = b"solid but binary".to_vec();
    bytes.resize(80, b' ');
    bytes.extend(12_u32.to_le_bytes());
    for triangle in triangles() {
        bytes.extend([0; 12]);
        bytes.extend(triangle.iter().flatten().flat_map(|c| c.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

/// Every way to write the cube: name of the file, format, bytes.
pub(super) fn all() -> Vec<(&'static str, Format, Vec<u8>)> {
    vec![
        ("cube.obj", Format::Obj, obj()),
        ("text.ply", Format::Ply, ply_text()),
        ("little.ply", Format::Ply, ply_binary(false)),
        ("big.PLY", Format::Ply, ply_binary(true)),
        ("text.stl", Format::Stl, stl_text()),
        ("binary.STL", Format::Stl, stl_binary()),
    ]
}

/// The corners of every triangle: the same whether vertices are shared or not.
pub(super) fn corners(faces: &Faces) -> Vec<[[f64; 3]; 3]> {
    let at = |v: u32| faces.vertices[v as usize];
    faces.triangles.iter().map(|t| t.map(at)).collect()
}

#[test]
fn a_cube_comes_back_from_every_kind_of_file() {
    let folder = tempfile::tempdir().unwrap();
    for (name, format, bytes) in all() {
        let expected: Vec<_> = triangles().map(|t| t.map(|c| c.map(f64::from))).collect();
        let faces = parse(format, &bytes, &Limits::default()).unwrap();
        assert_eq!(corners(&faces), expected, "{name}");

        let path = folder.path().join(name);
        fs::write(&path, &bytes).unwrap();
        assert_eq!(read_faces(&path, &Limits::default()).unwrap(), faces);
        let (mesh, report) = read(&path, &Limits::default()).unwrap();
        assert_eq!(
            (mesh.vertices().len(), mesh.triangles().len()),
            (8, 12),
            "{name}"
        );
        assert_eq!(report.warnings(), Vec::<String>::new(), "{name}");
        assert!((report.volume - 0.125).abs() < 1e-12);
        assert!((mesh.distance([0.25; 3]) + 0.25).abs() < 1e-12);
    }
}

#[test]
fn lines_that_end_in_other_ways_and_lines_that_go_on_are_read() {
    let obj = String::from_utf8(obj()).unwrap();
    let odd = obj
        .replace('\n', "\r\n")
        .replacen("f 1 3 4 2", "f 1 3 \\\r\n  4 2 # a side", 1);
    assert_ne!(odd, obj.replace('\n', "\r\n"));
    let read = |bytes: &[u8], format| parse(format, bytes, &Limits::default()).unwrap();
    assert_eq!(
        read(odd.as_bytes(), Format::Obj),
        read(obj.as_bytes(), Format::Obj)
    );

    let ply = String::from_utf8(ply_text()).unwrap();
    let odd = ply.replace('\n', "\r\n");
    assert_eq!(
        read(odd.as_bytes(), Format::Ply),
        read(ply.as_bytes(), Format::Ply)
    );
    let mut binary = ply_binary(false);
    let end = binary
        .windows(11)
        .position(|w| w == b"end_header\n")
        .unwrap()
        + 10;
    binary.insert(end, b'\r');
    assert_eq!(
        corners(&read(&binary, Format::Ply)),
        corners(&read(ply.as_bytes(), Format::Ply))
    );

    let stl = String::from_utf8(stl_text()).unwrap();
    let odd = stl.replace('\n', "\r\n").to_uppercase().replace("E0", "e0");
    assert_eq!(
        read(odd.as_bytes(), Format::Stl),
        read(stl.as_bytes(), Format::Stl)
    );
}

#[test]
fn the_extension_decides() {
    for (name, format) in [
        ("a.obj", Some(Format::Obj)),
        ("A.Stl", Some(Format::Stl)),
        ("a.b.ply", Some(Format::Ply)),
        ("obj", None),
        ("a.glb", None),
        ("", None),
    ] {
        assert_eq!(Format::of(Path::new(name)), format, "{name}");
    }
}
