//! Server of the viewer: its responses and refusals.

use crate::trial::{Trial, interrupt};
use meniscus_app::viewer::Watched;
use meniscus_app::viewer::server::{Server, Stopper};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

/// A server on a thread of its own.
struct Serving {
    address: SocketAddr,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    fn of(runs: &[&Path]) -> Self {
        let runs = runs.iter().map(|run| Watched::open(run, None).unwrap());
        let server = Server::bind(runs.collect(), 0).unwrap();
        Serving {
            address: server.address(),
            stopper: server.stopper(),
            thread: Some(std::thread::spawn(move || server.serve())),
        }
    }

    /// Status, head and body of the response to these bytes.
    fn send(&self, bytes: &[u8]) -> (u16, String, Vec<u8>) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head, answer.split_off(end + 4))
    }

    fn get_as(&self, host: &str, target: &str) -> (u16, String, Vec<u8>) {
        self.send(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
    }

    fn get(&self, target: &str) -> (u16, String, Vec<u8>) {
        self.get_as(&self.address.to_string(), target)
    }

    fn json(&self, target: &str) -> Value {
        let (status, head, body) = self.get(target);
        assert_eq!(status, 200, "{target}: {head}");
        serde_json::from_slice(&body).unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stopper.stop();
        self.thread.take().unwrap().join().unwrap();
    }
}

/// A 2D run of three frames.
pub fn a_run() -> Trial {
    Trial::after("run maze --resolution 16 --frames 3 --quiet --out run")
}

#[test]
fn the_server_serves_all_data_of_a_run_with_eight_bytes_per_particle() {
    let trial = a_run();
    trial.call_well("run thrown-sphere --resolution 12 --frames 2 --quiet --out space");
    trial.call_well("mesh space --frames 2 --quiet");
    let serving = Serving::of(&[&trial.path("run"), &trial.path("space")]);
    assert_eq!(serving.address.ip(), Ipv4Addr::LOCALHOST);
    assert_eq!(serving.json("/runs")["runs"], 2);
    let (_, head, page) = serving.get("/");
    assert!(String::from_utf8(page).unwrap().contains("/page/main.js"));
    for header in [
        "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff",
        "Content-Security-Policy: default-src 'self'",
    ] {
        assert!(head.contains(header), "{head}");
    }
    for (run, frames) in [(0, 3), (1, 2)] {
        let about = serving.json(&format!("/run/{run}/about"));
        let now = serving.json(&format!("/run/{run}/now"));
        assert_eq!(now["state"], "done");
        assert_eq!(now["frames"].as_array().unwrap().len(), frames + 1);
        assert!(about["sceneText"].as_str().unwrap().contains("[domain]"));
        let steps = now["steps"]["time"].as_array().unwrap().len();
        assert!(steps >= frames);
        for column in ["inner", "residual", "drift", "speed"] {
            assert_eq!(now["steps"][column].as_array().unwrap().len(), steps);
        }
        let solve = now["timings"]["phases"]["solve"].as_array().unwrap();
        assert_eq!(solve.len(), steps);
        let revision = now["revision"].as_str().unwrap();
        let since = format!("/run/{run}/now?since={revision}");
        assert_eq!(serving.json(&since)["same"], true);

        let (status, _, body) = serving.get(&format!("/run/{run}/frame/{frames}"));
        let particles = now["steps"]["particles"].as_array().unwrap();
        let count = particles.last().unwrap().as_f64().unwrap() as usize;
        assert_eq!((status, body.len()), (200, 60 + 8 * count));
        let solids = about["solids"].as_array().unwrap();
        assert!(!solids.is_empty());
        for k in 0..solids.len() {
            let (status, _, body) = serving.get(&format!("/run/{run}/solid/{k}"));
            assert!(status == 200 && body.starts_with(b"MNVM"), "solid {k}");
        }
    }
    assert_eq!(
        serving.json("/run/0/now")["surfaces"],
        serde_json::json!([])
    );
    assert_eq!(
        serving.json("/run/1/now")["surfaces"],
        serde_json::json!([2])
    );
    let (status, _, body) = serving.get("/run/1/surface/2");
    assert!(status == 200 && body.starts_with(b"MNVM"));
    assert_eq!(serving.get("/run/1/surface/1").0, 404);
}

#[test]
fn only_known_paths_are_served() {
    let trial = a_run();
    fs::write(trial.path("run/secret"), "secret").unwrap();
    fs::write(trial.path("run/particles/particles_000009.mpc"), "secret").unwrap();
    let serving = Serving::of(&[&trial.path("run")]);
    for target in [
        "/run/../run/about",
        "/../run/0/about",
        "/page/../secret",
        "/page/..%2fsecret",
        "/page/%2e%2e/secret",
        "/page//style.css",
        "/page/Cargo.toml",
        "/page/",
        "//run/0/about",
        "/run/0/frame/../../secret",
        "/run/0/frame/particles_000001.mpc",
        "/run/0/frame/4",
        "/run/0/frame/-1",
        "/run/0/frame/+1",
        "/run/0/frame/1/",
        "/run/0/frame/00000000000000001",
        "/run/0/frame/99999999999999999999",
        "/run/0/solid/9",
        "/run/1/about",
        "/run/0",
        "/run/0/about/",
        "/run/0/secret",
        "/run//about",
        "/etc/passwd",
        "run/0/about",
        "http://127.0.0.1/run/0/about",
        "file:///etc/passwd",
        "*",
        "/\\..\\secret",
        "/favicon.ico",
    ] {
        let (status, _, body) = serving.get(target);
        assert_eq!(status, 404, "{target}");
        assert!(
            !String::from_utf8_lossy(&body).contains("secret"),
            "{target}"
        );
    }
    let host = serving.address;
    for method in ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "get"] {
        let request = format!("{method} / HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert_eq!(serving.send(request.as_bytes()).0, 405, "{method}");
    }
    assert_eq!(serving.send(b"nonsense\r\n\r\n").0, 400);
    assert_eq!(serving.send(&[b'a'; 20_000]).0, 431);
    assert_eq!(serving.get("/runs").0, 200, "it still answers");
}

#[test]
fn foreign_host_names_are_refused() {
    let trial = a_run();
    let serving = Serving::of(&[&trial.path("run")]);
    let port = serving.address.port();
    for name in ["127.0.0.1", "localhost", "[::1]"] {
        assert_eq!(
            serving.get_as(&format!("{name}:{port}"), "/runs").0,
            200,
            "{name}"
        );
    }
    for host in [
        "evil.example".into(),
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        "127.0.0.1".into(),
        format!("127.0.0.1:{}", port.wrapping_add(1)),
        format!("127.0.0.1:{port}0"),
        format!("127.0.0.1:0{port}"),
        format!("0.0.0.0:{port}"),
        String::new(),
    ] {
        let (status, _, body) = serving.get_as(&host, "/run/0/about");
        assert_eq!(status, 403, "{host}");
        assert!(!String::from_utf8_lossy(&body).contains("maze"), "{host}");
    }
}

#[test]
fn a_damaged_frame_is_reported_and_the_server_continues() {
    let trial = a_run();
    let path = trial.path("run/particles/particles_000002.mpc");
    let good = fs::read(&path).unwrap();
    let serving = Serving::of(&[&trial.path("run")]);
    let mut flipped = good.clone();
    *flipped.last_mut().unwrap() ^= 4;
    for bad in [&flipped[..], &good[..100], &good[..good.len() - 1], b""] {
        fs::write(&path, bad).unwrap();
        let (status, _, body) = serving.get("/run/0/frame/2");
        let words = String::from_utf8(body).unwrap();
        assert_eq!(status, 500);
        assert!(words.contains("particles_000002.mpc is damaged"), "{words}");
        assert_eq!(serving.get("/run/0/frame/3").0, 200);
    }
    // An intact frame under the wrong number is refused.
    fs::copy(trial.path("run/particles/particles_000003.mpc"), &path).unwrap();
    assert_eq!(serving.get("/run/0/frame/2").0, 500);
    fs::write(&path, &good).unwrap();
    assert_eq!(serving.get("/run/0/frame/2").0, 200);
}

#[test]
fn a_run_in_progress_or_replaced_is_followed() {
    let trial = a_run();
    let serving = Serving::of(&[&trial.path("run")]);
    let first = serving.json("/run/0/about");
    trial.call_well("run maze --resolution 16 --frames 5 --resume --quiet --out run");
    let now = serving.json("/run/0/now");
    assert_eq!(now["frames"], serde_json::json!([0, 1, 2, 3, 4, 5]));
    trial.call_well("run maze --resolution 12 --frames 2 --quiet --out run --overwrite");
    let (about, now) = (serving.json("/run/0/about"), serving.json("/run/0/now"));
    assert_ne!(about["sceneHash"], first["sceneHash"]);
    assert_eq!(about["settings"]["resolution"], 12);
    assert_eq!(now["frames"], serde_json::json!([0, 1, 2]));
    assert_eq!(serving.get("/run/0/frame/2").0, 200);
}

#[test]
fn a_run_of_another_version_is_reported_with_both_versions() {
    let trial = a_run();
    let path = trial.path("run/run.json");
    let text = fs::read_to_string(&path).unwrap();
    let ours = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&ours));
    fs::write(&path, text.replace(&ours, "\"version\": \"7.3.1\"")).unwrap();
    for line in [
        "view run",
        "report run",
        "diff run run",
        "gc run",
        "status run",
        "verify run",
        "preview run",
        "mesh run",
        "export run --to ply",
    ] {
        trial.fails(line, 6, &["7.3.1", env!("CARGO_PKG_VERSION")]);
    }
    fs::remove_file(&path).unwrap();
    for line in [
        "view run",
        "report run",
        "diff run run",
        "gc run",
        "view nowhere",
    ] {
        trial.fails(line, 6, &["run.json"]);
    }
}

#[cfg(unix)]
#[test]
fn the_viewer_prints_its_address_and_ends_at_ctrl_c_with_130() {
    let trial = a_run();
    let mut child = trial
        .command()
        .args(["view", "run"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut said = [0; 17];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut said)
        .unwrap();
    assert_eq!(&said, b"http://127.0.0.1:");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn runs_in_2d_and_3d_can_not_share_a_camera() {
    let trial = a_run();
    trial.call_well("run thrown-sphere --resolution 8 --frames 1 --quiet --out space");
    trial.fails("view run space", 2, &["2D", "3D"]);
}
