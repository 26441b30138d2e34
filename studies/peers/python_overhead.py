#!/usr/bin/env python3
"""Measures what a solve costs from Python beside the same solve on the command line: the wall problem of a built-in scene at 64
cells, solved in turn by both. Prints the shortest wall-clock times of the command's own solve and of the whole call of
`meniscus.lcp.solve`, conversion of the matrix included, and checks that both solutions have the same bits. The command is not told
the grid of the problem, which the package does not know either.

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


def main():
    program = sys.argv[1]
    repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    print("| solver | command, s | Python, s | overhead, % | same bits |\n| --- | ---: | ---: | ---: | --- |")
    with tempfile.TemporaryDirectory() as folder:
        call(program, "export", *SCENE, "--out", folder)
        # With the grid the command has better preconditioners; here it gets the matrix alone, as the package does.
        (Path(folder) / "grid.json").unlink()
        for solver in ("newton", "policy", "mprgp"):
            command, python, same = measure(program, folder, solver, repetitions)
            overhead = 100.0 * (python / command - 1.0)
            print(f"| {solver} | {command:.4f} | {python:.4f} | {overhead:.1f} | {'yes' if same else 'NO'} |")


if __name__ == "__main__":
    main()
