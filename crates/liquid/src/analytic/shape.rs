//! Open shares of faces.

/// Points along a side of a face.
const POINTS: usize = 8;
/// Radius of the sphere around the middle.
const RADIUS: f64 = 0.45;
/// Cells from a solid beyond which a face is open or closed as a whole.
const NEAR: f64 = 1.01;

/// The open space.
pub struct Open<const D: usize> {
    dx: f64,
    thin: bool,
}

impl<const D: usize> Open<D> {
    pub fn new(dx: f64, thin: bool) -> Self {
        Self { dx, thin }
    }

    /// Open share of the face with this centre across `axis`: the mean over points of a distance smeared over an eighth
    /// of a cell.
    pub fn share(&self, centre: [f64; D], axis: usize) -> f64 {
        let at_centre = self.clearance(centre);
        if at_centre.abs() >= NEAR * self.dx {
            return if at_centre > 0.0 { 1.0 } else { 0.0 };
        }
        let h = self.dx / POINTS as f64;
        let total = POINTS.pow(D as u32 - 1);
        let mut sum = 0.0;
        for point in 0..total {
            let mut x = centre;
            let mut rest = point;
            for (other, x) in x.iter_mut().enumerate() {
                if other != axis {
                    let at = (rest % POINTS) as f64 + 0.5;
                    *x += (at / POINTS as f64 - 0.5) * self.dx;
                    rest /= POINTS;
                }
            }
            sum += (0.5 + self.clearance(x) / h).clamp(0.0, 1.0);
        }
        sum / total as f64
    }

    /// Distance to the nearest solid, negative inside.
    fn clearance(&self, x: [f64; D]) -> f64 {
        let mut clearance = RADIUS - length(x.map(|x| x - 0.5));
        if self.thin {
            clearance = clearance.min(self.plate(x)).min(self.shell(x));
        }
        clearance
    }

    /// A plate one cell thick across the last axis, from the wall to short of the surface.
    fn plate(&self, x: [f64; D]) -> f64 {
        let beyond: [f64; D] = std::array::from_fn(|axis| {
            if axis == D - 1 {
                (x[axis] - 0.37).abs() - 0.5 * self.dx
            } else if axis == 0 {
                x[axis] - 0.42
            } else {
                (x[axis] - 0.5).abs() - 0.22
            }
        });
        outside_box(beyond)
    }

    /// A shell one cell thick with a hole towards the wall.
    fn shell(&self, x: [f64; D]) -> f64 {
        let mut from = x.map(|x| x - 0.5);
        from[0] = x[0] - 0.34;
        from[D - 1] = x[D - 1] - 0.62;
        let shell = (length(from) - 0.11).abs() - 0.5 * self.dx;
        let mut across = from;
        across[0] = 0.0;
        // The hole: a channel along the first axis, on the side of the wall.
        let hole = if from[0] < 0.0 {
            0.035 - length(across)
        } else {
            -from[0]
        };
        shell.max(hole.min(0.035))
    }
}

fn length<const D: usize>(v: [f64; D]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// Distance from a box, given how far a point is beyond its sides.
fn outside_box<const D: usize>(beyond: [f64; D]) -> f64 {
    let outside = length(beyond.map(|b| b.max(0.0)));
    let inside = beyond.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    outside + inside.min(0.0)
}
