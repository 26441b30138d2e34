//! Up axis of exported data.

#[cfg(feature = "cli")]
use clap::ValueEnum;
use std::fmt;

/// Up axis of exported data. Meniscus itself is Z up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(ValueEnum))]
pub enum Up {
    /// As in Houdini and Maya: rotated by -90 degrees about x
    Y,
    /// As in Blender and in the simulation
    #[default]
    Z,
}

impl Up {
    /// Converts a position, a velocity or a normal.
    pub fn vector(self, [x, y, z]: [f32; 3]) -> [f32; 3] {
        match self {
            Up::Z => [x, y, z],
            Up::Y => [x, z, -y],
        }
    }

    /// Converts a vector of double precision.
    pub fn exact(self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        match self {
            Up::Z => [x, y, z],
            Up::Y => [x, z, -y],
        }
    }

    /// Converts vectors in place.
    pub fn vectors(self, all: &mut [[f32; 3]]) {
        if self == Up::Y {
            for one in all {
                *one = self.vector(*one);
            }
        }
    }

    /// Converts a rotation and a translation of geometry that is itself converted: what is upright in one coordinate system is
    /// upright in the other.
    pub fn pose(self, rotation: [[f64; 3]; 3], translation: [f64; 3]) -> ([[f64; 3]; 3], [f64; 3]) {
        if self == Up::Z {
            return (rotation, translation);
        }
        // T R T' with T the conversion: rows and columns of R are permuted as the axes are.
        let turned = |[x, y, z]: [f64; 3]| [x, z, -y];
        let rows = rotation.map(turned);
        let minus = rows[1].map(|c| -c);
        ([rows[0], rows[2], minus], turned(translation))
    }
}

impl fmt::Display for Up {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Up::Y => "Y",
            Up::Z => "Z",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_up_axis_is_mapped_and_handedness_is_preserved() {
        assert_eq!(Up::Y.vector([0.0, 0.0, 1.0]), [0.0, 1.0, 0.0]);
        assert_eq!(Up::Z.vector([1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
        let [x, y, z] =
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|v| Up::Y.vector(v));
        let cross: [f32; 3] = std::array::from_fn(|i| {
            x[(i + 1) % 3] * y[(i + 2) % 3] - x[(i + 2) % 3] * y[(i + 1) % 3]
        });
        assert_eq!(cross, z);
    }

    #[test]
    fn converting_a_posed_body_equals_posing_a_converted_body() {
        let (s, c) = 0.3f64.sin_cos();
        // A rotation about z and a translation.
        let rotation = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]];
        let translation = [1.0, 2.0, 3.0];
        let apply = |r: [[f64; 3]; 3], t: [f64; 3], x: [f64; 3]| -> [f64; 3] {
            std::array::from_fn(|i| (0..3).map(|j| r[i][j] * x[j]).sum::<f64>() + t[i])
        };
        let turn = |v: [f64; 3]| Up::Y.vector(v.map(|c| c as f32)).map(f64::from);
        let x = [0.5, -0.25, 2.0];
        let (r, t) = Up::Y.pose(rotation, translation);
        let (one, other) = (turn(apply(rotation, translation, x)), apply(r, t, turn(x)));
        for a in 0..3 {
            assert!((one[a] - other[a]).abs() < 1e-6, "{one:?} {other:?}");
        }
    }
}
