"""Meniscus from Python: complementarity problems, scenes, runs and caches.

>>> import meniscus
>>> run = meniscus.run("dam-break-2d", out="out/dam")          # doctest: +SKIP
>>> for frame in meniscus.simulate("dam-break-2d"):            # doctest: +SKIP
...     print(frame.number, frame.positions.shape)

The solvers are in :mod:`meniscus.lcp`. All units are SI; the last axis points up.
"""

from . import lcp
from ._native import MeniscusError, SceneError, __version__
from ._run import Run, open, run
from ._scene import Scene, builtin_scenes, schema
from ._simulation import Frame, Simulation, simulate
from ._sweep import Sweep, sweep

__all__ = [
    "Frame",
    "MeniscusError",
    "Run",
    "Scene",
    "SceneError",
    "Simulation",
    "Sweep",
    "__version__",
    "builtin_scenes",
    "lcp",
    "open",
    "run",
    "schema",
    "simulate",
    "sweep",
]
