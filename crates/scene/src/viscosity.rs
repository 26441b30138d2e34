//! Viscosity of the liquids of a scene: presets, and the materials of particles.

use crate::Scene;
use meniscus_coupled::Scheme;
use meniscus_liquid::Physics;
use meniscus_liquid::stokes::{Rheology, SolidWall};

/// A liquid by name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preset {
    /// Name in scene files.
    pub name: &'static str,
    /// Viscosity.
    pub rheology: Rheology,
    /// Density in kg/m³.
    pub density: f64,
    /// Where the numbers come from.
    pub source: &'static str,
}

/// Yield stress, consistency and flow index.
const fn preset(
    name: &'static str,
    [yield_stress, consistency, flow_index]: [f64; 3],
    density: f64,
    source: &'static str,
) -> Preset {
    Preset {
        name,
        rheology: Rheology {
            yield_stress,
            consistency,
            flow_index,
            smallest_rate: 1e-2,
        },
        density,
        source,
    }
}

/// All presets: name, `[yield stress, consistency, flow index]`, density, source.
#[rustfmt::skip]
pub const PRESETS: [Preset; 12] = [
    preset("water", [0.0, 1.0e-3, 1.0], 998.0,
        "1.002 cP at 20 °C, table of liquids of preproom.org"),
    preset("olive-oil", [0.0, 0.081, 1.0], 911.0,
        "81 cP, table of liquids of preproom.org"),
    preset("glycerine", [0.0, 0.934, 1.0], 1260.0,
        "934 cP, table of liquids of preproom.org"),
    preset("honey", [0.0, 10.0, 1.0], 1420.0,
        "typical: 10,000 cP at 21 °C in charts of viscometer makers, 2,000 in others"),
    preset("molasses", [0.0, 5.0, 1.0], 1400.0,
        "typical: 5,000 cP in charts of viscometer makers, up to 10,000 in others"),
    preset("ketchup", [32.0, 18.7, 0.27], 1150.0,
        "typical: 50 Pa s at 1/s, as 50,000 cP in charts of viscometer makers, and thinning"),
    preset("chocolate", [36.1, 8.7, 1.0], 1280.0,
        "molten tempered milk chocolate, J. Rheology 62, 2018, doi 10.1122/1.5038253"),
    preset("toothpaste", [200.0, 50.0, 0.5], 1300.0,
        "typical of a stiff paste, not one measurement"),
    preset("paint", [5.0, 3.0, 0.6], 1300.0,
        "typical of wall paint, which neither drips nor keeps marks of the brush, not one measurement"),
    preset("mud", [60.0, 20.0, 0.33], 1600.0,
        "typical of dense clay slurries, not one measurement"),
    preset("lava", [100.0, 700.0, 1.0], 2600.0,
        "typical of basalt, 100 to 1000 Pa s at Stromboli (lectures of S. Vergniolle), with some yield stress"),
    preset("cornstarch", [0.0, 2.0, 1.8], 1200.0,
        "typical of a shear thickening suspension, not one measurement; real ones jump from liquid to solid"),
];

/// Names of all presets, for the grammar of scene files.
pub const PRESET_NAMES: [&str; PRESETS.len()] = {
    let mut names = [""; PRESETS.len()];
    let mut k = 0;
    while k < names.len() {
        names[k] = PRESETS[k].name;
        k += 1;
    }
    names
};

impl Preset {
    /// The preset of a name.
    pub fn named(name: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| preset.name == name)
    }
}

impl<const D: usize> Scene<D> {
    /// Rheologies of all liquids, in the order of volumes and emitters.
    fn rheologies(&self) -> impl Iterator<Item = Rheology> {
        let volumes = self.liquids.iter().map(|volume| volume.rheology);
        volumes.chain(self.emitters.iter().map(|emitter| emitter.rheology))
    }

    /// Whether any liquid has viscosity.
    pub fn is_viscous(&self) -> bool {
        self.rheologies().any(|rheology| !rheology.is_inviscid())
    }

    /// Different liquids of the scene; none if all are inviscid.
    pub fn liquid_materials(&self) -> Vec<Rheology> {
        let mut materials: Vec<Rheology> = Vec::new();
        if self.is_viscous() {
            for rheology in self.rheologies() {
                if !materials.contains(&rheology) {
                    materials.push(rheology);
                }
            }
        }
        materials
    }

    /// Indices of all liquids among the materials, in the order of volumes and emitters.
    fn material_indices(&self) -> Vec<u8> {
        let materials = self.liquid_materials();
        let index = |rheology: Rheology| {
            let place = materials.iter().position(|known| *known == rheology);
            place.map_or(0, |place| place as u8)
        };
        self.rheologies().map(index).collect()
    }

    /// For every emitter the material that it brings.
    pub(crate) fn emitter_materials(&self) -> Vec<u8> {
        self.material_indices().split_off(self.liquids.len())
    }

    /// Material of the liquid at the start, as [`Scene::liquid_velocity`] finds its velocity.
    pub fn liquid_material(&self) -> impl Fn([f64; D]) -> u8 + Sync {
        let of = self.material_indices();
        move |x| {
            let distances = self.liquids.iter().map(|volume| volume.shape.distance(x));
            let distances: Vec<f64> = distances.collect();
            let inside = distances.iter().position(|&distance| distance <= 0.0);
            // Particles lie a little outside of their volume by rounding.
            let nearest = || {
                let all = distances.iter().enumerate();
                all.min_by(|a, b| a.1.total_cmp(b.1)).map(|(k, _)| k)
            };
            inside.or_else(nearest).map_or(0, |k| of[k])
        }
    }

    /// Physics of the liquid, with its materials and, if it is viscous, the walls of single solids.
    pub(crate) fn liquid_physics(&self) -> Physics<D> {
        let mut physics = self.physics.clone();
        physics.materials = self.liquid_materials();
        if !self.is_viscous() {
            return physics;
        }
        let adhesion = self.adhesion.unwrap_or_else(|| {
            // The weight of one cell: what less than a cell of liquid cannot pull off.
            physics.density * physics.gravity_magnitude() * self.dx()
        });
        physics.adhesion = adhesion;
        physics.decoupled_viscosity = self.coupling.scheme == Scheme::PressureViscosityPressure;
        let walls = self.all_walls().into_iter();
        physics.solid_walls = walls
            .map(|wall| SolidWall {
                kind: wall.kind.unwrap_or(physics.walls),
                adhesion: wall.adhesion.unwrap_or(adhesion),
            })
            .collect();
        let usual = |wall: &SolidWall| wall.kind == physics.walls && wall.adhesion == adhesion;
        if physics.solid_walls.iter().all(usual) {
            physics.solid_walls.clear();
        }
        physics
    }
}
