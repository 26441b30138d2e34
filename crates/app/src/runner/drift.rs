//! Volume drift of a run: when it is too large, where it comes from, and what to do.

use meniscus_scene::Scene;
use meniscus_shapes::Solids;
use meniscus_sim::StepReport;
use meniscus_store::manifest::DriftWarning;

/// Deviations of fewer cells than this along each axis are the noise of a surface, not a loss.
const NOISE_CELLS: f64 = 2.0;
/// Crowded cells are blamed on a solid that is nearer than this, in cells.
const BESIDE: f64 = 2.0;
/// Solids thinner than this, in cells, can let liquid through.
const THIN: f64 = 2.0;
/// Solids are probed to this thickness, in cells, ...
const PROBED: f64 = 4.0;
/// ... in steps of this.
const PROBE_STEP: f64 = 0.05;

/// What a step reports about the volume of its liquid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VolumeReport {
    /// Time at the start of the step.
    pub start: f64,
    /// Volume inside the surface.
    pub volume: f64,
    /// Volume of liquid below the grid's resolution.
    pub thin_volume: f64,
    /// What both together should be.
    pub expected_volume: f64,
    /// Volume that the particles stand for.
    pub own_volume: f64,
    /// Place of the most overfull cell, and how many times its share of particles it holds.
    pub crowded: Option<(Vec<f64>, f64)>,
    /// Place of the pocket that lost most.
    pub squeezed: Option<Vec<f64>>,
}

impl From<&StepReport> for VolumeReport {
    fn from(report: &StepReport) -> Self {
        let measure = |name: &str| report.measure(name).unwrap_or(0.0);
        let place = |name: &str| report.place(name).map(<[f64]>::to_vec);
        Self {
            start: report.time - report.dt,
            volume: measure("volume"),
            thin_volume: measure("thin_volume"),
            expected_volume: measure("expected_volume"),
            own_volume: measure("own_volume"),
            crowded: place("crowded").zip(report.measure("crowded")),
            squeezed: place("squeezed"),
        }
    }
}

/// Drift of the volume as a share of what should be there, liquid below the grid's resolution included; zero where
/// nothing should be, and between what should be there and what the particles stand for.
pub fn drift(report: &VolumeReport) -> f64 {
    let found = report.volume + report.thin_volume;
    let (expected, own) = (report.expected_volume, report.own_volume);
    if expected <= 0.0 {
        0.0
    } else if found < expected.min(own) {
        found / expected.min(own) - 1.0
    } else {
        // A surface that comes to enclose what its particles stand for has gained and lost nothing.
        (found / expected.max(own) - 1.0).max(0.0)
    }
}

/// Judges the last step of a frame: nothing if its drift is within the limit.
pub fn examine<const D: usize>(
    scene: &Scene<D>,
    solids: &Solids<D>,
    frame: u32,
    report: &VolumeReport,
) -> Option<DriftWarning> {
    let drift = drift(report);
    let noise = (NOISE_CELLS * scene.dx()).powi(D as i32);
    let beyond =
        drift.abs() > scene.limits.max_drift && (drift * report.expected_volume).abs() > noise;
    if !beyond {
        return None;
    }
    let Cause {
        place,
        words,
        remedy,
    } = cause(scene, solids, drift, report);
    Some(DriftWarning {
        first_frame: frame,
        frame,
        drift,
        limit: scene.limits.max_drift,
        place,
        cause: words,
        remedy,
    })
}

/// A likely cause, and what to do.
struct Cause {
    place: Option<Vec<f64>>,
    words: String,
    remedy: String,
}

fn cause<const D: usize>(
    scene: &Scene<D>,
    solids: &Solids<D>,
    drift: f64,
    report: &VolumeReport,
) -> Cause {
    let finer = format!("raise domain.resolution above {}", scene.resolution);
    if drift > 0.0 {
        return Cause {
            place: None,
            words: "the surface encloses more than its particles stand for; sheets and drops are about a cell thin".into(),
            remedy: finer,
        };
    }
    if let Some(place) = &report.squeezed {
        return Cause {
            words: format!(
                "a solid pushes into liquid that has no way out, near {}",
                coordinates(place)
            ),
            place: Some(place.clone()),
            remedy: "leave the liquid a way out, or open a side of the domain (domain.open)".into(),
        };
    }
    if let Some(crowded) = &report.crowded {
        return piled_up(scene, solids, crowded, report.start);
    }
    let thin = 100.0 * report.thin_volume / report.expected_volume;
    Cause {
        place: None,
        words: format!(
            "liquid fell below the grid's resolution: {thin:.1} % of it is in sheets and drops thinner than a cell, \
             and more is too thin for the grid to hold"
        ),
        remedy: finer,
    }
}

/// Particles that a solid holds together or lets pass into a gap.
fn piled_up<const D: usize>(
    scene: &Scene<D>,
    solids: &Solids<D>,
    (crowded, times): &(Vec<f64>, f64),
    time: f64,
) -> Cause {
    let dx = scene.dx();
    let place: [f64; D] = std::array::from_fn(|a| crowded.get(a).copied().unwrap_or(0.0));
    let mut words = format!(
        "particles piled up at {}, {:.0} times as many as fit into a cell there",
        coordinates(crowded),
        times
    );
    let mut remedy = format!("raise domain.resolution above {}", scene.resolution);
    let posed = solids.over_step(time, 0.0);
    // A solid rather than a side of the domain: sides have no end that liquid could get through.
    let near = (0..solids.list.len())
        .map(|index| (index, posed.solid(index).distance(place)))
        .filter(|&(_, distance)| distance < BESIDE * dx)
        .min_by(|(i, a), (j, b)| {
            let is_side = |index: &usize| *index >= scene.solids.len();
            is_side(i).cmp(&is_side(j)).then(a.total_cmp(b))
        });
    if let Some((index, distance)) = near {
        let body = posed.solid(index);
        let name = &solids.list[index].name;
        // The last body is the domain itself.
        let is_domain = index >= scene.solids.len();
        let solid = match is_domain {
            true => "a side of the domain".into(),
            false => format!("solid `{name}`"),
        };
        words += &format!(", next to {solid}");
        let normal = body.normal(place);
        let along = |s: f64| body.distance(std::array::from_fn(|a| place[a] - s * normal[a]));
        if let Some(cells) = thickness(along, distance / dx, dx).filter(|_| !is_domain) {
            words += &format!(", which is {cells:.1} cells thick there");
            if cells < THIN {
                // A hair less, so that rounding asks for no cell more.
                let enough = (scene.resolution as f64 * THIN / cells - 1e-6).ceil();
                remedy = format!(
                    "make `{name}` at least {:.3} m thick there, or set domain.resolution = {enough}",
                    THIN * dx
                );
            }
        }
    }
    Cause {
        place: Some(crowded.clone()),
        words,
        remedy,
    }
}

/// Thickness of a solid along a line, in cells, from its distance at a way along the line; none if it does not end
/// within reach. The surface is about `distance` cells along.
fn thickness(along: impl Fn(f64) -> f64, distance: f64, dx: f64) -> Option<f64> {
    let steps = ((PROBED + 1.0) / PROBE_STEP) as usize;
    let mut entered = None;
    let mut before = along((distance - 0.5) * dx);
    for k in 1..=steps {
        let cells = distance - 0.5 + k as f64 * PROBE_STEP;
        let now = along(cells * dx);
        // Between two points the distance is linear.
        let crossing = cells - PROBE_STEP * now / (now - before);
        match entered {
            None if before >= 0.0 && now < 0.0 => entered = Some(crossing),
            Some(entered) if now >= 0.0 => return Some(crossing - entered),
            _ => {}
        }
        before = now;
    }
    None
}

/// A place as people write it.
fn coordinates(place: &[f64]) -> String {
    let numbers: Vec<String> = place.iter().map(|x| format!("{x:.3}")).collect();
    format!("({})", numbers.join(", "))
}

#[cfg(test)]
mod tests;
