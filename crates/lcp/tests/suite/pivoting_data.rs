//! Real problems, where they are at hand.

use std::path::PathBuf;

use crate::gallery::full;
use crate::harness::pivots;
use meniscus_lcp::methods::enumerate;
use meniscus_lcp::{BoxMlcp, Csr, Status};

/// The folder that the environment names, else the one beside the project.
pub fn folder() -> PathBuf {
    let data = std::env::var_os("MENISCUS_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    data.join("siconos_lcp")
}

/// `M` and `q` of a file with every entry stored: `n`, three sizes, `M` column by column, `q`, remarks.
pub fn read(text: &str) -> Option<(Csr, Vec<f64>)> {
    let mut words = text.split_whitespace();
    let n: usize = words.next()?.parse().ok()?;
    if words.next()? != "0" {
        return None;
    }
    let numbers: Vec<f64> = words
        .skip(4)
        .map_while(|word| word.parse().ok())
        .take(n * n + n)
        .collect();
    let (m, q) = numbers.split_at_checked(n * n)?;
    (q.len() == n).then(|| {
        let matrix = full(n, |row, column| m[column * n + row]);
        (matrix, q.to_vec())
    })
}

/// Problems without a solution.
const UNSOLVABLE: [&str; 1] = ["lcp_Pang_isolated_sol_perturbed.dat"];

#[test]
fn every_real_problem_is_solved_by_lemke_or_proved_to_have_no_solution() {
    let Ok(files) = std::fs::read_dir(folder()) else {
        println!("skipped: there is no folder {}", folder().display());
        return;
    };
    let mut count = 0;
    for file in files {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let Some((matrix, q)) = read(&text) else {
            // The same problem in blocks has a file without them.
            assert!(name.ends_with("_block.dat"), "{name}");
            continue;
        };
        count += 1;
        let n = q.len();
        let (lower, upper) = (vec![0.0; n], vec![f64::INFINITY; n]);
        let problem = BoxMlcp::new(&matrix, &q, &lower, &upper).unwrap();
        let [by_lemke, by_keller] =
            ["lemke", "keller"].map(|method| pivots(method)[0].run(&problem, &mut vec![0.0; n]));
        println!("{name} n = {n}: Lemke {by_lemke:?}, Keller {by_keller:?}");
        if UNSOLVABLE.contains(&name.as_str()) {
            assert_eq!(by_lemke.status, Status::Infeasible, "{name}");
        } else {
            assert_eq!(by_lemke.status, Status::Converged, "{name}");
            assert!(by_lemke.residual < 1e-10, "{name}");
        }
        if n <= 10 {
            let (settings, workspace) = (enumerate::Settings::default(), &mut Default::default());
            let all = enumerate::all(&problem, &settings, workspace, &mut ()).unwrap();
            println!("    {} solutions", all.solutions.len());
            assert_eq!(
                all.solutions.is_empty(),
                UNSOLVABLE.contains(&name.as_str()),
                "{name}"
            );
        }
    }
    assert!(count > 10, "only {count} problems were read");
}
