//! Commands after a run that are interrupted, or meet a full disk.

use crate::full_disk::{DISK_KILOBYTES, SmallDisk};
use crate::trial::{Trial, assert_error, interrupt, names};
use std::fs;
use std::time::Duration;

/// A command, the folder it writes to, and the name of its first file.
const STAGES: [(&str, &str, &str); 3] = [
    // Without surfaces in the folder it makes them itself.
    (
        "export run --to obj --what surface",
        "run/export/obj/surface",
        "surface_000001.obj",
    ),
    (
        "mesh run --resolution 7",
        "run/surfaces",
        "surface_000001.msf",
    ),
    (
        "preview run --png --size 960x720",
        "run/preview",
        "preview_000001.png",
    ),
];

/// A run whose frames take each command a while.
fn run() -> Trial {
    Trial::after(
        "run dam-break --resolution 20 --frames 8 --set output.surface_resolution=8 --quiet --out run",
    )
}

#[test]
fn ctrl_c_ends_a_command_with_130_and_no_partial_files() {
    let trial = run();
    for (line, folder, first) in STAGES {
        let mut child = trial.start(line);
        let folder = trial.path(folder);
        while !folder.join(first).exists() {
            std::thread::sleep(Duration::from_millis(1));
            assert!(child.try_wait().unwrap().is_none(), "{line}");
        }
        interrupt(&child);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{line}");
        let written: Vec<(String, Vec<u8>)> = names(&folder)
            .into_iter()
            .filter(|name| name != "lock")
            .map(|name| (name.clone(), fs::read(folder.join(name)).unwrap()))
            .collect();
        assert!(
            (1..8).contains(&written.len()),
            "{line}: {:?}",
            names(&folder)
        );
        trial.call_well(&format!("{line} --quiet"));
        assert!(names(&folder).len() >= 8);
        for (name, bytes) in written {
            assert!(
                fs::read(folder.join(&name)).unwrap() == bytes,
                "{line}: {name}"
            );
        }
    }
}

#[test]
fn a_full_disk_is_reported_and_leaves_no_partial_files() {
    let trial = run();
    let disk = trial.path("disk");
    fs::create_dir(&disk).unwrap();
    let Some(_small) = SmallDisk::mount(&disk) else {
        println!("skipped: this user may not mount a small file system");
        return;
    };
    trial.call_well("export run --to ply --out whole --quiet");
    let whole = |name: &str| fs::read(trial.path("whole/particles").join(name)).unwrap();
    for free in [0, 60, 150] {
        let filler = disk.join("filler");
        fs::write(&filler, vec![1; 1024 * (DISK_KILOBYTES - free)]).unwrap_or_default();
        for line in [
            "export run --to ply --out disk/ply",
            "export run --to usd --out disk/usd",
            "preview run --png --size 1280x960 --out disk/pictures",
        ] {
            assert_error(&trial.call(line), 6, &["make room"]);
        }
        if disk.join("ply/particles").exists() {
            for name in names(&disk.join("ply/particles")) {
                assert!(fs::read(disk.join("ply/particles").join(&name)).unwrap() == whole(&name));
            }
        }
        for folder in ["ply", "usd", "pictures", "filler"] {
            let path = disk.join(folder);
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        }
    }
}
