#!/usr/bin/env python3
"""Solves the same complementarity problems with the package meniscus and with other Python packages, in one process, and
prints a table in Markdown: CPU milliseconds (best of three after a warm-up), and the largest entry of the natural residual at the
answer, computed here for all of them alike. A package that is not for a problem has the reason in its place. Packages that are not
installed are left out and listed.

    python_peers.py [REPETITIONS]

PETSc and Siconos are Debian's (install.sh): use a virtual environment of the system's interpreter that sees its packages, with
numpy 1 (`python3 -m venv --system-site-packages`, `pip install "numpy<2" "scipy<1.14"`).
"""

import importlib
import sys
import time

import numpy as np
import scipy.sparse as sp

from meniscus import lcp

LIMIT = 60.0
#: Rows up to which a package that stores every entry gets a problem.
DENSE = 2500


def grid(n):
    """An obstacle problem on a grid of n x n points: a symmetric M-matrix."""
    line = sp.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    matrix = (sp.kron(line, sp.eye_array(n)) + sp.kron(sp.eye_array(n), line)).tocsr()
    x, y = np.meshgrid(*2 * [np.linspace(-1, 1, n)])
    load = (np.sin(4 * x) * np.cos(3 * y)).ravel() / n**2
    return matrix, load, np.zeros(n * n), np.full(n * n, np.inf)


def dense(n):
    """A dense positive definite matrix."""
    problem = lcp.generate("dense", n, seed=1)
    return problem.A, problem.b, problem.lower, problem.upper


def between(n):
    """The problem on a grid with an obstacle above, too."""
    matrix, load, lower, _ = grid(n)
    return matrix, load, lower, np.full(n * n, 5e-3)


def contacts(n):
    """Contacts with linearised friction cones: a matrix that is not symmetric, with zeros on its diagonal."""
    problem = lcp.generate("contact", n, seed=1)
    return problem.A, problem.b, problem.lower, problem.upper


def problems():
    yield "dense, 100 rows", *dense(100)
    yield "dense, 400 rows", *dense(400)
    yield "dense, 1,000 rows", *dense(1000)
    yield "grid, 2,500 rows", *grid(50)
    yield "grid, 40,000 rows", *grid(200)
    yield "grid, two bounds, 10,000 rows", *between(100)
    yield "contacts, not symmetric, 300 rows", *contacts(50)


class Unfit(Exception):
    """A problem that a package is not for, with the reason."""


def need(holds, otherwise):
    if not holds:
        raise Unfit(otherwise)


def need_symmetric(A):
    need(abs(A - A.T).max() <= 1e-12 * abs(A).max(), "not symmetric")


def need_lower_bounds(lower, upper):
    need((lower == 0).all() and np.isinf(upper).all(), "two bounds")


def residual(A, b, lower, upper, x):
    return float(np.abs(x - np.clip(x - (A @ x + b), lower, upper)).max())


def ours(A, b, lower, upper):
    return lcp.solve(A, b, lower, upper).x


def quantecon(A, b, lower, upper):
    from quantecon.optimize import lcp_lemke

    need_lower_bounds(lower, upper)
    need(A.shape[0] <= DENSE, "too large")
    found = lcp_lemke(A.toarray(), b)
    need(found.success, f"status {found.status}")
    return found.z


def lsq_linear(A, b, lower, upper):
    from scipy.optimize import lsq_linear as solve

    # A positive definite quadratic program is a least squares problem in its Cholesky factor.
    need_symmetric(A)
    need(A.shape[0] <= DENSE, "too large")
    factor = np.linalg.cholesky(A.toarray() + 1e-14 * sp.eye_array(A.shape[0]).toarray())
    return solve(factor.T, -np.linalg.solve(factor, b), bounds=(lower, upper), tol=1e-12).x


def osqp(A, b, lower, upper):
    import osqp

    need_symmetric(A)
    solver = osqp.OSQP()
    n = A.shape[0]
    solver.setup(sp.csc_matrix(sp.triu(A)), b, sp.csc_matrix(sp.eye(n)), lower, upper, verbose=False, eps_abs=1e-8, eps_rel=1e-10, max_iter=100000)
    return solver.solve().x


def clarabel(A, b, lower, upper):
    import clarabel

    need_symmetric(A)
    n = A.shape[0]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    unit, above = sp.eye(n, format="csc"), np.isfinite(upper)
    rows = sp.vstack([-unit, unit[above]], format="csc")
    sides = np.concatenate([-lower, upper[above]])
    cones = [clarabel.NonnegativeConeT(len(sides))]
    solver = clarabel.DefaultSolver(sp.triu(sp.csc_matrix(A), format="csc"), b, rows, sides, cones, settings)
    return np.array(solver.solve().x)


def piqp(A, b, lower, upper):
    import piqp

    need_symmetric(A)
    solver = piqp.SparseSolver()
    solver.settings.eps_abs = 1e-10
    solver.settings.eps_rel = 1e-10
    solver.setup(sp.csc_matrix(A), b, x_l=lower, x_u=upper)
    solver.solve()
    return solver.result.x


def petsc(A, b, lower, upper):
    """Reduced-space Newton with conjugate gradients and incomplete Cholesky, to the residual that ours stops by."""
    from petsc import PETSc

    need_symmetric(A)
    n = A.shape[0]
    starts, columns = A.indptr.astype(np.int32), A.indices.astype(np.int32)
    matrix = PETSc.Mat().createAIJ(size=(n, n), csr=(starts, columns, A.data), comm=PETSc.COMM_SELF)
    matrix.setOption(PETSc.Mat.Option.SYMMETRIC, True)
    right = PETSc.Vec().createWithArray(b.copy(), comm=PETSc.COMM_SELF)
    bounds = []
    for bound, infinite in ((lower, PETSc.NINFINITY), (upper, PETSc.INFINITY)):
        values = np.where(np.isinf(bound), infinite, bound)
        bounds.append(PETSc.Vec().createWithArray(values, comm=PETSc.COMM_SELF))
    x, y = matrix.createVecs()
    x.set(0.0)

    def function(_snes, at, out):
        matrix.mult(at, out)
        out.axpy(1.0, right)

    def converged(snes, iterations, _norms):
        function(snes, x, y)
        at = x.getArray()
        if np.abs(at - np.clip(at - y.getArray(), lower, upper)).max() <= 1e-8:
            return PETSc.SNES.ConvergedReason.CONVERGED_FNORM_ABS
        reasons = PETSc.SNES.ConvergedReason
        return reasons.DIVERGED_MAX_IT if iterations >= 200 else reasons.ITERATING

    snes = PETSc.SNES().create(comm=PETSc.COMM_SELF)
    snes.setType("vinewtonrsls")
    snes.setFunction(function, y.duplicate())
    snes.setJacobian(lambda *_: PETSc.Mat.Structure.SAME_NONZERO_PATTERN, matrix)
    snes.setVariableBounds(*bounds)
    snes.setConvergenceTest(converged)
    ksp = snes.getKSP()
    ksp.setType("cg")
    ksp.setTolerances(rtol=1e-2)
    ksp.getPC().setType("icc")
    snes.solve(None, x)
    return x.getArray().copy()


def siconos(A, b, lower, upper):
    """Lemke's method, which is dense."""
    import siconos.numerics as numerics

    need_lower_bounds(lower, upper)
    n = A.shape[0]
    need(n <= DENSE, "too large")
    options = numerics.SolverOptions(numerics.SICONOS_LCP_LEMKE)
    options.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = 10000
    z, w = np.zeros(n), np.zeros(n)
    failed = numerics.linearComplementarity_driver(numerics.LCP(A.toarray(), b), z, w, options)
    need(not failed, f"status {failed}")
    return z


PEERS = {
    "meniscus": (ours, None),
    "quantecon lcp_lemke": (quantecon, "quantecon"),
    "scipy lsq_linear": (lsq_linear, "scipy"),
    "OSQP": (osqp, "osqp"),
    "Clarabel": (clarabel, "clarabel"),
    "PIQP": (piqp, "piqp"),
    "PETSc vinewtonrsls": (petsc, "petsc"),
    "Siconos Lemke": (siconos, "siconos.numerics"),
}


def measure(solve, problem, repetitions):
    best, x = np.inf, None
    for repetition in range(repetitions + 1):
        start = time.process_time()
        try:
            x = solve(*problem)
        except Unfit as why:
            return str(why)
        except Exception as error:  # a peer that fails is a row of the table
            return f"failed: {type(error).__name__}"
        seconds = time.process_time() - start
        # The first one is the warm-up.
        if repetition > 0 or seconds > LIMIT / 4:
            best = min(best, seconds)
        if seconds > LIMIT / 4:
            break
    return f"{1e3 * best:.3g} ms, {residual(*problem, x):.0e}"


def main():
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    peers, missing = {}, []
    for name, (solve, module) in PEERS.items():
        try:
            if module:
                importlib.import_module(module)
            peers[name] = solve
        except (ImportError, ValueError) as error:
            # A ValueError is that of a package that was compiled for another numpy.
            missing.append(f"{name} ({error})")
    print("| problem | " + " | ".join(peers) + " |")
    print("| --- |" + " --- |" * len(peers))
    for title, *problem in problems():
        cells = [measure(solve, problem, repetitions) for solve in peers.values()]
        print(f"| {title} | " + " | ".join(cells) + " |", flush=True)
    if missing:
        print("\nNot installed: " + ", ".join(missing))


main()
