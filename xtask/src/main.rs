//! Tasks of the repository.

fn main() {}
