//! Damaged and malicious files.

use super::super::{Fault, Format, Limits, Place, parse, read};
use super::files;
use meniscus_shapes::TriangleMesh;
use meniscus_store::error::Error;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

/// Rows of a table of cases, one per line.
macro_rules! cases {
    ($($from:literal => $to:literal, $place:expr, $words:literal;)*) => {
        [$(($from, $to, $place, $words)),*]
    };
}

fn fault(format: Format, bytes: &[u8]) -> Fault {
    parse(format, bytes, &Limits::default()).expect_err("a fault")
}

/// The fault of a text with one thing in it replaced.
fn replaced(format: Format, bytes: Vec<u8>, from: &str, to: &str) -> Fault {
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains(from), "{from}");
    fault(format, text.replacen(from, to, 1).as_bytes())
}

fn refused(path: &Path, limits: &Limits) -> Error {
    let error = read(path, limits).expect_err("refused");
    assert_eq!(error.kind().exit_code(), 3, "{error}");
    assert!(error.remedy().is_some(), "{error}");
    let name = path.file_name().unwrap().to_string_lossy();
    assert!(error.message().contains(&*name), "{error}");
    error
}

#[test]
fn errors_in_obj_files_have_a_line() {
    for (from, to, line, words) in cases![
        "v 0.5 0 0" => "v 0.5 zero 0", 5, "'zero' is not a number";
        "v 0.5 0 0" => "v 0.5 nan 0", 5, "not finite";
        "v 0.5 0 0" => "v 0.5 1e999 0", 5, "not finite";
        "v 0.5 0 0 1.0" => "v 0.5 0", 5, "less than three";
        "f 1 3 4 2" => "f 1 3 9 2", 15, "vertex 9, but there are 8";
        "f 1 3 4 2" => "f 1 3 0 2", 15, "'0' is not the index";
        "f 1 3 4 2" => "f 1 3 -9 2", 15, "'-9' is not the index";
        "f 1 3 4 2" => "f 1 3 99999999999999999999 2", 15, "is not the index";
        "f 1 3 4 2" => "f 1 3 -9223372036854775808 2", 15, "is not the index";
        "f 1 3 4 2" => "f 1 3", 15, "2 vertices";
        "f 1 3 4 2" => "f", 15, "no vertices";
    ] {
        let fault = replaced(Format::Obj, files::obj(), from, to);
        assert_eq!(fault.place, Some(Place::Line(line)), "{fault}");
        assert!(fault.what.contains(words), "{fault}");
    }
}

#[test]
fn errors_in_ply_files_have_a_place() {
    for (from, to, line, words) in cases![
        "ply" => "PLY", Some(1), "does not begin";
        "format ascii 1.0" => "format ascii 2.0", Some(2), "not clear";
        "format ascii 1.0" => "format morse 1.0", Some(2), "not clear";
        "format ascii 1.0\n" => "", None, "no format";
        "element vertex 8" => "element vertex 1000000000000", Some(4), "promises 1000000000000";
        "element vertex 8" => "element vertex 99999999999999999999", Some(4), "not clear";
        "element vertex 8" => "element vertex -1", Some(4), "not clear";
        "element face 6" => "element face 9999999", Some(9), "bytes that follow";
        "element face 6" => "element vertex 6", Some(9), "twice";
        "element edge 1" => "element edge 18446744073709551615", Some(11), "promises";
        "element vertex 8" => "element point 8", None, "no element 'vertex'";
        "property float x" => "property float u", Some(4), "one x";
        "property uchar red" => "property float x", Some(4), "one x";
        "property double y" => "property quad y", Some(6), "not clear";
        "list uchar int vertex_indices" => "list uchar int corners", Some(9), "vertex_indices";
        "end_header" => "end", Some(13), "not clear";
        "0 0 255 0" => "0 nan 255 0", Some(14), "not finite";
        "0 0 255 0" => "0 x 255 0", Some(14), "'x' is not a number";
        "4 0 2 3 1" => "4 0 2 8 1", Some(22), "vertex 8, but there are 8";
        "4 0 2 3 1" => "4 0 2 -1 1", Some(22), "vertex -1";
        "4 0 2 3 1" => "4 0 2 1.5 1", Some(22), "vertex 1.5";
        "4 0 2 3 1" => "-4 0 2 3 1", Some(22), "length of a list";
        "4 0 2 3 1" => "2 0 2\n2 3 1", Some(22), "2 vertices";
        "3 0 1 2\n" => "300 0 1 2", Some(28), "ends too early";
    ] {
        let fault = replaced(Format::Ply, files::ply_text(), from, to);
        assert_eq!(
            fault.place,
            line.map(Place::Line),
            "{from} -> {to}: {fault}"
        );
        assert!(fault.what.contains(words), "{fault}");
    }
    assert!(
        fault(Format::Ply, b"ply\nformat ascii 1.0\n")
            .what
            .contains("no end")
    );
    let bytes = files::ply_binary(false);
    let short = fault(Format::Ply, &bytes[..bytes.len() - 3]);
    assert_eq!(short.place, Some(Place::Byte(bytes.len() - 4)), "{short}");
}

#[test]
fn errors_in_stl_files_have_a_place() {
    for (from, to, line, words) in cases![
        "vertex 0e0 0 0" => "vertex 0e0 up 0", 4, "'up' is not a number";
        "vertex 0e0 0 0" => "vertex inf 0 0", 4, "not finite";
        "vertex 0e0 0 0" => "vertex 0 0", 4, "less than three";
        "      vertex 0e0 0 0\n" => "", 6, "2 vertices";
        "endfacet" => "facet normal 0 0 0", 8, "did not expect";
        "endsolid" => "enough", 86, "'enough'";
    ] {
        let fault = replaced(Format::Stl, files::stl_text(), from, to);
        assert_eq!(fault.place, Some(Place::Line(line)), "{fault}");
        assert!(fault.what.contains(words), "{fault}");
    }
    let text = files::stl_text();
    assert!(
        fault(Format::Stl, &text[..text.len() - 24])
            .what
            .contains("ends before")
    );

    let binary = files::stl_binary();
    let mut lie = binary.clone();
    lie[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    for bytes in [
        &lie[..],
        &binary[..binary.len() - 1],
        &[&binary[..], b"more"].concat(),
    ] {
        let fault = fault(Format::Stl, bytes);
        assert_eq!(fault.place, Some(Place::Byte(80)), "{fault}");
        assert!(fault.what.contains("promises"), "{fault}");
    }
    let mut nan = binary;
    nan[96..100].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(fault(Format::Stl, &nan).place, Some(Place::Byte(96)));
    assert!(fault(Format::Stl, b"").place.is_none());
}

#[test]
fn limits_are_kept() {
    let (few_vertices, few_triangles) = (
        Limits {
            vertices: 7,
            ..Limits::default()
        },
        Limits {
            triangles: 11,
            ..Limits::default()
        },
    );
    for (name, format, bytes) in files::all() {
        for limits in [few_vertices, few_triangles] {
            let fault = parse(format, &bytes, &limits).expect_err(name);
            assert!(fault.what.contains("more than"), "{fault}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cube.stl");
    fs::write(&path, files::stl_binary()).unwrap();
    let small = Limits {
        bytes: 100,
        ..Limits::default()
    };
    assert!(
        refused(&path, &small)
            .message()
            .contains("larger than 100 bytes")
    );
}

#[test]
fn files_that_are_missing_or_no_solid_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits::default();
    let path = |name: &str| folder.path().join(name);
    assert!(
        refused(&path("missing.obj"), &limits)
            .message()
            .contains("could not be read")
    );
    assert!(
        refused(&path("cube.blend"), &limits)
            .message()
            .contains(".obj, .ply or .stl")
    );
    fs::create_dir(path("folder.obj")).unwrap();
    assert!(
        refused(&path("folder.obj"), &limits)
            .message()
            .contains("is a folder")
    );
    for (name, text, _, words) in cases![
        "empty.obj" => "", (), "no faces";
        "points.obj" => "v 0 0 0\nv 1 0 0\nv 0 1 0\n", (), "no faces";
        "line.obj" => "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", (), "no faces with any area";
        "sheet.obj" => "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", (), "3 open edges";
        "far.obj" => "v 0 0 0\nv 1e30 0 0\nv 0 1 0\nf 1 2 3\n", (), "vertex 2 has the coordinate 1e30";
    ] {
        fs::write(path(name), text).unwrap();
        let error = refused(&path(name), &limits);
        assert!(error.message().contains(words), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.obj");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let device = folder.path().join("device.stl");
    std::os::unix::fs::symlink("/dev/zero", &device).unwrap();
    for path in [pipe, device] {
        let error = refused(&path, &Limits::default());
        assert!(error.message().contains("device or a pipe"), "{error}");
    }
}

/// Some damage: bytes changed, cut out, doubled.
fn damaged(bytes: &[u8], damage: &[(u8, prop::sample::Index, u8)]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (kind, index, value) in damage {
        if bytes.is_empty() {
            break;
        }
        let at = index.index(bytes.len());
        let to = (at + *value as usize).min(bytes.len());
        match kind % 5 {
            0 => bytes[at] = *value,
            1 => bytes[at] ^= 1 << (value % 8),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..to)),
            _ => {
                let copy = bytes[at..to].to_vec();
                bytes.splice(at..at, copy);
            }
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) })]

    #[test]
    fn no_damage_makes_a_reader_panic(
        damage in prop::collection::vec((any::<u8>(), any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        for (_, format, bytes) in files::all() {
            let limits = Limits { triangles: 1000, vertices: 3000, ..Limits::default() };
            if let Ok(faces) = parse(format, &damaged(&bytes, &damage), &limits) {
                prop_assert!(faces.triangles.iter().flatten().all(|&v| (v as usize) < faces.vertices.len()));
                // Refused or repaired; either way it ends.
                let _ = TriangleMesh::new(&faces.vertices, &faces.triangles);
            }
        }
    }
}
