#![no_main]

use libfuzzer_sys::fuzz_target;
use meniscus_store::cache::container::{self, Content, Section};
use meniscus_store::cache::{Frame, Header, bodies, decode, encode, points};

/// Bytes before the payloads: of the header, and the length of the first section.
const START: usize = 16;

fuzz_target!(|bytes: &[u8]| {
    let _ = container::open(Content::Frame, bytes);
    check(decode::<2>(bytes).ok());
    check(decode::<3>(bytes).ok());
    // No mutation finds the hash of a container: what is inside gets one of its own.
    if let Some((start, rest)) = bytes.split_first_chunk::<START>() {
        let word = |k: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| start[4 * k + i]));
        let header = Header {
            dimension: 2 + word(0) % 2,
            number: word(1),
            time: f64::from(f32::from_bits(word(2))),
        };
        let (first, second) = rest.split_at(usize::from(start[12]).min(rest.len()));
        // Few enough elements to be there now and then.
        let section = |tag, count: u8, payload: &[u8]| Section {
            tag,
            count: u64::from(count),
            payload: payload.to_vec(),
        };
        let sections = [
            section(bodies::TAG, start[13], first),
            section(points::TAG, start[14], second),
        ];
        if let Ok(sealed) = container::seal(Content::Frame, &header, &sections) {
            check(decode::<2>(&sealed).ok());
            check(decode::<3>(&sealed).ok());
        }
    }
});

/// A frame that is accepted holds together, and can be written again unless its numbers are too large.
fn check<const D: usize>(frame: Option<Frame<D>>) {
    if let Some(frame) = frame {
        for layer in &frame.points {
            let count = layer.positions.len();
            assert_eq!(layer.velocities.len(), count);
            assert!(layer.ids.as_ref().is_none_or(|ids| ids.len() == count));
            assert!(layer.scalars.iter().all(|scalar| scalar.values.len() == count));
        }
        let _ = encode(&frame);
    }
}
