"""Scenes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _native
from ._arrays import thread_count
from ._toml import document, value

_INDEX = re.compile(r"\[(\d+)\]")


class Scene:
    """A scene: a domain, liquids, solids, bodies and settings, always valid.

    Parameters
    ----------
    source : str, path or mapping
        Name of a built-in scene, path of a scene file, text in TOML, or a dictionary with the same words. A string with a line
        break or an equals sign is text.
    folder : path, optional
        Folder of meshes that text or a dictionary refers to.
    name : str, optional
        Name if the text has none. Default: ``"scene"``.
    allow_outside_files : bool
        Whether meshes may be outside of the folder of the scene. Default: False.

    Raises
    ------
    SceneError
        If the scene is not valid. Its ``diagnostics`` list every error with its place and a suggestion.

    Examples
    --------
    >>> scene = Scene({
    ...     "domain": {"size": [1.0, 1.0], "resolution": 32},
    ...     "time": {"frames": 10},
    ...     "liquid": [{"shape": {"box": {"low": [0.0, 0.0], "high": [0.4, 0.6]}}}],
    ... })
    >>> scene.dimension, scene.frames
    (2, 10)
    """

    def __init__(
        self,
        source: "str | os.PathLike | Mapping | Scene",
        *,
        folder: "str | os.PathLike | None" = None,
        name: str = "scene",
        allow_outside_files: bool = False,
    ) -> None:
        self._changes: list[tuple[str, str]] = []
        self._path: Path | None
        self._text: str | None
        self._outside = bool(allow_outside_files)
        self._folder = None if folder is None else Path(folder)
        self._name = name
        if isinstance(source, Scene):
            self._path, self._text = source._path, source._text
            self._changes = list(source._changes)
            self._folder, self._name, self._outside = source._folder, source._name, source._outside
        elif isinstance(source, Mapping):
            self._path, self._text = None, document(source)
        elif isinstance(source, os.PathLike):
            self._path, self._text = Path(source), None
        elif isinstance(source, str):
            is_text = "\n" in source or "=" in source
            self._path, self._text = (None, source) if is_text else (Path(source), None)
        else:
            raise TypeError(f"a scene can't be made of a {type(source).__name__}")
        self._native = self._load(self._changes)

    def _load(self, changes: list[tuple[str, str]]) -> Any:
        if self._path is not None:
            return _native.Scene.load(self._path, changes, self._outside)
        return _native.Scene.from_text(self._text or "", self._name, changes, self._folder, self._outside)

    def set(self, key: str, new: Any) -> "Scene":
        """Change the value of a key.

        Parameters
        ----------
        key : str
            Path of the key, such as ``"liquid[0].viscosity"``; lists are counted from 0.
        new : number, str, bool, array, list or mapping
            Value.

        Returns
        -------
        Scene
            This scene.

        Raises
        ------
        SceneError
            If the scene would not be valid; it is then as it was.
        """
        return self._change(*written(key, new))

    def _change(self, path: str, text: str) -> "Scene":
        """Change a key as a scene file has it."""
        changes = [*self._changes, (path, text)]
        self._native = self._load(changes)
        self._changes = changes
        return self

    def check(self) -> list[str]:
        """Refuse what a run would refuse, and list facts about liquids and bodies.

        Returns
        -------
        list of str
            For example whether a body floats.

        Raises
        ------
        SceneError
            If a run would be refused, for example for lack of memory.
        """
        return self._native.check()

    def estimate(self, threads: int | None = None) -> dict:
        """Estimate what a run takes.

        Parameters
        ----------
        threads : int, optional
            Number of threads. Default: one per core.

        Returns
        -------
        dict
            Particles, memory in bytes, disk in bytes, steps, and CPU and wall-clock seconds.
        """
        return json.loads(self._native.estimate(thread_count(threads)))

    @property
    def warnings(self) -> list[dict]:
        """Warnings with file, line, column, key, message and help."""
        return json.loads(self._native.diagnostics)

    @property
    def text(self) -> str:
        """Scene file with every key, defaults included."""
        return self._native.text

    @property
    def name(self) -> str:
        """Name, also that of the usual output folder."""
        return self._native.name

    @property
    def summary(self) -> str:
        """Description in one line."""
        return self._native.summary

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self._native.dimension

    @property
    def domain(self) -> tuple[float, ...]:
        """Size of the domain in metres."""
        return tuple(self._native.domain)

    @property
    def resolution(self) -> int:
        """Cells along the longest side."""
        return self._native.resolution

    @property
    def frames(self) -> int:
        """Number of frames, without frame 0."""
        return self._native.frames

    @property
    def frame_rate(self) -> float:
        """Frames per second."""
        return self._native.frame_rate

    def __repr__(self) -> str:
        return f"<Scene {self.name}: {self.dimension}D, {self.resolution} cells, {self.frames} frames>"


def written(key: str, new: Any) -> tuple[str, str]:
    """A key and its value as a scene file has them, which counts from 1."""
    if not isinstance(key, str):
        raise TypeError(f"a key is a {type(key).__name__}, expected a string")
    if "[-" in key:
        raise ValueError(f"{key}: lists are counted from 0, and not from their end")
    return _INDEX.sub(lambda match: f"[{int(match.group(1)) + 1}]", key), value(new, key)


def scene_of(source: Any) -> Scene:
    """The scene itself, or a new one of anything that `Scene` takes."""
    return source if isinstance(source, Scene) else Scene(source)


def builtin_scenes() -> dict[str, str]:
    """Names of the built-in scenes and their descriptions."""
    return dict(_native.builtin_scenes())


def schema() -> dict:
    """JSON schema of scene files."""
    return json.loads(_native.schema())
