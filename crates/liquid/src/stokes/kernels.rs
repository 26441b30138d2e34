//! Products and sweeps on one level.

use rayon::prelude::*;

use super::edge_kind;
use super::level::Level;
use super::rows::{
    Around, At, Real, Source, Swept, WIDE, Wide, add, add_product, sub, sub_product,
};
use crate::grid::tiles::Tiles;

/// A velocity on faces and a pressure in cells, or something of their shape.
#[derive(Clone, Debug)]
pub(crate) struct Pair<const D: usize, T> {
    /// On the low faces of cells.
    pub t: [Vec<T>; D],
    /// In cells.
    pub q: Vec<T>,
}

impl<const D: usize, T: Real> Pair<D, T> {
    /// Zeros on all tiles.
    pub fn zeros(tiles: &Tiles<D>) -> Self {
        Self {
            t: std::array::from_fn(|_| vec![T::default(); tiles.field_len()]),
            q: vec![T::default(); tiles.field_len()],
        }
    }

    /// Sets everything to zero.
    pub fn clear(&mut self) {
        for field in self.t.iter_mut().chain([&mut self.q]) {
            field.fill(T::default());
        }
    }
}

/// Direction of a sweep; a backward sweep is the adjoint of a forward one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sweep {
    Forward,
    Backward,
}

impl Sweep {
    /// The numbers below `count` in the order of the sweep.
    #[inline(always)]
    fn order(self, count: usize) -> impl Iterator<Item = usize> {
        (0..count).map(move |i| match self {
            Self::Forward => i,
            Self::Backward => count - 1 - i,
        })
    }
}

/// `(m + V) t - G q` on the low faces along `axis` of a row.
#[inline(always)]
fn momentum<const D: usize, T: Real>(
    level: &Level<D, T>,
    around: &Around,
    t: &[impl Source<T>; D],
    q: &impl Source<T>,
    axis: usize,
) -> Wide<T> {
    let o = At::own::<D>();
    let coefficient = |field: &Vec<T>, at: At| around.load(&&field[..], at);
    let own = around.load(&t[axis], o);
    let mut sum = [T::default(); WIDE];
    sum = add_product(sum, coefficient(&level.mass[axis], o), own);
    let (below, above) = (o.down::<D>(axis), o.up::<D>(axis));
    let low = sub(own, around.load(&t[axis], below));
    let high = sub(around.load(&t[axis], above), own);
    sum = add_product(sum, coefficient(&level.cell, below), low);
    sum = sub_product(sum, coefficient(&level.cell, o), high);
    for b in 0..D {
        if b == axis {
            continue;
        }
        let edge = &level.edge[edge_kind(axis, b)];
        let up = o.up::<D>(b);
        let low = add(
            sub(own, around.load(&t[axis], o.down::<D>(b))),
            sub(around.load(&t[b], o), around.load(&t[b], below)),
        );
        let high = add(
            sub(around.load(&t[axis], up), own),
            sub(
                around.load(&t[b], up),
                around.load(&t[b], up.down::<D>(axis)),
            ),
        );
        sum = add_product(sum, coefficient(edge, o), low);
        sum = sub_product(sum, coefficient(edge, up), high);
    }
    sub_product(
        sum,
        [level.slope; WIDE],
        difference::<D, T>(around, q, axis),
    )
}

/// `q` below the low faces along `axis` of a row, less that above: `G q` for a slope of 1.
#[inline(always)]
fn difference<const D: usize, T: Real>(
    around: &Around,
    q: &impl Source<T>,
    axis: usize,
) -> Wide<T> {
    let o = At::own::<D>();
    sub(around.load(q, o.down::<D>(axis)), around.load(q, o))
}

/// `G't` of the cells of a row, for a slope of 1.
#[inline(always)]
fn divergence<const D: usize, T: Real>(around: &Around, t: &[impl Source<T>; D]) -> Wide<T> {
    let o = At::own::<D>();
    let mut sum = [T::default(); WIDE];
    for (a, t) in t.iter().enumerate() {
        sum = add(sum, sub(around.load(t, o.up::<D>(a)), around.load(t, o)));
    }
    sum
}

/// Calls `work` with every active tile of the parities in the order of the sweep, those of one parity in parallel.
fn by_parity<const D: usize, T: Sync>(
    level: &Level<D, T>,
    sweep: Sweep,
    work: impl Fn(usize) + Sync,
) {
    for parity in sweep.order(level.active.len()) {
        let tiles = level.active[parity]
            .par_iter()
            .with_min_len(min_tiles::<D>());
        tiles.for_each(|&slot| work(slot as usize));
    }
}

/// Tiles that are worth a thread.
const fn min_tiles<const D: usize>() -> usize {
    if D == 2 { 16 } else { 2 }
}

/// `r = b - K x` on all active tiles. What is no unknown is left with meaningless numbers.
pub(crate) fn residual<const D: usize, T: Real>(
    level: &Level<D, T>,
    b: &Pair<D, T>,
    x: &Pair<D, T>,
    r: &mut Pair<D, T>,
) {
    let t: [&[T]; D] = std::array::from_fn(|a| &x.t[a][..]);
    let q = &x.q[..];
    let mut out: Vec<Swept<T>> = Vec::with_capacity(D + 1);
    for field in r.t.iter_mut().chain([&mut r.q]) {
        // SAFETY: every tile is written by one thread and none is read.
        out.push(unsafe { Swept::new(field) });
    }
    by_parity(level, Sweep::Forward, |slot| {
        for row in 0..Around::count::<D>() {
            let around = Around::new(&level.tiles, slot, row);
            let first = around.own::<D>();
            for axis in 0..D {
                let product = momentum(level, &around, &t, &q, axis);
                let b = (&&b.t[axis][..]).row(first);
                let r = sub(b, product);
                for (i, r) in r.into_iter().enumerate() {
                    out[axis].set(first + i, r);
                }
            }
            let b = (&&b.q[..]).row(first);
            let r = add_product(b, [level.slope; WIDE], divergence(&around, &t));
            for (i, r) in r.into_iter().enumerate() {
                out[D].set(first + i, r);
            }
        }
    });
}

/// One step of the inexact Braess-Sarazin smoother: a Gauss-Seidel sweep on the velocity, a symmetric one on the
/// pressure correction, and the correction of both. `correction` and `excess` are scratch memory.
pub(crate) fn smooth<const D: usize>(
    level: &Level<D, f32>,
    b: &Pair<D, f32>,
    x: &mut Pair<D, f32>,
    correction: &mut [f32],
    excess: &mut [f32],
    sweep: Sweep,
) {
    relax_velocity(level, b, x, sweep);
    find_excess(level, b, x, excess);
    correction.fill(0.0);
    relax_pressure(level, excess, correction, Sweep::Forward);
    relax_pressure(level, excess, correction, Sweep::Backward);
    correct(level, correction, x);
}

/// Gauss-Seidel sweep on `(m + V) t = b + G q`: tile by tile, one component after the other, red-black.
fn relax_velocity<const D: usize, T: Real>(
    level: &Level<D, T>,
    b: &Pair<D, T>,
    x: &mut Pair<D, T>,
    sweep: Sweep,
) {
    let q = &x.q[..];
    let mut fields = x.t.iter_mut();
    // SAFETY: `by_parity` works on tiles that do not touch.
    let t: [Swept<T>; D] = std::array::from_fn(|_| unsafe {
        match fields.next() {
            Some(field) => Swept::new(field),
            None => unreachable!("one field per axis"),
        }
    });
    by_parity(level, sweep, |slot| {
        for half in sweep.order(2 * D) {
            let (axis, colour) = (half / 2, half % 2);
            for row in 0..Around::count::<D>() {
                let first = slot * Tiles::<D>::CELLS + row * WIDE;
                let inverse = (&&level.inverse[axis][..]).row(first);
                if inverse == [T::default(); WIDE] {
                    continue;
                }
                let around = Around::new(&level.tiles, slot, row);
                let product = momentum(level, &around, &t, &q, axis);
                let b = (&&b.t[axis][..]).row(first);
                let own = t[axis].row(first);
                let new = add_product(own, inverse, sub(b, product));
                for i in ((around.parity ^ colour)..WIDE).step_by(2) {
                    t[axis].set(first + i, new[i]);
                }
            }
        }
    });
}

/// `-b_q - G't`, what the flow out of every cell lacks.
fn find_excess<const D: usize, T: Real>(
    level: &Level<D, T>,
    b: &Pair<D, T>,
    x: &Pair<D, T>,
    excess: &mut [T],
) {
    let t: [&[T]; D] = std::array::from_fn(|a| &x.t[a][..]);
    // SAFETY: every tile is written by one thread and none is read.
    let out = unsafe { Swept::new(excess) };
    by_parity(level, Sweep::Forward, |slot| {
        for row in 0..Around::count::<D>() {
            let around = Around::new(&level.tiles, slot, row);
            let first = around.own::<D>();
            let b = (&&b.q[..]).row(first);
            let flow = add_product(b, [level.slope; WIDE], divergence(&around, &t));
            for (i, flow) in flow.into_iter().enumerate() {
                out.set(first + i, T::default() - flow);
            }
        }
    });
}

/// Red-black Gauss-Seidel sweep on `G' diag(m + V)^-1 G dq = excess`.
fn relax_pressure<const D: usize, T: Real>(
    level: &Level<D, T>,
    excess: &[T],
    correction: &mut [T],
    sweep: Sweep,
) {
    // SAFETY: `by_parity` works on tiles that do not touch.
    let dq = unsafe { Swept::new(correction) };
    let square = [level.slope * level.slope; WIDE];
    by_parity(level, sweep, |slot| {
        for colour in sweep.order(2) {
            for row in 0..Around::count::<D>() {
                let first = slot * Tiles::<D>::CELLS + row * WIDE;
                let inverse = (&&level.schur[..]).row(first);
                if inverse == [T::default(); WIDE] {
                    continue;
                }
                let around = Around::new(&level.tiles, slot, row);
                let o = At::own::<D>();
                let mut sum = [T::default(); WIDE];
                for a in 0..D {
                    let weight = &&level.inverse[a][..];
                    let (up, down) = (o.up::<D>(a), o.down::<D>(a));
                    sum = add_product(sum, around.load(weight, o), around.load(&dq, down));
                    sum = add_product(sum, around.load(weight, up), around.load(&dq, up));
                }
                let sum = add_product((&excess).row(first), square, sum);
                for i in ((around.parity ^ colour)..WIDE).step_by(2) {
                    dq.set(first + i, inverse[i] * sum[i]);
                }
            }
        }
    });
}

/// `t += diag(m + V)^-1 G dq`, `q += dq`
fn correct<const D: usize, T: Real>(level: &Level<D, T>, correction: &[T], x: &mut Pair<D, T>) {
    let Pair { t, q } = x;
    let mut out: Vec<Swept<T>> = Vec::with_capacity(D + 1);
    for field in t.iter_mut().chain([q]) {
        // SAFETY: every tile is written and read by one thread.
        out.push(unsafe { Swept::new(field) });
    }
    by_parity(level, Sweep::Forward, |slot| {
        for row in 0..Around::count::<D>() {
            let around = Around::new(&level.tiles, slot, row);
            let first = around.own::<D>();
            for axis in 0..D {
                let inverse = (&&level.inverse[axis][..]).row(first);
                let push = difference::<D, T>(&around, &correction, axis);
                let own = out[axis].row(first);
                for i in 0..WIDE {
                    out[axis].set(first + i, own[i] + level.slope * inverse[i] * push[i]);
                }
            }
            let (own, change) = (out[D].row(first), (&correction).row(first));
            for i in 0..WIDE {
                out[D].set(first + i, own[i] + change[i]);
            }
        }
    });
}
