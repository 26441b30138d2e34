//! Tests of liquid and bodies together.

mod floating;
mod scene;
