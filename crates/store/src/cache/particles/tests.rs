use super::*;
use crate::cache::container::HEADER;
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
    Frame {
        number: 12,
        time: 0.5,
        dx,
        positions,
        velocities,
        pressures: Vec::new(),
    }
}

/// The particles of a frame in the order in which they come back.
fn by_cell<const D: usize>(frame: &Frame<D>) -> Vec<([f32; D], [f32; D])> {
    let mut particles: Vec<_> = (0..frame.positions.len())
        .map(|i| {
            let cell = place(&frame.positions[i], frame.dx).unwrap().cell;
            (std::array::from_fn::<i32, D, _>(|a| cell[D - 1 - a]), i)
        })
        .collect();
    particles.sort();
    particles
        .iter()
        .map(|&(_, i)| (frame.positions[i], frame.velocities[i]))
        .collect()
}

fn assert_round_trip<const D: usize>(frame: &Frame<D>) {
    let back = decode::<D>(&encode(frame).unwrap()).unwrap();
    assert_eq!(
        (back.number, back.time, back.dx),
        (frame.number, frame.time, frame.dx)
    );
    let before = by_cell(frame);
    assert_eq!(back.positions.len(), before.len());
    for axis in 0..D {
        let fastest = frame
            .velocities
            .iter()
            .map(|v| v[axis].abs())
            .fold(0.0, f32::max);
        for (i, (position, velocity)) in before.iter().enumerate() {
            let off = f64::from(back.positions[i][axis] - position[axis]).abs() / frame.dx;
            assert!(off < 1e-3, "particle {i} is off by {off} cells");
            let off = (back.velocities[i][axis] - velocity[axis]).abs();
            assert!(off <= fastest * 2e-5, "particle {i} is off by {off} m/s");
        }
    }
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
fn even_chaos_takes_at_most_twelve_bytes_a_particle() {
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
    reversed.positions.reverse();
    reversed.velocities.reverse();
    let sorted = |f: &Frame<3>| {
        let back = decode::<3>(&encode(f).unwrap()).unwrap();
        let mut all: Vec<_> = back.positions.iter().map(|x| x.map(f32::to_bits)).collect();
        all.sort();
        all
    };
    assert_eq!(sorted(&frame), sorted(&reversed));
}

#[test]
fn what_is_not_a_number_is_refused() {
    let mut frame = chaos::<3>(10, 4.0, 0.1);
    frame.positions[3][1] = f32::NAN;
    assert!(matches!(encode(&frame), Err(CacheError::Unwritable(_))));
    frame.positions[3][1] = 1e30;
    assert!(matches!(encode(&frame), Err(CacheError::Unwritable(_))));
    frame.positions[3][1] = 0.0;
    frame.velocities[9][2] = f32::INFINITY;
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
    assert_eq!(
        decode::<2>(b"ply\nformat ascii 1.0\n").unwrap_err(),
        CacheError::NotACache
    );
}

/// Writes a hash that fits, as somebody would who means harm.
fn rehashed(mut bytes: Vec<u8>) -> Vec<u8> {
    let hash = blake3::Hasher::new()
        .update(&bytes[..120])
        .update(&bytes[HEADER..])
        .finalize();
    bytes[120..HEADER].copy_from_slice(hash.as_bytes());
    bytes
}

#[test]
fn a_header_that_claims_a_trillion_particles_is_refused_before_allocation() {
    let mut bytes = encode(&chaos::<3>(5, 4.0, 0.1)).unwrap();
    bytes[32..40].copy_from_slice(&1_000_000_000_000u64.to_le_bytes());
    assert!(decode::<3>(&rehashed(bytes.clone())).is_err());
    bytes[48..56].copy_from_slice(&13_000_000_000_000u64.to_le_bytes());
    assert!(decode::<3>(&rehashed(bytes)).is_err());
}

#[test]
fn what_packs_too_well_is_stored_as_it_is() {
    let frame = Frame::<3> {
        number: 1,
        time: 0.0,
        dx: 0.1,
        positions: vec![[0.05; 3]; 100_000],
        velocities: vec![[0.0; 3]; 100_000],
        pressures: Vec::new(),
    };
    let bytes = encode(&frame).unwrap();
    let (_, payload) = container::open(&bytes).unwrap();
    assert!(payload.len() as u64 <= (bytes.len() - HEADER) as u64 * container::MOST_EXPANSION);
    assert_round_trip(&frame);
}

#[test]
fn pressures_come_back_a_value_a_cell_and_cost_little() {
    let mut frame = chaos::<3>(20_000, 14.0, 0.1);
    let without = encode(&frame).unwrap().len();
    let of_cell = |x: &[f32; 3]| {
        let [i, j, k] = place(x, 0.1).unwrap().cell;
        (1000 * k - 7 * i + j) as f32
    };
    frame.pressures = frame.positions.iter().map(of_cell).collect();
    let bytes = encode(&frame).unwrap();
    assert!(bytes.len() - without < frame.positions.len());
    let back = decode::<3>(&bytes).unwrap();
    assert_round_trip(&frame);
    assert_eq!(back.pressures.len(), frame.pressures.len());
    let largest = frame.pressures.iter().fold(0.0f32, |l, p| l.max(p.abs()));
    for (x, &pressure) in back.positions.iter().zip(&back.pressures) {
        assert!((pressure - of_cell(x)).abs() <= largest * 2e-5);
    }
    // One pressure missing, one too many, one that is no number.
    let (header, payload) = container::open(&bytes).unwrap();
    for wrong in [
        &payload[..payload.len() - 2],
        &[payload.as_slice(), &[0; 2]].concat(),
    ] {
        let sealed = container::seal(&header, wrong).unwrap();
        assert!(matches!(decode::<3>(&sealed), Err(CacheError::Payload(_))));
    }
    frame.pressures[7] = f32::NAN;
    assert!(encode(&frame).is_err());
    frame.pressures.pop();
    assert!(encode(&frame).is_err());
}

proptest! {
    #[test]
    fn hostile_headers_and_payloads_never_panic(
        changes in prop::collection::vec((16usize..200, any::<u8>()), 1..12),
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
