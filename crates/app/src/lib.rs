//! The runner behind the program `meniscus`.
