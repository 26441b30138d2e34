"""PETSc from Debian, and a problem's matrix in it."""

import glob
import sys
import time

sys.path += glob.glob("/usr/lib/petscdir/petsc*/*/lib/python3/dist-packages")

import numpy
import petsc4py

petsc4py.init(["peer"])
from petsc4py import PETSc

NAME = "PETSc " + ".".join(map(str, PETSc.Sys.getVersion()))


def symmetric_matrix(entries, n):
    """The matrix of entries that were written row after row, and the CPU second at which its making began."""
    rows, columns, values = entries
    starts = numpy.zeros(n + 1, dtype=numpy.int32)
    numpy.add.at(starts, rows + 1, 1)
    starts = numpy.cumsum(starts, dtype=numpy.int32)
    begin = time.process_time()
    matrix = PETSc.Mat().createAIJ(size=(n, n), csr=(starts, columns, values), comm=PETSc.COMM_SELF)
    matrix.setOption(PETSc.Mat.Option.SYMMETRIC, True)
    return begin, matrix
