"""The examples of the documentation run as they are printed."""

import doctest
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import meniscus

ROOT = Path(__file__).parents[3]


def test_the_examples_of_the_page_run_in_order(tmp_path, monkeypatch):
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) > 8
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, "python.md", "exec"), names)


@pytest.mark.parametrize("module", [meniscus, meniscus.lcp, meniscus._scene, meniscus._simulation], ids=lambda m: m.__name__)
def test_the_examples_in_docstrings_hold(module):
    found = doctest.testmod(module)
    assert found.failed == 0


def public():
    """Public names with what they stand for: functions and classes of both modules, and members of the classes."""
    native = {name: getattr(meniscus._native, name) for name in ("PointLayer", "Mesh", "Surface")}
    view = {"View": meniscus._run.View, "Table": meniscus._table.Table}
    for module, names in ((meniscus, meniscus.__all__), (meniscus.lcp, meniscus.lcp.__all__), (native, native), (view, view)):
        for name in names:
            thing = module[name] if isinstance(module, dict) else getattr(module, name)
            if not callable(thing):
                continue
            yield name, thing
            if inspect.isclass(thing):
                for member, value in vars(thing).items():
                    is_field = issubclass(thing, tuple) and member in thing._fields
                    if not member.startswith("_") and not is_field:
                        yield f"{name}.{member}", value


def parameters(thing):
    """Names of the parameters that a caller gives."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return []
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in signature.parameters.values() if p.kind not in variable and p.name not in ("self", "native", "_cls")]


@pytest.mark.parametrize("name,thing", [pytest.param(*one, id=one[0]) for one in public()])
def test_a_public_name_says_what_it_is_and_what_it_takes(name, thing):
    text = inspect.getdoc(thing)
    assert text and text.split(".")[0].strip(), "it has no docstring"
    if isinstance(thing, property) or not callable(thing) or name in ("MeniscusError", "SceneError", "LcpResult", "Frame", "View"):
        # Attributes, and classes that nobody makes.
        return
    missing = parameters(thing)
    if not missing:
        return
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE)
    assert section, "it has no section Parameters"
    heads = re.findall(r"^(\w[\w, ]*?)(?: :.*)?$", section[1], re.MULTILINE)
    described = {one.strip() for head in heads for one in head.split(",")}
    assert not set(missing) - described, "parameters without a description"


def test_the_walk_sees_the_package():
    names = [name for name, _ in public()]
    assert {"run", "Scene.set", "solve", "Comparison.plot", "PointLayer.positions"} <= set(names) and len(names) > 60


def test_importing_is_fast():
    code = "import numpy, time; start = time.perf_counter(); import meniscus; print(time.perf_counter() - start)"
    seconds = min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout) for _ in range(5))
    assert seconds < 0.2


NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.skipif(not os.environ.get("MENISCUS_FULL"), reason="notebooks run in the full tests only")
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(notebook, tmp_path):
    command = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", tmp_path, notebook]
    subprocess.run(command, check=True, cwd=tmp_path, timeout=600)


def mypy(*words):
    return subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True)


@pytest.mark.skipif(not os.environ.get("MENISCUS_FULL"), reason="types are checked in the full tests only")
def test_types_of_the_package_are_those_of_the_module_and_fit_the_examples(tmp_path):
    checked = mypy("mypy.stubtest", "meniscus._native")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    (tmp_path / "page.py").write_text("\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)), encoding="utf-8")
    (tmp_path / "wrong.py").write_text("import meniscus\nmeniscus.run('dam-break-2d', threads='2')\n")
    sources = ROOT / "crates" / "python" / "python" / "meniscus"
    words = ("mypy", "--ignore-missing-imports", "--check-untyped-defs", f"--cache-dir={tmp_path}")
    for checked in (mypy(*words, str(tmp_path / "page.py")), mypy(*words, str(sources))):
        assert checked.returncode == 0, checked.stdout + checked.stderr
    refused = mypy(*words, str(tmp_path / "wrong.py"))
    assert "threads" in refused.stdout and refused.returncode == 1, refused.stdout


def test_there_are_four_notebooks():
    assert len(NOTEBOOKS) == 4
