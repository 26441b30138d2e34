use crate::trial::{Trial, assert_contains, names};
use meniscus_lcp::matrix_market::{Limits, read_vector};
use meniscus_lcp::registry::Method;
use serde_json::Value;
use std::path::Path;

const FLUID: &str = "lcp generate fluid --rows 200 --seed 3 --out p";
const CONTACT: &str = "lcp generate contact --contacts 10 --out p";

fn vector(path: &Path) -> Vec<f64> {
    let file = std::fs::File::open(path).unwrap();
    read_vector(std::io::BufReader::new(file), &Limits::default()).unwrap()
}

fn write(trial: &Trial, name: &str, lines: &[&str]) {
    std::fs::write(trial.path(name), lines.join("\n") + "\n").unwrap();
}

/// A 2 by 2 problem: A.mtx, b.mtx, lower.mtx, upper.mtx.
fn tiny(trial: &Trial) {
    let vector = |name, values: [&str; 2]| {
        let head = ["%%MatrixMarket matrix array real general", "2 1"];
        write(trial, name, &[head[0], head[1], values[0], values[1]]);
    };
    write(
        trial,
        "A.mtx",
        &[
            "%%MatrixMarket matrix coordinate real general",
            "2 2 4",
            "1 1 2",
            "1 2 -1",
            "2 1 -1",
            "2 2 2",
        ],
    );
    vector("b.mtx", ["-1", "5"]);
    vector("lower.mtx", ["-inf", "-1"]);
    vector("upper.mtx", ["inf", "1"]);
}

#[test]
fn every_generated_problem_is_solved_to_its_known_solution() {
    for generate in [
        FLUID,
        CONTACT,
        "lcp generate dense --rows 40 --out p",
        "lcp generate dense --rows 40 --null 0.3 --out p",
    ] {
        let trial = Trial::after(generate);
        assert_eq!(
            names(&trial.path("p")),
            ["A.mtx", "b.mtx", "lower.mtx", "upper.mtx", "x.mtx"]
        );
        let said = trial
            .call_well("lcp solve --problem p --out x.mtx --json")
            .said;
        let answer: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(answer["status"], "converged", "{generate}: {said}");
        assert!(answer["residual_inf"].as_f64().unwrap() <= 1e-8);
        for key in [
            "solver",
            "iterations",
            "inner_iterations",
            "seconds",
            "n",
            "nnz",
        ] {
            assert!(!answer[key].is_null(), "{key} is missing in {said}");
        }
        if !generate.contains("--null") && generate != CONTACT {
            let (found, known) = (vector(&trial.path("x.mtx")), vector(&trial.path("p/x.mtx")));
            let apart = found.iter().zip(&known).map(|(a, b)| (a - b).abs());
            assert!(apart.fold(0.0, f64::max) < 1e-6, "{generate}");
        }
    }
}

#[test]
fn every_method_is_available_by_name_and_reports_its_true_status() {
    let trial = Trial::after("lcp generate fluid --rows 12 --out p");
    for method in Method::ALL {
        let outcome = trial.call(&format!("lcp solve --problem p --solver {method} --json"));
        if *method == Method::Linear {
            assert_eq!(outcome.code, 2, "{outcome:?}");
            assert_contains(&outcome.errors, &["linear"]);
            continue;
        }
        let mut relative = true;
        let absolute = format!("lcp solve --problem p --solver {method} --json --absolute");
        for outcome in [outcome, trial.call(&absolute)] {
            let answer: Value = serde_json::from_str(&outcome.said).unwrap();
            let converged = answer["status"] == "converged";
            assert_eq!(outcome.code, if converged { 0 } else { 5 }, "{outcome:?}");
            let residual = &answer[if relative {
                "residual_relative"
            } else {
                "residual_inf"
            }];
            assert_eq!(converged, residual.as_f64().unwrap() <= 1e-8, "{outcome:?}");
            assert!(answer["residual_is_rounding"].is_boolean(), "{outcome:?}");
            assert!(
                converged || *method == Method::Penalty,
                "{method}: {outcome:?}"
            );
            relative = false;
        }
    }
}

#[test]
fn bounds_may_be_infinite_and_are_kept() {
    let trial = Trial::new();
    tiny(&trial);
    trial.call_well(
        "lcp solve --matrix A.mtx --rhs b.mtx --lower lower.mtx --upper upper.mtx --out x.mtx",
    );
    // The second row is at its lower bound, -1, the first is free: 2 x + 1 - 1 = 0.
    let x = vector(&trial.path("x.mtx"));
    assert!(x[0].abs() < 1e-8 && (x[1] + 1.0).abs() < 1e-12, "{x:?}");
    // Without bounds it is an LCP.
    trial.call_well("lcp solve --matrix A.mtx --rhs b.mtx --out x.mtx");
    let x = vector(&trial.path("x.mtx"));
    assert!((x[0] - 0.5).abs() < 1e-8 && x[1] == 0.0, "{x:?}");
}

#[test]
fn an_exact_initial_guess_takes_no_iteration() {
    let trial = Trial::after(FLUID);
    let said = trial
        .call_well("lcp solve --problem p --solver newton --start p/x.mtx --json")
        .said;
    let answer: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(answer["iterations"], 0, "{said}");
}

#[test]
fn a_solve_that_does_not_converge_exits_with_5_and_writes_its_best_iterate() {
    let trial = Trial::after(FLUID);
    let outcome = trial.fails(
        "lcp solve --problem p --solver pgs --max-iterations 2 --out x.mtx",
        5,
        &[],
    );
    assert!(outcome.said.contains("NOT") && outcome.said.contains("iteration-limit"));
    assert_eq!(vector(&trial.path("x.mtx")).len(), 200);
}

#[test]
fn traces_and_plots_have_every_iteration() {
    let trial = Trial::after(FLUID);
    trial.call_well("lcp solve --problem p --solver psor --trace deep/trace.csv --plot trace.svg");
    let csv = std::fs::read_to_string(trial.path("deep/trace.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        lines[0],
        "solver,iteration,inner_iterations,residual_inf,merit,seconds"
    );
    assert!(
        lines.len() > 5 && lines[1].starts_with("psor,0,0,"),
        "{csv}"
    );
    let svg = std::fs::read_to_string(trial.path("trace.svg")).unwrap();
    assert_contains(&svg, &["<polyline"]);
}

#[test]
fn unreadable_matrices_exit_with_3() {
    let trial = Trial::new();
    tiny(&trial);
    write(&trial, "text.mtx", &["hello"]);
    write(
        &trial,
        "nan.mtx",
        &[
            "%%MatrixMarket matrix array real general",
            "2 1",
            "nan",
            "1",
        ],
    );
    for line in [
        "lcp solve --matrix text.mtx --rhs b.mtx",
        "lcp solve --matrix gone.mtx --rhs b.mtx",
        "lcp solve --matrix . --rhs b.mtx",
        "lcp solve --matrix A.mtx --rhs nan.mtx",
        "lcp solve --problem nowhere",
        "lcp info --matrix text.mtx --rhs b.mtx",
        "lcp compare --matrix text.mtx --rhs b.mtx",
    ] {
        let outcome = trial.fails(line, 3, &[]);
        assert!(outcome.errors.starts_with("error: "), "{}", outcome.errors);
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_matrix_does_not_block() {
    let trial = Trial::new();
    tiny(&trial);
    let made = std::process::Command::new("mkfifo")
        .arg(trial.path("pipe.mtx"))
        .status();
    assert!(made.unwrap().success());
    assert_eq!(
        trial.call("lcp solve --matrix pipe.mtx --rhs b.mtx").code,
        3
    );
}

#[test]
fn wrong_sizes_and_options_exit_with_2() {
    let trial = Trial::new();
    tiny(&trial);
    trial.call_well(CONTACT);
    let head = "%%MatrixMarket matrix array real general";
    write(&trial, "three.mtx", &[head, "3 1", "1", "2", "3"]);
    write(&trial, "high.mtx", &[head, "2 1", "9", "9"]);
    for line in [
        "lcp solve --matrix A.mtx --rhs three.mtx",
        "lcp solve --matrix A.mtx --rhs b.mtx --start three.mtx",
        "lcp solve --matrix A.mtx --rhs b.mtx --lower high.mtx --upper upper.mtx",
        "lcp solve --matrix A.mtx --rhs b.mtx --tolerance -1",
        "lcp solve --matrix A.mtx --rhs b.mtx --tolerance nan",
        "lcp solve --matrix A.mtx --rhs b.mtx --solver newtn",
        "lcp solve --matrix A.mtx",
        "lcp solve",
        "lcp solve --problem p --solver pgs",
        "lcp generate fluid --rows 0 --out q",
        "lcp generate dense --zeros 2 --out q",
        "lcp compare --matrix A.mtx --rhs b.mtx --seconds 0",
    ] {
        trial.fails(line, 2, &[]);
    }
}

#[test]
fn problems_are_not_written_to_a_folder_with_foreign_files() {
    let trial = Trial::new();
    std::fs::create_dir(trial.path("p")).unwrap();
    std::fs::write(trial.path("p/diary.txt"), "dear").unwrap();
    assert_eq!(trial.call(FLUID).code, 2);
    assert_eq!(names(&trial.path("p")), ["diary.txt"]);
}

#[test]
fn info_prints_properties_and_applicable_methods() {
    let trial = Trial::after(FLUID);
    let said = trial
        .call_well("lcp info --problem p --json --plot p.svg")
        .said;
    let answer: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(answer["symmetric"], true);
    assert_eq!(answer["definiteness"], "positive definite");
    assert_eq!(answer["bounds"]["lower_only"], 200);
    let svg = std::fs::read_to_string(trial.path("p.svg")).unwrap();
    assert_contains(&svg, &["200 rows"]);
    trial.call_well(CONTACT);
    let said = trial.call_well("lcp info --problem p").said;
    assert_contains(
        &said,
        &[
            "60",
            "indefinite",
            "lemke",
            "not applicable: the matrix is not symmetric",
        ],
    );
}

#[test]
fn compare_runs_every_applicable_method() {
    let trial = Trial::after("lcp generate fluid --rows 60 --out p");
    let outcome = trial.call_well("lcp compare --problem p --csv c.csv --plot c.svg");
    let csv = std::fs::read_to_string(trial.path("c.csv")).unwrap();
    for method in [
        "lemke", "dantzig", "keller", "psor", "newton", "fischer", "mprgp",
    ] {
        assert!(outcome.said.contains(method), "{method}: {}", outcome.said);
        assert!(csv.contains(&format!("{method},converged")), "{csv}");
    }
    assert_contains(&outcome.errors, &["skipped enumerate"]);
    assert!(trial.path("c.svg").exists());
    let said = trial
        .call_well("lcp compare --problem p --solvers lemke,newton --json")
        .said;
    let solvers: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["solver"].clone())
        .collect();
    assert_eq!(solvers, ["lemke", "newton"]);
}

#[test]
fn solvers_lists_every_method_with_its_use() {
    let said = Trial::new().call_well("lcp solvers").said;
    for method in Method::ALL {
        assert!(said.contains(method.name()) && said.contains(method.when()));
    }
}

#[test]
fn a_problem_with_a_grid_is_also_solved_by_multigrid() {
    let trial = Trial::new();
    for dim in [2, 3] {
        trial.call_well(&format!("lcp generate walls --dim {dim} --size 16 --out p"));
        let said = trial
            .call_well("lcp compare --problem p --solvers policy,tn-mg --tolerance 1e-9")
            .said;
        for method in ["policy", "tn-mg"] {
            assert!(said.contains(&format!("{method:8}converged")), "{said}");
        }
        // Both found the same pressure.
        let apart = said
            .lines()
            .nth(2)
            .unwrap()
            .split_whitespace()
            .last()
            .unwrap();
        assert!(apart.parse::<f64>().unwrap() < 1e-6, "{said}");
    }
    // All solvers of scenes, and variants of them, are available by the same names.
    let said = trial
        .call_well("lcp compare --problem p --solvers auto,fas-mg:trilinear,newton:gmres:jacobi,pi-mg,mprgp-mg")
        .said;
    for name in [
        "auto (",
        "fas-mg:trilinear",
        "newton:gmres:jacobi",
        "pi-mg",
        "mprgp-mg",
    ] {
        let line = said.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(line.contains("converged"), "{said}");
    }
    // `lcp solve` has the same solvers, and the `auto` of scenes.
    for (name, found) in [("tn-mg", "tn-mg"), ("auto", "tn-mg"), ("mprgp", "mprgp")] {
        let line = format!("lcp solve --problem p --solver {name} --json");
        let answer: Value = serde_json::from_str(&trial.call_well(&line).said).unwrap();
        assert_eq!(answer["solver"], found, "{answer}");
    }
    trial.fails(
        "lcp solve --problem p --solver tn-mg:gmres",
        2,
        &["no variation of tn-mg"],
    );
    let outcome = trial.call("lcp compare --problem p --solvers mg,tn-mg");
    assert_contains(&outcome.errors, &["skipped mg: "]);
    trial.fails(
        "lcp compare --problem p --solvers tn-mg:gmres",
        2,
        &["no variation of tn-mg"],
    );
    // It needs the grid.
    trial.call_well(FLUID.replace("--out p", "--out q").as_str());
    trial.fails(
        "lcp solve --problem q --solver tn-mg",
        2,
        &["needs the grid"],
    );
    assert_eq!(
        trial.call("lcp compare --problem q --solvers tn-mg").code,
        2
    );
    assert_eq!(
        trial.call("lcp compare --problem q --solvers newtn").code,
        2
    );
    std::fs::write(trial.path("p/grid.json"), "{\"dimension\": 3}").unwrap();
    assert_eq!(
        trial.call("lcp compare --problem p --solvers tn-mg").code,
        3
    );
    let outcome = trial.call_well("lcp compare --problem p");
    assert_contains(&outcome.errors, &["skipped tn-mg"]);
}

#[test]
fn compare_continues_after_a_method_that_refuses_the_problem() {
    let trial = Trial::after(CONTACT);
    let outcome = trial.call_well("lcp compare --problem p --solvers pgs,lemke");
    assert_contains(&outcome.errors, &["skipped pgs: row"]);
    assert_contains(&outcome.said, &["lemke"]);
    assert_eq!(trial.call("lcp compare --problem p --solvers pgs").code, 2);
    assert_eq!(
        trial.call("lcp compare --problem p --seconds 1e300").code,
        2
    );
}
