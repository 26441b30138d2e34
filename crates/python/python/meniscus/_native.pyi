"""Types of the native module. Use the package `meniscus`, which documents them."""

from pathlib import Path
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

__version__: str

class MeniscusError(Exception):
    exit_code: int
    remedy: str | None

class SceneError(MeniscusError):
    diagnostics: list[dict[str, Any]]

class PointLayer:
    name: str
    spacing: float
    positions: NDArray[np.float32]
    velocities: NDArray[np.float32]
    ids: NDArray[np.uint64] | None
    scalars: list[str]
    def __len__(self) -> int: ...
    def scalar(self, name: str) -> NDArray[np.float32] | None: ...

class Mesh:
    name: str
    positions: NDArray[np.float32]
    velocities: NDArray[np.float32]
    triangles: NDArray[np.uint32]
    def __len__(self) -> int: ...

class Surface:
    positions: NDArray[np.float32]
    normals: NDArray[np.float32]
    velocities: NDArray[np.float32]
    triangles: NDArray[np.uint32]
    volume: float
    area: float

class Frame:
    number: int
    time: float
    dimension: int
    layers: list[PointLayer]
    meshes: list[Mesh]
    bodies: dict[str, dict[str, Any]]
    def surface(self) -> Surface: ...

class Scene:
    text: str
    diagnostics: str
    name: str
    summary: str
    dimension: int
    resolution: int
    frames: int
    frame_rate: float
    domain: list[float]
    @staticmethod
    def load(name: Path, changes: list[tuple[str, str]], outside: bool) -> Scene: ...
    @staticmethod
    def from_text(
        content: str, name: str, changes: list[tuple[str, str]], folder: Path | None, outside: bool
    ) -> Scene: ...
    def check(self) -> list[str]: ...
    def estimate(self, threads: int | None) -> str: ...

class Simulation:
    log: str
    time: float
    is_complete: bool
    is_between_frames: bool
    def __init__(
        self,
        scene: Scene,
        threads: int | None,
        repeated: str,
        out: Path | None = None,
        resume: bool = False,
        overwrite: bool = False,
    ) -> None: ...
    def close(self) -> None: ...
    def change(self, scene: Scene, key: str, value: str) -> None: ...
    def push(self, body: str, force: list[float], torque: list[float]) -> None: ...
    def current(self) -> Frame: ...
    def next_frame(self) -> tuple[Frame, str]: ...
    def catch_up(self) -> None: ...
    def step(self) -> str: ...

class Run:
    path: Path
    manifest: str
    scene_text: str
    frames: list[int]
    def __init__(self, root: Path) -> None: ...
    def frame(self, number: int) -> Frame: ...
    def file(self, name: str) -> Path: ...

class View:
    address: str
    def __init__(self, run: Path, port: int) -> None: ...
    def stop(self) -> None: ...

def builtin_scenes() -> list[tuple[str, str]]: ...
def schema() -> str: ...
def next_free(scene: str) -> Path: ...
def run(
    scene: Scene,
    out: Path,
    resume: bool,
    overwrite: bool,
    from_frame: int | None,
    branch_from: Path | None,
    threads: int | None,
    callback: Callable[[str], Any] | None,
) -> None: ...
def write_report(run: Path, to: Path) -> None: ...
def contact_sheet(runs: list[Path], labels: list[str], to: Path) -> None: ...

_Matrix = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]
_Vector = NDArray[np.float64]
_Rows = tuple[_Vector, _Vector, _Vector, _Vector | None, float, int | None]

def solve(
    matrix_arrays: _Matrix,
    rows: _Rows,
    solver: str,
    friction: tuple[list[tuple[int, int, float]], list[tuple[int, int]]] | None,
    threads: int | None,
    callback: Callable[[dict[str, Any]], Any] | None,
    time_limit: float,
) -> dict[str, Any]: ...
def solve_operator(
    products: tuple[Callable[[_Vector], _Vector], Callable[[_Vector], _Vector]],
    diagonal: _Vector | None,
    symmetric: bool,
    rows: _Rows,
    solver: str,
    threads: int | None,
    callback: Callable[[dict[str, Any]], Any] | None,
) -> dict[str, Any]: ...
def analyse(matrix_arrays: _Matrix, rows: _Rows) -> list[tuple[str, str | None]]: ...
def coupled_solvers() -> list[str]: ...
def solvers() -> list[tuple[str, str, str, str]]: ...
def generate(family: str, size: int, seed: int, shape: tuple[int, float, float]) -> dict[str, Any]: ...
def read_matrix(path: Path) -> list[NDArray[Any]]: ...
def read_vector(path: Path) -> _Vector: ...
def write_matrix(path: Path, matrix_arrays: _Matrix) -> None: ...
def write_vector(path: Path, vector: _Vector) -> None: ...
