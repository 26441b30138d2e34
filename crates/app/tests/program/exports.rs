use crate::trial::{Trial, json, names};
use meniscus_store::cache;
use std::fs;

#[test]
fn ply_frames_have_every_particle_with_its_velocity() {
    let trial = Trial::after("run ceiling-ball --resolution 12 --frames 2 --quiet --out run");
    let said = trial.call_well("export run --to ply").said;
    assert!(said.contains("3 frames") && said.contains("Z up"), "{said}");
    let folder = trial.path("run/export/ply/particles");
    assert_eq!(
        names(&folder),
        [
            "particles_000000.ply",
            "particles_000001.ply",
            "particles_000002.ply"
        ]
    );
    let source = fs::read(cache::frame_path(&trial.path("run"), 2)).unwrap();
    let frame = cache::decode::<3>(&source).unwrap();
    let ply = fs::read(folder.join("particles_000002.ply")).unwrap();
    let body = ply.len() - frame.positions().len() * 24;
    let header = std::str::from_utf8(&ply[..body]).unwrap();
    assert!(header.contains(&format!("element vertex {}\n", frame.positions().len())));
    assert!(header.ends_with("end_header\n"), "{header}");
    let first: Vec<f32> = ply[body..body + 24]
        .chunks(4)
        .map(|c| f32::from_le_bytes(c.try_into().unwrap()))
        .collect();
    assert_eq!(
        first,
        [frame.positions()[0], frame.velocities()[0]].concat()
    );

    trial.call_well("export run --to ply --out elsewhere");
    assert_eq!(names(&trial.path("elsewhere/particles")).len(), 3);
}

#[test]
fn everything_includes_the_solids_of_scenes_that_have_some() {
    let trial = Trial::after("run paddle --resolution 12 --frames 1 --quiet --out run");
    trial.call_well("export run --to obj --what all --frames 1");
    let layers = names(&trial.path("run/export/obj"));
    assert_eq!(layers, ["bodies", "surface"]);
    let solids = trial.path("run/export/obj/bodies/bodies_000001.obj");
    assert!(fs::read_to_string(solids).unwrap().contains("\nf "));
    trial.call_well("export run --to ply --what all --frames 1");
    let layers = names(&trial.path("run/export/ply"));
    assert_eq!(layers, ["bodies", "particles", "surface"]);
    trial.call_well("run dam-break --resolution 8 --frames 1 --quiet --out tank");
    trial.call_well("export tank --to obj --what all");
    assert_eq!(names(&trial.path("tank/export/obj")), ["surface"]);
}

#[test]
fn a_folder_without_a_run_can_not_be_exported() {
    let trial = Trial::new();
    for place in ["missing", "."] {
        trial.fails(&format!("export {place} --to ply"), 6, &["run.json"]);
    }
}

#[test]
fn a_pressure_problem_is_written_with_its_grid() {
    let trial = Trial::after("lcp export circle --frame 3 --resolution 16 --out problem");
    let folder = trial.path("problem");
    assert_eq!(
        names(&folder),
        ["A.mtx", "b.mtx", "grid.json", "lower.mtx", "upper.mtx"]
    );

    let grid = json(&folder.join("grid.json"));
    assert_eq!(
        (&grid["dimension"], &grid["size"]),
        (&2.into(), &serde_json::json!([16, 16]))
    );
    let rows = grid["rows"].as_u64().unwrap() as usize;
    for list in ["cells", "open", "air", "solid", "theta"] {
        assert_eq!(grid[list].as_array().unwrap().len(), rows, "{list}");
    }
    let lower = vector(&folder.join("lower.mtx"));
    let upper = vector(&folder.join("upper.mtx"));
    assert_eq!((lower.len(), upper.len()), (rows, rows));
    let (matrix, entries) = matrix(&folder.join("A.mtx"));
    assert_eq!(matrix, rows);
    // The matrix agrees with the grid: air faces and open fractions make the diagonal.
    let scale = grid["dt"].as_f64().unwrap()
        / (grid["density"].as_f64().unwrap() * grid["dx"].as_f64().unwrap().powi(2));
    for row in 0..rows {
        let face = |list: &str, f: usize| &grid[list][row][f];
        let mut diagonal = 0.0;
        for f in 0..4 {
            let theta = face("theta", f).as_f64().unwrap_or(1.0);
            diagonal += scale * face("open", f).as_f64().unwrap() / theta;
        }
        let written = entries.iter().find(|e| (e.0, e.1) == (row, row)).unwrap().2;
        assert!(
            (written - diagonal).abs() < 1e-9 * diagonal,
            "row {row}: {written} {diagonal}"
        );
        // Bounded below exactly at solids: by zero, or by less where the free surface meets a ceiling.
        let is = |list: &str, f: usize| face(list, f).as_bool().unwrap();
        let wall = (0..4).any(|f| is("solid", f));
        assert_eq!(lower[row].is_finite(), wall, "row {row}");
        let beside_air = (0..4).any(|f| is("air", f));
        assert!(
            lower[row] == 0.0 || !wall || beside_air && lower[row] < 0.0,
            "row {row}: {}",
            lower[row]
        );
        assert_eq!(upper[row], f64::INFINITY);
    }
    assert!(lower.contains(&0.0) && lower.contains(&f64::NEG_INFINITY));
}

#[test]
fn a_problem_is_not_written_among_other_files() {
    let trial = Trial::new();
    fs::create_dir(trial.path("photos")).unwrap();
    fs::write(trial.path("photos/cat.jpg"), "cat").unwrap();
    trial.fails(
        "lcp export circle --frame 1 --resolution 8 --out photos",
        2,
        &[],
    );
    assert_eq!(names(&trial.path("photos")), ["cat.jpg"]);
}

/// Values of a Matrix Market array.
fn vector(path: &std::path::Path) -> Vec<f64> {
    let text = fs::read_to_string(path).unwrap();
    assert!(
        text.starts_with("%%MatrixMarket matrix array real general"),
        "{text:.60}"
    );
    let numbers = text.lines().filter(|line| !line.starts_with('%')).skip(1);
    numbers.map(|line| line.trim().parse().unwrap()).collect()
}

/// Size and entries of a Matrix Market matrix, mirrored if only half of it is stored.
fn matrix(path: &std::path::Path) -> (usize, Vec<(usize, usize, f64)>) {
    let text = fs::read_to_string(path).unwrap();
    assert!(
        text.starts_with("%%MatrixMarket matrix coordinate real "),
        "{text:.60}"
    );
    let mut lines = text.lines().filter(|line| !line.starts_with('%'));
    let size: Vec<usize> = lines
        .next()
        .unwrap()
        .split_whitespace()
        .map(|n| n.parse().unwrap())
        .collect();
    let entries = lines.map(|line| {
        let mut words = line.split_whitespace();
        let mut index = || words.next().unwrap().parse::<usize>().unwrap() - 1;
        (index(), index(), words.next().unwrap().parse().unwrap())
    });
    (size[0], entries.collect())
}
