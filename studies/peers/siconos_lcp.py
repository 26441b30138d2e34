#!/usr/bin/env python3
"""Solves an LCP (bounds 0 and infinity) with methods of Siconos and prints a line of JSON each, with CPU seconds.

    siconos_lcp.py FOLDER TOLERANCE METHOD...

METHOD is one of lemke, pgs, psor, newton, fischer, pivot. The residual in the answer is recomputed here by the rule that all
methods are compared by."""

import json
import sys
import time

import numpy
import siconos.numerics as siconos

import problem

METHODS = {
    "lemke": siconos.SICONOS_LCP_LEMKE,
    "pgs": siconos.SICONOS_LCP_PGS,
    "psor": siconos.SICONOS_LCP_PSOR,
    "newton": siconos.SICONOS_LCP_NEWTON_MIN_FBLSA,
    "fischer": siconos.SICONOS_LCP_NEWTON_FB_FBLSA,
    "pivot": siconos.SICONOS_LCP_PIVOT,
}


def main(folder, tolerance, methods):
    (rows, columns, values), n, rhs, lower, upper = problem.read(folder)
    if (lower != 0).any() or numpy.isfinite(upper).any():
        sys.exit("siconos_lcp.py: the problem has other bounds than 0 and infinity")
    matrix = numpy.zeros((n, n))
    matrix[rows, columns] = values
    for method in methods:
        # Its own measures of the error are not ours: it is asked for more until ours is met, and the last time counts.
        for factor in (1.0, 1e-2, 1e-4):
            answer = solve(matrix, rhs, method, factor * tolerance)
            answer["converged"] = answer["residual_inf"] <= tolerance
            if answer["converged"]:
                break
        print(json.dumps(answer), flush=True)


def solve(matrix, rhs, method, tolerance):
    n = len(rhs)
    lcp = siconos.LCP(matrix, rhs)
    options = siconos.SolverOptions(METHODS[method])
    options.dparam[siconos.SICONOS_DPARAM_TOL] = tolerance
    options.iparam[siconos.SICONOS_IPARAM_MAX_ITER] = 10000
    z, w = numpy.zeros(n), numpy.zeros(n)
    begin = time.process_time()
    siconos.linearComplementarity_driver(lcp, z, w, options)
    seconds = time.process_time() - begin
    residual = problem.natural_residual(z, matrix @ z + rhs, numpy.zeros(n), numpy.full(n, numpy.inf))
    return {
        "program": "Siconos",
        "method": method,
        "n": n,
        "iterations": int(options.iparam[siconos.SICONOS_IPARAM_ITER_DONE]),
        "residual_inf": residual,
        "cpu_seconds": seconds,
    }


main(sys.argv[1], float(sys.argv[2]), sys.argv[3:])
