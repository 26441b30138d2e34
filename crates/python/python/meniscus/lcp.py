"""Linear complementarity problems with bounds.

Find ``x`` between ``lower`` and ``upper`` such that ``y = A x + b`` is zero where ``x`` is strictly inside its bounds, not
negative where ``x`` is at its lower one, and not positive where it is at its upper one. With ``lower=0, upper=inf`` this is
the linear complementarity problem ``x >= 0, y >= 0, x'y = 0``; it also contains bound-constrained quadratic programs.

>>> import numpy as np
>>> from meniscus import lcp
>>> result = lcp.solve([[2.0, -1.0], [-1.0, 2.0]], [-1.0, 5.0])
>>> print(result.x, result.success)
[0.5 0. ] True
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import _native
from ._arrays import count, csr, is_operator, optional_count, thread_count, vector
from ._table import Table

__all__ = ["Comparison", "LcpProblem", "LcpResult", "SolverInfo", "compare", "generate", "read", "solve", "solvers", "write"]


#: Entries of a matrix that is generated: 6 GB.
_MOST_GENERATED = 500_000_000


class LcpResult(dict):
    """Result of a solve, in the manner of ``scipy.optimize.OptimizeResult``: keys are attributes, too.

    Attributes
    ----------
    x, y : ndarray
        Solution, and ``A x + b`` there.
    success : bool
        Whether the natural residual is within the tolerance, relative to the size of the problem unless ``absolute`` was given.
    status : str
        Reason for the end: ``"converged"``, ``"iteration-limit"``, ``"infeasible"``, ...
    message : str
        The same as a sentence.
    residual : float
        Largest entry of the natural residual at `x`, in the units of the problem.
    iterations, inner_iterations : int
        Outer and inner iterations.
    solver : str
        Method whose solution this is.
    why : str
        Reason for which it was chosen.
    attempts : list of dict
        All methods that were tried, in order.
    trace : dict of ndarray
        ``iteration``, ``inner_iterations``, ``residual``, ``merit`` and ``seconds``, one entry per iteration.
    seconds : float
        Wall-clock time of the solve.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__

    def __dir__(self) -> list[str]:
        return list(self.keys())

    def __repr__(self) -> str:
        shown = ("success", "status", "message", "solver", "why", "iterations", "residual", "seconds", "x", "y")
        width = max(len(name) for name in shown)
        with np.printoptions(threshold=8, precision=6):
            return "\n".join(f"{name:>{width}}: {self[name]!r}" for name in shown)


class LcpProblem(NamedTuple):
    """A problem, and a solution if one is known.

    Parameters
    ----------
    A : scipy.sparse.csr_array
        Matrix.
    b, lower, upper : ndarray
        Constant part of ``y = A x + b``, and bounds of `x`.
    solution : ndarray, optional
        Solution.
    friction : list, optional
        Rows of friction, as `solve` takes them.
    """

    A: Any
    b: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    solution: np.ndarray | None = None
    friction: list | None = None


class SolverInfo(NamedTuple):
    """A solver.

    Parameters
    ----------
    name, family, method, use : str
        Name, family, description and use.
    """

    name: str
    family: str
    method: str
    use: str


def solve(
    A: Any,
    b: Any,
    lower: Any = 0.0,
    upper: Any = np.inf,
    *,
    solver: str = "auto",
    x0: Any = None,
    tol: float = 1e-8,
    absolute: bool = False,
    max_iterations: int | None = None,
    friction: Any = None,
    callback: Callable[[dict], Any] | None = None,
    threads: int | None = None,
) -> LcpResult:
    """Solve a complementarity problem with bounds.

    Parameters
    ----------
    A : array, sparse matrix or LinearOperator
        Square matrix. A `scipy.sparse.linalg.LinearOperator` is used by products only; its solvers are ``"mprgp"``
        (symmetric) and ``"newton"``, and an attribute ``diagonal``, if there is one, preconditions them.
    b : array
        Constant part of ``y = A x + b``.
    lower, upper : float or array
        Bounds of `x`; ``-inf`` and ``inf`` for none.
    solver : str
        Name of a solver; see `solvers`. ``"auto"`` chooses by the properties of the problem.
    x0 : array, optional
        Start. Default: zero.
    tol : float
        Bound on the largest entry of the natural residual, relative to the size of the problem after its rows and columns are
        scaled, so that units do not matter. A LinearOperator, whose entries are not known, and problems with `friction` are
        solved as they are, with an absolute tolerance. Default: 1e-8.
    absolute : bool
        Whether `tol` is absolute, in the units of the problem. Default: False.
    max_iterations : int, optional
        Limit on iterations, pivots or sweeps. Default: the solver's own.
    friction : sequence of (row, of, coefficient), optional
        Rows whose bounds are plus and minus a coefficient times the `x` of another row, as in Coulomb friction. With a pair of
        rows in place of a row, ``((row, row), of, coefficient)``, the length of both is bounded: a disc instead of a square.
    callback : callable, optional
        Called after each iteration with a dictionary of ``iteration``, ``inner_iterations``, ``residual`` and ``merit``. It
        stops the solve by returning True or raising StopIteration; other exceptions are passed on.
    threads : int, optional
        Number of threads; the result does not depend on it. Default: one per core.

    Returns
    -------
    LcpResult
        Not converging is no exception: see ``success`` and ``status``.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or shape, is not finite, or the solver does not accept the problem.
    """
    b = vector(b, "b")
    n = b.shape[0]
    rows = _rows(n, b, lower, upper, x0, tol, absolute, max_iterations)
    if callback is not None and not callable(callback):
        raise TypeError("callback is not callable")
    if not isinstance(solver, str):
        raise TypeError(f"solver is a {type(solver).__name__}, expected a name")
    threads = thread_count(threads)
    if is_operator(A):
        if friction is not None:
            raise ValueError("friction needs the entries of A, not a LinearOperator")
        return _result(_solve_operator(A, n, rows, solver, threads, callback))
    arrays = _entries(A, n)
    return _result(_native.solve(arrays, rows, solver, _friction(friction, n), threads, callback, np.inf))


def compare(
    A: Any,
    b: Any,
    lower: Any = 0.0,
    upper: Any = np.inf,
    *,
    solvers: Iterable[str] | None = None,
    x0: Any = None,
    tol: float = 1e-8,
    absolute: bool = False,
    max_iterations: int | None = None,
    friction: Any = None,
    seconds: float = 60.0,
    threads: int | None = None,
) -> "Comparison":
    """Solve a problem with several solvers.

    Parameters
    ----------
    A, b, lower, upper, x0, tol, absolute, max_iterations, friction, threads
        As in `solve`; `A` has to have entries.
    solvers : iterable of str, optional
        Names. Default: all that fit the problem.
    seconds : float
        Time limit of each. Default: 60.

    Returns
    -------
    Comparison
        A table with a row per solver; ``plot()`` draws residuals over time.
    """
    b = vector(b, "b")
    arrays = _entries(A, b.shape[0])
    seconds = _number(seconds, "seconds")
    if not seconds > 0:
        raise ValueError("seconds must be positive")
    rows = _rows(b.shape[0], b, lower, upper, x0, tol, absolute, max_iterations)
    threads = thread_count(threads)
    skipped: dict[str, str] = {}
    coupled = _friction(friction, b.shape[0])
    if solvers is None and coupled is not None:
        names = list(_native.coupled_solvers())
    elif solvers is None:
        fits = _native.analyse(arrays, rows)
        skipped = {name: why for name, why in fits if why is not None}
        names = [name for name, why in fits if why is None]
    else:
        names = list(solvers)
    results: dict[str, LcpResult] = {}
    for name in names:
        try:
            results[name] = _result(_native.solve(arrays, rows, name, coupled, threads, None, seconds))
        except ValueError as error:
            if solvers is not None:
                raise
            skipped[name] = str(error)
    return Comparison(results, skipped)


class Comparison(Table):
    """Results of several solvers on one problem: a table, by columns.

    Parameters
    ----------
    results : dict of LcpResult
        Results by solver.
    skipped : dict of str
        Solvers that the problem does not fit, and why.

    Attributes
    ----------
    results : dict of LcpResult
        Results by solver.
    skipped : dict of str
        Solvers that the problem does not fit, and why.
    """

    def __init__(self, results: dict[str, LcpResult], skipped: dict[str, str]) -> None:
        self.results = results
        self.skipped = skipped
        solved = [result for result in results.values() if result.success]
        best = min(solved, key=lambda result: result.residual).x if solved else None
        scale = float(np.abs(best).max(initial=0.0)) if best is not None else 0.0
        columns: dict[str, list] = {
            "solver": list(results),
            "chosen": [result.solver for result in results.values()],
            "status": [result.status for result in results.values()],
            "iterations": [result.iterations for result in results.values()],
            "inner_iterations": [result.inner_iterations for result in results.values()],
            "residual": [result.residual for result in results.values()],
            "seconds": [result.seconds for result in results.values()],
            "apart": [
                float(np.abs(result.x - best).max(initial=0.0)) / (scale or 1.0) if best is not None else np.nan
                for result in results.values()
            ],
        }
        super().__init__(columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw the residual of every solver over time. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on. Default: those of a new figure.

        Returns
        -------
        matplotlib.axes.Axes
        """
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(layout="constrained")[1]
        for index, (name, result) in enumerate(self.results.items()):
            seconds = np.append(result.trace["seconds"], result.seconds)
            residual = np.append(result.trace["residual"], result.residual)
            # A logarithmic axis has no zero: an exact solution is drawn at the level of rounding.
            ax.plot(np.maximum(seconds, 1e-7), np.maximum(residual, 1e-17), label=name, ls=("-", "--", ":")[index // 10 % 3])
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("seconds")
        ax.set_ylabel("largest entry of the natural residual")
        # Beside the lines: there can be two dozen of them, and colours come again after ten.
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize="small")
        return ax


def solvers() -> list[SolverInfo]:
    """List the solvers.

    Returns
    -------
    list of SolverInfo
        Each with its name, family, a description and its use.
    """
    return [SolverInfo(*one) for one in _native.solvers()]


def generate(family: str, size: int, *, seed: int = 0, bands: int = 4, null: float = 0.0, zeros: float = 0.5) -> LcpProblem:
    """Generate a problem with a known solution.

    Parameters
    ----------
    family : {"fluid", "contact", "dense"}
        A banded M-matrix, contacts with linearised friction cones, or a dense positive semidefinite matrix.
    size : int
        Number of rows, or of contacts.
    seed : int
        Seed of the random numbers.
    bands : int
        Bands on each side, of ``"fluid"``.
    null : float
        Share of the rows in the null space, of ``"dense"``.
    zeros : float
        Share of zeros in the solution.

    Returns
    -------
    LcpProblem
        With `A` as ``scipy.sparse.csr_array``.
    """
    size, seed, bands = count(size, "size"), count(seed, "seed", 0), count(bands, "bands", 0)
    for name, share in (("null", null), ("zeros", zeros)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name} must be between 0 and 1")
    # Memory that a process does not get would end it.
    entries = size * {"dense": size, "fluid": 2 * bands + 1}.get(family, 64)
    if entries > _MOST_GENERATED:
        raise ValueError(f"a {family} problem of size {size} has about {entries:.1e} entries, more than {_MOST_GENERATED:.0e}")
    made = _native.generate(family, size, seed, (bands, float(null), float(zeros)))
    return LcpProblem(_sparse(made["A"]), made["b"], made["lower"], made["upper"], made["solution"])


def read(folder: str | os.PathLike) -> LcpProblem:
    """Read a problem from ``A.mtx``, ``b.mtx`` and, if they exist, ``lower.mtx``, ``upper.mtx``, ``x.mtx`` and ``friction.json``.

    These are the files that `write` and the command line write.

    Parameters
    ----------
    folder : path
        Folder.

    Returns
    -------
    LcpProblem
        With `A` as ``scipy.sparse.csr_array``. Without files of bounds they are 0 and infinite.

    Raises
    ------
    FileNotFoundError
        If the folder or one of the first two files does not exist.
    ValueError
        If a file is not in the format.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not a folder")
    matrix = _sparse(_native.read_matrix(folder / "A.mtx"))
    b = _native.read_vector(folder / "b.mtx")

    def optional(name: str, default: float | None) -> Any:
        path = folder / name
        if path.exists():
            return _native.read_vector(path)
        return None if default is None else np.full(b.shape[0], default)

    bounds = optional("lower.mtx", 0.0), optional("upper.mtx", np.inf)
    return LcpProblem(matrix, b, *bounds, optional("x.mtx", None), _read_friction(folder / "friction.json"))


def _read_friction(path: Path) -> list | None:
    if not path.exists():
        return None
    content = json.loads(path.read_text(encoding="utf-8"))
    rows = {bound["row"]: (bound["row"], bound["of"], bound["factor"]) for bound in content["coupled_bounds"]}
    discs = []
    for first, second in content.get("discs", ()):
        _, of, factor = rows.pop(first)
        rows.pop(second)
        discs.append(((first, second), of, factor))
    return [*rows.values(), *discs]


def write(
    folder: str | os.PathLike, A: Any, b: Any, lower: Any = 0.0, upper: Any = np.inf, *, x: Any = None, friction: Any = None
) -> None:
    """Write a problem in Matrix Market format into a folder.

    Parameters
    ----------
    folder : path
        Folder, which is made if it does not exist.
    A, b, lower, upper, friction
        As in `solve`; `A` has to have entries.
    x : array, optional
        Solution.
    """
    folder = Path(folder)
    b = vector(b, "b")
    n = b.shape[0]
    arrays = _entries(A, n)
    vectors = {"b": b, "lower": vector(lower, "lower", n), "upper": vector(upper, "upper", n)}
    if x is not None:
        vectors["x"] = vector(x, "x", n)
    folder.mkdir(parents=True, exist_ok=True)
    _native.write_matrix(folder / "A.mtx", arrays)
    for name, values in vectors.items():
        _native.write_vector(folder / f"{name}.mtx", values)
    coupled = _friction(friction, n)
    if coupled is not None:
        bounds, discs = coupled
        content: dict[str, Any] = {"coupled_bounds": [{"row": row, "of": of, "factor": factor} for row, of, factor in bounds]}
        content["discs"] = [[bounds[i][0], bounds[j][0]] for i, j in discs]
        (folder / "friction.json").write_text(json.dumps(content), encoding="utf-8")


def _rows(
    n: int, b: np.ndarray, lower: Any, upper: Any, x0: Any, tol: Any, absolute: Any, max_iterations: Any
) -> tuple:
    lower, upper = vector(lower, "lower", n), vector(upper, "upper", n)
    start = None if x0 is None else vector(x0, "x0", n)
    return b, lower, upper, start, _number(tol, "tol"), bool(absolute), optional_count(max_iterations, "max_iterations")


def _entries(A: Any, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arrays of a matrix of `n` rows."""
    if is_operator(A):
        raise TypeError("A is a LinearOperator, only `solve` takes one; others need its entries")
    arrays = csr(A, "A")
    if arrays[0].shape[0] - 1 != n:
        raise ValueError(f"A has {arrays[0].shape[0] - 1} rows, b has {n} entries")
    return arrays


def _number(value: Any, name: str) -> float:
    try:
        # Text is no number, though float() takes it.
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is a {type(value).__name__}, expected a number") from None
    except OverflowError:
        raise ValueError(f"{name} is too large") from None


def _friction(friction: Any, n: int) -> tuple[list[tuple[int, int, float]], list[tuple[int, int]]] | None:
    """Rows with the rows that they follow and coefficients, and pairs of places in this list that are discs."""
    if friction is None:
        return None
    bounds: list[tuple[int, int, float]] = []
    discs: list[tuple[int, int]] = []
    if isinstance(friction, (str, bytes)) or not isinstance(friction, Iterable):
        raise TypeError("friction is a sequence of (row, of, coefficient)")
    for entry in friction:
        try:
            row, of, coefficient = entry
            rows = tuple(row) if isinstance(row, (tuple, list, np.ndarray)) else (row,)
        except (TypeError, ValueError):
            raise ValueError("friction is a sequence of (row, of, coefficient)") from None
        if len(rows) not in (1, 2):
            raise ValueError(f"friction is of one row or of a pair, not of {len(rows)}")
        of, coefficient = count(of, "friction row", 0), _number(coefficient, "friction coefficient")
        for one in rows:
            one = count(one, "friction row", 0)
            if max(one, of) >= n:
                raise ValueError(f"friction names row {max(one, of)}, there are {n}")
            bounds.append((one, of, coefficient))
        if len(rows) == 2:
            discs.append((len(bounds) - 2, len(bounds) - 1))
    return bounds, discs


def _solve_operator(A: Any, n: int, rows: tuple, solver: str, threads: int | None, callback: Any) -> dict:
    if tuple(A.shape) != (n, n):
        raise ValueError(f"A has the shape {tuple(A.shape)}, b has {n} entries")
    if np.dtype(getattr(A, "dtype", None) or np.float64).kind == "c":
        raise TypeError("A is complex; the problems are real")

    def product(x: np.ndarray) -> np.ndarray:
        return vector(A.matvec(x), "A.matvec(x)", n)

    def transposed(x: np.ndarray) -> np.ndarray:
        return vector(A.rmatvec(x), "A.rmatvec(x)", n)

    diagonal = getattr(A, "diagonal", None)
    diagonal = diagonal() if callable(diagonal) else diagonal
    if diagonal is not None:
        diagonal = vector(diagonal, "A.diagonal", n)
    symmetric = _is_symmetric(product, n)
    if solver == "auto":
        solver = "mprgp" if symmetric else "newton"
    return _native.solve_operator((product, transposed), diagonal, symmetric, rows, solver, threads, callback)


def _is_symmetric(product: Callable[[np.ndarray], np.ndarray], n: int) -> bool:
    """Whether ``u'A v = v'A u`` for a pair of random vectors, which an operator that is not symmetric fails almost surely."""
    random = np.random.default_rng(1)
    u, v = random.standard_normal(n), random.standard_normal(n)
    Au, Av = product(u), product(v)
    scale = np.linalg.norm(u) * np.linalg.norm(Av) + np.linalg.norm(v) * np.linalg.norm(Au)
    return bool(abs(u @ Av - v @ Au) <= 1e-10 * scale)


def _result(made: dict) -> LcpResult:
    result = LcpResult(made)
    result["success"] = result["status"] == "converged"
    result["message"] = f"{result['solver']} {result.pop('explanation')}"
    attempts = result["attempts"]
    result["why"] = next((one["why"] for one in reversed(attempts) if one["solver"] == result["solver"]), "")
    result.pop("asked", None)
    return result


def _sparse(arrays: list) -> Any:
    from scipy.sparse import csr_array

    starts, columns, values = arrays
    n = starts.shape[0] - 1
    return csr_array((values, columns, starts), shape=(n, n))
