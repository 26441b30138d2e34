#![no_main]

mod mesh_bytes;

use libfuzzer_sys::fuzz_target;
use meniscus_scene::mesh_files::Format;

fuzz_target!(|bytes: &[u8]| mesh_bytes::check(Format::Ply, bytes));
