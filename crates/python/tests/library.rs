//! The shared library that the package contains. That this test exists has `cargo test` build it; the tests of the package
//! are in Python.

use std::path::Path;

#[test]
fn the_shared_library_exports_the_function_that_initialises_the_module() {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let built = temporary.with_file_name("debug/deps");
    let library =
        std::fs::read(built.join("lib_native.so")).expect("the library is built with this test");
    let name = b"PyInit__native";
    assert!(library.windows(name.len()).any(|window| window == name));
}
