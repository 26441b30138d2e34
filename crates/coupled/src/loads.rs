//! Forces on bodies, and where the liquid stands at them.

use meniscus_liquid::multigrid::freedoms;
use meniscus_liquid::{FaceNeighbour, Faces, SolidId};
use meniscus_rigid::{self as rigid, Twist, Wrench};

use crate::added_mass::{numbers, twist_of};
use crate::projection::{Base, CoupledProjection, WetBody};
use crate::report::Load;

impl<const D: usize> CoupledProjection<'_, D> {
    /// Impulses of the pressures on the listed bodies.
    pub(crate) fn impulses(&self, base: &Base<D>, impulse_scale: f64) -> Vec<[f64; 6]> {
        let pressure = self.pressure.solution();
        let mut impulses = vec![[0.0; 6]; base.listed.len()];
        for entry in &base.entries {
            let p = impulse_scale * pressure[entry.row as usize];
            let own = &mut impulses[entry.group as usize];
            (0..6).for_each(|k| own[k] += p * entry.value[k]);
        }
        impulses
    }

    /// Forces on the bodies, and where the liquid stands at them.
    pub(crate) fn loads(
        &self,
        faces: &Faces<'_, D>,
        base: &Base<D>,
        wet: &[WetBody<D>],
        report: &rigid::StepReport<D>,
        dt: f64,
    ) -> Vec<Load<D>> {
        let f = freedoms::<D>();
        let mut loads: Vec<Load<D>> = (report.contact_forces.iter().zip(&report.joint_forces))
            .map(|(&contact, &joint)| Load {
                contact,
                joint,
                ..Load::NONE
            })
            .collect();
        for (k, own) in wet.iter().enumerate() {
            // What the layer gives and takes is a part of the liquid's force: `(C p dt + m0 - dM v - M v*) / dt`.
            let (v, v0) = (numbers(&own.twist), numbers(&base.starts[k]));
            let mut force = own.impulse;
            for i in 0..f {
                for j in 0..f {
                    let layer = own.inertia[i][j] - own.own_inertia[i][j];
                    force[i] -= layer * v[j] + own.own_inertia[i][j] * v0[j];
                }
                force[i] = (force[i] + own.momentum[i]) / dt;
            }
            let Twist { linear, angular } = twist_of::<D>(&force);
            loads[own.body].liquid = Wrench {
                force: linear,
                torque: angular,
            };
        }
        self.measure_immersion(faces, base, &mut loads);
        loads
    }

    /// Submerged volumes and waterline areas, by the surface integral of the depth.
    fn measure_immersion(&self, faces: &Faces<'_, D>, base: &Base<D>, loads: &mut [Load<D>]) {
        let dx = faces.settings.dx;
        let (up, steepest) = up(faces.settings.physics.gravity);
        let high = up[steepest] > 0.0;
        let weights = faces.weights();
        let along = |x: &[f64]| -> f64 { (0..D).map(|a| x[a] * up[a]).sum() };
        // Per body: area, first moment of it in height, height of the surface, and how many cells know it.
        let mut sums = vec![[0.0; 4]; base.listed.len()];
        for (row, (body, value)) in
            (base.rows.iter()).flat_map(|row| row.bodies.iter().map(move |body| (row, body)))
        {
            let Ok(group) = base.listed.binary_search(body) else {
                continue;
            };
            let cell = row.cell as usize;
            let area = along(value) * dx.powi(D as i32);
            let centre = faces.tiles.coord(cell).map(|c| (c as f64 + 0.5) * dx);
            let solid = SolidId(*body as u32);
            let size = value[..D].iter().map(|c| c * c).sum::<f64>().sqrt();
            let mut height = along(&centre);
            if size > 0.0 {
                height += faces.solids.distance_to(solid, centre) * along(value) / size;
            }
            let sum = &mut sums[group];
            sum[0] += area;
            sum[1] += area * height;
            if row.is_film {
                continue;
            }
            if let FaceNeighbour::Air { theta } = weights.beyond(cell, steepest, high) {
                let mut surface = centre;
                surface[steepest] += theta * dx * up[steepest].signum();
                sum[2] += along(&surface);
                sum[3] += 1.0;
            }
        }
        for (&body, [area, moment, height, count]) in base.listed.iter().zip(sums) {
            let load = &mut loads[body];
            let is_cut = count > 0.0;
            load.waterline_area = if is_cut { area } else { 0.0 };
            let level = if is_cut { height / count } else { 0.0 };
            load.submerged_volume = area * level - moment;
        }
    }
}

/// Direction against gravity, the last axis without it, and its largest component.
fn up<const D: usize>(gravity: [f64; D]) -> ([f64; D], usize) {
    let size = gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
    let mut up = gravity.map(|g| if size > 0.0 { -g / size } else { 0.0 });
    if size == 0.0 {
        up[D - 1] = 1.0;
    }
    let steepest = (0..D).fold(D - 1, |best, a| {
        if up[a].abs() > up[best].abs() {
            a
        } else {
            best
        }
    });
    (up, steepest)
}
