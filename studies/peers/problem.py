"""Reads a problem as `meniscus lcp export` and `meniscus lcp generate` write it, and measures residuals."""

import os

import numpy


def _numbers(path):
    """The numbers of a Matrix Market file after its header and comments, in order."""
    with open(path, encoding="ascii") as file:
        header = file.readline().split()
        if len(header) < 5 or header[0] != "%%MatrixMarket":
            raise ValueError(f"{path} is not a Matrix Market file")
        body = file.read()
    while body.startswith("%"):
        body = body.split("\n", 1)[1]
    return header, numpy.array(body.split(), dtype=float)


def vector(path):
    """A vector."""
    _, numbers = _numbers(path)
    return numbers[2:]


def matrix(path):
    """Rows, columns and values of the entries of a matrix, and its number of rows."""
    header, numbers = _numbers(path)
    if header[2:] != ["coordinate", "real", "general"]:
        raise ValueError(f"{path}: only `coordinate real general` is read here")
    entries = numbers[3:].reshape(-1, 3)
    rows = entries[:, 0].astype(numpy.int32) - 1
    columns = entries[:, 1].astype(numpy.int32) - 1
    return rows, columns, entries[:, 2].copy(), int(numbers[0])


def read(folder):
    """Entries, rows, right-hand side and bounds."""
    rows, columns, values, n = matrix(os.path.join(folder, "A.mtx"))
    rhs = vector(os.path.join(folder, "b.mtx"))
    lower = vector(os.path.join(folder, "lower.mtx"))
    upper = vector(os.path.join(folder, "upper.mtx"))
    return (rows, columns, values), n, rhs, lower, upper


def natural_residual(x, y, lower, upper):
    """The largest entry of `x - clamp(x - y, lower, upper)`, what all methods are compared by."""
    return float(numpy.abs(x - numpy.clip(x - y, lower, upper)).max()) if len(x) else 0.0
