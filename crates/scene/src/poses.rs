//! Solids at the poses of a frame.
//!
//! Poses always come from the frame; only the simulation follows keyframes.

use super::Scene;
use meniscus_shapes::{Ease, Keyframe, Motion, Pose, Rotation, ScriptedSolid, Solids};
use meniscus_store::cache::BodyState;
use meniscus_store::error::{Error, Kind};
use std::collections::{HashMap, VecDeque};

impl<const D: usize> Scene<D> {
    /// For each of [`all_solids`](Scene::all_solids) its state among those of a frame, by name; `None` for one that the
    /// frame does not have. Solids of the same name correspond in their order.
    pub fn match_bodies<'b>(&self, bodies: &'b [BodyState<D>]) -> Vec<Option<&'b BodyState<D>>> {
        let mut by_name: HashMap<&str, VecDeque<&BodyState<D>>> = HashMap::new();
        for state in bodies {
            by_name.entry(&state.name).or_default().push_back(state);
        }
        let solids = self.solids.iter().map(|solid| &solid.name);
        let names = solids.chain(self.bodies.iter().map(|body| &body.name));
        names
            .map(|name| by_name.get_mut(name.as_str())?.pop_front())
            .collect()
    }

    /// The solids and bodies of a frame, fixed at their poses, each with its index among
    /// [`all_solids`](Scene::all_solids).
    ///
    /// # Errors
    /// If the matrix of a pose is not a rotation.
    pub fn solids_at(
        &self,
        bodies: &[BodyState<D>],
    ) -> Result<Vec<(usize, ScriptedSolid<D>)>, Error> {
        let matched = self.match_bodies(bodies);
        let solids = self.all_solids().into_iter().zip(matched).enumerate();
        solids
            .filter_map(|(k, (body, state))| Some((k, body, state?)))
            .map(|(k, body, state)| {
                let motion = fixed_at(state).ok_or_else(|| {
                    let message = format!(
                        "the pose of {} is damaged: its matrix is not a rotation",
                        body.name
                    );
                    Error::new(Kind::Storage, message)
                })?;
                Ok((k, ScriptedSolid { motion, ..body }))
            })
            .collect()
    }

    /// The solids of a frame and the sides of the domain.
    ///
    /// # Errors
    /// As [`Scene::solids_at`].
    pub fn posed_solids(&self, bodies: &[BodyState<D>]) -> Result<Solids<D>, Error> {
        let solids = self.solids_at(bodies)?.into_iter().map(|(_, body)| body);
        Ok(Solids::new(solids.chain([self.sides()]).collect()))
    }
}

/// A motion that stays at the pose of a state; `None` if its matrix is not a rotation.
fn fixed_at<const D: usize>(state: &BodyState<D>) -> Option<Motion<D>> {
    let rotation = Rotation::from_matrix(state.rotation)?;
    let (position, time) = (state.translation, 0.0);
    let pose = Pose {
        rotation,
        translation: position,
    };
    if pose == Pose::IDENTITY {
        return Some(Motion::Still);
    }
    Some(Motion::Keyframes {
        keys: vec![Keyframe {
            time,
            position,
            rotation,
        }],
        ease: Ease::default(),
    })
}

#[cfg(test)]
mod tests {
    use crate::{AnyScene, Scene, builtin};
    use meniscus_shapes::{ScriptedSolid, Shape};
    use meniscus_store::cache::BodyState;

    fn states<const D: usize>(scene: &Scene<D>, time: f64) -> Vec<BodyState<D>> {
        let state = |body: &ScriptedSolid<D>| {
            let pose = body.motion.world_from_body(time);
            BodyState::at_rest(&body.name, *pose.rotation.matrix(), pose.translation)
        };
        scene.solids.iter().map(state).collect()
    }

    #[test]
    fn solids_at_the_poses_of_a_frame_are_where_keyframes_put_them() {
        for name in ["paddle", "thrown-sphere", "cup"] {
            let AnyScene::Three(scene) = builtin::named(name).unwrap() else {
                panic!("{name} is in space")
            };
            for time in [0.0, 0.13, 0.71, 2.5] {
                let states = states(&scene, time);
                let posed = scene.posed_solids(&states).unwrap();
                let posed = posed.over_step(99.0, 0.0);
                let scripted = scene.solids_and_walls();
                let scripted = scripted.over_step(time, 0.0);
                for k in 0..60 {
                    let x = [0.31, 0.17, 0.23].map(|step| (f64::from(k) * step).fract());
                    assert_eq!(posed.distance(x), scripted.distance(x), "{name} at {time}");
                }
            }
        }
    }

    #[test]
    fn a_solid_that_a_frame_lacks_is_left_out() {
        let mut scene = crate::Scene::<2>::new("two", "", [1.0; 2], 16);
        let ball = |x: f64| Shape::Sphere {
            center: [x, 0.5],
            radius: 0.1,
        };
        scene.solids.push(ScriptedSolid::still("ball", ball(0.2)));
        scene.solids.push(ScriptedSolid::still("ball", ball(0.5)));
        let states = states(&scene, 0.0);
        scene.solids.push(ScriptedSolid::still("new", ball(0.8)));
        let found = scene.solids_at(&states).unwrap();
        assert_eq!(found.iter().map(|(k, _)| *k).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(found[1].1, scene.solids[1]);
        let mut broken = states.clone();
        broken[1].rotation[0][0] = 2.0;
        assert!(scene.solids_at(&broken).is_err());
    }
}
