#!/usr/bin/env python3
"""Solves the linear system of a box MLCP without its bounds, as slip walls have it, with PETSc's conjugate gradients: with
incomplete Cholesky, and with algebraic multigrid (hypre's BoomerAMG, with settings for problems in space). Prints a line of
JSON for each, with the CPU seconds of set-up and solve.

    petsc_linear.py FOLDER TOLERANCE

FOLDER holds A.mtx and b.mtx. A solve stops when the largest entry of the residual is within TOLERANCE, the rule that our
methods stop by."""

import json
import sys
import time

import problem
from petsc import PETSc, NAME, symmetric_matrix

AMG = {
    "pc_hypre_boomeramg_strong_threshold": 0.5,
    "pc_hypre_boomeramg_coarsen_type": "HMIS",
    "pc_hypre_boomeramg_interp_type": "ext+i",
    "pc_hypre_boomeramg_agg_nl": 1,
    "pc_hypre_boomeramg_P_max": 4,
}
METHODS = {"CG + ICC": ("icc", {}), "CG + BoomerAMG": ("hypre", AMG)}


def main(folder, tolerance):
    entries, n, rhs, lower, upper = problem.read(folder)
    for method, (preconditioner, settings) in METHODS.items():
        print(json.dumps(solve(entries, n, rhs, tolerance, method, preconditioner, settings)), flush=True)


def solve(entries, n, rhs, tolerance, method, preconditioner, settings):
    options = PETSc.Options()
    for key, value in settings.items():
        options[key] = value
    begin, matrix = symmetric_matrix(entries, n)
    right = PETSc.Vec().createWithArray(-rhs, comm=PETSc.COMM_SELF)
    x = right.duplicate()
    x.set(0.0)
    ksp = PETSc.KSP().create(comm=PETSc.COMM_SELF)
    ksp.setOperators(matrix)
    ksp.setType("cg")
    pc = ksp.getPC()
    pc.setType(preconditioner)
    if preconditioner == "hypre":
        pc.setHYPREType("boomeramg")
    pc.setFromOptions()
    left = right.duplicate()

    def largest():
        matrix.mult(x, left)
        left.axpy(-1.0, right)
        return left.norm(PETSc.NormType.NORM_INFINITY)

    # PETSc watches another norm; ours is computed where it may be small enough at last.
    def converged(ksp, _iteration, norm):
        if norm > tolerance * n ** 0.5:
            return PETSc.KSP.ConvergedReason.ITERATING
        small = ksp.buildResidual().norm(PETSc.NormType.NORM_INFINITY) <= tolerance
        return PETSc.KSP.ConvergedReason.CONVERGED_ATOL if small else PETSc.KSP.ConvergedReason.ITERATING

    ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    ksp.setConvergenceTest(converged)
    ksp.setTolerances(max_it=5000)
    ksp.solve(right, x)
    seconds = time.process_time() - begin
    residual = largest()
    return {
        "program": NAME,
        "method": method + ", linear",
        "n": n,
        "converged": residual <= tolerance,
        "iterations": ksp.getIterationNumber(),
        "residual_inf": residual,
        "cpu_seconds": seconds,
    }


main(sys.argv[1], float(sys.argv[2]))
