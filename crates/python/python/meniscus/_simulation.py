"""Simulations that write no files, and frames."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _native
from ._scene import Scene, scene_of


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
        self.layers: dict[str, Any] = {layer.name: layer for layer in native.layers}
        self.meshes: dict[str, Any] = {mesh.name: mesh for mesh in native.meshes}

    @property
    def bodies(self) -> dict[str, dict]:
        return self._native.bodies

    @property
    def _liquid(self) -> Any:
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

    def surface(self) -> Any:
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
    """A simulation under control of the caller; nothing is written.

    Iterating gives frame 0, the initial state, and all further ones. An iterator may be left at any time. Between steps or
    frames, `push` sets forces on bodies and `set` changes keys of the scene; `log` records both, so that `replay` repeats them
    to the same bits.

    Parameters
    ----------
    scene : Scene, or anything that it can be made of
    threads : int, optional
        Number of threads; the result does not depend on it. Default: one per core.
    replay : list of dict, optional
        Log of an earlier simulation, whose actions are repeated after the same steps.

    Examples
    --------
    >>> with Simulation("boat") as simulation:                     # doctest: +SKIP
    ...     for frame in simulation:
    ...         speed = frame.bodies["boat"]["velocity"][0]
    ...         simulation.push("boat", [50.0 * (1.0 - speed), 0.0, 0.0])
    """

    def __init__(self, scene: Any, *, threads: int | None = None, replay: Sequence[dict] | None = None) -> None:
        self.scene: Scene = Scene(scene_of(scene))
        self._native: Any = _native.Simulation(self.scene._native, threads)
        self._started = False
        #: Statistics of the steps of the last frame, as in ``stats.jsonl``.
        self.steps: list[dict] = []
        #: Forces and changes so far, each with the number of steps before it.
        self.log: list[dict] = []
        self._pending = [dict(action) for action in replay or ()]

    def __enter__(self) -> "Simulation":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the memory of the simulation."""
        self._native = None

    @property
    def time(self) -> float:
        """Seconds since the start."""
        return self._open().time

    @property
    def frame(self) -> Frame:
        """State at this instant, numbered as the last complete frame."""
        return Frame(self._open().current())

    def push(self, body: str, force: Sequence[float], torque: Any = None) -> None:
        """Set the external force on a body, in N, and the torque about its centre of mass, in N m.

        They act in all further steps until they are set again. In 2D a torque is a number, and both are per metre of depth.

        Raises
        ------
        ValueError
            If there is no such body, or forces do not move it.
        """
        force = [float(number) for number in force]
        if torque is None:
            torque = [0.0, 0.0, 0.0]
        elif self.scene.dimension == 2:
            torque = [0.0, 0.0, float(torque)]
        else:
            torque = [float(number) for number in torque]
            if len(torque) != 3:
                raise ValueError(f"a torque has 3 components, not {len(torque)}")
        native = self._open()
        native.set_force(body, force, torque)
        self.log.append({"step": native.step_count, "push": body, "force": force, "torque": torque})

    def set(self, key: str, new: Any) -> None:
        """Change a key of the scene for all further steps, such as ``"gravity"`` or ``"liquid[0].viscosity"``.

        Raises
        ------
        SceneError
            If the scene would not be valid.
        MeniscusError
            If the state does not fit the changed scene, as after a change of the domain.
        """
        native = self._open()
        changed = Scene(self.scene).set(key, new)
        if (changed.domain, changed.resolution, changed.frame_rate) != (
            self.scene.domain,
            self.scene.resolution,
            self.scene.frame_rate,
        ):
            raise ValueError(f"{key} can't change during a simulation")
        native.change(changed._native)
        self.scene = changed
        # Forces are not part of the state.
        for action in _last_forces(self.log):
            native.set_force(action["push"], action["force"], action["torque"])
        self.log.append({"step": native.step_count, "set": key, "value": json.loads(json.dumps(new, default=_plain))})

    def step(self) -> dict:
        """Advance by one time step, and return its statistics."""
        self._replay()
        line, _ = self._open().step()
        self._started = True
        return json.loads(line)

    def save(self, path: str | os.PathLike) -> None:
        """Write the state, the scene and the log to a file, from which `load` continues to the same bits."""
        state, frame, steps = self._open().save()
        head = {
            "meniscus": _native.__version__,
            "scene": self.scene.text,
            "frame": frame,
            "steps": steps,
            "started": self._started,
            "log": self.log,
            "pending": self._pending,
            "state": hashlib.sha256(state).hexdigest(),
        }
        target = Path(path)
        unfinished = target.with_name(target.name + ".part")
        with unfinished.open("wb") as file:
            file.write(json.dumps(head).encode() + b"\n")
            file.write(state)
        os.replace(unfinished, target)

    @classmethod
    def load(cls, path: str | os.PathLike, *, threads: int | None = None, folder: str | os.PathLike | None = None) -> "Simulation":
        """Continue a simulation that `save` wrote. Meshes of the scene are looked for in `folder`."""
        with Path(path).open("rb") as file:
            first = file.readline()
            state = file.read()
        try:
            head = json.loads(first)
            content, wanted = head["scene"], head["state"]
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{path} is not a saved simulation") from None
        if hashlib.sha256(state).hexdigest() != wanted:
            raise ValueError(f"{path} is damaged: its content does not match its hash")
        simulation = cls.__new__(cls)
        simulation.scene = Scene(content, folder=folder)
        saved = (state, head["frame"], head["steps"])
        simulation._native = _native.Simulation.load(simulation.scene._native, threads, saved)
        simulation._started, simulation.steps = head["started"], []
        simulation.log, simulation._pending = head["log"], head["pending"]
        for action in _last_forces(simulation.log):
            simulation._native.set_force(action["push"], action["force"], action["torque"])
        return simulation

    def __iter__(self) -> Iterator[Frame]:
        return self

    def __next__(self) -> Frame:
        native = self._open()
        if not self._started:
            self._started = True
            return self.frame
        if native.next_number > self.scene.frames:
            raise StopIteration
        steps: list[dict] = []
        # Step by step as long as an action may come between two of them.
        while self._pending:
            self._replay()
            line, completes = native.step()
            steps.append(json.loads(line))
            if completes:
                self.steps = steps
                return self.frame
        frame, lines = native.next_frame()
        self.steps = steps + json.loads(lines)
        return Frame(frame)

    def _replay(self) -> None:
        """Repeat the actions that came after as many steps as there were."""
        count = self._open().step_count
        while self._pending and self._pending[0]["step"] <= count:
            action = self._pending.pop(0)
            if "push" in action:
                torque = action["torque"]
                self.push(action["push"], action["force"], torque[2] if self.scene.dimension == 2 else torque)
            else:
                self.set(action["set"], action["value"])

    def _open(self) -> Any:
        if self._native is None:
            raise ValueError("the simulation is closed")
        return self._native


def _last_forces(log: Sequence[dict]) -> list[dict]:
    """The last force on every body."""
    return list({action["push"]: action for action in log if "push" in action}.values())


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else str(value)


def simulate(scene: Any, *, threads: int | None = None) -> Iterator[Frame]:
    """Simulate a scene without writing anything, frame by frame from frame 0.

    >>> for frame in simulate("dam-break-2d"):                    # doctest: +SKIP
    ...     print(frame.number, frame.positions.mean(axis=0))
    """
    return Simulation(scene, threads=threads)
