"""Runs and simulations: the same bits as the command line, interrupts, caches."""

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import meniscus
from meniscus import MeniscusError, Scene, Simulation


def program():
    """The program of the command line, if it was built."""
    path = os.environ.get("MENISCUS_PROGRAM")
    if not path or not Path(path).exists():
        pytest.skip("MENISCUS_PROGRAM is not set: the command line is not compared")
    return path


def hashes(folder):
    files = sorted((Path(folder) / "particles").iterdir()) + [Path(folder) / "stats.jsonl"]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_a_run_has_the_bits_of_the_command_line(scene, tmp_path):
    command = program()
    made = meniscus.run(Scene(scene), tmp_path / "python", progress=False)
    (tmp_path / "small.toml").write_text(Scene(scene).text)
    subprocess.run([command, "run", tmp_path / "small.toml", "--out", tmp_path / "command", "--quiet"], check=True)
    assert hashes(made.path) == hashes(tmp_path / "command")


def test_a_run_is_read_while_it_is_written_and_afterwards(scene, tmp_path):
    seen = []

    def progress(event):
        if event["event"] == "frame" and event["number"] >= 3:
            run = meniscus.open(tmp_path / "r")
            seen.append((run.state, len(run)))

    run = meniscus.run(scene, tmp_path / "r", progress=progress)
    assert seen and seen[0][0] == "running" and 0 < seen[0][1] < 7
    assert run.state == "done" and run.frames == list(range(7)) and len(run) == 7
    assert [frame.number for frame in run] == run.frames
    last = run[-1]
    assert last.number == 6 and last.time == pytest.approx(6 / 24)
    assert last.positions.shape == last.velocities.shape == (len(last.layers["liquid"]), 2)
    assert last.positions.dtype == np.float32 and not last.positions.flags.writeable
    assert last.pressure.shape == (len(last.positions),)
    assert [frame.number for frame in run[2:4]] == [2, 3]
    for wrong in (7, -1, 2**40):
        with pytest.raises(IndexError):
            run.frame(wrong)
    stats = run.stats
    assert stats.rows > 5 and stats["time"].dtype == np.float64 and np.all(np.diff(stats["time"]) > 0)
    assert run.scene.text == Scene(scene).text
    assert "done, 6 of 6 frames" in repr(run)


def test_arrays_outlive_their_frame(scene):
    positions = next(iter(meniscus.simulate(scene))).positions
    expected = positions.copy()
    for _ in range(3):
        np.zeros(10_000_000 // 8)
        list(meniscus.simulate(dict(scene, time={"frames": 1})))
    assert np.array_equal(positions, expected)


def test_a_simulation_gives_the_frames_of_a_run(scene, tmp_path):
    scene["output"]["attributes"] = True
    run = meniscus.run(scene, tmp_path / "r", progress=False)
    cell = 1.0 / 24
    for frame, kept in zip(meniscus.simulate(scene, threads=1), run, strict=True):
        assert (frame.number, frame.time) == (kept.number, kept.time)
        # The cache rounds positions to a part of a cell and sorts particles.
        order, kept_order = np.argsort(frame.ids), np.argsort(kept.ids)
        assert np.array_equal(frame.ids[order], kept.ids[kept_order])
        np.testing.assert_allclose(frame.positions[order], kept.positions[kept_order], atol=cell / 1000)


def test_a_simulation_can_be_stepped_left_and_closed(scene):
    with Simulation(scene) as simulation:
        assert next(simulation).number == 0
        line = simulation.step()
        assert 0 < simulation.time == line["time"] <= 1 / 24
        # A step may be as long as a frame.
        done = simulation.frame.number
        assert done in (0, 1) and next(simulation).number == done + 1 and simulation.steps
        assert simulation.frame.number == done + 1
    with pytest.raises(ValueError, match="closed"):
        next(simulation)
    abandoned = meniscus.simulate(scene)
    next(abandoned)
    del abandoned


def test_the_surface_encloses_the_volume_of_the_liquid():
    spatial = {
        "domain": {"size": [1.0, 1.0, 1.0], "resolution": 16},
        "liquid": [{"shape": {"sphere": {"center": [0.5, 0.5, 0.5], "radius": 0.3}}}],
    }
    surface = next(iter(meniscus.simulate(spatial))).surface()
    assert surface.volume == pytest.approx(4 / 3 * np.pi * 0.3**3, rel=0.05)
    assert surface.positions.shape[1] == surface.triangles.shape[1] == 3
    assert surface.triangles.max() == len(surface.positions) - 1
    assert surface.normals.shape == surface.velocities.shape == surface.positions.shape


def test_bodies_have_poses_forces_and_a_table(floating, tmp_path):
    run = meniscus.run(floating, tmp_path / "r", progress=False)
    body = run[-1].bodies["box"]
    assert body["rotation"].shape == (2, 2) and body["translation"].shape == (2,)
    weight = 500.0 * 0.2 * 0.1 * 9.81
    table = run.bodies
    assert table.rows >= 6 and set(table["name"]) == {"box"}
    assert table["liquid_fy"].mean() == pytest.approx(weight, rel=0.3)
    assert body["liquid_force"][1] == table["liquid_fy"][-1]


def test_runs_are_not_replaced_by_accident(scene, tmp_path, monkeypatch):
    run = meniscus.run(scene, tmp_path / "r", progress=False)
    with pytest.raises(MeniscusError, match="finished run") as caught:
        meniscus.run(scene, tmp_path / "r", progress=False)
    assert caught.value.exit_code == 2 and caught.value.remedy
    before = hashes(run.path)
    assert meniscus.run(scene, tmp_path / "r", resume=True, progress=False).state == "done"
    assert meniscus.run(scene, tmp_path / "r", overwrite=True, progress=False).state == "done"
    assert hashes(run.path) == before
    monkeypatch.chdir(tmp_path)
    folders = [meniscus.run(scene, progress=False).path for _ in range(2)]
    assert folders == [Path("out/small"), Path("out/small-2")]
    with pytest.raises(ValueError, match="resume excludes"):
        meniscus.run(scene, tmp_path / "r", resume=True, from_frame=2)
    with pytest.raises(MeniscusError, match="holds no run"):
        meniscus.open(tmp_path)


def test_arguments_out_of_range_are_refused_in_words(scene, tmp_path):
    for threads, kind in ((0, ValueError), (-1, ValueError), (10**9, ValueError), ("2", TypeError)):
        with pytest.raises(kind, match="threads"):
            meniscus.run(scene, tmp_path / "r", threads=threads, progress=False)
        with pytest.raises(kind, match="threads"):
            meniscus.simulate(scene, threads=threads)
        with pytest.raises(kind, match="threads"):
            Scene(scene).estimate(threads)
    for from_frame in (-1, 2**40):
        with pytest.raises(ValueError, match="from_frame"):
            meniscus.run(scene, tmp_path / "r", from_frame=from_frame)
    with pytest.raises(TypeError, match="progress"):
        meniscus.run(scene, tmp_path / "r", progress="yes")
    with pytest.raises(ValueError, match="counted from 0"):
        Scene(scene).set("liquid[-1].viscosity", 1.0)
    with pytest.raises(TypeError, match="body"):
        Simulation(scene).push(3, [0.0, 0.0])
    for values, kind in (({"density": 5}, TypeError), ({"density": "12"}, TypeError), ({"density": []}, ValueError)):
        with pytest.raises(kind, match="value"):
            meniscus.sweep(scene, values, tmp_path / "s")
    assert not any(tmp_path.iterdir())


def test_ctrl_c_leaves_a_run_that_resumes_to_the_same_bits(scene, tmp_path):
    scene["domain"]["resolution"] = 64
    scene["time"]["frames"] = 20
    sent = []

    def progress(event):
        if event["event"] == "frame" and event["number"] == 2 and not sent:
            threading.Thread(target=interrupt).start()

    def interrupt():
        time.sleep(0.05)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        meniscus.run(scene, tmp_path / "r", progress=progress)
    assert time.monotonic() - sent[0] < 1.0, "0.3 s, and a loaded machine gets some more"
    # At once: the interrupted run may still be writing its checkpoint.
    resumed = meniscus.run(scene, tmp_path / "r", resume=True, progress=False)
    whole = meniscus.run(scene, tmp_path / "whole", progress=False)
    assert resumed.state == "done" and hashes(resumed.path) == hashes(whole.path)


def test_an_exception_in_a_progress_function_comes_out_and_the_run_resumes(scene, tmp_path):
    def fail(event):
        if event["event"] == "frame":
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        meniscus.run(scene, tmp_path / "r", progress=fail)
    assert meniscus.run(scene, tmp_path / "r", resume=True, progress=False).state == "done"


def test_two_runs_on_one_folder_are_refused(scene, tmp_path):
    command = program()
    # Long enough that it is still running when the other one starts; then it is stopped.
    scene["domain"]["resolution"] = 48
    scene["time"]["frames"] = 5000
    found = []

    def second(event):
        if event["event"] == "frame":
            (tmp_path / "small.toml").write_text(Scene(scene).text)
            arguments = [command, "run", tmp_path / "small.toml", "--out", tmp_path / "r", "--overwrite"]
            found.append(subprocess.run(arguments, capture_output=True, text=True))
            raise LookupError("enough")

    with pytest.raises(LookupError):
        meniscus.run(scene, tmp_path / "r", progress=second)
    assert found[0].returncode != 0 and "run" in found[0].stderr


def drive(simulation):
    """Push and change depending on what the frames show."""
    frame = None
    for frame in simulation:
        if 1 <= frame.number <= 4:
            simulation.push("box", [20.0 - frame.bodies["box"]["velocity"][0], 0.0], torque=0.1)
        if frame.number == 3:
            simulation.set("gravity", np.array([0.0, -1.62]))
            simulation.set("density", 900)
    return frame


def contents(folder):
    """Everything of a run that does not depend on the clock."""
    files = hashes(folder)
    for name in ("actions.jsonl", "bodies.csv", "preview.gif", "scene.toml"):
        files[name] = hashlib.sha256((Path(folder) / name).read_bytes()).hexdigest()
    return files


def test_forces_and_changes_are_logged_and_replayed_to_the_same_bits(floating):
    pushed = Simulation(floating)
    last = drive(pushed)
    assert [action["step"] for action in pushed.log] == sorted(action["step"] for action in pushed.log) and len(pushed.log) == 6
    assert last.bodies["box"]["velocity"][0] > 0.1
    assert "-1.62" in pushed.scene.text
    replayed = Simulation(floating, replay=pushed.log, threads=1)
    for frame in replayed:
        pass
    assert np.array_equal(frame.positions, last.positions)
    assert np.array_equal(frame.bodies["box"]["translation"], last.bodies["box"]["translation"])
    assert replayed.log == pushed.log and replayed.scene.text == pushed.scene.text
    for wrong in ({"body": "nobody", "force": [0, 0]}, {"body": "box", "force": [0]}, {"body": "box", "force": [np.nan, 0]}):
        with pytest.raises(ValueError):
            pushed.push(wrong["body"], wrong["force"])
    with pytest.raises(ValueError, match="can't change"):
        pushed.set("domain.resolution", 30)
    assert len(pushed.log) == 6, "what failed is not logged"
    for wrong in ([{"step": 1}], [{"step": 2, "set": "gravity", "value": "[0, 0]"}, {"step": 1, "set": "gravity", "value": "[0, 0]"}]):
        with pytest.raises((ValueError, MeniscusError), match="repeated"):
            Simulation(floating, replay=wrong)


STEERED = """
import os, signal, sys
import test_run
from meniscus import Simulation
scene, out, last = eval(sys.argv[1]), sys.argv[2], int(sys.argv[3])
set = Simulation.set
def kill(simulation, key, value):
    set(simulation, key, value)
    if key == "density" and last == 3:
        os.kill(os.getpid(), signal.SIGKILL)
Simulation.set = kill
with Simulation(scene, out=out) as simulation:
    push = simulation.push
    def push_and_kill(*arguments, **more):
        push(*arguments, **more)
        if simulation.frame.number == last != 3:
            for _ in range(3):
                simulation._native.step()
            os.kill(os.getpid(), signal.SIGKILL)
    simulation.push = push_and_kill
    test_run.drive(simulation)
"""


@pytest.mark.parametrize("last", [1, 3, 4])
def test_a_steered_run_that_was_killed_resumes_to_the_same_bytes(floating, tmp_path, last):
    floating["output"] = {"checkpoint_every": 2}
    floating["time"]["max_step"] = 0.01
    with Simulation(floating, out=tmp_path / "whole") as whole:
        drive(whole)
    assert whole.run.state == "done" and len(whole.run) == 7
    expected = contents(tmp_path / "whole")

    def killed(folder):
        words = [sys.executable, "-c", STEERED, repr(floating), folder, str(last)]
        done = subprocess.run(words, env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)})
        assert done.returncode == -signal.SIGKILL
        return folder

    # By the program itself, and by another thread count.
    with Simulation(floating, out=killed(tmp_path / "program"), resume=True, threads=1) as resumed:
        first = next(resumed)
        assert 0 < first.number <= last
        resumed.close()
    with Simulation(floating, out=tmp_path / "program", resume=True) as resumed:
        drive(resumed)
    assert contents(tmp_path / "program") == expected
    # By the log alone, as far as it goes.
    run = meniscus.run(floating, killed(tmp_path / "log"), resume=True, progress=False)
    assert run.state == "done"
    whole_log = (tmp_path / "whole" / "actions.jsonl").read_text()
    log = (tmp_path / "log" / "actions.jsonl").read_text()
    assert log and whole_log.startswith(log)
    if last == 4:
        assert contents(run.path) == expected


def test_a_steered_run_is_left_continued_and_rewritten(floating, tmp_path):
    command = program()
    with Simulation(floating, out=tmp_path / "r") as left:
        for frame in left:
            left.push("box", [5.0, 0.0])
            if frame.number == 3:
                break
        with pytest.raises(MeniscusError, match="is already running"):
            Simulation(floating, out=tmp_path / "r", resume=True)
    run = left.run
    assert run.state == "interrupted" and run.frames == [0, 1, 2, 3]
    # Other actions take the place of those that are left of the log.
    with Simulation(floating, out=tmp_path / "r", resume=True) as other:
        numbers = []
        for frame in other:
            numbers.append(frame.number)
            other.push("box", [0.0, 1.0])
    assert numbers == [3, 4, 5, 6] and run.state == "done"
    forces = [action["force"][0] for action in other.log]
    assert forces == [5.0, 5.0, 5.0, 5.0, 0.0, 0.0, 0.0, 0.0] or forces == [5.0, 5.0, 5.0, 0.0, 0.0, 0.0, 0.0]
    with Simulation(floating, out=tmp_path / "r", resume=True) as done:
        assert [frame.number for frame in done] == [6]
    assert run.state == "done"
    verify = [command, "verify", tmp_path / "r"]
    assert subprocess.run(verify).returncode == 0
    (tmp_path / "s.toml").write_text(Scene(floating).text)
    words = [command, "run", tmp_path / "s.toml", "--out", tmp_path / "r", "--from-frame", "2", "--overwrite"]
    refused = subprocess.run(words, capture_output=True, text=True)
    assert refused.returncode == 2 and "a program steered" in refused.stderr and "--resume" in refused.stderr
    file = tmp_path / "r" / "actions.jsonl"
    file.write_text(file.read_text().replace("5.0", "6.0", 1))
    assert subprocess.run(verify).returncode != 0
    with pytest.raises(MeniscusError, match="actions.jsonl is damaged") as caught:
        Simulation(floating, out=tmp_path / "r", resume=True)
    assert caught.value.exit_code == 6
    for wrong in ({"resume": True}, {"overwrite": True}, {"out": tmp_path / "r", "resume": True, "replay": []}):
        with pytest.raises(ValueError):
            Simulation(floating, **wrong)


def test_a_damaged_frame_is_named(scene, tmp_path):
    run = meniscus.run(scene, tmp_path / "r", progress=False)
    file = run.path / "particles" / "particles_000003.mpc"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)
    with pytest.raises(MeniscusError, match="particles_000003.mpc is damaged") as caught:
        run.frame(3)
    assert caught.value.exit_code == 6


def test_the_page_is_served_and_written(scene, tmp_path):
    import urllib.request

    run = meniscus.run(scene, tmp_path / "r", progress=False)
    with run.view(browser=False) as view:
        with urllib.request.urlopen(view.address, timeout=10) as page:
            assert b"<html" in page.read().lower()
    assert run.report().stat().st_size > 10_000


def test_a_sweep_runs_every_value_and_continues(scene, tmp_path):
    table = meniscus.sweep(scene, {"liquid[0].velocity": [[0.0, 0.0], [1.0, 0.0]]}, tmp_path / "s")
    assert table["state"] == ["done", "done"] and all(run is not None for run in table.runs)
    assert (tmp_path / "s" / "sweep.csv").read_text().startswith("liquid[0].velocity,folder")
    again = meniscus.sweep(scene, {"liquid[0].velocity": [[0.0, 0.0], [1.0, 0.0]]}, tmp_path / "s")
    assert again["folder"] == table["folder"]
    with pytest.raises(meniscus.SceneError):
        meniscus.sweep(scene, {"domain.resolution": [24, -1]}, tmp_path / "t")
    with pytest.raises(ValueError, match="two runs"):
        meniscus.sweep(scene, {"density": [1000, 1000]}, tmp_path / "t")
    assert not (tmp_path / "t").exists(), "nothing runs before all are valid"
    from meniscus._sweep import _label

    assert _label(["domain.resolution", "gravity"], [24, 1]) == "resolution = 24, gravity = 1"
    assert _label(["body[0].density", "density"], [24, 1]) == "body[0].density = 24, density = 1"


def test_frames_have_the_meshes_of_cloth():
    flag = Scene("pf-flag").set("time.frames", 2)
    first, *_, last = meniscus.simulate(flag)
    (name, before), (_, after) = *first.meshes.items(), *last.meshes.items()
    assert name == before.name == after.name and len(first.meshes) == 1
    assert before.positions.shape == before.velocities.shape == (len(before), 3)
    assert before.positions.dtype == np.float32 and not before.positions.flags.writeable
    triangles = before.triangles
    # A disc: vertices less edges plus triangles is one.
    edges = np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)), axis=0)
    assert len(before) - len(edges) + len(triangles) == 1
    assert not np.array_equal(before.positions, after.positions)


@pytest.mark.skipif(not os.environ.get("MENISCUS_FULL"), reason="jobs run in the full tests only")
def test_a_sweep_runs_as_an_open_job_description(tmp_path):
    command, openjd = program(), Path(sys.executable).with_name("openjd")
    words = "sweep dam-break-2d --vary domain.resolution=16,24 --set time.frames=2 --openjd job.json --out"
    subprocess.run([command, *words.split(), tmp_path / "s"], check=True, cwd=tmp_path)
    subprocess.run([openjd, "check", "job.json"], check=True, cwd=tmp_path)
    for step in ("Simulate", "Mesh", "Preview"):
        words = ["run", "job.json", "--step", step, "--job-param", f"Program={command}"]
        subprocess.run([openjd, *words], check=True, cwd=tmp_path)
    for resolution in (16, 24):
        run = meniscus.open(tmp_path / "s" / f"resolution-{resolution}")
        assert run.state == "done" and len(run) == 3
        assert len(list((run.path / "surfaces").glob("*.msf"))) == 3
        assert len(list((run.path / "preview").glob("*.png"))) == 3
