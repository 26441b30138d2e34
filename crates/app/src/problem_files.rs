//! Problems as folders of files that other programs can read: Matrix Market, and a JSON file for the grid.

use meniscus_lcp::gallery::Instance;
use meniscus_lcp::matrix_market;
use meniscus_sim::ProblemDump;
use meniscus_store::atomic_file;
use meniscus_store::error::Error;
use meniscus_store::layout::problems::NAMES;
use meniscus_store::run_folder::remove;
use std::fs;
use std::io;
use std::path::Path;

/// File of the solution of a generated problem; problems of a simulation have none.
pub const SOLUTION: &str = "x.mtx";

/// Writes a problem into a folder, which is created if it is not there.
pub fn write(folder: &Path, problem: &dyn ProblemDump) -> Result<(), Error> {
    clear(folder)?;
    for name in problem.files() {
        atomic_file::write_with(&folder.join(name), |out| problem.write(name, out))?;
    }
    Ok(())
}

/// Writes a generated problem with its solution.
pub fn write_generated(folder: &Path, instance: &Instance) -> Result<(), Error> {
    clear(folder)?;
    atomic_file::write_with(&folder.join("A.mtx"), |out| {
        matrix_market::write_matrix(out, &instance.matrix)
    })?;
    for (name, vector) in [
        ("b.mtx", &instance.rhs),
        ("lower.mtx", &instance.lower),
        ("upper.mtx", &instance.upper),
        (SOLUTION, &instance.solution),
    ] {
        atomic_file::write_with(&folder.join(name), |out| {
            matrix_market::write_vector(out, vector)
        })?;
    }
    Ok(())
}

/// Creates a folder, or removes from it what only an earlier problem may have had.
fn clear(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, &e))?;
    for name in [
        "grid.json",
        "start.mtx",
        "friction.json",
        "coupling.json",
        SOLUTION,
    ] {
        remove(&folder.join(name))?;
    }
    Ok(())
}

/// Checks that a folder is new, empty, or contains an earlier problem and nothing else.
pub fn check_folder(folder: &Path) -> Result<(), Error> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(|e| Error::io("read", folder, &e))?,
    };
    for entry in entries {
        let name = entry
            .map_err(|e| Error::io("read", folder, &e))?
            .file_name();
        let known = |name: &str| NAMES.contains(&name) || name == SOLUTION;
        if !name.to_str().is_some_and(known) {
            return Err(Error::usage(format!(
                "{} contains {}, which is not part of a problem",
                folder.display(),
                name.to_string_lossy()
            ))
            .with_remedy("choose another folder with --out DIR"));
        }
    }
    Ok(())
}
