//! The contact problem as matrices, and the methods of `meniscus-lcp` on it.

use meniscus_lcp::methods::{fischer, lemke, mprgp, staggered};
use meniscus_lcp::precondition::{Identity, Jacobi};
use meniscus_lcp::{BoxMlcp, CoupledBound, CoupledBoundMlcp, Csr, InputError, Report, Status};

use super::SolveReport;
use super::island::Island;
use crate::problem::ContactProblem;
use crate::settings::{Cone, Method, Settings};

/// `J inv(M) J'` for some rows, scaled to a unit diagonal, and `1 / sqrt` of the diagonal.
pub(super) fn scaled_matrix<const D: usize>(
    island: &Island<D>,
    rows: &[usize],
) -> Result<(Csr, Vec<f64>), InputError> {
    let scale: Vec<f64> = rows
        .iter()
        .map(|&i| 1.0 / island.rows[i].diagonal.sqrt())
        .collect();
    let mut of_slot: Vec<Vec<u32>> = vec![Vec::new(); island.slots.len()];
    for (k, &i) in rows.iter().enumerate() {
        let (a, b) = (island.rows[i].a as usize, island.rows[i].b as usize);
        for slot in [a, b] {
            if island.slots[slot].inverse_mass > 0.0 {
                of_slot[slot].push(k as u32);
            }
        }
    }
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut near: Vec<u32> = Vec::new();
    for (k, &i) in rows.iter().enumerate() {
        near.clear();
        for slot in [island.rows[i].a, island.rows[i].b] {
            near.extend(&of_slot[slot as usize]);
        }
        near.sort_unstable();
        near.dedup();
        for &l in &near {
            let value = if l as usize == k {
                1.0
            } else {
                scale[k] * scale[l as usize] * island.coupling(i, rows[l as usize])
            };
            columns.push(l);
            values.push(value);
        }
        starts.push(columns.len());
    }
    Ok((Csr::new(rows.len(), starts, columns, values)?, scale))
}

/// The contact problem of an island as plain data: `y = A x + b` for `x` the impulses, not scaled.
pub(crate) fn assemble<const D: usize>(island: &Island<D>) -> Result<ContactProblem, InputError> {
    let rows: Vec<usize> = (0..island.rows.len()).collect();
    let (unit, scale) = scaled_matrix(island, &rows)?;
    let (starts, columns, mut values) = unit.into_parts();
    for i in 0..rows.len() {
        for k in starts[i]..starts[i + 1] {
            values[k] /= scale[i] * scale[columns[k] as usize];
        }
    }
    let matrix = Csr::new(rows.len(), starts, columns, values)?;
    let mut b = vec![0.0; rows.len()];
    meniscus_lcp::Operator::apply(&matrix, &island.x, &mut b);
    for i in 0..rows.len() {
        b[i] = island.y(i) - b[i];
    }
    let (mut lower, mut upper): (Vec<f64>, Vec<f64>) =
        island.rows.iter().map(|row| (row.lower, row.upper)).unzip();
    let mut friction = Vec::new();
    let mut discs = Vec::new();
    for contact in 0..island.contacts() {
        let of = island.normal_row(contact);
        if D == 3 && island.cone == Cone::Disc {
            discs.push([friction.len(), friction.len() + 1]);
        }
        for row in of + 1..of + D {
            (lower[row], upper[row]) = (f64::NEG_INFINITY, f64::INFINITY);
            friction.push(CoupledBound {
                row,
                of,
                factor: island.friction[contact],
            });
        }
    }
    Ok(ContactProblem {
        matrix,
        b,
        lower,
        upper,
        friction,
        discs,
        dimensions: D,
        joint_rows: island.joint_rows,
        x: island.x.clone(),
    })
}

/// Solves by staggering, Fischer-Newton or Lemke's method.
pub(super) fn solve<const D: usize>(
    island: &mut Island<D>,
    settings: &Settings<D>,
    report: &mut SolveReport,
) {
    let solved = match settings.method {
        Method::Staggered => by_staggering(island, settings, report.tolerance),
        _ => by_polyhedral_cone(island, settings, report.tolerance),
    };
    if let Ok((x, inner)) = solved {
        for i in 0..x.len() {
            island.set(i, x[i]);
        }
        report.rounds = inner.iterations;
        report.status = inner.status;
        report.normal.push(inner);
    }
    report.residual = island.residual();
    if report.status == Status::Converged && island.cone == Cone::Disc && D == 3 {
        // Converged on its own cone, which is not the disc that the residual is about.
        report.residual = report
            .normal
            .last()
            .map_or(report.residual, |inner| inner.residual);
    }
}

type Solved = Result<(Vec<f64>, Report), InputError>;

/// Staggered projections. [Erl13 (110)-(112)] [TB20 (25)]
fn by_staggering<const D: usize>(
    island: &Island<D>,
    settings: &Settings<D>,
    tolerance: f64,
) -> Solved {
    let problem = assemble(island)?.scaled()?;
    let tolerance = tolerance * problem.least_scale();
    let frozen = BoxMlcp::new(&problem.matrix, &problem.b, &problem.lower, &problem.upper)?;
    let coupled = CoupledBoundMlcp::new(frozen, &problem.friction)?;
    let (mut jacobi, mut workspace) = (Jacobi::new(&problem.matrix)?, mprgp::Workspace::default());
    let inner_settings = mprgp::Settings::default()
        .tolerance(0.1 * tolerance)
        .max_iterations(2000);
    let mut inner = |part: &BoxMlcp<'_, Csr>, x: &mut [f64]| {
        mprgp::solve(
            part,
            &inner_settings,
            &mut jacobi,
            x,
            &mut workspace,
            &mut (),
        )
    };
    let mut x = problem.x.clone();
    let outer = staggered::Settings::default()
        .tolerance(tolerance)
        .max_iterations(settings.max_rounds);
    let report = staggered::solve(
        &coupled,
        &outer,
        &mut inner,
        &mut x,
        &mut Default::default(),
        &mut (),
    )?;
    Ok((problem.unscaled(&x), report))
}

/// Fischer-Newton or Lemke on the polyhedral cone. [Erl13 (26), (27)]
fn by_polyhedral_cone<const D: usize>(
    island: &Island<D>,
    settings: &Settings<D>,
    tolerance: f64,
) -> Solved {
    let scaled = assemble(island)?.scaled()?;
    let cone = scaled.polyhedral()?;
    let tolerance = tolerance * scaled.least_scale();
    let problem = BoxMlcp::new(&cone.matrix, &cone.b, &cone.lower, &cone.upper)?;
    let mut x = cone.x.clone();
    let report = if settings.method == Method::Lemke {
        let settings = lemke::Settings::default().tolerance(tolerance);
        lemke::solve(
            &problem,
            &settings,
            &mut x,
            &mut Default::default(),
            &mut (),
        )?
    } else {
        let settings = fischer::Settings::default().tolerance(tolerance);
        fischer::solve(
            &problem,
            &settings,
            &mut Identity,
            &mut x,
            &mut Default::default(),
            &mut (),
        )?
    };
    Ok((scaled.unscaled(&cone.impulses(&x)), report))
}
