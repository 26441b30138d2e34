//! Islands: groups of free bodies that contacts and joints connect, each with a problem of its own.

use crate::bodies::{Bodies, State};
use crate::contact::Contact;
use crate::joint::{JointRows, joint_rows};
use crate::linear::dot;
use crate::rows::{Row, contact_rows};
use crate::solve::Island;
use crate::state::Kinetic;
use crate::step::Prepared;
use crate::warm::warm_impulses;

/// Contacts and joints of one island.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    /// Free bodies, rising.
    pub bodies: Vec<usize>,
    pub contacts: Vec<usize>,
    pub joints: Vec<usize>,
}

/// Groups of free bodies that are connected, in order of their first body. Bodies without contact or joint are in none.
pub(crate) fn groups(
    free: &[bool],
    contacts: &[(usize, usize)],
    joints: &[(usize, Option<usize>)],
) -> Vec<Group> {
    let mut parent: Vec<usize> = (0..free.len()).collect();
    fn root(parent: &mut [usize], mut body: usize) -> usize {
        while parent[body] != body {
            parent[body] = parent[parent[body]];
            body = parent[body];
        }
        body
    }
    let links = contacts
        .iter()
        .map(|&(a, b)| (a, Some(b)))
        .chain(joints.iter().copied());
    for (a, b) in links {
        if let Some(b) = b
            && free[a]
            && free[b]
        {
            let (x, y) = (root(&mut parent, a), root(&mut parent, b));
            parent[x.max(y)] = x.min(y);
        }
    }
    let mut index = vec![usize::MAX; free.len()];
    let mut groups: Vec<Group> = Vec::new();
    let mut place = |a: usize, b: Option<usize>, parent: &mut [usize]| {
        let body = if free[a] { a } else { b.filter(|&b| free[b])? };
        let first = root(parent, body);
        if index[first] == usize::MAX {
            index[first] = groups.len();
            groups.push(Group::default());
        }
        Some(index[first])
    };
    let of_contacts: Vec<_> = contacts
        .iter()
        .map(|&(a, b)| place(a, Some(b), &mut parent))
        .collect();
    let of_joints: Vec<_> = joints
        .iter()
        .map(|&(a, b)| place(a, b, &mut parent))
        .collect();
    for (contact, group) in of_contacts.into_iter().enumerate() {
        if let Some(group) = group {
            groups[group].contacts.push(contact);
        }
    }
    for (joint, group) in of_joints.into_iter().enumerate() {
        if let Some(group) = group {
            groups[group].joints.push(joint);
        }
    }
    for body in (0..free.len()).filter(|&body| free[body]) {
        let group = index[root(&mut parent, body)];
        if group != usize::MAX {
            groups[group].bodies.push(body);
        }
    }
    groups
}

impl<const D: usize> Bodies<D> {
    /// The groups of a step.
    pub(crate) fn groups(
        &self,
        state: &State<D>,
        kinetics: &[Kinetic<D>],
        contacts: &[Contact<D>],
    ) -> Vec<Group> {
        let free: Vec<bool> = kinetics.iter().map(Kinetic::is_free).collect();
        let between: Vec<(usize, usize)> = contacts
            .iter()
            .map(|contact| (contact.a, contact.b))
            .collect();
        let mut groups = self.connected(state, &free, &between);
        groups.sort_by_key(|group| group.bodies.first().copied());
        groups
    }

    /// Groups of free bodies that joints and contacts between the given pairs connect.
    pub(crate) fn connected(
        &self,
        state: &State<D>,
        free: &[bool],
        between: &[(usize, usize)],
    ) -> Vec<Group> {
        // A broken joint connects nothing: as one between two worlds.
        let joints: Vec<(usize, Option<usize>)> = (self.joints.iter().zip(&state.joints))
            .map(|(joint, own)| (joint.a, joint.b, own.broken))
            .map(|(a, b, broken)| if broken { (usize::MAX, None) } else { (a, b) })
            .collect();
        groups_of(free, between, &joints)
    }

    /// Rows of a joint in a step.
    pub(crate) fn rows_of_joint(
        &self,
        joint: usize,
        state: &State<D>,
        kinetics: &[Kinetic<D>],
        dt: f64,
    ) -> JointRows<D> {
        let own = &self.joints[joint];
        let world = Kinetic::world();
        let (pose_b, kinetic_b) = match own.b {
            Some(b) => (state.bodies[b].pose, &kinetics[b]),
            None => (meniscus_shapes::Pose::IDENTITY, &world),
        };
        let poses = [&state.bodies[own.a].pose, &pose_b];
        joint_rows(
            own,
            &self.frames[joint],
            &state.joints[joint],
            poses,
            [&kinetics[own.a], kinetic_b],
            dt,
        )
    }

    /// The problem of a group: rows of its joints, then those of its contacts, started from the last step's impulses.
    pub(crate) fn island(
        &self,
        group: &Group,
        state: &State<D>,
        prepared: &Prepared<D>,
        dt: f64,
    ) -> Island<D> {
        let Prepared {
            kinetics,
            contacts,
            joints,
            ..
        } = prepared;
        let mut island = Island::new(self.settings.cone);
        island.inertias = prepared.inertias.clone();
        let mut slots = Slots::new(kinetics.len());
        for &body in &group.bodies {
            slots.get(&mut island, body, kinetics);
        }
        let ratio = if state.last_dt > 0.0 {
            dt / state.last_dt
        } else {
            0.0
        };
        for &joint in &group.joints {
            let Some(made) = &joints[joint] else { continue };
            for (k, row) in made.rows.iter().enumerate() {
                slots.add(
                    &mut island,
                    row,
                    kinetics,
                    ratio * state.joints[joint].impulses[k],
                );
                island.joint_row_ids.push(joint);
            }
        }
        island.joint_rows = island.rows.len();
        // Contacts of a pair come one after the other.
        let mut left = &group.contacts[..];
        while let Some(&first) = left.first() {
            let pair = |contact: usize| (contacts[contact].a, contacts[contact].b);
            let count = left.partition_point(|&contact| pair(contact) <= pair(first));
            let starts = warm_impulses(state, &contacts[first..first + count]);
            for (&contact, start) in left[..count].iter().zip(starts) {
                let own = &contacts[contact];
                let rows = contact_rows(own, kinetics, self.settings.cone, dt);
                for row in &rows[..D] {
                    slots.add(&mut island, row, kinetics, ratio * dot(row.linear, start));
                }
                island.friction.push(own.friction);
                island.contact_ids.push(contact);
            }
            left = &left[count..];
        }
        island.begin();
        island
    }
}

fn groups_of(
    free: &[bool],
    contacts: &[(usize, usize)],
    joints: &[(usize, Option<usize>)],
) -> Vec<Group> {
    // One more body, which nothing moves, stands for what broken joints connect.
    let mut free = free.to_vec();
    free.push(false);
    let last = free.len() - 1;
    let joints: Vec<_> = joints.iter().map(|&(a, b)| (a.min(last), b)).collect();
    groups(&free, contacts, &joints)
}

/// Which slot of an island a body has.
pub(crate) struct Slots {
    /// For each body its slot, or `NONE`.
    of_body: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Slots {
    pub fn new(bodies: usize) -> Self {
        Self {
            of_body: vec![NONE; bodies],
        }
    }

    pub fn get<const D: usize>(
        &mut self,
        island: &mut Island<D>,
        body: usize,
        kinetics: &[Kinetic<D>],
    ) -> u32 {
        let slot = &mut self.of_body[body];
        if *slot == NONE {
            *slot = island.add_slot(body, &kinetics[body]);
        }
        *slot
    }

    pub fn add<const D: usize>(
        &mut self,
        island: &mut Island<D>,
        row: &Row<D>,
        kinetics: &[Kinetic<D>],
        start: f64,
    ) {
        let a = self.get(island, row.a, kinetics);
        let b = row.b.map_or(0, |b| self.get(island, b, kinetics));
        island.add_row(row, a, b, start);
    }
}
