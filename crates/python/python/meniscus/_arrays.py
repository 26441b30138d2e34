"""Conversion of arguments to the arrays that the native module takes."""

from __future__ import annotations

from typing import Any

import numpy as np


def vector(values: Any, name: str, length: int | None = None) -> np.ndarray:
    """A contiguous vector of 64-bit floats; a number stands for `length` equal entries.

    Raises
    ------
    TypeError
        If the values are complex, or no numbers at all.
    ValueError
        If the shape is wrong, or an integer has no exact floating-point value.
    """
    array = _real(values, name)
    if array.ndim == 0 and length is not None:
        return np.full(length, float(array))
    if array.ndim == 2 and 1 in array.shape:
        array = array.reshape(-1)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions, expected 1")
    if length is not None and array.shape[0] != length:
        raise ValueError(f"{name} has {array.shape[0]} entries, expected {length}")
    return np.ascontiguousarray(array)


def square(values: Any, name: str) -> np.ndarray:
    """A dense square matrix of 64-bit floats."""
    array = _real(values, name)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(f"{name} has the shape {array.shape}, expected a square matrix")
    return array


def csr(matrix: Any, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row starts, columns and values of a sparse matrix or of a dense array.

    A CSR matrix in canonical form with 64-bit floats is not copied here.
    """
    if not is_sparse(matrix):
        dense = square(matrix, name)
        n = dense.shape[0]
        if np.count_nonzero(dense) == dense.size:
            return np.arange(0, n * n + 1, max(n, 1)), np.tile(np.arange(n, dtype=np.int32), n), np.ascontiguousarray(dense).reshape(-1)
        rows, columns = np.nonzero(dense)
        starts = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=n), out=starts[1:])
        return starts, np.ascontiguousarray(columns, dtype=np.int64), dense[rows, columns]
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} has the shape {matrix.shape}, expected a square matrix")
    if matrix.shape[0] > 2**32:
        raise ValueError(f"{name} has {matrix.shape[0]} rows, at most 2^32 are possible")
    rows = _checked(matrix, name).tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy() if rows is matrix else rows
        rows.sum_duplicates()
    values = np.ascontiguousarray(_real(rows.data, f"{name}.data"))
    return np.ascontiguousarray(rows.indptr), np.ascontiguousarray(rows.indices), values


def _checked(matrix: Any, name: str) -> Any:
    """A sparse matrix whose index arrays are sound, which scipy's compiled routines rely on without looking.

    The arrays are attributes that anything can be assigned to. A matrix in which something has to be converted is copied.
    """
    if matrix.format not in ("csr", "csc", "bsr", "coo"):
        return matrix
    if matrix.format == "coo":
        coordinates = [_indices(one, f"{name}.coords") for one in (matrix.row, matrix.col)]
        for one, size in zip(coordinates, matrix.shape):
            if one.shape != matrix.data.shape:
                raise ValueError(f"{name} has {one.size} coordinates for {matrix.data.size} entries")
            if one.size and not (0 <= one.min() and one.max() < size):
                raise ValueError(f"{name} has an entry outside of its shape {matrix.shape}")
        return type(matrix)((matrix.data, tuple(coordinates)), shape=matrix.shape)
    starts, indices = _indices(matrix.indptr, f"{name}.indptr"), _indices(matrix.indices, f"{name}.indices")
    blocks = matrix.blocksize if matrix.format == "bsr" else (1, 1)
    major, minor = (matrix.shape[axis] // blocks[axis] for axis in ((1, 0) if matrix.format == "csc" else (0, 1)))
    if starts.shape != (major + 1,) or starts[0] != 0 or (starts[1:] < starts[:-1]).any():
        raise ValueError(f"{name}.indptr must have {major + 1} entries that rise from 0")
    if starts[-1] != indices.shape[0] or indices.shape[0] != matrix.data.shape[0]:
        ends = f"{name}.indptr ends at {starts[-1]}"
        raise ValueError(f"{ends}, with {indices.shape[0]} indices and {matrix.data.shape[0]} entries of data")
    if indices.size and not (0 <= indices.min() and indices.max() < minor):
        raise ValueError(f"{name}.indices has an entry that is not from 0 to {minor - 1}")
    if starts is matrix.indptr and indices is matrix.indices and matrix.data.dtype.isnative:
        return matrix
    data = matrix.data.astype(matrix.data.dtype.newbyteorder("="), copy=False)
    return type(matrix)((data, indices, starts), shape=matrix.shape)


def _indices(array: np.ndarray, name: str) -> np.ndarray:
    """Indices of a type that scipy's compiled routines take."""
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} has entries of type {array.dtype}, expected integers")
    if array.dtype in (np.dtype(np.int32), np.dtype(np.int64)):
        return array
    if array.dtype.itemsize == 8 and array.size and int(array.max()) >= 2**63:
        raise ValueError(f"{name} has the entry {array.max()}, which is too large")
    return array.astype(np.int64)


def is_sparse(matrix: Any) -> bool:
    """Whether this is a sparse matrix or array of scipy. Does not import scipy."""
    return hasattr(matrix, "tocsr") and hasattr(type(matrix), "nnz")


def is_operator(matrix: Any) -> bool:
    """Whether this is a linear operator, known by its products only."""
    return not is_sparse(matrix) and not isinstance(matrix, np.ndarray) and hasattr(matrix, "matvec")


def count(value: Any, name: str, least: int = 1, most: int = 2**63 - 1) -> int:
    """A whole number in a range.

    Raises
    ------
    TypeError
        If it is no integer.
    ValueError
        If it is out of range.
    """
    try:
        number: int = value.__index__()
    except (AttributeError, TypeError):
        raise TypeError(f"{name} is a {type(value).__name__}, expected an integer") from None
    if not least <= number <= most:
        raise ValueError(f"{name} must be from {least} to {most}, not {number}")
    return number


def optional_count(value: Any, name: str, least: int = 1, most: int = 2**63 - 1) -> int | None:
    """The same; none stays none."""
    return None if value is None else count(value, name, least, most)


def thread_count(threads: Any) -> int | None:
    """A number of threads; none is the default."""
    return optional_count(threads, "threads", 1, 1024)


def _real(values: Any, name: str) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is not an array: {error}") from None
    if isinstance(values, np.ndarray) and np.any(getattr(values, "mask", False)):
        raise ValueError(f"{name} has masked entries")
    kind = array.dtype.kind
    if kind == "c":
        raise TypeError(f"{name} is complex; the problems are real")
    if kind not in "biuf":
        raise TypeError(f"{name} has entries of type {array.dtype}, expected real numbers")
    if array.dtype.itemsize > 8:
        raise TypeError(f"{name} has entries of type {array.dtype}, at most 64 bits are possible")
    if kind in "iu" and array.dtype.itemsize == 8 and array.size:
        largest = max(int(array.max()), -int(array.min()))
        if largest > 2**53:
            raise ValueError(f"{name} has an integer of size {largest}, which no 64-bit float can hold")
    return array.astype(np.float64, copy=False)
