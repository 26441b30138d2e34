//! Every format has the data of the cache, checked by small independent readers.

use crate::trial::{Trial, assert_contains, json, names};
use meniscus_app::surface::{self, Surface};
use meniscus_store::cache::{self, Frame};
use std::fs;
use std::process::Command;

/// A run with a surface and all exports of frame 2.
fn exported(up: &str) -> (Trial, Frame<3>, Surface) {
    let trial = Trial::after("run ceiling-ball --resolution 12 --frames 2 --quiet --out run");
    trial.call_well("mesh run --quiet");
    for (format, what) in [
        ("ply", "all"),
        ("obj", "surface"),
        ("vtk", "all"),
        ("usd", "all"),
        ("vdb", "all"),
        ("bgeo", "all"),
        ("npz", "all"),
    ] {
        trial.call_well(&format!(
            "export run --to {format} --what {what} --frames 2 --up {up} --quiet --out {format}"
        ));
    }
    let run = trial.path("run");
    let frame = cache::decode(&fs::read(cache::frame_path(&run, 2)).unwrap()).unwrap();
    let surface = surface::read(&run, 2).unwrap();
    (trial, frame, surface)
}

fn turned([x, y, z]: [f32; 3]) -> [f32; 3] {
    [x, z, -y]
}

/// Floats at an offset, in threes.
fn vectors(bytes: &[u8], at: usize, count: usize, stride: usize) -> Vec<[f32; 3]> {
    let number = |at: usize| f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    (0..count)
        .map(|i| std::array::from_fn(|a| number(at + stride * i + 4 * a)))
        .collect()
}

/// Offset of some bytes.
fn find(bytes: &[u8], wanted: &[u8]) -> usize {
    let at = bytes.windows(wanted.len()).position(|w| w == wanted);
    at.unwrap_or_else(|| panic!("{:?} is not there", String::from_utf8_lossy(wanted)))
}

fn bytes_of(list: &[[f32; 3]]) -> Vec<u8> {
    list.iter()
        .flatten()
        .flat_map(|x| x.to_le_bytes())
        .collect()
}

#[test]
fn every_format_has_exact_positions_velocities_and_triangles() {
    let (trial, frame, surface) = exported("z");
    let read = |path: &str| fs::read(trial.path(path)).unwrap();
    let corners: Vec<u8> = surface
        .triangles
        .iter()
        .flatten()
        .flat_map(|v| v.to_le_bytes())
        .collect();

    let ply = read("ply/surface/surface_000002.ply");
    let body = find(&ply, b"end_header\n") + 11;
    let count = surface.positions.len();
    assert_eq!(vectors(&ply, body, count, 36), surface.positions);
    assert_eq!(vectors(&ply, body + 24, count, 36), surface.velocities);
    assert_eq!(ply.len(), body + 36 * count + 13 * surface.triangles.len());

    let obj = String::from_utf8(read("obj/surface/surface_000002.obj")).unwrap();
    let rows = |word: &str| {
        obj.lines()
            .filter(|l| l.split(' ').next() == Some(word))
            .count()
    };
    assert_eq!(
        (rows("v"), rows("vn"), rows("f")),
        (count, count, surface.triangles.len())
    );

    // The others have each list verbatim, one after the other.
    for (path, lists) in [
        (
            "vtk/particles/particles_000002.vtp",
            vec![bytes_of(frame.positions()), bytes_of(frame.velocities())],
        ),
        (
            "npz/particles/particles_000002.npz",
            vec![bytes_of(frame.positions()), bytes_of(frame.velocities())],
        ),
        (
            "vtk/surface/surface_000002.vtp",
            vec![bytes_of(&surface.velocities), corners.clone()],
        ),
        (
            "npz/surface/surface_000002.npz",
            vec![bytes_of(&surface.normals), corners.clone()],
        ),
        (
            "usd/meniscus.usdc",
            vec![
                bytes_of(frame.velocities()),
                bytes_of(&surface.velocities),
                corners,
            ],
        ),
    ] {
        let bytes = read(path);
        for list in lists {
            find(&bytes, &list);
        }
    }
    let series = json(&trial.path("vtk/surface/surface.vtp.series"));
    assert_eq!(series["files"][0]["name"], "surface_000002.vtp");
    assert!((series["files"][0]["time"].as_f64().unwrap() - frame.time).abs() < 1e-9);

    let bgeo = read("bgeo/particles/particles_000002.bgeo");
    assert_eq!(&bgeo[..5], b"BgeoV");
    let whole = |at: usize| i32::from_be_bytes(bgeo[at..at + 4].try_into().unwrap());
    assert_eq!((whole(5), whole(9)), (5, frame.positions().len() as i32));
    assert_eq!(bgeo.len(), 41 + 21 + 28 * frame.positions().len() + 2);
    let number = |at: usize| f32::from_be_bytes(bgeo[at..at + 4].try_into().unwrap());
    assert_eq!([62, 66, 70].map(number), frame.positions()[0]);
    assert_eq!([78, 82, 86].map(number), frame.velocities()[0]);

    let vdb = read("vdb/volume/volume_000002.vdb");
    find(&vdb, b"Tree_float_5_4_3");
    find(&vdb, b"Tree_vec3s_5_4_3");
    match Command::new("vdb_print")
        .arg("-l")
        .arg(trial.path("vdb/volume/volume_000002.vdb"))
        .output()
    {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(
                output.status.success() && said.contains("Bounding box of active voxels"),
                "{said}"
            );
        }
        Err(_) => println!("skipped: vdb_print is not installed"),
    }
}

#[test]
fn y_up_rotates_positions_and_velocities() {
    let (trial, frame, surface) = exported("y");
    let npz = fs::read(trial.path("npz/particles/particles_000002.npz")).unwrap();
    let all = |list: &[[f32; 3]]| -> Vec<[f32; 3]> { list.iter().copied().map(turned).collect() };
    find(&npz, &bytes_of(&all(frame.positions())));
    find(&npz, &bytes_of(&all(frame.velocities())));
    let usd = fs::read(trial.path("usd/meniscus.usdc")).unwrap();
    find(&usd, &bytes_of(&all(&surface.positions)));
    find(&usd, &bytes_of(&all(&surface.velocities)));
    find(&usd, &bytes_of(&all(&surface.normals)));
}

#[test]
fn unsupported_content_of_a_format_is_refused() {
    let trial = Trial::after("run ceiling-ball --resolution 8 --frames 3 --quiet --out run");
    let said = trial.call_well("export run --to vtk --frames 2-3").said;
    assert_contains(&said, &["2 frames, about "]);
    assert_eq!(
        names(&trial.path("run/export/vtk/particles")),
        [
            "particles.vtp.series",
            "particles_000002.vtp",
            "particles_000003.vtp"
        ]
    );
    // A missing surface is made during the export and not kept.
    trial.call_well("export run --to obj --frames 1 --quiet");
    assert_eq!(
        names(&trial.path("run/export/obj/surface")),
        ["surface_000001.obj"]
    );
    assert!(!trial.path("run/surfaces").exists());
    for (flags, word) in [
        ("--to obj --what particles", "surface"),
        ("--to vdb --what particles", "voxels"),
        ("--to ply --frames 7", "there are 0 to 3"),
        ("--to ply --up x", "y"),
    ] {
        trial.fails(&format!("export run {flags}"), 2, &[word]);
    }
}
