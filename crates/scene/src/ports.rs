//! Emitters, drains and open sides of a scene.

use super::Scene;
use meniscus_liquid::stokes::Rheology;
use meniscus_liquid::{self as liquid, Sources};
use meniscus_shapes::{Bounds, Shape};
use std::ops::Range;

/// Cells from an open side to the walls beyond it: more than the liquid samples.
const BEYOND_OPEN: f64 = 16.0;

/// A range of time in frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameRange {
    /// First frame; 0 is the start.
    pub from: u32,
    /// Last frame. Default: the end.
    pub to: Option<u32>,
}

/// A source of liquid.
///
/// Its flow rate is the area of its shape as seen along the velocity, times the speed. The shape is empty at first and
/// fills from the side that the velocity comes from; all liquid in it moves at that velocity. Parts inside solids or
/// outside the domain emit nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Emitter<const D: usize> {
    /// Name in messages.
    pub name: String,
    /// Shape, which must be bounded.
    pub shape: Shape<D>,
    /// Velocity of the emitted liquid; not zero.
    pub velocity: [f64; D],
    /// Viscosity of the emitted liquid. Default: none.
    pub rheology: Rheology,
    /// Frames in which it is active.
    pub frames: FrameRange,
}

/// A sink of liquid. Its shape may be unbounded.
#[derive(Clone, Debug, PartialEq)]
pub struct Drain<const D: usize> {
    /// Name in messages.
    pub name: String,
    /// Shape.
    pub shape: Shape<D>,
    /// Frames in which it is active.
    pub frames: FrameRange,
}

impl FrameRange {
    /// The range in seconds.
    pub fn seconds(&self, frame_rate: f64) -> Range<f64> {
        let end = self.to.map_or(f64::INFINITY, f64::from);
        f64::from(self.from) / frame_rate..end / frame_rate
    }

    fn check(&self) -> Result<(), String> {
        match self.to {
            Some(to) if to <= self.from => Err(format!(
                "frames from {} to {to}: the end must come after the beginning",
                self.from
            )),
            _ => Ok(()),
        }
    }
}

impl<const D: usize> Emitter<D> {
    /// Speed in m/s.
    pub fn speed(&self) -> f64 {
        self.velocity.iter().map(|v| v * v).sum::<f64>().sqrt()
    }

    fn check(&self, domain: [f64; D]) -> Result<(), String> {
        self.shape.validate().map_err(|fault| fault.to_string())?;
        let inside = Bounds {
            low: [0.0; D],
            high: domain,
        };
        match self.shape.bounds() {
            None => return Err("its shape must be bounded".into()),
            Some(bounds) if bounds.intersection(&inside).is_empty() => {
                return Err("it lies outside of the domain".into());
            }
            Some(_) => {}
        }
        if !self.velocity.iter().all(|v| v.is_finite()) || !self.speed().is_finite() {
            return Err("velocity must be finite".into());
        }
        if self.speed() == 0.0 {
            return Err("velocity must not be zero: liquid comes in at some speed".into());
        }
        self.frames.check()
    }
}

impl<const D: usize> Drain<D> {
    fn check(&self) -> Result<(), String> {
        self.shape.validate().map_err(|fault| fault.to_string())?;
        self.frames.check()
    }
}

impl<const D: usize> Scene<D> {
    /// Emitters, drains and open sides for the liquid.
    pub fn ports(&self) -> Sources<D> {
        let emitters = self.emitters.iter().map(|emitter| liquid::Emitter {
            shape: emitter.shape.clone(),
            velocity: emitter.velocity,
            active: emitter.frames.seconds(self.frame_rate),
        });
        let drains = self.drains.iter().map(|drain| liquid::Drain {
            shape: drain.shape.clone(),
            active: drain.frames.seconds(self.frame_rate),
        });
        let open_sides = (0..D).flat_map(|axis| {
            [false, true]
                .into_iter()
                .filter(move |&high| self.open[axis][usize::from(high)])
                .map(move |high| {
                    let at = if high { self.domain[axis] } else { 0.0 };
                    liquid::Drain::open_side(axis, high, at, self.dx())
                })
        });
        Sources {
            emitters: emitters.collect(),
            drains: drains.chain(open_sides).collect(),
            materials: self.emitter_materials(),
        }
    }

    /// Whether liquid can leave.
    pub fn has_a_way_out(&self) -> bool {
        !self.drains.is_empty() || self.open.as_flattened().contains(&true)
    }

    /// The space between the walls of the domain: the domain itself, and more beyond open sides.
    pub(super) fn room(&self) -> Shape<D> {
        let more = |open: bool| if open { BEYOND_OPEN * self.dx() } else { 0.0 };
        Shape::Box {
            low: std::array::from_fn(|a| -more(self.open[a][0])),
            high: std::array::from_fn(|a| self.domain[a] + more(self.open[a][1])),
        }
    }

    /// Signed distance of a point beyond the open sides, where no solids keep liquid from being at the start.
    pub(super) fn beyond_open_sides(&self, x: [f64; D]) -> f64 {
        let beyond = |a: usize, high: bool| match (self.open[a][usize::from(high)], high) {
            (false, _) => f64::NEG_INFINITY,
            (true, false) => -x[a],
            (true, true) => x[a] - self.domain[a],
        };
        (0..D)
            .map(|a| beyond(a, false).max(beyond(a, true)))
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// Validates emitters and drains.
    pub(super) fn check_ports(&self) -> Result<(), String> {
        for (i, emitter) in self.emitters.iter().enumerate() {
            emitter
                .check(self.domain)
                .map_err(|fault| format!("{}: {fault}", called("emitter", i, &emitter.name)))?;
        }
        for (i, drain) in self.drains.iter().enumerate() {
            drain
                .check()
                .map_err(|fault| format!("{}: {fault}", called("drain", i, &drain.name)))?;
        }
        Ok(())
    }
}

fn called(what: &str, index: usize, name: &str) -> String {
    match name {
        "" => format!("{what} {}", index + 1),
        name => format!("{what} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_store::error::Kind;

    fn with_emitter(change: impl Fn(&mut Emitter<2>)) -> Result<(), meniscus_store::error::Error> {
        let mut emitter = Emitter {
            name: "tap".into(),
            shape: Shape::Sphere {
                center: [0.5, 0.5],
                radius: 0.1,
            },
            velocity: [1.0, 0.0],
            rheology: Rheology::default(),
            frames: FrameRange::default(),
        };
        change(&mut emitter);
        let mut scene = Scene::<2>::new("test", "a test", [1.0, 1.0], 16);
        scene.emitters.push(emitter);
        scene.check()
    }

    #[test]
    fn invalid_emitters_and_drains_are_refused_by_name() {
        with_emitter(|_| {}).unwrap();
        let half_space = || Shape::HalfSpace {
            point: [0.0; 2],
            normal: [0.0, 1.0],
        };
        let sphere = |x: f64, radius: f64| Shape::Sphere {
            center: [x, 0.5],
            radius,
        };
        let never = FrameRange {
            from: 5,
            to: Some(5),
        };
        type Change<'a> = &'a dyn Fn(&mut Emitter<2>);
        let changes: [(Change<'_>, &str); 7] = [
            (&|e| e.shape = half_space(), "must be bounded"),
            (&|e| e.velocity = [0.0; 2], "must not be zero"),
            (&|e| e.velocity = [f64::NAN, 0.0], "finite"),
            (&|e| e.velocity = [1e200, 0.0], "finite"),
            (&|e| e.frames = never, "from 5 to 5"),
            (&|e| e.shape = sphere(0.5, -1.0), "radius"),
            (&|e| e.shape = sphere(5.0, 1.0), "outside of the domain"),
        ];
        for (change, said) in changes {
            let error = with_emitter(change).unwrap_err();
            assert_eq!(error.kind(), Kind::Usage);
            let text = error.to_string();
            assert!(
                text.contains("emitter tap") && text.contains(said),
                "{text}"
            );
        }

        let mut scene = Scene::<2>::new("test", "a test", [1.0, 1.0], 16);
        scene.liquids.push(crate::Volume::at_rest(half_space()));
        scene.drains.push(Drain {
            name: String::new(),
            shape: half_space(),
            frames: FrameRange {
                from: 3,
                to: Some(1),
            },
        });
        let text = scene.check().unwrap_err().to_string();
        assert!(text.contains("drain 1: frames from 3 to 1"), "{text}");
        scene.drains[0].frames.to = None;
        scene.check().unwrap();
    }

    #[test]
    fn open_sides_have_no_wall_and_let_everything_beyond_out() {
        let mut scene = Scene::<2>::new("test", "a test", [1.0, 2.0], 16);
        scene.open = [[true, false], [false, true]];
        let solids = scene.solids_and_walls();
        assert!(solids.distance([-0.5, 1.0], 0.0) > 0.0);
        assert!(solids.distance([0.5, 2.5], 0.0) > 0.0);
        assert!(solids.distance([1.01, 1.0], 0.0) < 0.0);
        assert!(solids.distance([0.5, -0.01], 0.0) < 0.0);
        let drains = scene.ports().drains;
        let leaves = |x| drains.iter().any(|d| d.shape.distance(x) < 0.0);
        assert!(leaves([0.0, 1.0]) && leaves([0.5, 2.0]));
        assert!(!leaves([0.01, 1.99]) && !leaves([1.0, 0.0]));
    }
}
