//! Tests of liquid and bodies together.

mod added_mass;
mod afloat;
mod bowl;
mod exchange;
mod films;
mod floating;
mod oracle;
mod probe;
mod runs;
mod scene;
mod stage;
