//! Coupled problems of pressure and contact as files.

use std::io::{self, Write};

use meniscus_coupled::CoupledProblem;
use meniscus_liquid::multigrid::freedoms;
use serde::Serialize;

use crate::problem::ProblemDump;

/// Files of a coupled problem: the sparse part and the bounds of the pressures as Matrix Market files, the grid, and
/// `coupling.json` with everything about bodies and contacts. It comes last: where it is, the others are complete.
const FILES: [&str; 6] = [
    "A.mtx",
    "b.mtx",
    "lower.mtx",
    "upper.mtx",
    "grid.json",
    "coupling.json",
];

const ABOUT: &str = "Rows, bodies and contacts are counted from zero. With pressures p, impulses s l of the contact rows and \
    velocities v = v0 + inv(M) s (C p + J' l) of the bodies, y = A p + b + C' v and w = J v + bias are complementary to p and l \
    within their bounds: lower.mtx and upper.mtx for p, lower <= s l <= upper for the rows, |s l| <= factor s l_of for rows of \
    friction. b has the motion of fixed and scripted solids. C is the low-rank part: each entry of `pressure` is the column of one \
    row of A in the rows of one body. Vectors of a body are translations first, then rotations about the centre of mass.";

/// The content of `coupling.json`.
#[derive(Serialize)]
struct Content {
    about: &'static str,
    /// Numbers of a body's velocity: three in 2D, six in 3D.
    freedoms: usize,
    impulse_scale: f64,
    bodies: Vec<Body>,
    pressure: Vec<Entry>,
    contacts: Vec<Row>,
}

#[derive(Serialize)]
struct Body {
    /// Index among the solids and bodies of the scene.
    body: usize,
    inertia: Vec<Vec<f64>>,
    inverse_inertia: Vec<Vec<f64>>,
    start_velocity: Vec<f64>,
}

#[derive(Serialize)]
struct Entry {
    row: u32,
    body: u32,
    value: Vec<f64>,
}

#[derive(Serialize)]
struct Row {
    /// Bodies, each with its part of `J`.
    parts: Vec<(usize, Vec<f64>)>,
    bias: f64,
    /// None if it is infinite.
    lower: Option<f64>,
    upper: Option<f64>,
    friction: Option<Friction>,
}

#[derive(Serialize)]
struct Friction {
    of: usize,
    factor: f64,
}

fn content<const D: usize>(problem: &CoupledProblem<D>) -> Content {
    let f = freedoms::<D>();
    let matrix = |m: &[[f64; 6]; 6]| m[..f].iter().map(|row| row[..f].to_vec()).collect();
    let finite = |x: f64| x.is_finite().then_some(x);
    let bodies = problem.bodies.iter().map(|body| Body {
        body: body.body,
        inertia: matrix(&body.inertia),
        inverse_inertia: matrix(&body.inverse),
        start_velocity: body.start[..f].to_vec(),
    });
    let entries = problem.entries.iter().map(|entry| Entry {
        row: entry.row,
        body: entry.group,
        value: entry.value[..f].to_vec(),
    });
    let rows = problem.rows.iter().map(|row| Row {
        parts: (row.bodies.iter())
            .map(|(body, value)| (*body, value[..f].to_vec()))
            .collect(),
        bias: row.bias,
        lower: finite(row.lower),
        upper: finite(row.upper),
        friction: row.friction.map(|(of, factor)| Friction { of, factor }),
    });
    Content {
        about: ABOUT,
        freedoms: f,
        impulse_scale: problem.impulse_scale,
        bodies: bodies.collect(),
        pressure: entries.collect(),
        contacts: rows.collect(),
    }
}

impl<const D: usize> ProblemDump for CoupledProblem<D> {
    fn name(&self) -> &'static str {
        "problem of pressure and contact"
    }

    fn unknowns(&self) -> usize {
        self.pressures() + self.rows.len()
    }

    fn files(&self) -> &'static [&'static str] {
        &FILES
    }

    fn write(&self, file: &str, out: &mut dyn Write) -> io::Result<()> {
        match file {
            "coupling.json" => Ok(serde_json::to_writer(out, &content(self))?),
            other => self.pressure.write(other, out),
        }
    }
}
