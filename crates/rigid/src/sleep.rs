//! Islands at rest fall asleep, and wake when something touches them.

use crate::bodies::Bodies;
use crate::body::Twist;
use crate::contact::Contact;
use crate::islands::Group;
use crate::linear::norm;
use crate::state::Kinetic;
use crate::step::Prepared;

/// Speed in m/s below which a body may fall asleep.
const SLOW: f64 = 0.005;
/// Seconds for which all bodies of an island must be slow.
const PATIENCE: f64 = 0.5;

impl<const D: usize> Bodies<D> {
    /// Whether a group sleeps through the step: all its bodies are asleep, and nothing that moves by script touches it.
    pub(crate) fn sleeps(
        &self,
        group: &Group,
        contacts: &[Contact<D>],
        kinetics: &[Kinetic<D>],
    ) -> bool {
        let asleep = group
            .bodies
            .iter()
            .all(|&body| self.state.bodies[body].asleep);
        let still = |body: usize| kinetics[body].is_free() || kinetics[body].twist == Twist::ZERO;
        asleep
            && group
                .contacts
                .iter()
                .all(|&c| still(contacts[c].a) && still(contacts[c].b))
    }

    /// Wakes what has to move, and lets islands that have been slow for long fall asleep.
    pub(crate) fn settle(&mut self, prepared: &Prepared<D>, dt: f64) {
        if !self.settings.sleeping {
            return;
        }
        for (group, &asleep) in prepared.groups.iter().zip(&prepared.asleep) {
            if asleep {
                continue;
            }
            for &body in &group.bodies {
                let reach = self.colliders[body].reach(self.bodies[body].local_center());
                let state = &mut self.state.bodies[body];
                let speed = norm(state.twist.linear).max(reach * norm(state.twist.angular));
                state.rest_time = if speed < SLOW {
                    state.rest_time + dt
                } else {
                    0.0
                };
            }
            let rested = group
                .bodies
                .iter()
                .all(|&body| self.state.bodies[body].rest_time >= PATIENCE);
            for &body in &group.bodies {
                let state = &mut self.state.bodies[body];
                state.asleep = rested;
                if rested {
                    state.twist = Twist::ZERO;
                }
            }
        }
    }

    /// Wakes bodies that belong to no sleeping island, before the step moves them.
    pub(crate) fn wake(&mut self, prepared: &Prepared<D>) {
        let mut stays = vec![false; self.len()];
        for (group, &asleep) in prepared.groups.iter().zip(&prepared.asleep) {
            if asleep {
                group.bodies.iter().for_each(|&body| stays[body] = true);
            }
        }
        for (state, stays) in self.state.bodies.iter_mut().zip(stays) {
            if state.asleep && !stays {
                state.asleep = false;
                state.rest_time = 0.0;
            }
        }
    }
}
