"""Scenes: sources, changes, errors."""

from pathlib import Path

import numpy as np
import pytest

import meniscus
from meniscus import Scene, SceneError


def test_a_dictionary_a_text_and_a_file_are_the_same_scene(scene, tmp_path):
    from_dictionary = Scene(scene)
    from_text = Scene(from_dictionary.text)
    path = tmp_path / "small.toml"
    path.write_text(from_dictionary.text)
    from_file = Scene(path)
    assert from_dictionary.text == from_text.text == from_file.text == Scene(str(path)).text
    assert (from_file.name, from_file.dimension, from_file.frames, from_file.resolution) == ("small", 2, 6, 24)
    assert from_file.domain == (1.0, 1.0) and from_file.frame_rate == 24.0


def test_every_built_in_scene_is_listed_and_loads_by_name():
    names = meniscus.builtin_scenes()
    assert "dam-break" in names and all(names.values())
    assert Scene("dam-break-2d").dimension == 2


def test_numpy_values_are_values(scene):
    expected = Scene(scene).text
    scene["domain"] = {"size": np.array([1.0, 1.0]), "resolution": np.int64(24)}
    scene["time"] = {"frames": np.uint8(6)}
    scene["output"] = {"preview": np.bool_(False)}
    assert Scene(scene).text == expected
    with pytest.raises(TypeError, match=r"domain.size\[0\] is a complex"):
        Scene({"domain": {"size": [1j, 1]}})
    with pytest.raises(TypeError, match="can't be made of a int"):
        Scene(3)


def test_set_changes_a_key_counted_from_0_or_nothing(scene):
    changed = Scene(scene)
    assert changed.set("domain.resolution", 30).set("liquid[0].velocity", [1.0, 0.0]) is changed
    assert changed.resolution == 30 and "velocity = [1.0, 0.0]" in changed.text
    before = changed.text
    for key, new in (("domain.resolution", -5), ("liquid[3].velocity", [0, 0]), ("nosuch", 1), ("liquid[0].shape", "x")):
        with pytest.raises(SceneError):
            changed.set(key, new)
        assert changed.text == before
    changed.set("domain.resolution", 31)
    assert changed.resolution == 31


def test_an_error_has_its_place_and_a_suggestion(tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text("[domain]\nsize = [1.0, 1.0]\nresolutoin = 24\n")
    with pytest.raises(SceneError) as caught:
        Scene(path)
    error = caught.value
    found = [one for one in error.diagnostics if "resolutoin" in one["message"]]
    assert found and (found[0]["line"], found[0]["column"]) == (3, 1)
    assert "resolution" in found[0]["help"] and found[0]["severity"] == "error"
    assert error.exit_code == 2 and isinstance(error, meniscus.MeniscusError)
    with pytest.raises(SceneError, match="there is no file"):
        Scene(tmp_path / "missing.toml")
    with pytest.raises(SceneError, match="nosuch"):
        Scene("nosuch")


def test_strings_can_contain_anything(scene):
    scene["summary"] = 'a "quoted"\\ line\nand \u00e9, \x07'
    assert Scene(scene).summary == scene["summary"]


def test_check_estimates_and_warns(scene, floating):
    assert any("floats" in note for note in Scene(floating).check())
    estimate = Scene(scene).estimate(threads=1)
    assert estimate["particles"] > 100 and estimate["memory"] > 1e6 and estimate["threads"] == 1
    scene["liquid"][0]["viscosity"] = -1.0
    with pytest.raises(SceneError):
        Scene(scene)


def test_meshes_are_found_in_the_folder_of_a_text(scene, tmp_path):
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = ["1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6"]
    (tmp_path / "cube.obj").write_text(
        "".join(f"v {0.4 + 0.2 * x} {0.4 + 0.2 * y} {0.2 * z}\n" for x, y, z in corners) + "".join(f"f {f}\n" for f in faces)
    )
    spatial = {
        "domain": {"size": [1.0, 1.0, 1.0], "resolution": 16},
        "liquid": [{"shape": {"box": {"low": [0.0, 0.0, 0.5], "high": [1.0, 1.0, 0.8]}}}],
        "solid": [{"shape": {"mesh": {"file": "cube.obj"}}}],
    }
    assert Scene(spatial, folder=tmp_path).dimension == 3
    with pytest.raises(SceneError) as caught:
        Scene(spatial)
    assert caught.value.exit_code in (2, 3)


def test_the_schema_describes_the_keys():
    assert "domain" in meniscus.schema()["properties"]
    assert Path(meniscus.__file__).with_name("py.typed").exists()
