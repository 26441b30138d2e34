//! `meniscus lcp generate`.

use super::super::output::print_line;
use super::arguments::{GenerateCommand, GenerateFlags, SurfaceName, WallsArguments};
use crate::problem_files;
use meniscus_lcp::InputError;
use meniscus_lcp::gallery::{self, Instance, Random};
use meniscus_lcp::matrix_market::Limits;
use meniscus_liquid::PressureProblem;
use meniscus_liquid::analytic::{Sphere, Surface};
use meniscus_sim::ProblemDump;
use meniscus_store::error::{Error, Kind};
use meniscus_store::quantity::{count, plural};

/// Generates a problem and writes it with its solution.
pub fn generate(what: &GenerateCommand) -> Result<(), Error> {
    let (flags, instance) = match what {
        GenerateCommand::Fluid(fluid) => {
            let most = Limits::default().max_entries as u64;
            if fluid.rows.saturating_mul(2 * fluid.bands + 1) > most {
                return Err(Error::usage(format!(
                    "{} rows with {} bands on each side have more than {most} entries, the most that can be read back",
                    fluid.rows, fluid.bands
                )));
            }
            let mut random = Random::new(fluid.flags.seed);
            let (rows, bands) = (fluid.rows as usize, fluid.bands as usize);
            let instance = gallery::banded(rows, bands, fluid.zeros, &mut random);
            (&fluid.flags, instance)
        }
        GenerateCommand::Contact(contact) => {
            let mut random = Random::new(contact.flags.seed);
            let instance = gallery::contact_cone(contact.contacts as usize, &mut random);
            (&contact.flags, instance)
        }
        GenerateCommand::Dense(dense) => {
            let mut random = Random::new(dense.flags.seed);
            let instance =
                gallery::dense(dense.rows as usize, dense.null, dense.zeros, &mut random);
            (&dense.flags, instance)
        }
        GenerateCommand::Walls(walls) => return write_walls(walls),
    };
    write(flags, &instance)
}

fn write(flags: &GenerateFlags, instance: &Instance) -> Result<(), Error> {
    problem_files::check_folder(&flags.out)?;
    problem_files::write_generated(&flags.out, instance)?;
    let folder = flags.out.display();
    print_line(format_args!(
        "wrote a problem of {}, {} to {folder}: A.mtx, b.mtx, lower.mtx, upper.mtx, and its solution x.mtx",
        count(instance.matrix.rows(), "row"),
        plural(instance.matrix.nonzeros(), "entry", "entries"),
    ));
    print_line(format_args!(
        "Next:\n  meniscus lcp solve --problem {folder}"
    ));
    Ok(())
}

fn write_walls(walls: &WallsArguments) -> Result<(), Error> {
    let sphere = Sphere {
        cells: walls.size as usize,
        surface: match walls.surface {
            SurfaceName::Flat => Surface::Flat,
            SurfaceName::Wave => Surface::Wave,
        },
        thin: walls.thin,
    };
    problem_files::check_folder(&walls.out)?;
    match walls.dim {
        2 => write_pressure(walls, sphere.problem::<2>()),
        _ => write_pressure(walls, sphere.problem::<3>()),
    }
}

fn write_pressure<const D: usize>(
    walls: &WallsArguments,
    problem: Result<PressureProblem<D>, InputError>,
) -> Result<(), Error> {
    let problem = problem.map_err(|fault| Error::new(Kind::Numerical, fault.to_string()))?;
    problem_files::write(&walls.out, &problem)?;
    let folder = walls.out.display();
    let wall_rows = problem.lower.iter().filter(|lower| **lower == 0.0).count();
    print_line(format_args!(
        "wrote the pressure problem of a sphere, {}, {wall_rows} of them at walls, to {folder}: {}",
        count(problem.rhs.len(), "unknown"),
        problem.files().join(", ")
    ));
    print_line(format_args!(
        "Next:\n  meniscus lcp solve --problem {folder}"
    ));
    Ok(())
}
