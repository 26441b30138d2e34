//! Liquid below the grid's resolution, and crowded cells.

use meniscus_liquid::{Liquid, Settings, StepReport};
use meniscus_shapes::{ScriptedSolid, Shape, Solids};

use crate::common::{advance, tank};

const DX: f64 = 1.0 / 32.0;

fn first_step<const D: usize>(liquid: &mut Liquid<D>, solids: &Solids<D>) -> StepReport {
    match advance(liquid, solids, 1e-3) {
        Ok(report) => report,
        Err(failure) => panic!("{failure}"),
    }
}

/// Share of the particles' own volume that is thin, and what is found of it in all.
fn shares<const D: usize>(liquid: &Liquid<D>, report: &StepReport) -> (f64, f64) {
    let own = liquid.particles().len() as f64 * liquid.settings().particle_volume();
    let found = report.volume + report.thin_volume;
    (report.thin_volume / own, found / own)
}

/// Shares of the particles' own volume that are compressed and diluted.
fn density_errors(report: &StepReport) -> (f64, f64) {
    (
        report.compressed_volume / report.own_volume,
        report.diluted_volume / report.own_volume,
    )
}

fn weightless<const D: usize>(cells: [usize; D]) -> Settings<D> {
    let mut settings = Settings::<D>::new(cells, DX);
    settings.physics.gravity = [0.0; D];
    settings
}

fn still_water_has_no_thin_liquid<const D: usize>(cells: [usize; D]) {
    let settings = Settings::<D>::new(cells, DX);
    let mut solids = tank(&settings);
    // A slanted wall, so that cells are cut.
    let mut normal = [0.0; D];
    (normal[0], normal[D - 1]) = (0.6, 0.8);
    let slope = Shape::HalfSpace {
        point: [0.1; D],
        normal,
    };
    solids.list.push(ScriptedSolid::still("slope", slope));
    let mut liquid = Liquid::new(settings).unwrap();
    liquid.fill(&|x| x[D - 1] - 0.32, &|_| [0.0; D], &solids);
    let mut largest = 0.0f64;
    while liquid.time() < 0.5 {
        let report = advance(&mut liquid, &solids, 1.0 / 24.0).unwrap();
        largest = largest.max(shares(&liquid, &report).0);
        assert_eq!(report.crowded, None);
        let (compressed, diluted) = density_errors(&report);
        assert!(
            compressed < 0.03 && diluted < 0.03,
            "{compressed} {diluted}"
        );
    }
    assert!(largest < 0.005, "{D}D: {largest} of still water is thin");
}

#[test]
fn still_water_has_no_thin_liquid_in_2d() {
    still_water_has_no_thin_liquid([32, 20]);
}

#[test]
fn still_water_has_no_thin_liquid_in_3d() {
    still_water_has_no_thin_liquid([24, 16, 16]);
}

/// Particles at random places, as after long mixing: the noisiest counts there are.
#[test]
fn random_particle_counts_are_not_thin_liquid() {
    let settings = weightless([24; 3]);
    let solids = tank(&settings);
    let mut liquid = Liquid::new(settings).unwrap();
    liquid.fill(&|x| x[2] - 0.4, &|_| [0.0; 3], &solids);
    let count = liquid.particles().len();
    let mut state = 1u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let side = 24.0 * DX;
    let places = (0..count).map(|_| [side * random(), side * random(), 0.4 * random()]);
    let mut liquid = Liquid::new(liquid.settings().clone()).unwrap();
    liquid.add(places.map(|place| (place, [0.0; 3])));
    let report = first_step(&mut liquid, &solids);
    let (thin, _) = shares(&liquid, &report);
    assert!(thin < 0.01, "{thin}");
}

fn thin_sheet<const D: usize>(cells: [usize; D], low: f64) {
    let settings = weightless(cells);
    let solids = tank(&settings);
    let mut liquid = Liquid::new(settings).unwrap();
    let (low, high) = (low * DX, (low + 0.5) * DX);
    let sheet = |x: [f64; D]| (low - x[D - 1]).max(x[D - 1] - high);
    liquid.fill(&sheet, &|_| [0.0; D], &solids);
    let report = first_step(&mut liquid, &solids);
    let (thin, found) = shares(&liquid, &report);
    eprintln!("{D}D sheet at {low}: thin {thin}, found {found}");
    assert!((0.75..1.25).contains(&found), "{D}D at {low}: {found}");
    let drift = (report.volume + report.thin_volume) / report.expected_volume - 1.0;
    assert!(drift.abs() < 0.25, "{D}D at {low}: {drift}");
}

#[test]
fn a_sheet_of_half_a_cell_is_found_wherever_it_lies() {
    for low in [8.0, 8.25, 8.5, 8.75] {
        thin_sheet([24, 24], low);
        thin_sheet([16, 16, 16], low);
    }
}

#[test]
fn isolated_drops_are_found() {
    let settings = weightless([24; 3]);
    let solids = tank(&settings);
    let mut liquid = Liquid::new(settings).unwrap();
    // Balls of a third of a cell, four cells apart, at all places relative to the cells.
    let drops = |x: [f64; 3]| {
        let from = |c: f64, k: f64| c / DX - (4.1 * k + 2.0);
        let nearest = x.map(|c| from(c, (from(c, 0.0) / 4.1).round()));
        let distance = nearest.iter().map(|d| d * d).sum::<f64>().sqrt();
        (distance - 0.45) * DX
    };
    liquid.fill(&drops, &|_| [0.0; 3], &solids);
    assert!(liquid.particles().len() > 200);
    let report = first_step(&mut liquid, &solids);
    let (thin, found) = shares(&liquid, &report);
    eprintln!("drops: thin {thin}, found {found}");
    assert!((0.75..1.25).contains(&found), "{found}");
}

#[test]
fn particles_piled_up_in_a_cell_are_crowded_and_not_thin() {
    let settings = weightless([16; 3]);
    let solids = tank(&settings);
    let mut liquid = Liquid::new(settings).unwrap();
    let middle = |k: f64| (k + 0.5) * DX;
    let within = |k: usize| (k as f64 + 0.5) / 20.0;
    let place = |k: usize| {
        let inside = [k % 20, k / 20 % 20, k / 400].map(within);
        std::array::from_fn(|a| ([8.0, 5.0, 3.0][a] + inside[a]) * DX)
    };
    liquid.add((0..8000).map(|k| (place(k), [0.0; 3])));
    let report = first_step(&mut liquid, &solids);
    let (thin, found) = shares(&liquid, &report);
    assert!(thin < 0.002 && found < 0.05, "{thin} {found}");
    let crowded = report.crowded.expect("a crowded cell");
    assert!((crowded.times - 1000.0).abs() < 1.0, "{crowded:?}");
    for (found, expected) in crowded.place.iter().zip([8.0, 5.0, 3.0].map(middle)) {
        assert!((found - expected).abs() < 1e-9, "{crowded:?}");
    }
}

#[test]
fn a_jet_a_few_cells_across_is_neither_compressed_nor_diluted() {
    let settings = weightless([24, 24, 40]);
    let solids = tank(&settings);
    let mut worst = 0.0f64;
    for radius in [1.3, 1.7, 2.2, 2.7] {
        let mut liquid = Liquid::new(settings.clone()).unwrap();
        let jet = |x: [f64; 3]| {
            let across = (x[0] - 11.7 * DX).hypot(x[1] - 12.1 * DX);
            (across - radius * DX).max((x[2] - 0.6).abs() - 0.4)
        };
        liquid.fill(&jet, &|_| [0.0, 0.0, -1.0], &solids);
        let report = first_step(&mut liquid, &solids);
        let (compressed, diluted) = density_errors(&report);
        assert!(
            compressed < 0.01 && diluted < 0.01,
            "{radius}: {compressed} {diluted}"
        );
        worst = worst.max((shares(&liquid, &report).1 - 1.0).abs());
    }
    assert!(worst > 0.05, "the surface is wrong by {worst}");
}

fn squeezed<const D: usize>(cells: [usize; D], height: f64) -> (f64, f64) {
    let settings = weightless(cells);
    let solids = tank(&settings);
    let mut liquid = Liquid::new(settings.clone()).unwrap();
    liquid.fill(&|x| x[D - 1] - 0.3, &|_| [0.0; D], &solids);
    let places = liquid.particles().position.iter().map(|x| {
        let mut x = x.map(f64::from);
        x[D - 1] *= height;
        (x, [0.0; D])
    });
    let mut other = Liquid::new(settings).unwrap();
    other.add(places.collect::<Vec<_>>());
    density_errors(&first_step(&mut other, &solids))
}

#[test]
fn particles_pressed_together_are_compressed_and_spread_ones_diluted() {
    for [(pressed, none), (too_few, spread)] in [
        [squeezed([24, 24], 0.75), squeezed([24, 24], 1.25)],
        [squeezed([16, 16, 24], 0.75), squeezed([16, 16, 24], 1.25)],
    ] {
        assert!((pressed - 0.25).abs() < 0.05, "{pressed}");
        assert!(none < 0.01, "{none}");
        // The layer at the surface does not count.
        assert!((0.15..0.27).contains(&spread), "{spread}");
        assert!(too_few < 0.01, "{too_few}");
    }
}
