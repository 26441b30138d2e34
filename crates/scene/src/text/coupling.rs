//! The coupling of liquid and bodies in scene files: its keys, and warnings about those without effect.

use super::access::{Field, field};
use super::grammar::{Kind, Range, Table, key};
use super::problem::{Place, Problem};
use super::tree::{Node, Value};
use super::validate::join;
use crate::Scene;
use meniscus_coupled::{Method, Scheme, Settings};
use meniscus_liquid::Physics;
use meniscus_liquid::stokes::Rheology;

pub static COUPLING: Table = Table {
    title: "the coupling",
    about: "Solution of pressure, viscosity and contact in scenes with liquid and rigid bodies. All keys but `mass_correction` and \
            `viscosity_rounds` are for comparison with Takahashi and Batty 2020; `docs/which-scheme.md` compares the schemes.",
    keys: &[
        key!("scheme": Kind::Word(&["p-c", "c-p", "pv-c", "c-pv", "pc-vc-pc", "iterative", "unified"]), field!(coupling.scheme), Physics, "\"iterative\"",
            "Order of the solves: `unified` solves pressure and contact at once; `p-c` the pressure first and `c-p` contacts first, \
             each as if the other did not exist; `iterative` repeats them in turn. With viscous liquid `unified` solves viscosity, too, \
             `pv-c` and `c-pv` take the place of `p-c` and `c-p`, and `pc-vc-pc` solves pressure, viscosity and pressure one after \
             the other, each with contacts."),
        key!("solver": Kind::Word(&["multigrid", "sor-mprgp"]), field!(coupling.method), Physics, "\"sor-mprgp\"",
            "Method of the scheme `unified`: multigrid that carries the bodies, or gradient projection (MPRGP) on pressures and \
             contact impulses, preconditioned by SOR."),
        key!("rounds": Kind::Whole(1, 1_000_000), field!(coupling.rounds), Physics, "200",
            "Most rounds of the scheme `iterative`, and of friction with `sor-mprgp`."),
        key!("viscosity_rounds": Kind::Whole(1, 1000), field!(physics.viscosity_rounds), Physics, "4",
            "Rounds of viscosity and velocity in a step, where the viscosity depends on the flow."),
        key!("max_iterations": Kind::Whole(1, 1_000_000), field!(coupling.max_iterations), Physics, "200",
            "Most iterations of a solve with `sor-mprgp`."),
        key!("relaxation": Kind::Number(Range::between(0.01, 1.99), ""), field!(coupling.relaxation), Physics, "1.6",
            "Relaxation factor of the sweeps of `sor-mprgp`."),
        key!("diagonal_scale": Kind::Number(Range::between(0.0, 1.0), ""), field!(coupling.diagonal_scale), Physics, "1e-4",
            "Share of its diagonal that `sor-mprgp` adds to each row of a contact. The paper has 1e-4, which is visible as creep."),
        key!("baumgarte": Kind::Number(Range::between(0.0, 1.0), ""), field!(coupling.baumgarte), Physics, "0.2",
            "Share of an overlap of bodies that their velocities correct in a step, which pumps liquid. With 0 positions are \
             corrected apart, by `contact.position_correction`."),
        key!("margin": Kind::Number(Range::between(0.0, 1.0), "cells"), field!(coupling.margin), Physics, "0.1",
            "Depth of overlap that `baumgarte` leaves."),
        key!("mass_correction": Kind::Switch, field!(coupling.mass_correction), Physics, "false",
            "Whether the inertia of bodies is corrected for the place of their surfaces within cells. Without it the buoyancy of \
             flat bottoms is a staircase."),
    ],
    one_of: &[],
};

impl Field for Scheme {
    fn value(&self) -> Value {
        Value::Text(self.word().into())
    }
    fn read(&mut self, node: &Node) {
        let named = |scheme: &Scheme| Some(scheme.word()) == node.text();
        if let Some(scheme) = Scheme::ALL.into_iter().find(named) {
            *self = scheme;
        }
    }
}

impl Field for Method {
    fn value(&self) -> Value {
        Value::Text(self.word().into())
    }
    fn read(&mut self, node: &Node) {
        let named = |method: &Method| Some(method.word()) == node.text();
        if let Some(method) = Method::ALL.into_iter().find(named) {
            *self = method;
        }
    }
}

/// Keys that have no effect in this scene.
pub fn idle<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let (own, usual) = (&scene.coupling, Settings::default());
    let table = root.get("coupling");
    let place = |key: &str| {
        let node = table.and_then(|table| table.get(key));
        node.map_or(Place::Nowhere, |node| node.place)
    };
    if scene.bodies.is_empty() || !scene.has_liquid() {
        let written = table.filter(|table| table.place != Place::Nowhere);
        let warn = |place: Place, path: String| {
            let message = "has no effect: the scene does not have both liquid and bodies";
            Problem::warning(place, path, message).with_help("remove it")
        };
        if !scene.is_viscous() {
            let table = written.map(|table| warn(table.place, "coupling".into()));
            return table.into_iter().collect();
        }
        // Viscosity has two keys of its own here.
        let of_bodies = COUPLING.keys.iter().map(|key| key.name);
        let of_bodies = of_bodies.filter(|key| !["scheme", "viscosity_rounds"].contains(key));
        let written = of_bodies.filter(|key| place(key) != Place::Nowhere);
        return written
            .map(|key| warn(place(key), join("coupling", key)))
            .collect();
    }
    let unified = own.scheme == Scheme::Unified;
    let sor = unified && own.method == Method::SorMprgp;
    let of_sor = "only solver = \"sor-mprgp\" reads it";
    let rules = [
        (
            "solver",
            own.method != usual.method && !unified,
            "only scheme = \"unified\" reads it",
        ),
        (
            "rounds",
            own.rounds != usual.rounds && !sor && own.scheme != Scheme::Iterative,
            "only scheme = \"iterative\" and solver = \"sor-mprgp\" read it",
        ),
        (
            "viscosity_rounds",
            scene.physics.viscosity_rounds != Physics::<D>::default().viscosity_rounds
                && scene.liquid_materials().iter().all(Rheology::is_newtonian),
            "the viscosity of no liquid depends on the flow",
        ),
        (
            "max_iterations",
            own.max_iterations != usual.max_iterations && !sor,
            of_sor,
        ),
        (
            "relaxation",
            own.relaxation != usual.relaxation && !sor,
            of_sor,
        ),
        (
            "diagonal_scale",
            own.diagonal_scale != usual.diagonal_scale && !sor,
            of_sor,
        ),
        (
            "mass_correction",
            own.mass_correction != usual.mass_correction && scene.is_viscous(),
            "only liquid without viscosity needs it",
        ),
        (
            "margin",
            own.margin != usual.margin && own.baumgarte == 0.0,
            "only baumgarte above 0 reads it",
        ),
    ];
    let warn = |(key, idle, why): (&str, bool, &str)| {
        idle.then(|| {
            Problem::warning(place(key), join("coupling", key), "has no effect").with_help(why)
        })
    };
    rules.into_iter().filter_map(warn).collect()
}
