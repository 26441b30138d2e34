//! Images and videos of runs.

use crate::trial::{Outcome, Trial, assert_error, assert_intact, names};
use meniscus_render::image::RgbImage;
use std::fs;
use std::io::Cursor;
use std::path::Path;

const RUN: &str = "run dam-break-2d --resolution 12 --frames 3 --quiet --set output.preview=false";

/// A small run in the folder `run`.
fn filmed() -> Trial {
    Trial::after(&format!("{RUN} --out run"))
}

fn picture(path: &Path) -> RgbImage {
    RgbImage::read_png(Cursor::new(fs::read(path).unwrap())).unwrap()
}

fn pictures(numbers: &[u32]) -> Vec<String> {
    let name = |k: &u32| format!("preview_{k:06}.png");
    numbers.iter().map(name).collect()
}

#[test]
fn a_run_can_be_rendered_repeatedly_to_images_and_a_gif() {
    let trial = filmed();
    let said = trial.call_well("preview run --size 64x48 --threads 1").said;
    assert!(said.contains("frame 2, 3 of 4") && said.contains("preview.gif"));
    let folder = trial.path("run/preview");
    let mut expected = vec!["preview.gif".to_string()];
    expected.extend(pictures(&[0, 1, 2, 3]));
    assert_eq!(names(&folder), expected);
    let first = picture(&folder.join("preview_000001.png"));
    assert_eq!(first.dimensions(), (64, 48));
    assert!(first != picture(&folder.join("preview_000003.png")));
    // The files of the run are unchanged.
    assert_intact(&trial.path("run"));
    // The same bytes for any number of threads, and a custom folder.
    trial.call_well("preview run --size 64x48 --threads 3 --quiet --out elsewhere/deep");
    for name in &expected {
        let bytes = |folder: &Path| fs::read(folder.join(name)).unwrap();
        assert!(
            bytes(&folder) == bytes(&trial.path("elsewhere/deep")),
            "{name}"
        );
    }
    // A restarted run has no images of the old one.
    trial.call_well(&format!("{RUN} --out run --overwrite"));
    assert!(names(&folder).is_empty(), "{:?}", names(&folder));
}

#[test]
fn formats_frames_and_styles_are_as_requested() {
    let trial = filmed();
    for (flags, expected) in [
        ("--png --frames 2-", pictures(&[2, 3])),
        ("--png --frames -1", pictures(&[0, 1])),
        ("--gif --frames 2", vec!["preview.gif".into()]),
    ] {
        let out = flags.replace([' ', '-'], "");
        trial.call_well(&format!(
            "preview run --size 32x32 --quiet --out {out} {flags}"
        ));
        assert_eq!(names(&trial.path(&out)), expected, "{flags}");
    }
    let drawn = |flags: &str| {
        trial.call_well(&format!(
            "preview run --size 64x48 --frames 3 --png --quiet --out p {flags}"
        ));
        picture(&trial.path("p/preview_000003.png"))
    };
    let usual = drawn("");
    for other in [
        "--style particles",
        "--camera height=0.5",
        "--camera target=[0,0]",
    ] {
        assert!(drawn(other) != usual, "{other}");
    }
    let seconds = |flags: &str| {
        trial.call_well(&format!(
            "preview run --size 32x32 --gif --quiet --out g {flags}"
        ));
        let file = fs::File::open(trial.path("g/preview.gif")).unwrap();
        let mut gif = gif::DecodeOptions::new().read_info(file).unwrap();
        let mut hundredths = 0;
        while let Some(frame) = gif.read_next_frame().unwrap() {
            hundredths += u32::from(frame.delay);
        }
        f64::from(hundredths) / 100.0
    };
    assert!((seconds("") - 4.0 / 24.0).abs() < 0.01);
    assert!((seconds("--slow 4") - 16.0 / 24.0).abs() < 0.01);
}

#[test]
fn invalid_options_are_refused_before_anything_is_written() {
    let trial = filmed();
    for (line, words) in [
        (
            "preview run --frames 9-20",
            "has no frames in 9-20: its frames are 0 to 3",
        ),
        ("preview run --frames 3-1", "run backwards"),
        ("preview run --size 0x48", "from 16 to 4096"),
        ("preview run --size 100000x100000", "from 16 to 4096"),
        ("preview run --size wide", "write 640x480"),
        ("preview run --slow 0", "from 0.01 to 1000"),
        ("preview run --slow nan", "from 0.01 to 1000"),
        ("preview run --style oil", "particles"),
        ("preview run --camera position=[1,2]", "two dimensions"),
        ("preview run --camera hight=1", "did you mean `height`"),
        ("preview run --camera height=-1", "above 0"),
        ("preview run --camera height", "key=value"),
    ] {
        assert_error(&trial.call(line), 2, &[words]);
        assert!(!trial.path("run/preview").exists(), "{line}");
    }
    assert_error(&trial.call("preview nowhere"), 6, &["nowhere", "no run"]);
    assert_error(&trial.call("preview run nowhere"), 6, &["nowhere"]);
}

#[test]
fn damaged_frames_are_reported_after_the_others_are_rendered() {
    type Damage = fn(&mut Vec<u8>);
    let damages: [Damage; 3] = [
        |bytes| bytes.truncate(100),
        |bytes| bytes.clear(),
        |bytes| bytes[200] ^= 4,
    ];
    for damage in damages {
        let trial = filmed();
        let frame = trial.path("run/particles/particles_000002.mpc");
        let mut bytes = fs::read(&frame).unwrap();
        damage(&mut bytes);
        fs::write(&frame, bytes).unwrap();
        let outcome = trial.call("preview run --size 32x32");
        let words = [
            "particles_000002.mpc is damaged",
            "3 other images",
            "--resume",
        ];
        assert_error(&outcome, 6, &words);
        let mut expected = vec!["preview.gif".to_string()];
        expected.extend(pictures(&[0, 1, 3]));
        assert_eq!(names(&trial.path("run/preview")), expected);
    }
}

#[test]
fn manifests_and_frames_of_another_version_are_reported() {
    let trial = filmed();
    let frame = trial.path("run/particles/particles_000003.mpc");
    let mut bytes = fs::read(&frame).unwrap();
    // The version follows the eight bytes of the magic number.
    bytes[8] += 1;
    fs::write(&frame, bytes).unwrap();
    trial.fails(
        "preview run --size 32x32",
        6,
        &["particles_000003.mpc", "version"],
    );
    let manifest = trial.path("run/run.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("frames_done", "frames_ready")).unwrap();
    trial.fails("preview run --size 32x32", 6, &["run.json", "frames_done"]);
    fs::write(&manifest, text).unwrap();
    let scene = trial.path("run/scene.toml");
    fs::write(&scene, "name = \"something else\"\n").unwrap();
    trial.fails("preview run --size 32x32", 6, &["scene.toml is damaged"]);
}

#[test]
fn a_run_in_progress_is_rendered_up_to_its_last_frame() {
    let trial = Trial::new();
    let line = "run dam-break-2d --resolution 48 --frames 500 --quiet --out long";
    let mut running = trial.start(line);
    let two = trial.path("long/particles/particles_000002.mpc");
    while !two.exists() {
        assert!(running.try_wait().unwrap().is_none(), "it ended");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let while_running = trial.call("preview long --png --size 32x32 --frames 1 --out a");
    running.kill().unwrap();
    running.wait().unwrap();
    assert_eq!(while_running.code, 0, "{}", while_running.errors);
    assert_eq!(names(&trial.path("a")), pictures(&[1]));
    // After it is killed, it still has its frames.
    trial.call_well("preview long --png --size 32x32 --out b --quiet");
    let done = names(&trial.path("b")).len();
    assert!((2..500).contains(&done), "{done}");
}

#[test]
fn two_runs_are_rendered_side_by_side_and_the_shorter_one_keeps_its_last_frame() {
    let trial = filmed();
    let other = RUN.replace("--frames 3", "--frames 4");
    trial.call_well(&format!(
        "{other} --walls slip --set time.rate=12 --out slip"
    ));
    trial.call_well("preview run slip --png --gif --size 60x40 --quiet");
    let folder = trial.path("run/preview/beside-slip");
    // Four frames at 12 per second are eight at 24.
    let mut expected = vec!["preview.gif".to_string()];
    expected.extend(pictures(&[0, 1, 2, 3, 4, 5, 6, 7, 8]));
    assert_eq!(names(&folder), expected);
    let at = |number: u32| picture(&folder.join(&pictures(&[number])[0]));
    assert_eq!(at(1).dimensions(), (122, 62));
    let half = |picture: &RgbImage, left: u32| {
        let mut part = RgbImage::new(60, 40);
        for (x, y, pixel) in picture.enumerate_pixels() {
            if (left..left + 60).contains(&x) && y < 40 {
                part.put_pixel(x - left, y, *pixel);
            }
        }
        part
    };
    assert!(half(&at(1), 0) != half(&at(3), 0));
    assert_eq!(half(&at(3), 0), half(&at(8), 0), "the first run waits");
    assert_eq!(
        half(&at(4), 62),
        half(&at(5), 62),
        "between two of its frames"
    );
    assert!(half(&at(4), 62) != half(&at(6), 62));
    // The timeline moves all the time.
    assert!(at(4) != at(5));
    // 2D beside 3D, and a run beside itself.
    trial.call_well("run sphere --resolution 8 --frames 2 --quiet --out ball");
    trial.call_well("preview run ball --png --size 48x32 --quiet --out both");
    trial.call_well("preview run run --png --size 48x32 --quiet --out twice");
    assert_eq!(names(&trial.path("twice")), pictures(&[0, 1, 2, 3]));
}

#[cfg(unix)]
#[test]
fn images_are_not_written_to_forbidden_places() {
    let trial = filmed();
    fs::create_dir(trial.path("outside")).unwrap();
    let own = trial.path("run/preview");
    std::os::unix::fs::symlink(trial.path("outside"), &own).unwrap();
    assert_error(
        &trial.call("preview run --size 32x32"),
        2,
        &["not a folder"],
    );
    assert!(names(&trial.path("outside")).is_empty());
    fs::remove_file(&own).unwrap();
    fs::write(&own, "a file").unwrap();
    assert_error(
        &trial.call("preview run --size 32x32"),
        2,
        &["not a folder"],
    );
    trial.fails(
        "preview run --size 32x32 --out run/preview/inner",
        6,
        &["could not create", "preview/inner"],
    );
    if cfg!(target_os = "linux") {
        trial.fails(
            "preview run --size 32x32 --out /proc/self/preview",
            6,
            &["could not create"],
        );
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_partial_images() {
    let trial = filmed();
    // Space for the small images of the first call and for none of the second.
    for (size, blocks, code) in [("32x32", 64, 0), ("400x400", 8, 6)] {
        let line = format!("preview run --quiet --size {size}");
        let outcome = trial.call_with_file_limit(blocks, &line);
        assert_eq!(outcome.code, code, "{}", outcome.errors);
        if code == 6 {
            assert_error(&outcome, 6, &["preview_000000.png", "make room"]);
        }
    }
    // The small ones are still complete, and nothing else exists.
    let folder = trial.path("run/preview");
    assert_eq!(names(&folder).len(), 5, "{:?}", names(&folder));
    for name in pictures(&[0, 1, 2, 3]) {
        assert_eq!(picture(&folder.join(name)).dimensions(), (32, 32));
    }
}

/// Calls `meniscus preview run --mp4` with a script in place of ffmpeg, or with none.
#[cfg(unix)]
fn with_ffmpeg(trial: &Trial, script: Option<&str>) -> Outcome {
    use std::os::unix::fs::PermissionsExt;
    let folder = trial.path("bin");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    if let Some(script) = script {
        let program = folder.join("ffmpeg");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = trial.command();
    command.env("PATH", &folder);
    command.args("preview run --mp4 --size 33x32 --quiet".split(' '));
    Outcome::from(command.output().unwrap())
}

#[cfg(unix)]
#[test]
fn an_mp4_is_encoded_by_ffmpeg_or_its_error_is_reported() {
    let trial = filmed();
    let film = trial.path("run/preview/preview.mp4");
    let outcome = with_ffmpeg(&trial, None);
    assert_error(&outcome, 4, &["ffmpeg", "apt install ffmpeg", "--gif"]);
    assert!(
        !trial.path("run/preview").exists(),
        "reported before anything is rendered"
    );
    let version = "[ \"$1\" = -version ] && exit 0\n";
    for (script, words) in [
        ("echo Unknown encoder >&2; exit 1", "Unknown encoder"),
        (
            "/bin/cat > /dev/null; echo no space >&2; exit 228",
            "no space",
        ),
        ("exit 3", "exit status: 3"),
        ("kill -9 $$", "signal: 9"),
    ] {
        let outcome = with_ffmpeg(&trial, Some(&format!("{version}{script}")));
        assert_error(&outcome, 6, &["ffmpeg could not encode the video", words]);
        assert!(names(&trial.path("run/preview")).is_empty(), "{script}");
    }
    let outcome = with_ffmpeg(&trial, Some("exit 1"));
    assert_error(&outcome, 6, &["-version"]);
    // A script that writes its input unchanged.
    let keeps = format!("{version}for last; do :; done; /bin/cat > \"$last\"");
    let outcome = with_ffmpeg(&trial, Some(&keeps));
    assert_eq!(outcome.code, 0, "{}", outcome.errors);
    assert_eq!(fs::metadata(&film).unwrap().len(), 4 * 33 * 32 * 3);
    assert_eq!(names(&trial.path("run/preview")), ["preview.mp4"]);
    // A later failure leaves the existing video.
    with_ffmpeg(&trial, Some(&format!("{version}exit 1")));
    assert_eq!(names(&trial.path("run/preview")), ["preview.mp4"]);
}
