//! How long the signed distances of a mesh take: on a grid, set-up included.

use crate::machine::Span;
use crate::prelude::*;
use meniscus_shapes::TriangleMesh;
use std::f64::consts::TAU;
use std::hint::black_box;

/// CPU seconds for all distances of the usual grid, set-up included.
const MOST_CPU_SECONDS: f64 = 3.0;
/// Cells along the side of the usual grid, and triangles of the usual mesh.
const USUAL_CELLS: u64 = 128;
const USUAL_TRIANGLES: u64 = 100_000;
/// Cells from the surface within which a simulation asks for exact distances.
const BAND: f64 = 4.0;

/// The study.
pub struct MeshDistance;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along each side of the grid
    #[arg(long, value_name = "N", default_value_t = USUAL_CELLS, value_parser = value_parser!(u64).range(1..=1024))]
    cells: u64,
    /// Triangles of the mesh, about
    #[arg(long, value_name = "N", default_value_t = USUAL_TRIANGLES, value_parser = value_parser!(u64).range(100..=5_000_000))]
    triangles: u64,
    /// How often all of it is done: the quickest counts
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = value_parser!(u32).range(1..=100))]
    repeat: u32,
}

/// A solid and what its distances took.
struct Timed {
    name: &'static str,
    triangles: usize,
    setup: Span,
    /// Distances, exact within the band.
    banded: Span,
}

impl Timed {
    fn or_quicker(self, other: Self) -> Self {
        let quicker = |one: Span, other: Span| if other.cpu < one.cpu { other } else { one };
        Timed {
            setup: quicker(self.setup, other.setup),
            banded: quicker(self.banded, other.banded),
            ..self
        }
    }
}

impl Study for MeshDistance {
    const NAME: &'static str = "mesh-distance";
    const SUMMARY: &'static str =
        "CPU time of the signed distances of a mesh on a grid, set-up included";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let mut timed = Vec::new();
        for (name, around) in [("ring with bumps", 0.3), ("ball with bumps", 0.0)] {
            let mut quickest = time(name, around, options)?;
            for _ in 1..options.repeat {
                quickest = quickest.or_quicker(time(name, around, options)?);
            }
            timed.push(quickest);
        }
        let usual = (options.cells, options.triangles) == (USUAL_CELLS, USUAL_TRIANGLES);
        let mut targets = Vec::new();
        for Timed {
            name,
            setup,
            banded,
            ..
        } in &timed
        {
            targets.push(Target::new(
                format!("{name}: set-up and all distances, exact within {BAND} cells"),
                Bound::AtMost(MOST_CPU_SECONDS),
                "s",
                Some(setup.cpu + banded.cpu),
                2,
            ));
        }
        let table = table(&timed, options);
        Ok(Findings {
            study: Self::NAME,
            variant: (!usual).then(|| format!("{}-{}", options.cells, options.triangles)),
            setting: vec![
                format!(
                    "Signed distances at the middles of {0} x {0} x {0} cells from meshes that fill most of the grid, \
                     exact within {BAND} cells of the surface; one thread, the quickest of {1}. \
                     Set-up is checks, tree and lattice.",
                    options.cells, options.repeat
                ),
                machine::sentence(load),
            ],
            pictures: Vec::new(),
            sections: vec![
                target::section(
                    vec![format!(
                        "CPU time, meant for {USUAL_CELLS} cells and {USUAL_TRIANGLES} triangles. Simulations need \
                         exact distances a few cells around the surface, where faces are cut and particles pushed \
                         out; beyond, a distance that is not too large will do."
                    )],
                    &targets,
                ),
                Section::table("Times", table.clone()),
            ],
            data: table,
        })
    }
}

fn time(name: &'static str, around: f64, options: &Options) -> Result<Timed, Error> {
    let (vertices, triangles) = bumpy(around, options.triangles as f64);
    let start = Moment::now();
    let (mesh, _) = TriangleMesh::new(&vertices, &triangles)
        .map_err(|fault| Error::new(Kind::Asset, format!("{name}: {fault}")))?;
    let ready = Moment::now();
    let band = BAND / options.cells as f64;
    all_points(options.cells, |x| mesh.distance_within(x, band));
    Ok(Timed {
        name,
        triangles: triangles.len(),
        setup: ready.since(&start),
        banded: Moment::now().since(&ready),
    })
}

fn all_points(cells: u64, distance: impl Fn([f64; 3]) -> f64) {
    for z in 0..cells {
        for y in 0..cells {
            for x in 0..cells {
                let at = [x, y, z].map(|k| (k as f64 + 0.5) / cells as f64);
                black_box(distance(at));
            }
        }
    }
}

fn table(timed: &[Timed], options: &Options) -> Table {
    let mut table =
        Table::columns("mesh | triangles | points | set-up CPU s | distances CPU s | us per point");
    let points = options.cells.pow(3);
    for one in timed {
        table.push([
            one.name.into(),
            Cell::Whole(one.triangles as u64),
            Cell::Whole(points),
            Cell::Number(one.setup.cpu, 2),
            Cell::Number(one.banded.cpu, 2),
            Cell::Number(1e6 * one.banded.cpu / points as f64, 2),
        ]);
    }
    table
}

/// A ring with bumps around the middle of the unit cube, or a ball if it has no radius to go around, of about so many
/// triangles.
fn bumpy(around: f64, triangles: f64) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let ring = around > 0.0;
    // Twice as long around as across.
    let across = (triangles / 4.0).sqrt().round().max(4.0) as usize;
    let along = 2 * across;
    let (mut vertices, mut faces) = (Vec::new(), Vec::new());
    for i in 0..along {
        for j in 0..across {
            let a = TAU * i as f64 / along as f64;
            // A ball has poles, a ring goes all the way round.
            let b = if ring {
                TAU * j as f64 / across as f64
            } else {
                0.5 * TAU * (j as f64 / (across - 1) as f64 - 0.5)
            };
            let radius = if ring { 0.12 } else { 0.42 };
            let bumps = if ring { 1.0 } else { b.cos() };
            let r = radius + 0.02 * bumps * (9.0 * a).sin() * (5.0 * b).cos();
            let out = around + r * b.cos();
            vertices.push([0.5 + out * a.cos(), 0.5 + out * a.sin(), 0.5 + r * b.sin()]);
            if ring || j + 1 < across {
                let at = |i: usize, j: usize| ((i % along) * across + j % across) as u32;
                faces.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
                faces.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
            }
        }
    }
    (vertices, faces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_solids_are_sound_and_about_as_large_as_asked() {
        for around in [0.3, 0.0] {
            let (vertices, triangles) = bumpy(around, 3000.0);
            let (mesh, report) = TriangleMesh::new(&vertices, &triangles).unwrap();
            assert!((2700..3300).contains(&mesh.triangles().len()), "{report:?}");
            assert_eq!(
                (
                    report.open_edges,
                    report.components,
                    report.turned_components
                ),
                (0, 1, 0)
            );
            assert!(mesh.bounds().low.iter().all(|&c| c > 0.0));
        }
    }

    #[test]
    fn a_small_run_has_both_solids_and_all_verdicts() {
        let options = Options {
            cells: 6,
            triangles: 400,
            repeat: 1,
        };
        let findings = MeshDistance::run(&options).unwrap();
        let text = findings.text();
        assert_eq!(
            text.matches("set-up and all distances").count(),
            2,
            "{text}"
        );
        assert_eq!(findings.variant.as_deref(), Some("6-400"));
    }
}
