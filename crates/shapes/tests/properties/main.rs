//! What holds for shapes and their motion, most of it for random ones.

mod arbitrary;
mod faults;
mod icosphere;
mod meshes;
mod moments;
mod motion;
mod rotation;
mod shapes;
mod surface;
mod thickness;
