#![no_main]

use libfuzzer_sys::fuzz_target;
use meniscus_scene::text::load_alone;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let loaded = load_alone(text);
    for problem in &loaded.problems {
        assert!(!loaded.source.draw(problem, false).is_empty());
    }
    // What can be run reads back as itself.
    if loaded.scene.is_some() {
        let again = load_alone(&loaded.complete);
        assert!(again.scene == loaded.scene && again.complete == loaded.complete);
    }
});
