//! Access to the parts of a scene that keys set.

use super::objects::Reader;
use super::problem::Place;
use super::tree::{Node, Value};
use crate::{AnyScene, Material, OnDrift, Scene, Style, SurfaceSource};
use meniscus_liquid::fas::{Boundaries, Coarse, Interpolation};
use meniscus_liquid::solvers::{Inner, Start};
use meniscus_liquid::{Preconditioner, Solver, Walls};
use std::sync::LazyLock;

/// Reads and writes one part of a scene.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Value of the part.
    pub get: fn(&AnyScene) -> Value,
    /// Sets the part from a value that fits the grammar.
    pub set: fn(&mut AnyScene, &Node, &mut Reader<'_>),
}

impl Access {
    /// Value of the part in a new scene.
    pub fn default(&self, dimension: usize) -> Value {
        static TWO: LazyLock<AnyScene> = LazyLock::new(|| AnyScene::new(2, ""));
        static THREE: LazyLock<AnyScene> = LazyLock::new(|| AnyScene::new(3, ""));
        (self.get)(if dimension == 2 { &TWO } else { &THREE })
    }
}

impl AnyScene {
    /// An empty scene in two or three dimensions.
    pub(super) fn new(dimension: usize, name: &str) -> Self {
        match dimension {
            2 => Scene::new(name, "", [1.0; 2], DEFAULT_RESOLUTION).into(),
            _ => Scene::new(name, "", [1.0; 3], DEFAULT_RESOLUTION).into(),
        }
    }
}

/// Cells along the longest side of the domain.
const DEFAULT_RESOLUTION: usize = 64;

/// Binds a key to a field of the scene, whose default is that of [`Scene::new`].
macro_rules! field {
    ($($field:ident).+) => {
        $crate::text::access::bound!(
            |scene| $crate::text::access::Field::value(&scene.$($field).+),
            |scene, node, _reader| $crate::text::access::Field::read(&mut scene.$($field).+, node)
        )
    };
}
pub(super) use field;

/// Binds a key by a getter and a setter for a scene of any dimension.
macro_rules! bound {
    (|$scene:ident| $get:expr, |$target:ident, $node:ident, $reader:ident| $set:expr) => {
        $crate::text::grammar::Binding {
            absent: $crate::text::grammar::Absent::SceneDefault,
            access: Some($crate::text::access::Access {
                get: |scene| $crate::dimension::either!(scene, $scene => $get),
                set: |scene, $node, $reader| $crate::dimension::either!(scene, $target => $set),
            }),
        }
    };
}
pub(super) use bound;

/// Binds a key without a default by a setter for a scene of any dimension.
macro_rules! read_by {
    (|$scene:ident, $node:ident, $reader:ident| $set:expr) => {
        $crate::text::grammar::Binding {
            absent: $crate::text::grammar::Absent::Nothing,
            access: Some($crate::text::access::Access {
                get: |_| $crate::text::tree::Value::List(Vec::new()),
                set: |scene, $node, $reader| $crate::dimension::either!(scene, $scene => $set),
            }),
        }
    };
}
pub(super) use read_by;

/// A type of field that one value of a scene file sets.
pub trait Field {
    /// The field as a value.
    fn value(&self) -> Value;
    /// Sets the field; a value of another type, which validation has reported, leaves it as it is.
    fn read(&mut self, node: &Node);
}

impl Field for f64 {
    fn value(&self) -> Value {
        Value::Number(*self)
    }
    fn read(&mut self, node: &Node) {
        *self = node.number().unwrap_or(*self);
    }
}

impl Field for bool {
    fn value(&self) -> Value {
        Value::Switch(*self)
    }
    fn read(&mut self, node: &Node) {
        if let Value::Switch(on) = node.value {
            *self = on;
        }
    }
}

impl Field for String {
    fn value(&self) -> Value {
        Value::Text(self.clone())
    }
    fn read(&mut self, node: &Node) {
        // An empty name is none.
        if let Some(text) = node.text().filter(|text| !text.is_empty()) {
            *self = text.into();
        }
    }
}

impl<const D: usize> Field for [f64; D] {
    fn value(&self) -> Value {
        let number = |&x: &f64| Node {
            value: Value::Number(x),
            place: Place::Nowhere,
        };
        Value::List(self.iter().map(number).collect())
    }
    fn read(&mut self, node: &Node) {
        for (own, part) in self.iter_mut().zip(node.list()) {
            own.read(part);
        }
    }
}

macro_rules! whole_numbers {
    ($($type:ty),+) => {$(
        impl Field for $type {
            fn value(&self) -> Value {
                Value::Whole(*self as i64)
            }
            fn read(&mut self, node: &Node) {
                if let Value::Whole(n) = node.value {
                    *self = n.try_into().unwrap_or(*self);
                }
            }
        }
    )+};
}
whole_numbers!(u32, u64, usize);

macro_rules! words {
    ($($type:ty),+) => {$(
        impl Field for $type {
            fn value(&self) -> Value {
                Value::Text(self.to_string())
            }
            fn read(&mut self, node: &Node) {
                if let Some(Ok(word)) = node.text().map(str::parse) {
                    *self = word;
                }
            }
        }
    )+};
}
words!(
    Walls,
    Solver,
    Preconditioner,
    Inner,
    Start,
    Interpolation,
    Boundaries,
    Coarse
);
words!(OnDrift, Style, Material, SurfaceSource);
