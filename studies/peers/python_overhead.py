#!/usr/bin/env python3
"""Measures what a solve costs from Python beside the same solve on the command line: the wall problem of a built-in scene at 64
cells, solved in turn by both. Prints the shortest wall-clock times of the command's own solve and of the whole call of
`meniscus.lcp.solve`, conversion of the matrix included, and checks that both solutions have the same bits. The command is not told
the grid of the problem, which the package does not know either. Wall-clock times mean little on a machine that does other things:
the last columns are the CPU time of the call, and the part of it that a call takes that only converts, hands over and sweeps once.

    python_overhead.py PROGRAM [REPETITIONS]

PROGRAM is the path of the command `meniscus`.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from meniscus import lcp

SCENE = ["sphere", "--resolution", "64", "--frame", "3"]


def call(program, *words):
    return subprocess.run([program, "lcp", *words], check=True, capture_output=True, text=True).stdout


def measure(program, folder, solver, repetitions):
    """Seconds of the command's solve and of the call, and whether the solutions are equal."""
    problem = lcp.read(folder)
    answer = Path(folder) / "x.mtx"
    by_command, by_call = [], []
    for _ in range(repetitions + 1):
        said = call(program, "solve", "--problem", folder, "--solver", solver, "--json", "--out", str(answer))
        by_command.append(json.loads(said)["seconds"])
        start = time.perf_counter()
        result = lcp.solve(problem.A, problem.b, problem.lower, problem.upper, solver=solver)
        by_call.append(time.perf_counter() - start)
    same = np.array_equal(np.loadtxt(answer, comments="%", skiprows=2), result.x)
    # The first of each warms up.
    return min(by_command[1:]), min(by_call[1:]), same


def cpu(repetitions, problem, **options):
    """The least CPU seconds of a call."""
    best = float("inf")
    for _ in range(repetitions):
        start = time.process_time()
        lcp.solve(problem.A, problem.b, problem.lower, problem.upper, **options)
        best = min(best, time.process_time() - start)
    return best


def main():
    program = sys.argv[1]
    repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    print("| solver | command, s | Python, s | CPU, s | hand-over, % of CPU | same bits |")
    print("| --- | ---: | ---: | ---: | ---: | --- |")
    with tempfile.TemporaryDirectory() as folder:
        call(program, "export", *SCENE, "--out", folder)
        # With the grid the command has better preconditioners; here it gets the matrix alone, as the package does.
        (Path(folder) / "grid.json").unlink()
        for solver in ("newton", "policy", "mprgp"):
            command, python, same = measure(program, folder, solver, repetitions)
            problem = lcp.read(folder)
            whole = cpu(repetitions, problem, solver=solver)
            part = cpu(repetitions, problem, solver="pgs", max_iterations=1, absolute=True)
            bits = "yes" if same else "NO"
            print(f"| {solver} | {command:.3f} | {python:.3f} | {whole:.3f} | {100.0 * part / whole:.1f} | {bits} |", flush=True)


if __name__ == "__main__":
    main()
