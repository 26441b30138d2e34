#![no_main]

use libfuzzer_sys::fuzz_target;
use meniscus_app::cache::{Header, container, decode};

// Bytes as they are, and bytes as what a frame with a valid envelope holds, which no mutation finds on its own: the
// envelope has a hash.
fuzz_target!(|bytes: &[u8]| {
    let _ = container::peek(bytes);
    let _ = container::open(bytes);
    let _ = decode::<2>(bytes);
    let _ = decode::<3>(bytes);
});
