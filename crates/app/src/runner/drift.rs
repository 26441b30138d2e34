//! Volume drift of a run: detection, likely cause and remedy.

use meniscus_scene::Scene;
use meniscus_shapes::Solids;
use meniscus_sim::StepReport;
use meniscus_store::manifest::DriftWarning;

/// Deviations of fewer cells than this along each axis are noise of the surface, not a loss.
const NOISE_CELLS: f64 = 2.0;
/// Crowded cells are attributed to a solid nearer than this, in cells.
const BESIDE: f64 = 2.0;
/// Solids thinner than this, in cells, may leak.
const THIN: f64 = 2.0;
/// Largest thickness that is measured, in cells.
const PROBED: f64 = 4.0;
/// Step of the measurement, in cells.
const PROBE_STEP: f64 = 0.05;

/// Volumes reported by a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VolumeReport {
    /// Time at the start of the step.
    pub start: f64,
    /// Volume inside the surface.
    pub volume: f64,
    /// Volume of liquid below the grid's resolution.
    pub thin_volume: f64,
    /// Volume of particles beyond what fits into their cells, if known.
    pub compressed_volume: Option<f64>,
    /// Volume deep inside the liquid that lacks particles, if known.
    pub diluted_volume: Option<f64>,
    /// Mean drift over the last hundredths of a second, if known.
    pub recent_drift: Option<f64>,
    /// Target of the sum of volume and thin volume.
    pub expected_volume: f64,
    /// Volume represented by the particles.
    pub own_volume: f64,
    /// Position of the most crowded cell, and its number of particles as a multiple of the regular number.
    pub crowded: Option<(Vec<f64>, f64)>,
    /// Position of the pocket that lost most.
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
            compressed_volume: report.measure("compressed_volume"),
            diluted_volume: report.measure("diluted_volume"),
            recent_drift: report.measure("recent_drift"),
            expected_volume: measure("expected_volume"),
            own_volume: measure("own_volume"),
            crowded: place("crowded").zip(report.measure("crowded")),
            squeezed: place("squeezed"),
        }
    }
}

/// Volume drift as a fraction of the target, liquid below the grid's resolution included; zero without a target, and
/// between the target and the volume represented by the particles.
///
/// The surface encloses too little or too much in jets and drops a few cells across. That is no drift: a loss is at most what
/// the particles are compressed by, a gain at most what they are diluted by.
pub fn drift(report: &VolumeReport) -> f64 {
    let found = report.volume + report.thin_volume;
    let (expected, own) = (report.expected_volume, report.own_volume);
    let at_most = |drift: f64, volume: Option<f64>, of: f64| {
        drift.min(volume.map_or(f64::INFINITY, |volume| volume / of))
    };
    if expected <= 0.0 {
        0.0
    } else if found < expected.min(own) {
        let of = expected.min(own);
        -at_most(1.0 - found / of, report.compressed_volume, of)
    } else {
        // A surface that converges to the volume of its particles neither gains nor loses liquid.
        let of = expected.max(own);
        at_most((found / of - 1.0).max(0.0), report.diluted_volume, of)
    }
}

/// Whether a drift beyond the limit has lasted. An impact compresses liquid for a step or two, until the particles are spread
/// again: nothing is lost.
fn has_lasted(drift: f64, limit: f64, recent: Option<f64>) -> bool {
    recent.is_none_or(|recent| drift.signum() * recent > limit)
}

/// Checks the last step of a frame; returns nothing if its drift is within the limit.
pub fn check_drift<const D: usize>(
    scene: &Scene<D>,
    solids: &Solids<D>,
    frame: u32,
    report: &VolumeReport,
) -> Option<DriftWarning> {
    let drift = drift(report);
    let noise = (NOISE_CELLS * scene.dx()).powi(D as i32);
    let limit = scene.limits.max_drift;
    let beyond = drift.abs() > limit
        && has_lasted(drift, limit, report.recent_drift)
        && (drift * report.expected_volume).abs() > noise;
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
        limit,
        place,
        cause: words,
        remedy,
    })
}

/// Likely cause and remedy.
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
            words: "particles deep inside the liquid are too few for the volume that they fill"
                .into(),
            remedy: finer,
        };
    }
    if let Some(place) = &report.squeezed {
        return Cause {
            words: format!(
                "a solid compresses enclosed liquid near {}",
                coordinates(place)
            ),
            place: Some(place.clone()),
            remedy: "leave an outlet for the liquid, or open a side of the domain (domain.open)"
                .into(),
        };
    }
    if let Some(crowded) = &report.crowded {
        return crowding(scene, solids, crowded, report.start);
    }
    if report.compressed_volume.is_some() {
        return Cause {
            place: None,
            words: "particles are closer together than the liquid's density allows".into(),
            remedy: format!("{finer}, or lower time.cfl below {}", scene.physics.cfl),
        };
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

/// Cause of crowded particles: a solid that confines them or lets them leak into a gap.
fn crowding<const D: usize>(
    scene: &Scene<D>,
    solids: &Solids<D>,
    (crowded, times): &(Vec<f64>, f64),
    time: f64,
) -> Cause {
    let dx = scene.dx();
    let place: [f64; D] = std::array::from_fn(|a| crowded.get(a).copied().unwrap_or(0.0));
    let mut words = format!(
        "particles piled up at {}, {:.0} times as many as a cell should contain",
        coordinates(crowded),
        times
    );
    let mut remedy = format!("raise domain.resolution above {}", scene.resolution);
    let posed = solids.over_step(time, 0.0);
    // A solid takes precedence over a side of the domain: liquid can't leak through the latter.
    let near = (0..solids.list.len())
        .map(|index| (index, posed.solid(index).distance(place)))
        .filter(|&(_, distance)| distance < BESIDE * dx)
        .min_by(|(i, a), (j, b)| {
            let is_side = |index: &usize| *index + 1 == solids.list.len();
            is_side(i).cmp(&is_side(j)).then(a.total_cmp(b))
        });
    if let Some((index, distance)) = near {
        let body = posed.solid(index);
        let name = &solids.list[index].name;
        // The last solid is the domain itself.
        let is_domain = index + 1 == solids.list.len();
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
                // Slightly less, so that rounding does not ask for another cell.
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

/// Thickness of a solid along a line, in cells, from its distance at a position along the line; none if it does not end
/// within reach. The surface is about `distance` cells along.
fn thickness(along: impl Fn(f64) -> f64, distance: f64, dx: f64) -> Option<f64> {
    let steps = ((PROBED + 1.0) / PROBE_STEP) as usize;
    let mut entered = None;
    let mut before = along((distance - 0.5) * dx);
    for k in 1..=steps {
        let cells = distance - 0.5 + k as f64 * PROBE_STEP;
        let now = along(cells * dx);
        // Linear interpolation of the zero crossing.
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

/// Formats a position.
fn coordinates(place: &[f64]) -> String {
    let numbers: Vec<String> = place.iter().map(|x| format!("{x:.3}")).collect();
    format!("({})", numbers.join(", "))
}

#[cfg(test)]
mod tests;
