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
        rows, columns = np.nonzero(dense)
        starts = np.zeros(dense.shape[0] + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=dense.shape[0]), out=starts[1:])
        return starts, np.ascontiguousarray(columns, dtype=np.int64), dense[rows, columns]
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} has the shape {matrix.shape}, expected a square matrix")
    if matrix.shape[0] > 2**32:
        raise ValueError(f"{name} has {matrix.shape[0]} rows, at most 2^32 are possible")
    rows = matrix.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy() if rows is matrix else rows
        rows.sum_duplicates()
    values = np.ascontiguousarray(_real(rows.data, f"{name}.data"))
    starts = np.ascontiguousarray(rows.indptr, dtype=np.int64)
    columns = rows.indices
    if columns.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        columns = columns.astype(np.int64)
    return starts, np.ascontiguousarray(columns), values


def is_sparse(matrix: Any) -> bool:
    """Whether this is a sparse matrix or array of scipy. Does not import scipy."""
    return hasattr(matrix, "tocsr") and hasattr(matrix, "nnz")


def is_operator(matrix: Any) -> bool:
    """Whether this is a linear operator, known by its products only."""
    return not is_sparse(matrix) and not isinstance(matrix, np.ndarray) and hasattr(matrix, "matvec")


def _real(values: Any, name: str) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is not an array: {error}") from None
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
