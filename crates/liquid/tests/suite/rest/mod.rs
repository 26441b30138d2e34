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

fn all<const D: usize>(cases: impl IntoIterator<Item = Case>, seconds: f64) {
    let faults: Vec<String> = cases
        .into_iter()
        .flat_map(|case| rests::<D>(case, seconds))
        .collect();
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// The whole matrix, a test for every case, so that as many run at once as there are processors.
macro_rules! whole_matrix {
    ($($name:ident: $vessel:expr;)+) => {
        $(mod $name {
            use super::*;
            every_case!(in_2d: 2, $vessel);
            every_case!(in_3d: 3, $vessel);
        })+
    };
}

macro_rules! every_case {
    ($name:ident: $dimensions:literal, $vessel:expr) => {
        mod $name {
            use super::*;
            every_case! { $dimensions, $vessel;
                with_24_cells_a_third_full: 24, 1.0 / 3.0;
                with_24_cells_half_full: 24, 0.5;
                with_24_cells_four_fifths_full: 24, 0.8;
                with_48_cells_a_third_full: 48, 1.0 / 3.0;
                with_48_cells_half_full: 48, 0.5;
                with_48_cells_four_fifths_full: 48, 0.8;
            }
        }
    };
    ($dimensions:literal, $vessel:expr; $($name:ident: $cells:literal, $fill:expr;)+) => {
        $(mod $name {
            use super::*;

            fn rests_with(walls: Walls) {
                let case = Case {
                    vessel: $vessel,
                    fill: $fill,
                    cells: $cells,
                    walls,
                    seed: 1,
                };
                all::<$dimensions>([case], LONG);
            }

            #[test]
            #[ignore = "long: six seconds"]
            fn liquid_rests_with_slip_walls() {
                rests_with(Walls::Slip);
            }

            #[test]
            #[ignore = "long: six seconds"]
            fn liquid_rests_with_separating_walls() {
                rests_with(Walls::Separating);
            }
        })+
    };
}

whole_matrix! {
    in_a_sphere: Vessel::Sphere;
    in_a_v: Vessel::Vee;
    in_a_tilted_box: Vessel::TiltedBox(17);
    in_a_lying_capsule: Vessel::Capsule;
    in_a_tank_off_the_grid: Vessel::OffGridTank;
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
    all::<2>(cases, SHORT);
}

/// The ceiling of the box slopes by 17 degrees: the free surface meets it in a wedge that is thinner than a cell for
/// several cells. Levels at which it lies anywhere in the grid, and places of particles that no other test has.
#[test]
fn liquid_rests_below_a_sloping_ceiling() {
    let levels = [(0.77, 24), (0.79, 24), (0.81, 32), (0.82, 32), (0.8, 48)];
    let cases = levels.into_iter().flat_map(|(fill, cells)| {
        [(Walls::Slip, 2), (Walls::Separating, 3)].map(|(walls, seed)| Case {
            vessel: Vessel::TiltedBox(17),
            fill,
            cells,
            walls,
            seed,
        })
    });
    all::<2>(cases, SHORT);
}

#[test]
fn liquid_rests_in_a_sphere_and_a_tilted_box_in_3d() {
    let cases = [
        (Vessel::Sphere, Walls::Slip),
        (Vessel::TiltedBox(17), Walls::Separating),
    ];
    let cases = cases.into_iter().map(|(vessel, walls)| Case {
        vessel,
        fill: 0.5,
        cells: 24,
        walls,
        seed: 1,
    });
    all::<3>(cases, SHORT);
}
