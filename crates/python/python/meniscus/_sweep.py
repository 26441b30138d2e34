"""Runs of one scene with different values."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _native
from ._native import MeniscusError
from ._run import Run, run
from ._scene import Scene, scene_of
from ._table import Table


class Sweep(Table):
    """Runs of a sweep as a table: the values, the folder and the results of each.

    Parameters
    ----------
    path : path
        Folder of the sweep.
    columns : mapping
        Columns of the table.
    runs : list of Run or None
        Runs; None where one failed.

    Attributes
    ----------
    runs : list of Run or None
        Runs; None where one failed.
    path : Path
        Folder of the sweep.
    """

    def __init__(self, path: Path, columns: Mapping[str, list], runs: list[Run | None]) -> None:
        super().__init__(columns)
        self.path = path
        self.runs = runs

    @property
    def sheet(self) -> Path:
        """Image of the last frames of all runs."""
        return self.path / "sweep.png"


def sweep(
    scene: Any,
    values: Mapping[str, Sequence],
    out: str | os.PathLike | None = None,
    *,
    threads: int | None = None,
    progress: bool = False,
) -> Sweep:
    """Run a scene with every combination of values of some keys, one folder each.

    A sweep that was interrupted continues when it is called again: finished runs are kept, unfinished ones resumed.

    Parameters
    ----------
    scene : Scene, or anything that it can be made of
    values : mapping
        Values by key, as in ``{"body[0].density": [200, 400, 800]}``; lists are counted from 0.
    out : path, optional
        Folder of the sweep. Default: ``out/NAME-sweep``.
    threads : int, optional
        Number of threads of each run. Default: one per core.
    progress : bool
        Whether to print the progress of each run. Default: False.

    Returns
    -------
    Sweep
        A table with a row per run. It is also written to ``sweep.csv``, and the last frames of all runs to ``sweep.png``.
    """
    base = scene_of(scene)
    if not values:
        raise ValueError("a sweep needs at least one key")
    for key, several in values.items():
        if isinstance(several, (str, bytes)) or not isinstance(several, Iterable):
            raise TypeError(f"{key}: the values are a {type(several).__name__}, expected a list of them")
    values = {key: list(several) for key, several in values.items()}
    if not all(values.values()):
        raise ValueError("a sweep needs at least one value for every key")
    root = Path(out) if out is not None else Path("out") / f"{base.name}-sweep"
    keys = list(values)
    combinations = list(itertools.product(*(values[key] for key in keys)))
    # All of them are checked before the first one runs.
    variants = []
    for combination in combinations:
        variant = Scene(base)
        for key, value in zip(keys, combination):
            variant.set(key, value)
        variants.append(variant)
    folders = [root / folder_name(keys, combination) for combination in combinations]
    twice = next((folder for folder in folders if folders.count(folder) > 1), None)
    if twice is not None:
        raise ValueError(f"two runs of the sweep would have the folder {twice}")
    columns: dict[str, list] = {key: [] for key in keys}
    columns.update({name: [] for name in ("folder", "state", "frames", "seconds", "max_speed", "volume_drift", "error")})
    runs: list[Run | None] = []
    for combination, variant, folder in zip(combinations, variants, folders):
        error = ""
        try:
            one: Run | None = run(variant, folder, resume=(folder / "run.json").exists(), threads=threads, progress=progress)
        except MeniscusError as failure:
            error, one = str(failure), None
        runs.append(one)
        for key, value in zip(keys, combination):
            columns[key].append(value)
        columns["folder"].append(str(folder))
        columns["error"].append(error)
        _results(columns, one)
    table = Sweep(root, columns, runs)
    _write(root / "sweep.csv", table)
    shown = [(one.path, _label(keys, combination)) for one, combination in zip(runs, combinations) if one is not None and one.frames]
    if shown:
        _native.contact_sheet([path for path, _ in shown], [label for _, label in shown], root / "sweep.png")
    return table


def folder_name(keys: Sequence[str], combination: Sequence[Any]) -> str:
    """Name of the folder of one combination of values, safe in every file system."""
    parts = [f"{key.split('.')[-1]}-{value}" for key, value in zip(keys, combination)]
    return re.sub(r"[^A-Za-z0-9_.+-]+", "_", "_".join(parts))[:100]


def _label(keys: Sequence[str], combination: Sequence[Any]) -> str:
    last = [key.split(".")[-1] for key in keys]
    shown = [short if last.count(short) == 1 else key for key, short in zip(keys, last)]
    return ", ".join(f"{key} = {value}" for key, value in zip(shown, combination))


def _results(columns: dict[str, list], one: Run | None) -> None:
    if one is None:
        columns["state"].append("failed")
        for name in ("frames", "seconds", "max_speed", "volume_drift"):
            columns[name].append(float("nan"))
        return
    manifest, stats = one.manifest, one.stats
    columns["state"].append(manifest["state"])
    columns["frames"].append(manifest["frames_done"])
    columns["seconds"].append(manifest["wall_seconds"])
    for name in ("max_speed", "volume_drift"):
        columns[name].append(float(stats[name][-1]) if stats.get(name) is not None and stats.rows else float("nan"))


def _write(path: Path, table: Table) -> None:
    import csv

    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.columns)
        writer.writerows(zip(*(table[name] for name in table.columns)))
