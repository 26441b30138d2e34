"""Runs: simulations that write a folder."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import numpy as np

from . import _native
from ._arrays import optional_count, thread_count
from ._scene import Scene, scene_of
from ._simulation import Frame
from ._table import Table


class Run:
    """The folder of a run: finished, running or interrupted.

    Indexing and iterating give frames: ``run[0]`` is the initial state, ``run[-1]`` the last frame so far.

    Parameters
    ----------
    path : path
        Folder.

    Raises
    ------
    MeniscusError
        If it holds no run.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self._native = _native.Run(Path(path))

    @property
    def path(self) -> Path:
        """Folder."""
        return Path(self._native.path)

    @property
    def manifest(self) -> dict:
        """Content of ``run.json``."""
        return json.loads(self._native.manifest)

    @property
    def state(self) -> str:
        """``"running"``, ``"done"``, ``"interrupted"`` or ``"failed"``, as the run wrote it last."""
        return self.manifest["state"]

    @property
    def scene(self) -> Scene:
        """Scene with every key as it was run. Meshes are the copies in the folder."""
        return Scene(self.path / "scene.toml")

    @property
    def frames(self) -> list[int]:
        """Numbers of the frames that exist so far."""
        return self._native.frames

    def frame(self, number: int) -> Frame:
        """A frame by its number.

        Parameters
        ----------
        number : int
            Number; 0 is the initial state.

        Returns
        -------
        Frame

        Raises
        ------
        IndexError
            If it does not exist.
        """
        number = number.__index__()
        if not 0 <= number < 2**32:
            raise IndexError(f"there is no frame {number}")
        return Frame(self._native.frame(number))

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, index: Any) -> Any:
        frames = self.frames
        if isinstance(index, slice):
            return [self.frame(number) for number in frames[index]]
        return self.frame(frames[index])

    def __iter__(self) -> Iterator[Frame]:
        for number in self.frames:
            yield self.frame(number)

    @property
    def stats(self) -> Table:
        """Statistics, one row per step; columns are arrays."""
        lines = _lines(self._native.file("statistics"))
        columns: dict[str, list] = {}
        for count, line in enumerate(lines):
            for name, entry in line.items():
                if isinstance(entry, (int, float, str, bool)) or entry is None:
                    columns.setdefault(name, [None] * count).append(entry)
            for column in columns.values():
                if len(column) <= count:
                    column.append(None)
        return Table({name: _column(column) for name, column in columns.items()})

    @property
    def bodies(self) -> Table:
        """Positions, velocities and forces of rigid bodies, one row per body and frame; empty without bodies."""
        path = Path(self._native.file("bodies"))
        if not path.exists():
            return Table({})
        with path.open(encoding="utf-8", newline="") as file:
            lines = [line.rstrip("\n") for line in file if not line.startswith("#")]
        if not lines:
            return Table({})
        import csv

        header, *rows = csv.reader(lines)
        columns = list(zip(*rows)) if rows else [()] * len(header)
        return Table({name: _numbers(name, column) for name, column in zip(header, columns)})

    def preview(self) -> Any:
        """The preview: an image in a notebook, else the path of the GIF."""
        path = Path(self._native.file("preview"))
        if not path.exists():
            raise FileNotFoundError(f"{path}: the run has no preview (output.preview)")
        try:
            from IPython import get_ipython
            from IPython.display import Image
        except ImportError:
            return path
        return Image(filename=str(path)) if get_ipython() is not None else path

    def view(self, *, port: int = 0, browser: bool = True) -> "View":
        """Serve the viewer's page on this machine, and open it in a browser.

        The server runs in the background until ``close()`` or the end of the process.

        Parameters
        ----------
        port : int
            Port. Default: a free one.
        browser : bool
            Whether to open a browser. Default: True.

        Returns
        -------
        View
            With the ``address``; in a notebook it is shown in place.
        """
        view = View(_native.View(self.path, port))
        if browser:
            import webbrowser

            webbrowser.open(view.address)
        return view

    def report(self, path: str | os.PathLike | None = None) -> Path:
        """Write the viewer's page with the data of the run into one file.

        Parameters
        ----------
        path : path, optional
            File. Default: ``report.html`` in the folder of the run.

        Returns
        -------
        Path
            Path of the file.
        """
        target = Path(path) if path is not None else self.path / "report.html"
        _native.write_report(self.path, target)
        return target

    def __repr__(self) -> str:
        manifest = self.manifest
        done = f"{manifest['frames_done']} of {manifest['frames']} frames"
        return f"<Run {self.path}: {manifest['state']}, {done}>"


class View:
    """The viewer's page, served on this machine."""

    def __init__(self, native: Any) -> None:
        self._native = native

    @property
    def address(self) -> str:
        """Address for a browser."""
        return self._native.address

    def close(self) -> None:
        """Stop the server."""
        self._native.stop()

    def __enter__(self) -> "View":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<View at {self.address}>"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.address}" width="100%" height="520" style="border:0"></iframe>'


def open(path: str | os.PathLike) -> Run:
    """Open the folder of a run: finished, running or interrupted.

    Parameters
    ----------
    path : path
        Folder.

    Returns
    -------
    Run

    Raises
    ------
    MeniscusError
        If it holds no run.
    """
    return Run(path)


def run(
    scene: Any,
    out: str | os.PathLike | None = None,
    resume: bool = False,
    *,
    overwrite: bool = False,
    from_frame: int | None = None,
    branch_from: str | os.PathLike | None = None,
    threads: int | None = None,
    progress: bool | Callable[[dict], Any] = True,
) -> Run:
    """Run a scene and write frames, statistics and a preview into a folder.

    The files are the same, bit for bit, as those of ``meniscus run``. Ctrl-C stops the run, which can be resumed.

    Parameters
    ----------
    scene : Scene, or anything that it can be made of
    out : path, optional
        Folder. Default: ``out/NAME``, or the next free one if that holds a run.
    resume : bool
        Continue an interrupted run in `out`. Default: False.
    overwrite : bool
        Replace the frames of an earlier run in `out`. Default: False.
    from_frame : int, optional
        Continue after this frame, with a scene that may have changed.
    branch_from : path, optional
        Run that `from_frame` refers to, if it is not the one in `out`.
    threads : int, optional
        Number of threads; the result does not depend on it. Default: one per core.
    progress : bool or callable
        Whether to print progress, or a function that is called with a dictionary for every event.

    Returns
    -------
    Run

    Raises
    ------
    MeniscusError
        If the run fails; all frames so far are intact.
    """
    scene = scene_of(scene)
    if out is None:
        usual = Path("out") / scene.name
        out = usual if resume else Path(_native.next_free(scene.name))
    out = Path(out)
    from_frame, threads = optional_count(from_frame, "from_frame", 0, 2**32 - 1), thread_count(threads)
    if not callable(progress) and not isinstance(progress, (bool, np.bool_)):
        raise TypeError(f"progress is a {type(progress).__name__}, expected a bool or a function")
    report = progress if callable(progress) else (_Printer() if progress else None)
    callback = None if report is None else lambda message: report(json.loads(message))
    try:
        _native.run(scene._native, out, bool(resume), bool(overwrite), from_frame, _path(branch_from), threads, callback)
    finally:
        if isinstance(report, _Printer):
            report.end()
    return Run(out)


class _Printer:
    """Progress on standard error: one line that is rewritten on a terminal, one line per tenth of the run elsewhere."""

    def __init__(self) -> None:
        self._frames = self._done = self._shown = 0
        self._start = time.monotonic()
        self._rewrites = sys.stderr.isatty()

    def __call__(self, event: dict) -> None:
        if event["event"] == "begin":
            self._frames, self._done = event["frames"], event["done"]
        elif event["event"] == "notice":
            self._print(event["text"], keep=True)
        else:
            number = event["number"]
            spent = time.monotonic() - self._start
            left = spent / max(number - self._done, 1) * (self._frames - number)
            text = f"frame {number} of {self._frames}, {event['last']['particles']} particles, {left:.0f} s left"
            tenth = number * 10 // max(self._frames, 1)
            if self._rewrites or tenth > self._shown or number == self._frames:
                self._shown = tenth
                self._print(text, keep=not self._rewrites)

    def _print(self, text: str, keep: bool) -> None:
        start = "\r\x1b[K" if self._rewrites else ""
        print(start + text, end="\n" if keep else "", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._rewrites:
            print(file=sys.stderr)


def _path(path: Any) -> Path | None:
    return None if path is None else Path(path)


def _lines(path: str | os.PathLike) -> list[dict]:
    if not Path(path).exists():
        return []
    lines = []
    with Path(path).open(encoding="utf-8") as file:
        for line in file:
            try:
                lines.append(json.loads(line))
            except json.JSONDecodeError:
                # The last line of a run that is being written may be incomplete.
                break
    return lines


def _column(values: list) -> np.ndarray:
    if all(isinstance(one, (int, float)) and not isinstance(one, bool) or one is None for one in values):
        if any(one is None or isinstance(one, float) for one in values):
            return np.array([np.nan if one is None else one for one in values], dtype=np.float64)
        return np.array(values, dtype=np.int64)
    return np.array(values, dtype=object)


def _numbers(name: str, values: Any) -> np.ndarray:
    if name == "name":
        return np.array(values, dtype=object)
    kind = np.int64 if name in ("frame", "contacts") else np.float64
    return np.array(values, dtype=kind)
