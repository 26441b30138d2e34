//! Newton steps for all impulses and velocities of an island at once, friction included.
//!
//! The impulses say which contacts are open, stick or slide. With `p = x_t - y_t / rho`, `d = p / |p|` and the radius of the
//! disc `mu x_n`, the equations of a contact are
//!
//! ```text
//! open:   x = 0          stick:  y_n = 0, y_t = 0          slide:  y_n = 0, x_t = mu x_n d
//! ```
//!
//! and the derivative of `d` is `(I - d d') / |p|`. Contacts are redundant as a rule: a small multiple of the diagonal is
//! added, which makes every step a proximal one. Then the impulses of each contact follow from the change of its
//! velocities, `dx = c - K dy`, and the equations of motion become `(M + J' K J) dv = J' c`: one block for each body and
//! each pair that touches, however many contacts the pair has.

use meniscus_lcp::factor::{Block, BlockLu};

use super::island::{Island, SolverRow};
use crate::linear::inverse3;
use crate::settings::Cone;

/// Share of the diagonal that makes the equations regular.
const PROXIMAL: f64 = 1e-7;
/// Share of the reach of friction below which a contact sticks.
const INSIDE: f64 = 1.0 - 1e-9;
/// Solves with one factorisation where no contact slides.
const SOLVES: usize = 3;

/// Change of a contact's impulses for a change of its velocities: `dx = change - stiffness dy`.
pub(super) struct Response<const D: usize> {
    change: [f64; D],
    pub stiffness: [[f64; D]; D],
    /// Whether any stiffness is not zero.
    pub loaded: bool,
    slides: bool,
}

/// The factorisation of an island's equations of motion, `B` unknowns for each body.
pub(crate) struct Newton<const B: usize> {
    lu: BlockLu<B>,
    /// For each slot its row, if forces move it.
    row_of_slot: Vec<Option<usize>>,
    rows: usize,
}

impl<const B: usize> Newton<B> {
    pub fn new<const D: usize>(island: &Island<D>) -> Self {
        let mut rows = 0;
        let row_of_slot: Vec<Option<usize>> = (island.slots.iter())
            .map(|slot| {
                (slot.inverse_mass > 0.0).then(|| {
                    rows += 1;
                    rows - 1
                })
            })
            .collect();
        let pair =
            |row: &SolverRow<D>| Some((row_of_slot[row.a as usize]?, row_of_slot[row.b as usize]?));
        let mut lu = BlockLu::default();
        lu.set_pattern(rows, island.rows.iter().filter_map(pair));
        Self {
            lu,
            row_of_slot,
            rows,
        }
    }

    /// Multiplications in a factorisation, about.
    pub fn work(&self) -> f64 {
        self.lu.work()
    }

    /// One step; false if it could not be done.
    pub fn step<const D: usize>(&mut self, island: &mut Island<D>) -> bool {
        let responses = respond(island);
        self.assemble(island, &responses);
        let slides = responses.iter().any(|response| response.slides);
        if !self.lu.factorise(!slides) {
            return false;
        }
        self.apply(island, &responses);
        if !slides {
            for _ in 1..SOLVES {
                let again = refined(island, &responses);
                self.apply(island, &again);
            }
        }
        true
    }

    /// Solves with `M + J' K J` for symmetric derivatives `K`; false if it could not be done.
    pub(super) fn solve_with<const D: usize>(
        &mut self,
        island: &Island<D>,
        responses: &[Response<D>],
        x: &mut [[f64; B]],
    ) -> bool {
        self.assemble(island, responses);
        let done = self.lu.factorise(true);
        if done {
            self.lu.solve(x);
        }
        done
    }

    /// The row of a slot, if forces move it.
    #[inline(always)]
    pub(super) fn row_of_slot(&self, slot: u32) -> Option<usize> {
        self.row_of_slot[slot as usize]
    }

    /// Slots that forces move, in order of their rows.
    pub(super) fn slots(&self) -> impl Iterator<Item = u32> {
        let slots = self.row_of_slot.iter().enumerate();
        slots.filter_map(|(slot, row)| row.map(|_| slot as u32))
    }

    /// Mass and moments of a slot.
    pub(super) fn mass<const D: usize>(&self, island: &Island<D>, slot: usize) -> Block<B> {
        mass_of(island, slot)
    }

    /// `M + J' K J`
    fn assemble<const D: usize>(&mut self, island: &Island<D>, responses: &[Response<D>]) {
        let Self {
            lu, row_of_slot, ..
        } = self;
        lu.clear();
        let row = |slot: u32| row_of_slot[slot as usize];
        each_block(island, responses, &mut |a, b, block| {
            if let (Some(p), Some(q)) = (row(a), row(b)) {
                lu.add(p, q, block);
            }
        });
    }

    /// Solves for the change of velocities, and changes the impulses.
    fn apply<const D: usize>(&self, island: &mut Island<D>, responses: &[Response<D>]) {
        let mut dv = vec![[0.0; B]; self.rows];
        for group in groups(island) {
            let change = &responses[group.index].change;
            for k in 0..group.len {
                let row = &island.rows[group.first + k];
                let (on_a, on_b) = jacobian::<D, B>(row);
                for (slot, on) in [(row.a, on_a), (row.b, on_b)] {
                    if let Some(at) = self.row_of_slot[slot as usize] {
                        (0..B).for_each(|i| dv[at][i] += change[k] * on[i]);
                    }
                }
            }
        }
        self.lu.solve(&mut dv);
        for group in groups(island) {
            let response = &responses[group.index];
            let mut dy = [0.0; D];
            if response.loaded {
                for k in 0..group.len {
                    let row = &island.rows[group.first + k];
                    let (on_a, on_b) = jacobian::<D, B>(row);
                    for (slot, on) in [(row.a, on_a), (row.b, on_b)] {
                        if let Some(at) = self.row_of_slot[slot as usize] {
                            (0..B).for_each(|i| dy[k] += on[i] * dv[at][i]);
                        }
                    }
                }
            }
            for k in 0..group.len {
                let stiff: f64 = (0..group.len)
                    .map(|l| response.stiffness[k][l] * dy[l])
                    .sum();
                let i = group.first + k;
                island.x[i] += response.change[k] - stiff;
            }
        }
        island.update_velocities();
    }
}

/// Blocks of `M + J' K J`, by slots that forces move.
fn each_block<const D: usize, const B: usize>(
    island: &Island<D>,
    responses: &[Response<D>],
    put: &mut dyn FnMut(u32, u32, &Block<B>),
) {
    let moves = |slot: u32| island.slots[slot as usize].inverse_mass > 0.0;
    for slot in (0..island.slots.len() as u32).filter(|&slot| moves(slot)) {
        put(slot, slot, &mass_of(island, slot as usize));
    }
    let mut add = |sum: &mut PairBlocks<B>| {
        let pair = [sum.pair.0, sum.pair.1];
        for (i, &p) in pair.iter().enumerate() {
            for (j, &q) in pair.iter().enumerate() {
                if moves(p) && moves(q) {
                    put(p, q, &sum.blocks[i][j]);
                }
            }
        }
        *sum = PairBlocks::new();
    };
    // Contacts of a pair come one after the other: their sum is added once.
    let mut sum = PairBlocks::new();
    for group in groups(island) {
        let response = &responses[group.index];
        if !response.loaded {
            continue;
        }
        let first = &island.rows[group.first];
        if sum.pair != (first.a, first.b) {
            add(&mut sum);
            sum.pair = (first.a, first.b);
        }
        sum.add(
            &island.rows[group.first..group.first + group.len],
            &response.stiffness,
        );
    }
    add(&mut sum);
}

/// Blocks of the inverse of the derivative of velocities by impulses, by slots that forces move: rows that are not at a bound
/// are held, contacts that slide turn. Without contacts, all are open.
pub(crate) fn stiffness<const D: usize, const B: usize>(
    island: &Island<D>,
    with_contacts: bool,
    put: &mut dyn FnMut(u32, u32, &Block<B>),
) {
    let mut responses = held(island);
    if !with_contacts {
        responses[island.joint_rows..].fill_with(Response::open);
    }
    each_block(island, &responses, put);
}

fn mass_of<const D: usize, const B: usize>(island: &Island<D>, slot: usize) -> Block<B> {
    let slot = &island.slots[slot];
    match slot.inertia {
        None => mass_block(slot.inverse_mass, &slot.inverse_inertia),
        Some(inertia) => {
            let matrix = &island.inertias[inertia as usize].matrix;
            std::array::from_fn(|i| std::array::from_fn(|j| matrix[i][j]))
        }
    }
}

/// Rows that respond together: one of a joint, or those of a contact.
pub(super) struct RowGroup {
    /// Number among the responses.
    pub index: usize,
    pub first: usize,
    pub len: usize,
}

pub(super) fn groups<const D: usize>(
    island: &Island<D>,
) -> impl Iterator<Item = RowGroup> + use<D> {
    let joints = island.joint_rows;
    let contacts = island.contacts();
    (0..joints)
        .map(|i| RowGroup {
            index: i,
            first: i,
            len: 1,
        })
        .chain((0..contacts).map(move |k| RowGroup {
            index: joints + k,
            first: joints + k * D,
            len: D,
        }))
}

/// Responses of all joint rows and contacts at the impulses and velocities of the island.
fn respond<const D: usize>(island: &Island<D>) -> Vec<Response<D>> {
    let joints = (0..island.joint_rows).map(|i| joint_response(island, i));
    let contacts = (0..island.contacts()).map(|contact| contact_response(island, contact));
    joints.chain(contacts).collect()
}

/// Rows that are inside their bounds, held at their velocity. Where two tangents slide, their impulse turns with the direction
/// of sliding: with the velocity `y` across it changes by `reach / |y|` times the change of that.
fn held<const D: usize>(island: &Island<D>) -> Vec<Response<D>> {
    let joint = |i: usize| {
        let (row, x) = (&island.rows[i], island.x[i]);
        let mut response = Response::open();
        if row.diagonal > 0.0 && x > row.lower && x < row.upper {
            response.hold(0, 0.0, PROXIMAL * row.diagonal);
        }
        response
    };
    let contact = |contact: usize| {
        let n = island.normal_row(contact);
        let mut response = Response::open();
        let is_open = island.rows[n].diagonal <= 0.0 || island.x[n] <= 0.0;
        if is_open && !island.is_frozen() {
            return response;
        }
        if !is_open {
            response.hold(0, 0.0, PROXIMAL * island.rows[n].diagonal);
        }
        let reach = INSIDE * island.reach(contact, island.x[n]);
        let together = D == 3 && island.cone == Cone::Disc;
        let length = (1..D).map(|k| island.x[n + k].powi(2)).sum::<f64>().sqrt();
        for k in 1..D {
            let used = if together {
                length
            } else {
                island.x[n + k].abs()
            };
            if used < reach && island.rows[n + k].diagonal > 0.0 {
                response.hold(k, 0.0, PROXIMAL * island.rows[n + k].diagonal);
            }
        }
        if together && length >= reach && reach > 0.0 {
            let y = [island.y(n + 1), island.y(n + 2)];
            let speed = (y[0] * y[0] + y[1] * y[1]).sqrt();
            let most = PROXIMAL * island.disc_diagonal(contact);
            if speed > 0.0 && most > 0.0 {
                let stiff = (reach / speed).min(1.0 / most);
                let across = [-y[1] / speed, y[0] / speed];
                for (i, a) in across.iter().enumerate() {
                    for (j, b) in across.iter().enumerate() {
                        response.stiffness[1 + i][1 + j] = stiff * a * b;
                    }
                }
                response.loaded = true;
            }
        }
        response
    };
    let joints = (0..island.joint_rows).map(joint);
    joints.chain((0..island.contacts()).map(contact)).collect()
}

/// The same active set from where the impulses are now.
fn refined<const D: usize>(island: &Island<D>, responses: &[Response<D>]) -> Vec<Response<D>> {
    groups(island)
        .map(|group| {
            let before = &responses[group.index];
            let mut change = [0.0; D];
            if before.loaded {
                for k in 0..group.len {
                    change[k] = -before.stiffness[k][k] * island.y(group.first + k);
                }
            }
            Response { change, ..*before }
        })
        .collect()
}

fn joint_response<const D: usize>(island: &Island<D>, i: usize) -> Response<D> {
    let row = &island.rows[i];
    let mut response = Response::open();
    if row.diagonal <= 0.0 {
        return response;
    }
    let y = island.y(i);
    let wish = island.x[i] - y / row.diagonal;
    if wish > row.lower && wish < row.upper {
        response.hold(0, y, PROXIMAL * row.diagonal);
    } else {
        response.change[0] = wish.clamp(row.lower, row.upper) - island.x[i];
    }
    response
}

fn contact_response<const D: usize>(island: &Island<D>, contact: usize) -> Response<D> {
    let n = island.normal_row(contact);
    let row = &island.rows[n];
    let mut response = Response::open();
    let y = island.y(n);
    let is_open = row.diagonal <= 0.0 || island.x[n] - y / row.diagonal <= 0.0 || row.upper <= 0.0;
    if is_open {
        response.change[0] = -island.x[n];
    } else {
        response.hold(0, y, PROXIMAL * row.diagonal);
    }
    if is_open && !island.is_frozen() {
        for k in 1..D {
            response.change[k] = -island.x[n + k];
        }
        return response;
    }
    if D == 3 && island.cone == Cone::Disc {
        let rate = island.disc_diagonal(contact);
        tangents(&mut response, island, contact, &[1, 2], rate);
    } else {
        for t in 1..D {
            let rate = island.rows[n + t].diagonal;
            tangents(&mut response, island, contact, &[t], rate);
        }
    }
    response
}

/// Responses of tangents that share a bound.
fn tangents<const D: usize>(
    response: &mut Response<D>,
    island: &Island<D>,
    contact: usize,
    tangents: &[usize],
    rate: f64,
) {
    let n = island.normal_row(contact);
    let (mu, frozen) = (island.friction[contact], island.is_frozen());
    let reach = island.reach(contact, island.x[n]);
    if rate <= 0.0 {
        return;
    }
    let (mut x, mut y, mut p) = ([0.0; 2], [0.0; 2], [0.0; 2]);
    for (k, &t) in tangents.iter().enumerate() {
        x[k] = island.x[n + t];
        y[k] = island.y(n + t);
        p[k] = x[k] - y[k] / rate;
    }
    let length = (p[0] * p[0] + p[1] * p[1]).sqrt();
    if mu > 0.0 && length <= reach {
        for (k, &t) in tangents.iter().enumerate() {
            response.hold(t, y[k], PROXIMAL * rate);
        }
        return;
    }
    response.slides |= mu > 0.0;
    let d = if length > 0.0 {
        p.map(|p| p / length)
    } else {
        [0.0; 2]
    };
    let turn = if tangents.len() == 2 && length > 0.0 {
        reach / length
    } else {
        0.0
    };
    // Across the sliding direction: rho (1 - turn) dx + turn dy = -rho x.
    let across = [-d[1], d[0]];
    let lever = 1.0 / (1.0 - turn + PROXIMAL);
    let stiffness = turn * lever / rate;
    response.loaded |= stiffness > 0.0;
    let behind = x[0] * across[0] + x[1] * across[1];
    let along = x[0] * d[0] + x[1] * d[1];
    let normal = response.stiffness[0][0];
    for (k, &t) in tangents.iter().enumerate() {
        let (dk, ak) = if tangents.len() == 2 {
            (d[k], across[k])
        } else {
            (d[0], 0.0)
        };
        // Along it: dx = mu dx_n - (x - mu x_n), or to a bound that does not follow.
        let to_bound = match frozen {
            false => mu * (response.change[0] + island.x[n]) - along,
            true => reach - along,
        };
        response.stiffness[t][0] = if frozen { 0.0 } else { mu * dk * normal };
        response.change[t] = dk * to_bound - ak * lever * behind;
        for (l, &s) in tangents.iter().enumerate() {
            if tangents.len() == 2 {
                response.stiffness[t][s] = stiffness * ak * across[l];
            }
        }
    }
}

impl<const D: usize> Response<D> {
    pub fn open() -> Self {
        Self {
            change: [0.0; D],
            stiffness: [[0.0; D]; D],
            loaded: false,
            slides: false,
        }
    }

    /// The velocity of a row becomes zero: `y + dy + compliance dx = 0`.
    fn hold(&mut self, k: usize, y: f64, compliance: f64) {
        self.stiffness[k][k] = 1.0 / compliance;
        self.change[k] = -y / compliance;
        self.loaded = true;
    }
}

/// `J' K J` of the contacts between two bodies.
struct PairBlocks<const B: usize> {
    pair: (u32, u32),
    blocks: [[Block<B>; 2]; 2],
}

impl<const B: usize> PairBlocks<B> {
    fn new() -> Self {
        Self {
            pair: (0, 0),
            blocks: [[[[0.0; B]; B]; 2]; 2],
        }
    }

    fn add<const D: usize>(&mut self, rows: &[SolverRow<D>], stiffness: &[[f64; D]; D]) {
        let mut on = [[[0.0; B]; D]; 2];
        for (k, row) in rows.iter().enumerate() {
            (on[0][k], on[1][k]) = jacobian(row);
        }
        for j in 0..2 {
            // K J
            let mut by = [[0.0; B]; D];
            for k in 0..rows.len() {
                for l in 0..rows.len() {
                    if stiffness[k][l] != 0.0 {
                        (0..B).for_each(|c| by[k][c] += stiffness[k][l] * on[j][l][c]);
                    }
                }
            }
            for i in 0..2 {
                let block = &mut self.blocks[i][j];
                for k in 0..rows.len() {
                    for r in 0..B {
                        for c in 0..B {
                            block[r][c] += on[i][k][r] * by[k][c];
                        }
                    }
                }
            }
        }
    }
}

/// The parts of a row of `J` for its two bodies.
#[inline(always)]
pub(super) fn jacobian<const D: usize, const B: usize>(row: &SolverRow<D>) -> ([f64; B], [f64; B]) {
    let (mut a, mut b) = ([0.0; B], [0.0; B]);
    for i in 0..D {
        a[i] = row.linear[i];
        b[i] = -row.linear[i];
    }
    // In two dimensions bodies turn about the third axis only.
    for i in D..B {
        let axis = 3 + i - B;
        a[i] = row.angular_a[axis];
        b[i] = row.angular_b[axis];
    }
    (a, b)
}

fn mass_block<const B: usize>(inverse_mass: f64, inverse_inertia: &[[f64; 3]; 3]) -> Block<B> {
    let mut block = [[0.0; B]; B];
    let linear = if B == 6 { 3 } else { 2 };
    for i in 0..linear {
        block[i][i] = 1.0 / inverse_mass;
    }
    if B == 6 {
        let inertia = inverse3(inverse_inertia);
        for i in 0..3 {
            for j in 0..3 {
                block[3 + i][3 + j] = inertia[i][j];
            }
        }
    } else {
        block[2][2] = 1.0 / inverse_inertia[2][2];
    }
    block
}
