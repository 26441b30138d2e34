"""Simulations under the control of the caller, and frames."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._arrays import thread_count
from ._scene import Scene, scene_of, written

if TYPE_CHECKING:
    from ._run import Run


class Frame:
    """State at one instant.

    Arrays are read-only views of the data that the frame holds; copy them to change them.

    Attributes
    ----------
    number : int
        Number; frame k is the state k frame intervals after the start.
    time : float
        Seconds since the start.
    layers : dict of PointLayer
        Particles by the name of their material, each with ``positions``, ``velocities``, ``ids``, ``spacing``, and
        ``scalar(name)`` for the names in ``scalars``.
    bodies : dict of dict
        Solids and bodies by name: ``translation``, ``rotation``, ``velocity``, ``angular_velocity``; of rigid bodies also the
        ``center`` of mass, forces and torques of contacts, joints and liquid.
    meshes : dict of Mesh
        Cloth by name, each with ``positions``, ``velocities`` and ``triangles``.
    """

    def __init__(self, native: Any) -> None:
        self._native = native
        self.number: int = native.number
        self.time: float = native.time
        self.dimension: int = native.dimension
        self.layers: dict[str, _native.PointLayer] = {layer.name: layer for layer in native.layers}
        self.meshes: dict[str, _native.Mesh] = {mesh.name: mesh for mesh in native.meshes}

    @property
    def bodies(self) -> dict[str, dict]:
        """Solids and bodies by name."""
        return self._native.bodies

    @property
    def _liquid(self) -> _native.PointLayer | None:
        return self.layers.get("liquid") or next(iter(self.layers.values()), None)

    @property
    def positions(self) -> np.ndarray:
        """Positions of the liquid's particles in metres, one per row."""
        layer = self._liquid
        return layer.positions if layer is not None else np.zeros((0, self.dimension), np.float32)

    @property
    def velocities(self) -> np.ndarray:
        """Velocities of the liquid's particles in m/s, one per row."""
        layer = self._liquid
        return layer.velocities if layer is not None else np.zeros((0, self.dimension), np.float32)

    @property
    def ids(self) -> np.ndarray | None:
        """Identifiers of the particles, stable from birth, if the scene has ``output.attributes``."""
        layer = self._liquid
        return None if layer is None else layer.ids

    @property
    def pressure(self) -> np.ndarray | None:
        """Pressure at the particles in Pa, if the method has one."""
        layer = self._liquid
        return None if layer is None else layer.scalar("pressure")

    def surface(self) -> _native.Surface:
        """Surface of the liquid as a closed triangle mesh.

        Returns
        -------
        Surface
            With ``positions``, ``normals``, ``velocities`` per vertex, ``triangles``, ``volume`` and ``area``. In 2D it is the
            filled region, upright in the plane y = 0.
        """
        return self._native.surface()

    def __repr__(self) -> str:
        points = ", ".join(f"{len(layer)} {name}" for name, layer in self.layers.items())
        return f"<Frame {self.number} at {self.time:.4g} s: {points or 'no'} particles, {len(self.bodies)} solids>"


class Simulation:
    """A simulation under control of the caller, in memory or as a run that writes its folder.

    Iterating gives frame 0, the initial state, and all further ones. An iterator may be left at any time. Between steps or
    frames, `push` sets forces on bodies and `set` changes keys of the scene; `log` records both.

    With `out`, frames, statistics and checkpoints are written as by `meniscus.run`, and the log as ``actions.jsonl``. Leaving
    the ``with`` block, or `close`, ends such a run; if it has frames left, `resume` continues it, also after a crash: what the
    log has after the last checkpoint is done again after the same steps, and iterating goes on with the frame at which the
    program acted last, or with the first one that it has not seen. Actions that come again are recognised; a different one
    replaces what the log has left. ``meniscus run --resume`` repeats the log, too, and goes on without further actions.

    Parameters
    ----------
    scene : Scene, or anything that it can be made of
    out : path, optional
        Folder of a run. Default: nothing is written.
    resume : bool
        Continue the run in `out`. Default: False.
    overwrite : bool
        Replace the frames of an earlier run in `out`. Default: False.
    threads : int, optional
        Number of threads; the result does not depend on it. Default: one per core.
    replay : list of dict, optional
        Log of an earlier simulation, whose actions are repeated after the same steps.

    Examples
    --------
    >>> with Simulation("boat", out="out/steered") as simulation:  # doctest: +SKIP
    ...     for frame in simulation:
    ...         speed = frame.bodies["boat"]["velocity"][0]
    ...         simulation.push("boat", [50.0 * (1.0 - speed), 0.0, 0.0])
    """

    def __init__(
        self,
        scene: Any,
        *,
        out: str | os.PathLike | None = None,
        resume: bool = False,
        overwrite: bool = False,
        threads: int | None = None,
        replay: Sequence[dict] | None = None,
    ) -> None:
        if out is None and (resume or overwrite):
            raise ValueError("resume and overwrite need out, the folder of the run")
        if resume and replay is not None:
            raise ValueError("a run that is resumed repeats its own log, not replay")
        threads = thread_count(threads)
        self._scene: Scene = Scene(scene_of(scene))
        self._changes = 0
        self._dimension = self._scene.dimension
        self._out = None if out is None else Path(out)
        repeated = json.dumps(list(replay or ()))
        self._native: Any = _native.Simulation(
            self._scene._native, threads, repeated, self._out, bool(resume), bool(overwrite)
        )
        if self._out is not None:
            # Changes are checked against what a resumed run has: every key, defaults included, and copies of meshes.
            self._scene = Scene(self._out / "scene.toml")
        self._started, self._resumed = False, bool(resume)
        #: Log of a simulation that is closed.
        self._final_log: str | None = None
        #: Statistics of the steps of the last frame, as in ``stats.jsonl``.
        self.steps: list[dict] = []

    def __enter__(self) -> "Simulation":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the simulation and free its memory. A run that has frames left can be resumed."""
        if self._final_log is None:
            self._final_log = self._native.log
        self._native.close()

    @property
    def run(self) -> Run:
        """The run so far.

        Raises
        ------
        ValueError
            If the simulation writes nothing.
        """
        if self._out is None:
            raise ValueError("the simulation writes no run: it was made without out")
        from ._run import Run

        return Run(self._out)

    @property
    def scene(self) -> Scene:
        """Scene with the changes so far."""
        changes = [action for action in self.log if "set" in action]
        for action in changes[self._changes :]:
            self._scene._change(action["set"], action["value"])
        self._changes = len(changes)
        return self._scene

    @property
    def log(self) -> list[dict]:
        """Forces and changes so far, each with the number of steps before it; keys and values as in scene files."""
        return json.loads(self._native.log if self._final_log is None else self._final_log)

    @property
    def time(self) -> float:
        """Seconds since the start."""
        return self._native.time

    @property
    def frame(self) -> Frame:
        """State at this instant, numbered as the last complete frame."""
        return Frame(self._native.current())

    def push(self, body: str, force: Sequence[float], torque: Any = None) -> None:
        """Set the external force on a body, in N, and the torque about its centre of mass, in N m.

        They act in all further steps until they are set again. In 2D a torque is a number, and both are per metre of depth.

        Parameters
        ----------
        body : str
            Name of a rigid body.
        force : array
            One component per axis.
        torque : number or array, optional
            Torque. Default: none.

        Raises
        ------
        ValueError
            If there is no such body, or forces do not move it.
        """
        if not isinstance(body, str):
            raise TypeError(f"body is a {type(body).__name__}, expected a name")
        force = [float(number) for number in force]
        if torque is None:
            torque = [0.0, 0.0, 0.0]
        elif self._dimension == 2:
            torque = [0.0, 0.0, float(torque)]
        else:
            torque = [float(number) for number in torque]
            if len(torque) != 3:
                raise ValueError(f"a torque has 3 components, not {len(torque)}")
        self._native.push(body, force, torque)

    def set(self, key: str, new: Any) -> None:
        """Change a key of the scene for all further steps.

        Parameters
        ----------
        key : str
            Path of the key, such as ``"gravity"`` or ``"liquid[0].viscosity"``; lists are counted from 0.
        new : number, str, bool, array, list or mapping
            Value.

        Raises
        ------
        SceneError
            If the scene would not be valid.
        MeniscusError
            If the state does not fit the changed scene.
        ValueError
            If the key can't change, as those of the domain.
        """
        before, path = self.scene, written(key, new)
        after = Scene(before)._change(*path)
        if (after.domain, after.resolution, after.frame_rate) != (before.domain, before.resolution, before.frame_rate):
            raise ValueError(f"{key} can't change during a simulation")
        self._native.change(after._native, *path)

    def step(self) -> dict:
        """Advance by one time step, and return its statistics."""
        line = self._native.step()
        self._started = True
        return json.loads(line)

    def __iter__(self) -> Iterator[Frame]:
        return self

    def __next__(self) -> Frame:
        if not self._started:
            if self._resumed:
                self._native.catch_up()
            self._started = True
            # The program has seen the frame before.
            if not self._native.is_between_frames:
                return self.frame
        if self._native.is_complete:
            raise StopIteration
        frame, lines = self._native.next_frame()
        self.steps = json.loads(lines)
        return Frame(frame)


def simulate(scene: Any, *, threads: int | None = None) -> Iterator[Frame]:
    """Simulate a scene without writing anything, frame by frame from frame 0.

    Parameters
    ----------
    scene : Scene, or anything that it can be made of
    threads : int, optional
        Number of threads; the result does not depend on it. Default: one per core.

    Returns
    -------
    iterator of Frame
        A `Simulation`; it may be left at any time.

    Examples
    --------
    >>> for frame in simulate("dam-break-2d"):                    # doctest: +SKIP
    ...     print(frame.number, frame.positions.mean(axis=0))
    """
    return Simulation(scene, threads=threads)
