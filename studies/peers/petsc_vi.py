#!/usr/bin/env python3
"""Solves a box MLCP with PETSc's reduced-space Newton method for variational inequalities (`vinewtonrsls`), conjugate
gradients and incomplete Cholesky inside, and prints a line of JSON with the CPU seconds of set-up and solve.

    petsc_vi.py FOLDER TOLERANCE

FOLDER holds A.mtx, b.mtx, lower.mtx and upper.mtx. It stops when the largest entry of the natural residual is within
TOLERANCE, the rule that our methods stop by."""

import json
import sys
import time

import numpy

import problem
from petsc import PETSc, NAME, symmetric_matrix


def main(folder, tolerance):
    entries, n, rhs, lower, upper = problem.read(folder)
    begin, matrix = symmetric_matrix(entries, n)
    vectors = [PETSc.Vec().createWithArray(v.copy(), comm=PETSc.COMM_SELF) for v in (rhs, lower, upper)]
    b, low, high = vectors
    for bound, infinite in ((low, PETSc.NINFINITY), (high, PETSc.INFINITY)):
        array = bound.getArray()
        array[numpy.isinf(array)] = infinite
    x, y = matrix.createVecs()
    x.set(0.0)

    def function(_snes, at, out):
        matrix.mult(at, out)
        out.axpy(1.0, b)

    def jacobian(_snes, _at, _a, _p):
        return PETSc.Mat.Structure.SAME_NONZERO_PATTERN

    reached = [float("inf")]

    def converged(snes, its, _norms):
        function(snes, x, y)
        reached[0] = problem.natural_residual(x.getArray(), y.getArray(), lower, upper)
        if reached[0] <= tolerance:
            return PETSc.SNES.ConvergedReason.CONVERGED_FNORM_ABS
        if its >= 200:
            return PETSc.SNES.ConvergedReason.DIVERGED_MAX_IT
        return PETSc.SNES.ConvergedReason.ITERATING

    snes = PETSc.SNES().create(comm=PETSc.COMM_SELF)
    snes.setType("vinewtonrsls")
    snes.setFunction(function, y.duplicate())
    snes.setJacobian(jacobian, matrix)
    snes.setVariableBounds(low, high)
    snes.setConvergenceTest(lambda s, its, norms: converged(s, its, norms))
    ksp = snes.getKSP()
    ksp.setType("cg")
    ksp.setTolerances(rtol=1e-2)
    ksp.getPC().setType("icc")
    snes.solve(None, x)
    seconds = time.process_time() - begin

    function(None, x, y)
    residual = problem.natural_residual(x.getArray(), y.getArray(), lower, upper)
    print(json.dumps({
        "program": NAME,
        "method": "vinewtonrsls, CG + ICC",
        "n": n,
        "converged": residual <= tolerance,
        "iterations": snes.getIterationNumber(),
        "inner_iterations": snes.getLinearSolveIterations(),
        "residual_inf": residual,
        "cpu_seconds": seconds,
    }))


main(sys.argv[1], float(sys.argv[2]))
