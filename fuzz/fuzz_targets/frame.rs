#![no_main]

use libfuzzer_sys::fuzz_target;
use meniscus_store::cache::{Frame, Header, container, decode, encode};

/// Bytes of a made-up header.
const HEADER: usize = 80;

fuzz_target!(|bytes: &[u8]| {
    let _ = container::open(bytes);
    check(decode::<2>(bytes).ok());
    check(decode::<3>(bytes).ok());
    // No mutation finds the hash of an envelope: what is inside gets one of its own.
    if let Some((header, payload)) = bytes.split_first_chunk::<HEADER>()
        && let Ok(sealed) = container::seal(&made_up(header), payload)
    {
        check(decode::<2>(&sealed).ok());
        check(decode::<3>(&sealed).ok());
    }
});

fn made_up(bytes: &[u8; HEADER]) -> Header {
    let word = |k: usize| [0, 1, 2, 3].map(|i| bytes[4 * k + i]);
    let float = |k: usize| f64::from(f32::from_le_bytes(word(k)));
    Header {
        dimension: 2 + u32::from(bytes[0] % 2),
        number: u32::from_le_bytes(word(1)),
        // Few enough to be there now and then.
        count: u64::from(bytes[8]),
        time: float(3),
        dx: float(4),
        lowest: [5, 6, 7].map(|k| i32::from_le_bytes(word(k))),
        extent: [8, 9, 10].map(|k| u32::from_le_bytes(word(k)) >> (bytes[1] % 32)),
        fastest: [11, 12, 13].map(float),
        pressure: if bytes[2] % 2 == 0 { 0.0 } else { float(14) as f32 },
    }
}

/// A frame that is accepted holds together, and can be written again unless its numbers are too large.
fn check<const D: usize>(frame: Option<Frame<D>>) {
    if let Some(frame) = frame {
        assert_eq!(frame.positions.len(), frame.velocities.len());
        assert!([0, frame.positions.len()].contains(&frame.pressures.len()));
        let _ = encode(&frame);
    }
}
