//! Contacts with Coulomb friction, by polyhedral cones. [Erl13 (26), (27)]
//!
//! One block of six rows a cone: `n` (along its axis), four `t` (two directions across and their negatives), `beta`:
//!
//! ```text
//! | B_nn  B_nt   0 |            v_n = B_n x + b_n >= 0               x_n >= 0
//! | B_tn  B_tt   e |            v_t + beta e >= 0                    x_t >= 0
//! |  mu   -e'    0 |            mu x_n - sum x_t >= 0                beta >= 0
//! ```
//!
//! `B = J W J'` with `W` diagonal and the rows of `J` of the form `n, r x n` for one end of a cone and their negatives for
//! the other, so `B` is positive semidefinite and couples cones that share an end.
//!
//! DEVIATION [Erl13 sec. 7]: the program behind the notes fills the blocks `mu`, `e` and `-e'` between different cones,
//! too, and takes random numbers for `B`. Here they are as in its equation (27).

use super::{Instance, Random};
use crate::csr::Csr;

/// Rows of a cone: one `n`, four `t`, one `beta`.
pub const ROWS_PER_CONE: usize = 6;

/// `mu`
const WIDTH: f64 = 0.5;
/// Ends that the cones share, for each cone: few enough that `B` is singular.
const ENDS_PER_CONE: f64 = 0.6;

/// A row of `J`: per body, three translational and three rotational entries.
type Ends = [(usize, [f64; 6]); 2];

/// A problem with the given number of contacts; in its solution a third of them each separates, sticks and slides.
pub fn contact_cone(cones: usize, random: &mut Random) -> Instance {
    let ends = ((cones as f64 * ENDS_PER_CONE).ceil() as usize).max(2);
    let weights: Vec<f64> = (0..ends).map(|_| random.between(0.5, 2.0)).collect();
    let jacobian: Vec<[Ends; 5]> = (0..cones).map(|_| rows(ends, random)).collect();

    let mut entries = Vec::new();
    for (i, of_i) in jacobian.iter().enumerate() {
        for (j, of_j) in jacobian.iter().enumerate() {
            for (r, row) in of_i.iter().enumerate() {
                for (c, column) in of_j.iter().enumerate() {
                    if let Some(value) = coupling(row, column, &weights) {
                        entries.push((place(i, r), place(j, c), value));
                    }
                }
            }
        }
        let beta = place(i, 5);
        entries.push((beta, place(i, 0), WIDTH));
        for t in 1..5 {
            entries.push((place(i, t), beta, 1.0));
            entries.push((beta, place(i, t), -1.0));
        }
    }
    let n = ROWS_PER_CONE * cones;
    let matrix = Csr::from_entries(n, entries).expect("every entry lies in a block of the matrix");
    let (x, y) = complementary(cones, random);
    Instance::complementary(matrix, x, &y)
}

fn place(cone: usize, row: usize) -> u32 {
    (cone * ROWS_PER_CONE + row) as u32
}

/// The rows of `J` of a cone between two ends: `n`, `t`, `-t`, `s`, `-s`.
fn rows(ends: usize, random: &mut Random) -> [Ends; 5] {
    let a = random.below(ends);
    let b = (a + 1 + random.below(ends - 1)) % ends;
    let n = random.direction();
    let t = loop {
        let t = cross(n, random.direction());
        let length = dot(t, t).sqrt();
        if length > 0.1 {
            break t.map(|t| t / length);
        }
    };
    let s = cross(n, t);
    let levers = [random.direction(), random.direction()];
    [n, t, t.map(|t| -t), s, s.map(|s| -s)].map(|d| {
        let of = |lever, sign: f64| {
            let turn = cross(lever, d);
            std::array::from_fn(|k| sign * if k < 3 { d[k] } else { turn[k - 3] })
        };
        [(a, of(levers[0], 1.0)), (b, of(levers[1], -1.0))]
    })
}

/// An entry of `J W J'`, if the rows share an end.
fn coupling(row: &Ends, column: &Ends, weights: &[f64]) -> Option<f64> {
    let mut shared = None;
    for (end, r) in row {
        for (other, c) in column {
            if end == other {
                let product: f64 = r.iter().zip(c).map(|(r, c)| r * c).sum();
                *shared.get_or_insert(0.0) += weights[*end] * product;
            }
        }
    }
    shared
}

/// A solution: cones at their apex, inside, and on their surface, in turn.
fn complementary(cones: usize, random: &mut Random) -> (Vec<f64>, Vec<f64>) {
    let n = ROWS_PER_CONE * cones;
    let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
    for cone in 0..cones {
        let row = cone * ROWS_PER_CONE;
        let (tangents, beta) = (row + 1..row + 5, row + 5);
        match cone % 3 {
            0 => {
                // At the apex: x = 0.
                y[row] = random.between(0.1, 1.0);
                tangents.for_each(|t| y[t] = random.between(0.1, 1.0));
            }
            1 => {
                // Inside: y = 0 but for the last row.
                x[row] = random.between(0.5, 1.0);
                tangents.for_each(|t| x[t] = 0.2 * WIDTH * x[row] * random.unit());
                y[beta] = WIDTH * x[row] - x[row + 1..row + 5].iter().sum::<f64>();
            }
            _ => {
                // On the surface, along one of the edges.
                x[row] = random.between(0.5, 1.0);
                x[beta] = random.between(0.1, 1.0);
                let along = row + 1 + random.below(4);
                x[along] = WIDTH * x[row];
                tangents
                    .filter(|&t| t != along)
                    .for_each(|t| y[t] = x[beta] * random.between(0.5, 1.5));
            }
        }
    }
    (x, y)
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}
