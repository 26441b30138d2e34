use super::*;
use crate::cache::container::{self, Content, HEADER, SECTION_HEAD};
use crate::cache::{BodyLoad, BodyState, Frame, LIQUID, LiquidLoad, PRESSURE, decode, encode};
use proptest::prelude::*;

/// A small generator of our own, so that the frames are the same on every machine.
struct Numbers(u64);

impl Numbers {
    /// Uniform in [0, 1).
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Particles in no order at all, with velocities that have nothing to do with each other: worse than
/// any liquid.
fn chaos<const D: usize>(count: usize, cells: f64, dx: f64) -> Frame<D> {
    let mut numbers = Numbers(7);
    let mut vector = |scale: f64, shift: f64| -> [f32; D] {
        std::array::from_fn(|_| ((numbers.next() - shift) * scale) as f32)
    };
    let positions = (0..count).map(|_| vector(cells * dx, 0.1)).collect();
    let velocities = (0..count).map(|_| vector(9.0, 0.5)).collect();
    let layer = PointLayer {
        name: LIQUID.into(),
        spacing: dx,
        positions,
        velocities,
        ids: None,
        scalars: Vec::new(),
    };
    Frame {
        number: 12,
        time: 0.5,
        points: vec![layer],
        bodies: vec![tilted("paddle", 0.3), tilted("", -1.0)],
        loads: vec![load("paddle"), load("")],
        meshes: Vec::new(),
    }
}

/// Forces that are all different.
fn load<const D: usize>(name: &str) -> BodyLoad<D> {
    let vector = |first: f64| -> [f64; D] { std::array::from_fn(|a| first + a as f64 / 3.0) };
    BodyLoad {
        name: name.into(),
        center: vector(0.1),
        velocity: vector(-2.0),
        contact_force: vector(30.0),
        contact_torque: [if D == 2 { 0.0 } else { 0.7 }, 0.0, -0.3],
        joint_force: vector(-7.0),
        joint_torque: [0.0, 0.0, 0.9],
        kinetic_energy: 12.5,
        penetration: 1e-5,
        contacts: 4,
        liquid: Some(LiquidLoad {
            force: vector(5.0),
            torque: [0.0, 0.0, 0.2],
            submerged_volume: 0.01,
            waterline_area: 0.2,
        }),
    }
}

/// A body that is turned in the plane of the first two axes and moves.
fn tilted<const D: usize>(name: &str, angle: f64) -> BodyState<D> {
    let mut rotation: [[f64; D]; D] =
        std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    let (sin, cos) = angle.sin_cos();
    (rotation[0][0], rotation[0][1]) = (cos, -sin);
    (rotation[1][0], rotation[1][1]) = (sin, cos);
    BodyState {
        name: name.into(),
        translation: std::array::from_fn(|a| 0.1 + a as f64 / 3.0),
        rotation,
        velocity: std::array::from_fn(|a| angle * a as f64),
        angular_velocity: [0.0, 0.0, angle / 7.0],
    }
}

/// The points of a layer in the order in which they come back.
fn by_cell<const D: usize>(layer: &PointLayer<D>) -> Vec<usize> {
    let mut points: Vec<_> = (0..layer.positions.len())
        .map(|i| {
            let cell = place(&layer.positions[i], layer.spacing).unwrap().cell;
            (std::array::from_fn::<i32, D, _>(|a| cell[D - 1 - a]), i)
        })
        .collect();
    points.sort();
    points.iter().map(|&(_, i)| i).collect()
}

fn assert_round_trip<const D: usize>(frame: &Frame<D>) {
    let back = decode::<D>(&encode(frame).unwrap()).unwrap();
    assert_eq!((back.number, back.time), (frame.number, frame.time));
    assert_eq!(back.bodies, frame.bodies);
    assert_eq!(back.points.len(), frame.points.len());
    for (back, layer) in back.points.iter().zip(&frame.points) {
        assert_eq!((&back.name, back.spacing), (&layer.name, layer.spacing));
        assert_eq!(back.positions.len(), layer.positions.len());
        for axis in 0..D {
            let fastest = layer
                .velocities
                .iter()
                .map(|v| v[axis].abs())
                .fold(0.0, f32::max);
            for (i, before) in by_cell(layer).into_iter().enumerate() {
                let off = back.positions[i][axis] - layer.positions[before][axis];
                let off = f64::from(off).abs() / layer.spacing;
                assert!(off < 1e-3, "particle {i} is off by {off} cells");
                let off = (back.velocities[i][axis] - layer.velocities[before][axis]).abs();
                assert!(off <= fastest * 2e-5, "particle {i} is off by {off} m/s");
            }
        }
    }
}

#[test]
fn any_number_of_layers_comes_back_with_ids_and_attributes() {
    let mut frame = chaos::<3>(3000, 12.0, 0.1);
    let mut foam = chaos::<3>(100, 90.0, 0.02).points.remove(0);
    foam.name = "foam".into();
    foam.ids = Some((0..100).map(|i| u64::MAX - i * i).collect());
    let scalar = |name: &str, precision, of: &dyn Fn(usize) -> f32| Scalar {
        name: name.into(),
        precision,
        values: (0..100).map(of).collect(),
    };
    foam.scalars = vec![
        scalar("age", Precision::Relative, &|i| i as f32 / 30.0),
        scalar("source", Precision::Exact, &|i| (i % 3) as f32),
    ];
    frame.points.push(foam.clone());
    assert_round_trip(&frame);
    let back = decode::<3>(&encode(&frame).unwrap()).unwrap();
    let order = by_cell(&foam);
    let back = &back.points[1];
    let ids = foam.ids.as_ref().unwrap();
    assert!(order.iter().map(|&i| ids[i]).eq(back.ids.clone().unwrap()));
    for (k, &before) in order.iter().enumerate() {
        let [age, source] = [&back.scalars[0], &back.scalars[1]].map(|s| s.values[k]);
        assert!((age - before as f32 / 30.0).abs() <= 100.0 / 30.0 * 2e-5);
        assert_eq!(source, (before % 3) as f32);
    }
    assert_eq!(
        decode::<3>(&encode(&chaos::<3>(9, 3.0, 0.1)).unwrap())
            .unwrap()
            .points
            .len(),
        1
    );
    frame.points.clear();
    assert_round_trip(&frame);
}

#[test]
fn poses_can_be_read_without_the_points() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frame");
    let frame = chaos::<2>(500, 12.0, 0.1);
    std::fs::write(&path, encode(&frame).unwrap()).unwrap();
    assert_eq!(crate::cache::read_bodies::<2>(&path).unwrap(), frame.bodies);
    assert!(crate::cache::read_bodies::<3>(&path).is_err());
    assert_eq!(crate::cache::count_points(&path), Some(500));
    std::fs::write(&path, b"short").unwrap();
    assert!(crate::cache::read_bodies::<2>(&path).is_err());
    assert_eq!(crate::cache::count_points(&path), None);
}

#[test]
fn sections_with_unknown_tags_are_skipped() {
    let frame = chaos::<2>(20, 4.0, 0.1);
    let bytes = encode(&frame).unwrap();
    let opened = container::open(Content::Frame, &bytes).unwrap();
    let mut sections = sections_of(&bytes);
    sections.push(container::Section {
        tag: *b"NEXT",
        count: 7,
        payload: vec![1, 2, 3],
    });
    let with = container::seal(Content::Frame, &opened.header, &sections).unwrap();
    assert_eq!(decode::<2>(&with).unwrap(), decode::<2>(&bytes).unwrap());
    // Without its bodies a frame is none.
    sections.remove(0);
    let without = container::seal(Content::Frame, &opened.header, &sections).unwrap();
    assert!(decode::<2>(&without).is_err());
}

fn sections_of(bytes: &[u8]) -> Vec<container::Section> {
    let opened = container::open(Content::Frame, bytes).unwrap();
    let mut sections = Vec::new();
    for tag in [*b"BODY", TAG, *b"LOAD", *b"WETL"] {
        for section in opened.with_tag(tag) {
            let (head, payload) = section.unwrap();
            sections.push(container::Section {
                tag,
                count: head.count,
                payload: payload.into_owned(),
            });
        }
    }
    sections
}

#[test]
fn positions_come_back_within_a_thousandth_of_a_cell() {
    assert_round_trip(&chaos::<2>(5000, 128.0, 1.0 / 128.0));
    assert_round_trip(&chaos::<3>(5000, 64.0, 0.03));
    assert_round_trip(&chaos::<3>(50, 3000.0, 0.5));
    assert_round_trip(&chaos::<3>(1, 1.0, 0.5));
    assert_round_trip(&chaos::<3>(0, 1.0, 0.5));
}

#[test]
fn even_chaos_takes_at_most_twelve_bytes_per_particle() {
    // From crowded (8 particles a cell) to spray (a particle every 50 cells).
    for (count, cells) in [(200_000, 29.0), (200_000, 60.0), (20_000, 100.0)] {
        let bytes = encode(&chaos::<3>(count, cells, 0.01)).unwrap().len();
        let each = bytes as f64 / count as f64;
        assert!(
            each <= 12.0,
            "{each} bytes a particle at {count} in {cells}^3"
        );
    }
}

#[test]
fn the_same_particles_in_another_order_within_cells_are_the_same_set() {
    let frame = chaos::<3>(2000, 10.0, 0.1);
    let mut reversed = frame.clone();
    reversed.points[0].positions.reverse();
    reversed.points[0].velocities.reverse();
    let sorted = |f: &Frame<3>| {
        let back = decode::<3>(&encode(f).unwrap()).unwrap();
        let mut all: Vec<_> = back
            .positions()
            .iter()
            .map(|x| x.map(f32::to_bits))
            .collect();
        all.sort();
        all
    };
    assert_eq!(sorted(&frame), sorted(&reversed));
}

#[test]
fn what_is_not_a_number_is_refused() {
    let mut frame = chaos::<3>(10, 4.0, 0.1);
    frame.points[0].positions[3][1] = f32::NAN;
    assert!(matches!(encode(&frame), Err(CacheError::Unwritable(_))));
    frame.points[0].positions[3][1] = 1e30;
    assert!(matches!(encode(&frame), Err(CacheError::Unwritable(_))));
    frame.points[0].positions[3][1] = 0.0;
    frame.points[0].velocities[9][2] = f32::INFINITY;
    assert!(matches!(encode(&frame), Err(CacheError::Unwritable(_))));
}

#[test]
fn every_flipped_bit_is_noticed() {
    let good = encode(&chaos::<2>(20, 4.0, 0.1)).unwrap();
    for position in 0..good.len() {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[position] ^= 1 << bit;
            assert!(decode::<2>(&bad).is_err(), "bit {bit} of byte {position}");
        }
    }
}

#[test]
fn every_truncation_is_noticed_and_named() {
    let good = encode(&chaos::<2>(20, 4.0, 0.1)).unwrap();
    for length in 0..good.len() {
        let error = decode::<2>(&good[..length]).unwrap_err();
        assert!(
            matches!(error, CacheError::Length { .. }),
            "{length} bytes: {error}"
        );
    }
    let mut longer = good;
    longer.push(0);
    assert!(matches!(
        decode::<2>(&longer),
        Err(CacheError::Length { .. })
    ));
}

#[test]
fn a_frame_of_another_dimension_or_version_is_named() {
    let mut bytes = encode(&chaos::<2>(5, 4.0, 0.1)).unwrap();
    let error = decode::<3>(&bytes).unwrap_err();
    assert_eq!(
        error,
        CacheError::Dimension {
            wanted: 3,
            found: 2
        }
    );
    bytes[8] = 9;
    assert_eq!(decode::<2>(&bytes).unwrap_err(), CacheError::Version(9));
    bytes[8] = 1;
    let older = decode::<2>(&bytes).unwrap_err().to_string();
    assert!(
        older.contains("version 1, which meniscus 0.1 reads"),
        "{older}"
    );
    assert_eq!(
        decode::<2>(b"ply\nformat ascii 1.0\n").unwrap_err(),
        CacheError::NotACache
    );
}

/// Replaces the hash by one that matches, as a malicious file would have.
fn rehashed(mut bytes: Vec<u8>) -> Vec<u8> {
    let hashed = HEADER - 32;
    let hash = blake3::Hasher::new()
        .update(&bytes[..hashed])
        .update(&bytes[HEADER..])
        .finalize();
    bytes[hashed..HEADER].copy_from_slice(hash.as_bytes());
    bytes
}

#[test]
fn a_head_that_claims_a_trillion_particles_is_refused_before_allocation() {
    let good = encode(&chaos::<3>(5, 4.0, 0.1)).unwrap();
    let opened = container::open(Content::Frame, &good).unwrap();
    for head in &opened.sections {
        let at = head.offset - SECTION_HEAD;
        for (field, value) in [
            (8, 1_000_000_000_000u64),
            (8, u64::MAX),
            (16, 1_000_000_000_000),
            (16, u64::MAX),
            (24, 13_000_000_000_000),
            (24, u64::MAX),
        ] {
            let mut bytes = good.clone();
            bytes[at + field..at + field + 8].copy_from_slice(&value.to_le_bytes());
            assert!(decode::<3>(&rehashed(bytes)).is_err(), "{field}: {value}");
        }
    }
    for sections in [0, 1, 2, 3, 5, u32::MAX] {
        let mut bytes = good.clone();
        bytes[20..24].copy_from_slice(&sections.to_le_bytes());
        assert!(
            decode::<3>(&rehashed(bytes)).is_err(),
            "{sections} sections"
        );
    }
}

#[test]
fn what_packs_too_well_is_stored_as_it_is() {
    let mut frame = chaos::<3>(0, 1.0, 0.1);
    frame.points[0].positions = vec![[0.05; 3]; 100_000];
    frame.points[0].velocities = vec![[0.0; 3]; 100_000];
    let bytes = encode(&frame).unwrap();
    let payload: usize = sections_of(&bytes).iter().map(|s| s.payload.len()).sum();
    assert!(payload as u64 <= (bytes.len() - HEADER) as u64 * container::MOST_EXPANSION);
    assert_round_trip(&frame);
}

#[test]
fn pressures_come_back_and_cost_little_if_all_of_a_cell_are_the_same() {
    let mut frame = chaos::<3>(20_000, 14.0, 0.1);
    let without = encode(&frame).unwrap().len();
    let of_cell = |x: &[f32; 3]| {
        let [i, j, k] = place(x, 0.1).unwrap().cell;
        (1000 * k - 7 * i + j) as f32
    };
    let pressures: Vec<f32> = frame.positions().iter().map(of_cell).collect();
    frame.points[0].scalars.push(Scalar {
        name: PRESSURE.into(),
        precision: Precision::Relative,
        values: pressures.clone(),
    });
    let bytes = encode(&frame).unwrap();
    assert!(bytes.len() - without < pressures.len());
    let back = decode::<3>(&bytes).unwrap();
    assert_round_trip(&frame);
    assert_eq!(back.pressures().len(), pressures.len());
    let largest = pressures.iter().fold(0.0f32, |l, p| l.max(p.abs()));
    for (x, &pressure) in back.positions().iter().zip(back.pressures()) {
        assert!((pressure - of_cell(x)).abs() <= largest * 2e-5);
    }
    // One byte missing, one too many.
    let opened = container::open(Content::Frame, &bytes).unwrap();
    let sections = sections_of(&bytes);
    for wrong in [
        &sections[1].payload[..sections[1].payload.len() - 1],
        &[sections[1].payload.as_slice(), &[0]].concat(),
    ] {
        let mut sections = sections.clone();
        sections[1].payload = wrong.to_vec();
        let sealed = container::seal(Content::Frame, &opened.header, &sections).unwrap();
        assert!(matches!(decode::<3>(&sealed), Err(CacheError::Payload(_))));
    }
    frame.points[0].scalars[0].values[7] = f32::NAN;
    assert!(encode(&frame).is_err());
    frame.points[0].scalars[0].values.pop();
    assert!(encode(&frame).is_err());
}

proptest! {
    #[test]
    fn hostile_headers_and_payloads_never_panic(
        changes in prop::collection::vec((12usize..700, any::<u8>()), 1..12),
    ) {
        let mut bytes = encode(&chaos::<3>(6, 4.0, 0.1)).unwrap();
        for (position, value) in changes {
            if let Some(byte) = bytes.get_mut(position) {
                *byte = value;
            }
        }
        let _ = decode::<3>(&rehashed(bytes));
    }
}
