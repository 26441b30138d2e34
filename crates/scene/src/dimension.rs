//! Scenes whose dimension is known at run time only.

use super::{Limits, Scene};
use meniscus_store::error::Error;
use std::any::Any;

/// A scene in two or three dimensions.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyScene {
    /// In 2D; up is y.
    Two(Scene<2>),
    /// In 3D; up is z.
    Three(Scene<3>),
}

/// Evaluates the same expression for a scene of either dimension.
macro_rules! either {
    ($any:expr, $scene:ident => $body:expr) => {
        match $any {
            $crate::AnyScene::Two($scene) => $body,
            $crate::AnyScene::Three($scene) => $body,
        }
    };
}
pub(crate) use either;

impl From<Scene<2>> for AnyScene {
    fn from(scene: Scene<2>) -> Self {
        AnyScene::Two(scene)
    }
}

impl From<Scene<3>> for AnyScene {
    fn from(scene: Scene<3>) -> Self {
        AnyScene::Three(scene)
    }
}

impl AnyScene {
    /// A scene of `D` dimensions.
    ///
    /// # Panics
    /// If `D` is neither 2 nor 3.
    pub fn of<const D: usize>(scene: &Scene<D>) -> Self {
        let scene: &dyn Any = scene;
        match (
            scene.downcast_ref::<Scene<2>>(),
            scene.downcast_ref::<Scene<3>>(),
        ) {
            (Some(scene), _) => AnyScene::Two(scene.clone()),
            (_, Some(scene)) => AnyScene::Three(scene.clone()),
            _ => unreachable!("scenes have 2 or 3 dimensions"),
        }
    }

    /// The scene as one of `D` dimensions, if it has as many.
    pub fn of_dimension<const D: usize>(self) -> Option<Scene<D>> {
        let scene: Box<dyn Any> = match self {
            AnyScene::Two(scene) => Box::new(scene),
            AnyScene::Three(scene) => Box::new(scene),
        };
        scene.downcast().ok().map(|scene| *scene)
    }

    /// Short name, also that of the output folder.
    pub fn name(&self) -> &str {
        either!(self, scene => &scene.name)
    }

    /// Description in one line.
    pub fn summary(&self) -> &str {
        either!(self, scene => &scene.summary)
    }

    /// 2 or 3.
    pub fn dimension(&self) -> usize {
        match self {
            AnyScene::Two(_) => 2,
            AnyScene::Three(_) => 3,
        }
    }

    /// Cells along the longest side.
    pub fn resolution(&self) -> usize {
        either!(self, scene => scene.resolution)
    }

    /// Whether the scene is one of rigid bodies without liquid.
    pub fn is_rigid(&self) -> bool {
        either!(self, scene => scene.is_rigid())
    }

    /// Whether the particle method simulates the scene.
    pub fn is_projective(&self) -> bool {
        either!(self, scene => scene.is_projective())
    }

    /// Number of rigid bodies.
    pub fn bodies(&self) -> usize {
        either!(self, scene => scene.bodies.len())
    }

    /// Residual of contacts above which errors become visible, in m/s.
    pub fn visible_residual(&self) -> f64 {
        either!(self, scene => scene.visible_residual())
    }

    /// Number of frames to simulate.
    pub fn frames(&self) -> u32 {
        either!(self, scene => scene.frames)
    }

    /// Drift at which a run warns and ends.
    pub fn limits(&self) -> Limits {
        either!(self, scene => scene.limits)
    }

    /// Validates the scene.
    ///
    /// # Errors
    /// The first error found.
    pub fn check(&self) -> Result<(), Error> {
        either!(self, scene => scene.check())
    }
}
