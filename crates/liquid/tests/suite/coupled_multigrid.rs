//! Multigrid that carries rigid bodies: tanks of cells with boxes in them, which the pressure moves. [TB20 (9), (11)]

use meniscus_lcp::{BoxMlcp, Csr, Operator};
use meniscus_liquid::Coord;
use meniscus_liquid::multigrid::{
    Coupling, CouplingEntry, FREEDOMS, Response, Settings, Stiffness, Workspace, freedoms,
};
use meniscus_liquid::stencil::Stencil;

/// A box of cells that moves as a rigid body.
#[derive(Clone, Copy)]
struct Block<const D: usize> {
    low: Coord<D>,
    high: Coord<D>,
}

impl<const D: usize> Block<D> {
    fn has(&self, cell: Coord<D>) -> bool {
        (0..D).all(|a| (self.low[a]..self.high[a]).contains(&cell[a]))
    }

    fn side(&self, a: usize) -> f64 {
        (self.high[a] - self.low[a]) as f64
    }

    fn centre(&self) -> [f64; D] {
        std::array::from_fn(|a| 0.5 * (self.low[a] + self.high[a]) as f64)
    }

    fn volume(&self) -> f64 {
        (0..D).map(|a| self.side(a)).product()
    }

    /// Masses and moments of inertia about the axes, for a density of one.
    fn masses(&self) -> [f64; FREEDOMS] {
        let mut masses = [self.volume(); FREEDOMS];
        for (k, moment) in masses[D..freedoms::<D>()].iter_mut().enumerate() {
            let across = (0..D).filter(|&a| D == 2 || a != k);
            *moment *= across.map(|a| self.side(a).powi(2)).sum::<f64>() / 12.0;
        }
        masses
    }

    /// Force and moment of a unit force along an axis at `x`.
    fn wrench(&self, x: [f64; D], axis: usize) -> [f64; FREEDOMS] {
        let mut wrench = [0.0; FREEDOMS];
        wrench[axis] = 1.0;
        let centre = self.centre();
        let r: [f64; D] = std::array::from_fn(|a| x[a] - centre[a]);
        if D == 2 {
            wrench[2] = if axis == 0 { -r[1] } else { r[0] };
        } else {
            let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
            wrench[3 + b] = r[c];
            wrench[3 + c] = -r[b];
        }
        wrench
    }
}

/// A tank filled to three quarters, with blocks in it; lengths in cells, masses in those of a cell of liquid.
struct Tank<const D: usize> {
    stencil: Stencil<D>,
    rhs: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    entries: Vec<CouplingEntry>,
    bodies: Bodies,
}

/// Blocks that keep apart without friction.
struct Bodies {
    freedoms: usize,
    groups: usize,
    inverse: Vec<f64>,
    start: Vec<f64>,
    /// Rows of `J`: `J v >= 0`.
    contacts: Vec<Vec<f64>>,
    /// Impulses of the contacts.
    x: Vec<f64>,
    velocity: Vec<f64>,
    free: Vec<f64>,
    face: Option<Vec<bool>>,
    responses: usize,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Bodies {
    fn coupling(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (&self.contacts[i], &self.contacts[j]);
        (0..a.len()).map(|k| a[k] * self.inverse[k] * b[k]).sum()
    }
}

impl Response for Bodies {
    fn groups(&self) -> usize {
        self.groups
    }

    fn respond(&mut self, impulse: &[f64], velocity: &mut [f64]) {
        self.responses += 1;
        let moved = impulse.iter().zip(&self.inverse).zip(&self.start);
        self.free = moved.map(|((j, w), v)| v + w * j).collect();
        let n = self.contacts.len();
        let mut v = self.free.clone();
        for (x, row) in self.x.iter().zip(&self.contacts) {
            for k in 0..v.len() {
                v[k] += self.inverse[k] * row[k] * x;
            }
        }
        // Exact enough that nobody notices.
        for _ in 0..20_000 {
            let mut changed = 0.0f64;
            for i in 0..n {
                let (row, d) = (&self.contacts[i], self.coupling(i, i));
                let new = (self.x[i] - dot(row, &v) / d).max(0.0);
                let change = new - self.x[i];
                self.x[i] = new;
                changed = changed.max(change.abs() * d);
                for k in 0..v.len() {
                    v[k] += self.inverse[k] * row[k] * change;
                }
            }
            if changed < 1e-14 {
                break;
            }
        }
        self.velocity.clone_from(&v);
        velocity.copy_from_slice(&v);
    }

    fn stiffness(&mut self, stiffness: &mut Stiffness) -> bool {
        let face: Vec<bool> = self.x.iter().map(|&x| x > 0.0).collect();
        if stiffness.rows > 0 && self.face.as_ref() == Some(&face) {
            return false;
        }
        // Contacts that carry a load are as good as rigid.
        let f = self.freedoms;
        stiffness.rows = self.groups;
        stiffness.blocks.clear();
        for i in 0..self.groups {
            for j in 0..self.groups {
                let mut block = [[0.0; FREEDOMS]; FREEDOMS];
                for (r, c) in (0..f).flat_map(|r| (0..f).map(move |c| (r, c))) {
                    if (i, r) == (j, c) {
                        block[r][c] = 1.0 / self.inverse[i * f + r];
                    }
                    for k in (0..face.len()).filter(|&k| face[k]) {
                        let row = &self.contacts[k];
                        let stiff = 1e10 / self.coupling(k, k);
                        block[r][c] += stiff * row[i * f + r] * row[j * f + c];
                    }
                }
                stiffness.blocks.push((i as u32, j as u32, block));
            }
        }
        self.face = Some(face);
        true
    }

    fn inverse_mass(&self, group: usize) -> [[f64; FREEDOMS]; FREEDOMS] {
        let mut inverse = [[0.0; FREEDOMS]; FREEDOMS];
        for k in 0..self.freedoms {
            inverse[k][k] = self.inverse[group * self.freedoms + k];
        }
        inverse
    }

    fn is_affine(&self) -> bool {
        self.contacts.is_empty()
    }

    fn potential(&self) -> Option<f64> {
        let masses = self.inverse.iter().map(|w| 1.0 / w);
        let of = masses.zip(self.free.iter().zip(&self.velocity));
        Some(
            of.map(|(m, (f, v))| 0.5 * m * (f * f - (v - f) * (v - f)))
                .sum(),
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// A block in the middle.
    One,
    /// A block on the floor.
    Ground,
    /// A platform on the floor with a block on it.
    Stack,
    /// A block as wide as the tank, liquid below it and none above: the liquid is closed in.
    Piston,
}

impl<const D: usize> Tank<D> {
    fn new(n: i32, kind: Kind, density: f64, separating: bool, throw: f64) -> Self {
        let block = |low: f64, high: f64, bottom: f64, top: f64| {
            let at = |x: f64| (x * n as f64) as i32;
            let (mut a, mut b) = ([at(low); D], [at(high); D]);
            (a[D - 1], b[D - 1]) = (at(bottom), at(top));
            Block { low: a, high: b }
        };
        let (blocks, contacts): (Vec<Block<D>>, Vec<(usize, Option<usize>)>) = match kind {
            Kind::One => (vec![block(0.3, 0.65, 0.3, 0.5)], vec![]),
            Kind::Ground => (vec![block(0.3, 0.65, 0.0, 0.3)], vec![(0, None)]),
            Kind::Stack => (
                vec![block(0.2, 0.8, 0.0, 0.2), block(0.35, 0.6, 0.2, 0.45)],
                vec![(0, None), (1, Some(0))],
            ),
            Kind::Piston => (vec![block(0.0, 1.0, 0.5, 0.7)], vec![]),
        };
        let up = D - 1;
        let surface = match kind {
            Kind::Piston => n / 2,
            _ => 3 * n / 4,
        };
        let body_at = |cell: Coord<D>| blocks.iter().position(|block| block.has(cell));
        let inside = |cell: Coord<D>| (0..D).all(|a| (0..n).contains(&cell[a]));
        let mut cells = Vec::new();
        let mut row_of = std::collections::HashMap::new();
        for k in 0..n.pow(D as u32) {
            let cell: Coord<D> = std::array::from_fn(|a| k / n.pow((D - 1 - a) as u32) % n);
            if cell[up] < surface && body_at(cell).is_none() {
                row_of.insert(cell, cells.len() as u32);
                cells.push(cell);
            }
        }
        let flow = |x: [f64; D], axis: usize| -> f64 {
            let s = x.map(|x| 6.0 * x / n as f64);
            let swirl = if axis == 0 { s[up].sin() } else { -s[0].cos() };
            swirl + if axis == up { throw } else { 0.0 }
        };
        let mut coefficients = Vec::new();
        let (mut rhs, mut lower, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        for (row, &cell) in cells.iter().enumerate() {
            let (mut diagonal, mut b, mut wall) = (0.0, 0.0, false);
            let mut pushed: Vec<(usize, [f64; FREEDOMS])> = Vec::new();
            for axis in 0..D {
                for step in [-1, 1] {
                    let mut other = cell;
                    other[axis] += step;
                    let mut x = cell.map(|c| c as f64 + 0.5);
                    x[axis] += 0.5 * step as f64;
                    if let Some(body) = body_at(other).filter(|_| inside(other)) {
                        let wrench = blocks[body].wrench(x, axis).map(|w| w * step as f64);
                        wall = true;
                        match pushed.iter_mut().find(|(k, _)| *k == body) {
                            Some((_, sum)) => (0..FREEDOMS).for_each(|i| sum[i] += wrench[i]),
                            None => pushed.push((body, wrench)),
                        }
                    } else if !inside(other) {
                        wall = true;
                    } else {
                        b += step as f64 * flow(x, axis);
                        diagonal += 1.0;
                        if let Some(&near) = row_of.get(&other) {
                            coefficients.push((row as u32, near, -1.0));
                        } else {
                            // Air: the surface lies at half the way.
                            diagonal += 1.0;
                        }
                    }
                }
            }
            coefficients.push((row as u32, row as u32, diagonal));
            rhs.push(b);
            lower.push(match separating && wall {
                true => 0.0,
                false => f64::NEG_INFINITY,
            });
            pushed.sort_by_key(|entry| entry.0);
            entries.extend(pushed.into_iter().map(|(body, value)| CouplingEntry {
                row: row as u32,
                group: body as u32,
                value,
            }));
        }
        let f = freedoms::<D>();
        let size = f * blocks.len();
        let masses = blocks.iter().flat_map(|block| {
            let masses = block.masses();
            (0..f).map(move |k| 1.0 / (density * masses[k]))
        });
        let mut rows = Vec::new();
        for (above, below) in contacts {
            let block = blocks[above];
            for corner in 0..1 << (D - 1) {
                let mut x = block.low.map(f64::from);
                for a in (0..D - 1).filter(|a| corner >> a & 1 == 1) {
                    x[a] = block.high[a] as f64;
                }
                let mut row = vec![0.0; size];
                row[above * f..][..f].copy_from_slice(&block.wrench(x, up)[..f]);
                if let Some(below) = below {
                    let wrench = blocks[below].wrench(x, up);
                    (0..f).for_each(|k| row[below * f + k] = -wrench[k]);
                }
                rows.push(row);
            }
        }
        let matrix = Csr::from_entries(cells.len(), coefficients).unwrap();
        let start = (0..size).map(|k| 0.3 * (1.7 * k as f64).sin());
        let start = start.enumerate().map(|(k, v)| {
            let gravity = if k % f == up { -1.0 - throw } else { 0.0 };
            if k % f < D { v + gravity } else { 0.02 * v }
        });
        Tank {
            stencil: Stencil::from_matrix(&matrix, &cells).unwrap(),
            upper: vec![f64::INFINITY; cells.len()],
            rhs,
            lower,
            entries,
            bodies: Bodies {
                freedoms: f,
                groups: blocks.len(),
                inverse: masses.collect(),
                start: start.collect(),
                x: vec![0.0; rows.len()],
                contacts: rows,
                velocity: Vec::new(),
                free: Vec::new(),
                face: None,
                responses: 0,
            },
        }
    }

    /// Solves it; returns cycles, small problems, and the natural residual as a share of the right-hand side, found here.
    fn solve(&mut self, tolerance: f64, x: &mut [f64]) -> (usize, usize, f64) {
        let problem = BoxMlcp::new(&self.stencil, &self.rhs, &self.lower, &self.upper).unwrap();
        let largest = self.rhs.iter().fold(0.0f64, |m, b| m.max(b.abs()));
        let settings = Settings {
            tolerance: tolerance * largest,
            max_iterations: 100,
            ..Settings::default()
        };
        let mut workspace = Workspace::default();
        let mut coupling = Coupling {
            entries: &self.entries,
            impulse_scale: 1.0,
            response: &mut self.bodies,
        };
        let mut prepared = workspace.prepare(&problem).unwrap();
        let report = prepared
            .solve_coupled(&problem, &mut coupling, &settings, x, &mut ())
            .unwrap();
        let responses = self.bodies.responses;
        (report.iterations, responses, self.residual(x) / largest)
    }

    fn residual(&mut self, x: &[f64]) -> f64 {
        let f = freedoms::<D>();
        let mut impulse = vec![0.0; self.bodies.inverse.len()];
        for entry in &self.entries {
            for k in 0..f {
                impulse[entry.group as usize * f + k] += entry.value[k] * x[entry.row as usize];
            }
        }
        let mut velocity = vec![0.0; impulse.len()];
        self.bodies.respond(&impulse, &mut velocity);
        let mut y = vec![0.0; x.len()];
        self.stencil.apply(x, &mut y);
        for (y, b) in y.iter_mut().zip(&self.rhs) {
            *y += b;
        }
        for entry in &self.entries {
            let v = &velocity[entry.group as usize * f..][..f];
            y[entry.row as usize] += dot(v, &entry.value[..f]);
        }
        let natural = |(i, &y): (usize, &f64)| match x[i] - y <= self.lower[i] {
            true => x[i] - self.lower[i],
            false => y,
        };
        y.iter()
            .enumerate()
            .map(natural)
            .fold(0.0, |m, r| m.max(r.abs()))
    }
}

fn check<const D: usize>(n: i32, kinds: &[Kind], densities: &[f64], most: usize) {
    let mut missed = Vec::new();
    for &kind in kinds {
        for &density in densities {
            for (separating, throw) in [(false, 0.0), (true, 0.0), (true, 1.5)] {
                let mut tank = Tank::<D>::new(n, kind, density, separating, throw);
                let mut x = vec![0.0; tank.rhs.len()];
                let (cycles, small, residual) = tank.solve(1e-6, &mut x);
                let line = format!(
                    "{D}D {n} {kind:?} density {density} separating {separating} throw {throw}: \
                     {cycles} cycles, {small} small problems, residual {residual:.1e}"
                );
                println!("{line}");
                if !(residual <= 1.1e-6 && cycles <= most) {
                    missed.push(line);
                }
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn bodies_of_any_density_take_few_cycles() {
    use Kind::{Ground, One, Stack};
    check::<2>(64, &[One, Ground, Stack], &[0.1, 1.0, 10.0], 12);
    check::<3>(24, &[One, Ground, Stack], &[0.1, 1.0, 10.0], 12);
}

#[test]
fn very_light_bodies_in_contact_take_a_few_more() {
    use Kind::{Ground, One, Stack};
    check::<2>(64, &[One, Ground, Stack], &[0.01], 16);
    check::<3>(24, &[One, Ground, Stack], &[0.01], 16);
}

#[test]
fn liquid_closed_in_by_a_piston_carries_it() {
    check::<2>(32, &[Kind::Piston], &[0.01, 1.0, 100.0], 12);
    check::<3>(16, &[Kind::Piston], &[0.01, 1.0, 100.0], 12);
}

#[test]
fn a_warm_start_takes_few_cycles() {
    for kind in [Kind::One, Kind::Ground, Kind::Stack] {
        let mut tank = Tank::<2>::new(64, kind, 0.1, true, 0.0);
        let mut x = vec![0.0; tank.rhs.len()];
        tank.solve(1e-6, &mut x);
        for b in &mut tank.rhs {
            *b *= 1.02;
        }
        let (cycles, _, residual) = tank.solve(1e-6, &mut x);
        assert!(cycles <= 8 && residual <= 1.1e-6, "{kind:?}: {cycles}");
    }
}
