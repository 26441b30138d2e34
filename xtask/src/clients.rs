//! Outside clients: programs that are not ours read what we wrote, as a user's tools would.
//!
//! To add one, put its script into `xtask/clients/`, write a function here that makes the files
//! and runs the script, and add a line to [`CLIENTS`].

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::{StepResult, Steps, answers, cargo, succeed, target_folder};

/// A client: its name, the program it cannot do without, and what it does.
struct Client {
    name: &'static str,
    program: &'static str,
    run: fn(&Path) -> StepResult,
}

const CLIENTS: &[Client] = &[
    Client {
        name: "PLY read by Python",
        program: "python3",
        run: ply_read_by_python,
    },
    Client {
        name: "exports read by NumPy, VTK, OpenUSD and Blender",
        // The one that Blender's module is made for.
        program: "python3.11",
        run: exports_read_by_others,
    },
    Client {
        name: "volumes read by OpenVDB",
        program: "vdb_print",
        run: volumes_read_by_openvdb,
    },
];

/// Python packages that the readers of our exports need.
const PACKAGES: [&str; 4] = ["numpy", "vtk", "usd-core", "bpy==4.5.*"];

/// Runs every client whose program is installed and reports the others as skipped.
pub fn run(root: &Path, steps: &mut Steps) {
    for client in CLIENTS {
        if answers(Command::new(client.program).arg("--version")) {
            steps.run(client.name, || (client.run)(root));
        } else {
            println!(
                "\n== {}: left out, {} is not installed",
                client.name, client.program
            );
        }
    }
}

/// A short run in two and in three dimensions, exported and read back.
fn ply_read_by_python(root: &Path) -> StepResult {
    let mut files = Vec::new();
    for scene in ["circle", "box-kick"] {
        let out = target_folder(root).join("clients").join(scene);
        remove_earlier_run(&out)?;
        succeed(
            meniscus(root)
                .args([
                    "run",
                    scene,
                    "--resolution",
                    "16",
                    "--frames",
                    "3",
                    "--quiet",
                    "--out",
                ])
                .arg(&out),
        )?;
        succeed(meniscus(root).arg("export").arg(&out).args(["--to", "ply"]))?;
        let before = files.len();
        collect_files(&out, "ply", &mut files)?;
        if files.len() == before {
            return Err(format!("the export of {scene} wrote no PLY file"));
        }
    }
    succeed(
        Command::new("python3")
            .current_dir(root)
            .arg("xtask/clients/check_ply.py")
            .args(files),
    )
}

/// Runs with solids, one of which moves in the second, exported in every format.
fn export_all(root: &Path) -> Result<[PathBuf; 2], String> {
    let runs = ["thrown-sphere", "paddle"].map(|scene| {
        let out = target_folder(root)
            .join("clients")
            .join(format!("{scene}-exports"));
        (scene, out)
    });
    for (scene, out) in &runs {
        remove_earlier_run(out)?;
        let line = format!("run {scene} --resolution 24 --frames 4 --quiet --out");
        succeed(meniscus(root).args(line.split(' ')).arg(out))?;
        succeed(meniscus(root).args(["mesh", "--quiet"]).arg(out))?;
        for format in ["ply", "obj", "vtk", "usd", "vdb", "npz"] {
            let mut export = meniscus(root);
            export
                .args(["export", "--quiet", "--what", "all", "--to", format])
                .arg(out);
            succeed(&mut export)?;
        }
    }
    Ok(runs.map(|(_, out)| out.join("export")))
}

fn exports_read_by_others(root: &Path) -> StepResult {
    let folder = target_folder(root).join("clients-venv");
    if !folder.join("bin/python").exists() {
        succeed(Command::new("python3.11").args(["-m", "venv"]).arg(&folder))?;
    }
    let python = || Command::new(folder.join("bin/python"));
    let install = ["-m", "pip", "install", "--quiet"];
    succeed(python().args(install).args(PACKAGES))?;
    let [thrown, paddle] = export_all(root)?;
    let check = |script: &str| {
        let mut command = python();
        command
            .current_dir(root)
            .arg(format!("xtask/clients/{script}.py"));
        command
    };
    for exports in [&thrown, &paddle] {
        for script in ["check_npz", "check_vtk", "check_blender"] {
            succeed(check(script).arg(exports))?;
        }
    }
    succeed(check("check_usd").arg(&thrown).args(["Z", "glass"]))?;
    succeed(check("check_usd").arg(&paddle).args(["Z", "wheel+"]))?;
    let bodies = run_of_bodies(root)?;
    for up in ["z", "y"] {
        for format in ["ply", "obj", "vtk", "usd", "npz"] {
            let words = ["export", "--quiet", "--up", up, "--to", format];
            succeed(meniscus(root).args(words).arg(&bodies))?;
        }
        let axis = up.to_uppercase();
        succeed(check("check_bodies").arg(&bodies).arg(axis))?;
    }
    Ok(())
}

/// A run of rigid bodies, one of which leaves the domain.
fn run_of_bodies(root: &Path) -> Result<PathBuf, String> {
    let out = target_folder(root).join("clients").join("bodies");
    remove_earlier_run(&out)?;
    let words = ["run", "xtask/clients/bodies.toml", "--quiet", "--out"];
    succeed(meniscus(root).args(words).arg(&out))?;
    Ok(out)
}

fn volumes_read_by_openvdb(root: &Path) -> StepResult {
    let mut files = Vec::new();
    for exports in export_all(root)? {
        collect_files(&exports, "vdb", &mut files)?;
    }
    let mut check = Command::new("python3");
    check.current_dir(root).arg("xtask/clients/check_vdb.py");
    succeed(check.args(files))
}

/// Our program, built for speed.
fn meniscus(root: &Path) -> Command {
    let mut command = cargo(root);
    command.args([
        "run",
        "--quiet",
        "--release",
        "--package",
        "meniscus-app",
        "--",
    ]);
    command
}

fn remove_earlier_run(folder: &Path) -> StepResult {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("cannot remove {}: {error}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// All files below a folder with the given extension, in a fixed order.
fn collect_files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) -> StepResult {
    let cannot_read = |error| format!("cannot read {}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot_read)? {
        paths.push(entry.map_err(cannot_read)?.path());
    }
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect_files(&path, extension, found)?;
        } else if path.extension().is_some_and(|end| end == extension) {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "ply\nformat FORMAT 1.0\nelement vertex 2\nproperty float x\n\
                          property float y\nproperty float z\nproperty float vx\n\
                          property float vy\nproperty float vz\nend_header\n";

    /// Whether the Python reader accepts a file with these bytes.
    fn verdict(name: &str, bytes: &[u8]) -> bool {
        let file = std::env::temp_dir().join(format!("xtask-{}-{name}.ply", std::process::id()));
        std::fs::write(&file, bytes).expect("a file");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/check_ply.py");
        let right = answers(Command::new("python3").arg(script).arg(&file));
        std::fs::remove_file(&file).expect("removed");
        right
    }

    fn little_endian(numbers: &[f32]) -> Vec<u8> {
        let mut bytes = HEADER
            .replace("FORMAT", "binary_little_endian")
            .into_bytes();
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        bytes
    }

    #[test]
    fn the_python_reader_takes_right_files_and_refuses_wrong_ones() {
        if !answers(Command::new("python3").arg("--version")) {
            println!("skipped: python3 is not installed");
            return;
        }
        assert!(verdict("right", &little_endian(&[0.5; 12])));
        let ascii = HEADER.replace("FORMAT", "ascii") + &"0.5 ".repeat(12);
        assert!(verdict("ascii", ascii.as_bytes()));

        assert!(!verdict("short", &little_endian(&[0.5; 11])));
        assert!(!verdict("long", &little_endian(&[0.5; 13])));
        let mut numbers = [0.5; 12];
        numbers[7] = f32::NAN;
        assert!(!verdict("nan", &little_endian(&numbers)));
        let without_velocity =
            String::from_utf8_lossy(&little_endian(&[])).replace("property float vz\n", "");
        assert!(!verdict("still", without_velocity.as_bytes()));
        assert!(!verdict("header", b"solid thing\n"));
        let no_points = HEADER
            .replace("FORMAT", "ascii")
            .replace("vertex 2", "vertex 0");
        assert!(!verdict("empty", no_points.as_bytes()));
    }
}
