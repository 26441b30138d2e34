//! The program `meniscus`.

fn main() {}
