//! The tables and figures of Andersen, Niebe and Erleben (2017), on problems of our own runs of their scenes.
//!
//! Figures 9 and 10 compare a GPU with a CPU; there is no GPU here.

mod curves;
mod forcing;
mod frames;
mod krylov;
mod krylov_case;
mod rates;
mod scaling;
mod slowdown;
mod space;
mod starts;
mod volume;

pub use forcing::{Fig16, Fig17};
pub use frames::Frames;
pub use krylov::{Fig12, Fig13};
pub use rates::{Fig8, Fig11};
pub use scaling::Fig14;
pub use slowdown::Table1;
pub use space::Fig1;
pub use starts::Starts;
pub use volume::Fig15;

use crate::prelude::*;
use curves::Curves;

use crate::walls;
use meniscus_liquid::Walls;
use meniscus_scene::{AnyScene, Scene};

/// Scene 1 to 5.
fn flat_scene(number: u32, cells: usize, walls: Walls) -> Result<Scene<2>, Error> {
    let name = format!("ane17-{number}");
    match walls::scene(&name, cells, walls)? {
        AnyScene::Two(scene) => Ok(scene),
        AnyScene::Three(_) => Err(Error::usage(format!("{name} is not flat"))),
    }
}
