"""The examples of the documentation run as they are printed."""

import doctest
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


def test_there_are_four_notebooks():
    assert len(NOTEBOOKS) == 4
