//! Liquid at rest in curved and slanted containers stays at rest.

mod vessels;

use meniscus_liquid::Walls;
use vessels::{Case, Vessel};

/// Seconds that the whole matrix runs for.
const LONG: f64 = 5.5;
/// Seconds that the everyday part runs for.
const SHORT: f64 = 2.6;

fn rests<const D: usize>(case: Case, seconds: f64) -> Vec<String> {
    let rest = case.measure::<D>(seconds);
    eprintln!("{D}D {case:?}: {rest:?}");
    let mut faults = Vec::new();
    let mut expect = |what: &str, value: f64, bound: f64| {
        if value >= bound {
            faults.push(format!("{D}D {case:?}: {what} {value:.5}, at most {bound}"));
        }
    };
    expect("largest speed", rest.largest, 0.02);
    expect("mean speed", rest.mean, 0.001);
    expect("height above the level in cells", rest.highest, 0.5);
    let flicker = if case.cells < 36 { 5e-4 } else { 2e-4 };
    expect(
        "change of volume from frame to frame",
        rest.flicker,
        flicker,
    );
    if seconds >= LONG {
        let [early, late] = rest.energy;
        expect("late kinetic energy", late, (1.2 * early).max(1e-6));
    }
    faults
}

fn all(cases: impl Iterator<Item = Case>, seconds: f64, space: bool) {
    let faults: Vec<String> = cases
        .flat_map(|case| match space {
            true => rests::<3>(case, seconds),
            false => rests::<2>(case, seconds),
        })
        .collect();
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

fn matrix(vessel: Vessel, cells: usize) -> impl Iterator<Item = Case> {
    [1.0 / 3.0, 0.5, 0.8].into_iter().flat_map(move |fill| {
        [Walls::Slip, Walls::Separating].map(|walls| Case {
            vessel,
            fill,
            cells,
            walls,
            seed: 1,
        })
    })
}

macro_rules! whole_matrix {
    ($($name:ident: $vessel:ident;)+) => {
        mod in_2d {
            use super::*;
            $(
                #[test]
                #[ignore = "long: six seconds of every fill, wall kind and size"]
                fn $name() {
                    all([24, 48].into_iter().flat_map(|n| matrix(Vessel::$vessel, n)), LONG, false);
                }
            )+
        }
        mod in_3d {
            use super::*;
            $(
                #[test]
                #[ignore = "long: six seconds of every fill, wall kind and size"]
                fn $name() {
                    all([24, 48].into_iter().flat_map(|n| matrix(Vessel::$vessel, n)), LONG, true);
                }
            )+
        }
    };
}

whole_matrix! {
    liquid_rests_in_a_sphere: Sphere;
    liquid_rests_in_a_v: Vee;
    liquid_rests_in_a_tilted_box: TiltedBox;
    liquid_rests_in_a_lying_capsule: Capsule;
    liquid_rests_in_a_tank_off_the_grid: OffGridTank;
}

/// The everyday part of the matrix.
#[test]
fn liquid_rests_in_curved_and_slanted_containers_in_2d() {
    let cases = Vessel::ALL.into_iter().map(|vessel| Case {
        vessel,
        fill: 0.5,
        cells: 24,
        walls: Walls::Separating,
        seed: 1,
    });
    all(cases, SHORT, false);
}

/// The ceiling of the box slopes by 17 degrees: the free surface meets it in a wedge that is thinner than a cell for
/// several cells. Levels at which it lies anywhere in the grid, and places of particles that no other test has.
#[test]
fn liquid_rests_below_a_sloping_ceiling() {
    let levels = [(0.77, 24), (0.79, 24), (0.81, 32), (0.82, 32), (0.8, 48)];
    let cases = levels.into_iter().flat_map(|(fill, cells)| {
        [(Walls::Slip, 2), (Walls::Separating, 3)].map(|(walls, seed)| Case {
            vessel: Vessel::TiltedBox,
            fill,
            cells,
            walls,
            seed,
        })
    });
    all(cases, SHORT, false);
}

#[test]
fn liquid_rests_in_a_sphere_and_a_tilted_box_in_3d() {
    let cases = [
        (Vessel::Sphere, Walls::Slip),
        (Vessel::TiltedBox, Walls::Separating),
    ];
    let cases = cases.into_iter().map(|(vessel, walls)| Case {
        vessel,
        fill: 0.5,
        cells: 24,
        walls,
        seed: 1,
    });
    all(cases, SHORT, true);
}
