//! Studies and benchmarks.

fn main() {}
