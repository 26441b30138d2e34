"""Solves: results, formats of matrices, callbacks, interrupts."""

import gc
import os
import resource
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import lsq_linear
from scipy.sparse.linalg import LinearOperator

from meniscus import _arrays, lcp


def laplacian(n):
    return sp.diags_array([-np.ones(n - 1), 2.0 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]).tocsr()


def obstacle(n):
    """A string that gravity pulls onto the ground: half of the rows are at their bound."""
    x = np.linspace(0, 2 * np.pi, n)
    return laplacian(n), np.sin(x) / n


def residual(A, b, lower, upper, x):
    y = A @ x + b
    return np.abs(x - np.clip(x - y, lower, upper)).max()


@pytest.mark.parametrize("solver", ["auto", "lemke", "newton", "policy", "mprgp", "interior-point", "fischer", "psor"])
def test_every_solver_meets_the_tolerance_as_numpy_computes_it(solver):
    A, b = obstacle(60)
    result = lcp.solve(A, b, solver=solver)
    assert result.success and result.status == "converged"
    assert residual(A, b, 0.0, np.inf, result.x) <= 1e-8
    np.testing.assert_allclose(result.y, A @ result.x + b, atol=1e-14)


def test_units_do_not_matter_unless_the_tolerance_is_absolute():
    A, b = obstacle(60)
    expected = lcp.solve(A, b).x
    tiny = lcp.solve(1e-12 * A, 1e-12 * b)
    assert tiny.success
    np.testing.assert_allclose(tiny.x, expected, atol=1e-9 * np.abs(expected).max())
    absolute = lcp.solve(1e-12 * A, 1e-12 * b, absolute=True)
    assert absolute.success and not absolute.x.any(), "zero is within 1e-8 of a solution"


def test_a_bounded_least_squares_problem_has_the_solution_of_scipy():
    random = np.random.default_rng(3)
    M, target = random.standard_normal((40, 12)), random.standard_normal(40)
    expected = lsq_linear(M, target, bounds=(-0.05, 0.1), method="bvls", tol=1e-14)
    result = lcp.solve(M.T @ M, -M.T @ target, lower=-0.05, upper=0.1, tol=1e-12)
    assert result.success
    np.testing.assert_allclose(result.x, expected.x, atol=1e-10)


def test_every_format_of_a_matrix_gives_the_same_bits():
    A, b = obstacle(40)
    dense = A.toarray()
    expected = lcp.solve(A, b, solver="newton").x
    unsorted = sp.csr_array((A.data.copy(), A.indices.copy(), A.indptr.copy()), shape=A.shape)
    for row in range(40):
        span = slice(unsorted.indptr[row], unsorted.indptr[row + 1])
        unsorted.indices[span] = unsorted.indices[span][::-1]
        unsorted.data[span] = unsorted.data[span][::-1]
    unsorted.has_sorted_indices = False
    unsorted.has_canonical_format = False
    coo = A.tocoo()
    twice = sp.coo_array((np.concatenate([coo.data / 2] * 2), (np.tile(coo.row, 2), np.tile(coo.col, 2))), shape=A.shape)
    wide = sp.csr_array((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)), shape=A.shape)
    read_only = dense.copy()
    read_only.flags.writeable = False
    formats = {
        "csc": A.tocsc(), "coo": coo, "lil": A.tolil(), "dok": A.todok(), "bsr": A.tobsr(), "dia": A.todia(),
        "matrix": sp.csr_matrix(A), "unsorted": unsorted, "duplicates": twice, "64-bit indices": wide,
        "dense": dense, "fortran": np.asfortranarray(dense), "strided": np.repeat(dense, 2, axis=1)[:, ::2],
        "big-endian": dense.astype(">f8"), "integers": dense.astype(np.int32), "read-only": read_only, "list": dense.tolist(),
    }
    for name, matrix in formats.items():
        found = lcp.solve(matrix, b, solver="newton")
        assert np.array_equal(found.x, expected), name
    assert unsorted.has_sorted_indices == 0 and not unsorted.has_canonical_format, "the argument is not modified"


def test_the_number_of_threads_changes_no_bit():
    A, b = obstacle(20_000)
    expected = lcp.solve(A, b, solver="mprgp", threads=1, max_iterations=50, tol=1e-12).x
    for threads in (2, 3):
        assert np.array_equal(lcp.solve(A, b, solver="mprgp", threads=threads, max_iterations=50, tol=1e-12).x, expected)


def test_an_operator_is_used_by_its_products_only():
    A, b = obstacle(80)
    calls = []

    def product(x):
        calls.append(threading.current_thread() is threading.main_thread())
        return A @ x

    operator = LinearOperator(A.shape, matvec=product, rmatvec=product, dtype=float)
    result = lcp.solve(operator, b)
    assert result.success and result.solver == "mprgp"
    assert residual(A, b, 0.0, np.inf, result.x) <= 1e-8
    assert len(calls) > 3 and all(calls), "products are computed on the caller's thread"
    skew = A + sp.diags_array(0.3 * np.ones(79), offsets=1) - sp.diags_array(0.3 * np.ones(79), offsets=-1)
    operator = LinearOperator(A.shape, matvec=lambda x: skew @ x, rmatvec=lambda x: skew.T @ x, dtype=float)
    result = lcp.solve(operator, b)
    assert result.success and result.solver == "newton"
    assert residual(skew, b, 0.0, np.inf, result.x) <= 1e-8
    with pytest.raises(ValueError, match="matrix-free"):
        lcp.solve(operator, b, solver="lemke")


def test_friction_bounds_follow_their_row():
    A = np.diag([1.0, 1.0])
    sliding = lcp.solve(A, [-2.0, -5.0], [0.0, -np.inf], [np.inf, np.inf], friction=[(1, 0, 0.5)])
    assert sliding.success
    np.testing.assert_allclose(sliding.x, [2.0, 1.0], atol=1e-8)
    sticking = lcp.solve(A, [-2.0, -0.3], [0.0, -np.inf], [np.inf, np.inf], friction=[(1, 0, 0.5)], solver="staggered")
    np.testing.assert_allclose(sticking.x, [2.0, 0.3], atol=1e-8)
    with pytest.raises(ValueError, match="friction"):
        lcp.solve(A, [0.0, 0.0], friction=[(1, 7, 0.5)])
    with pytest.raises(ValueError, match="does not solve problems with friction"):
        lcp.solve(A, [0.0, 0.0], friction=[(1, 0, 0.5)], solver="lemke")


def test_friction_of_two_rows_is_a_disc(tmp_path):
    A, b = np.eye(3), np.array([-2.0, -3.0, -4.0])
    lower, upper = [0.0, -np.inf, -np.inf], np.full(3, np.inf)
    disc, square = [((1, 2), 0, 0.5)], [(1, 0, 0.5), (2, 0, 0.5)]
    for name in ("auto", "pgs-coupled", "newton-coupled"):
        # It slides along the pull, which is (3, 4).
        np.testing.assert_allclose(lcp.solve(A, b, lower, upper, friction=disc, solver=name).x, [2.0, 0.6, 0.8], atol=1e-7)
        np.testing.assert_allclose(lcp.solve(A, b, lower, upper, friction=square, solver=name).x, [2.0, 1.0, 1.0], atol=1e-7)
    compared = lcp.compare(A, b, lower, upper, friction=disc)
    assert set(compared.results) == {"pgs-coupled", "newton-coupled"} and "staggered" in compared.skipped
    assert len(lcp.compare(A, b, lower, upper, friction=square).results) == 3
    for friction in (disc, square):
        lcp.write(tmp_path / "p", A, b, lower, upper, friction=friction)
        assert lcp.read(tmp_path / "p").friction == friction
    for wrong in ([((1, 2, 0), 0, 0.5)], [((1, 7), 0, 0.5)], [((1, 1), 0, 0.5)]):
        with pytest.raises(ValueError, match="friction|bound|row"):
            lcp.solve(A, b, lower, upper, friction=wrong)


def test_a_callback_sees_every_iteration_and_can_stop():
    A, b = obstacle(60)
    seen = []
    result = lcp.solve(A, b, solver="pgs", callback=lambda progress: seen.append(progress["residual"]))
    assert len(seen) == len(result.trace["residual"]) > 3
    assert np.array_equal(seen, result.trace["residual"])
    stopped = lcp.solve(A, b, solver="pgs", callback=lambda progress: progress["iteration"] >= 3)
    assert stopped.status == "stopped" and not stopped.success and stopped.iterations == 3

    def stop(_):
        raise StopIteration

    assert lcp.solve(A, b, solver="pgs", callback=stop).status == "stopped"


def test_an_exception_in_a_callback_comes_out_unchanged():
    A, b = obstacle(60)
    mine = KeyError("mine")

    def fail(_):
        raise mine

    with pytest.raises(KeyError) as caught:
        lcp.solve(A, b, callback=fail)
    assert caught.value is mine
    operator = LinearOperator(A.shape, matvec=fail, rmatvec=fail, dtype=float)
    with pytest.raises(KeyError) as caught:
        lcp.solve(operator, b)
    assert caught.value is mine


def test_an_infeasible_problem_is_no_exception():
    result = lcp.solve([[0.0]], [-1.0])
    assert not result.success
    assert result.x.shape == (1,) and "success: False" in repr(result)


BAD = [
    (dict(A=np.eye(2) * 1j, b=[0, 0]), TypeError, "complex"),
    (dict(A=np.eye(2), b=np.array([1j, 0])), TypeError, "complex"),
    (dict(A=[["a", "b"], ["c", "d"]], b=[0, 0]), TypeError, "real numbers"),
    (dict(A=np.eye(2, dtype=object), b=[0, 0]), TypeError, "real numbers"),
    (dict(A=[[1, 2], [3]], b=[0, 0]), ValueError, "not an array"),
    (dict(A=np.eye(3), b=[0, 0]), ValueError, "3 rows, b has 2"),
    (dict(A=np.ones((2, 3)), b=[0, 0]), ValueError, "square"),
    (dict(A=sp.csr_array((2, 3)), b=[0, 0]), ValueError, "square"),
    (dict(A=np.eye(2), b=[[0, 0], [0, 0]]), ValueError, "dimensions"),
    (dict(A=np.eye(2), b=[np.nan, 0]), ValueError, "not finite"),
    (dict(A=np.array([[np.inf, 0], [0, 1]]), b=[0, 0]), ValueError, "finite"),
    (dict(A=np.eye(2), b=[0, 0], lower=[1, 2], upper=[0, 3]), ValueError, "between the bounds"),
    (dict(A=np.eye(2), b=[0, 0], lower=np.nan), ValueError, "bounds"),
    (dict(A=np.eye(2), b=[0, 0], lower=[0, 0, 0]), ValueError, "3 entries, expected 2"),
    (dict(A=np.eye(2), b=[0, 0], x0=[np.nan, 0]), ValueError, "finite"),
    (dict(A=np.eye(2), b=[0, 0], solver="nosuch"), ValueError, "nosuch"),
    (dict(A=np.eye(2), b=[0, 0], solver=3), TypeError, "expected a name"),
    (dict(A=np.eye(2), b=[0, 0], tol=-1.0), ValueError, "tolerance"),
    (dict(A=np.eye(2), b=[0, 0], tol=float("nan")), ValueError, "tolerance"),
    (dict(A=np.eye(2), b=[0, 0], tol="small"), TypeError, "tol"),
    (dict(A=np.eye(2), b=[0, 0], max_iterations=-1), ValueError, "max_iterations"),
    (dict(A=np.eye(2), b=[0, 0], max_iterations=2.5), TypeError, "integer"),
    (dict(A=np.eye(2), b=[0, 0], threads=0), ValueError, "threads"),
    (dict(A=np.eye(2), b=[0, 0], threads=10**6), ValueError, "threads"),
    (dict(A=np.eye(2), b=[0, 0], callback=5), TypeError, "callable"),
    (dict(A=np.eye(2), b=np.array([2**60, 0])), ValueError, "integer"),
    (dict(A=np.eye(2), b=None), TypeError, "real numbers"),
    (dict(A=np.eye(2), b=[0, 0], max_iterations=2**70), ValueError, "max_iterations must be from 1"),
    (dict(A=np.ma.array(np.eye(2), mask=[[1, 0], [0, 0]]), b=[0, 0]), ValueError, "masked"),
    (dict(A=np.eye(2), b=[0, 0], friction=3), TypeError, "friction is a sequence"),
    (dict(A=np.eye(2), b=[0, 0], friction=[(1, 0, "0.5")]), TypeError, "friction coefficient"),
    (dict(A=sp.csr_array(np.array([[np.nan, 0], [0, 1]])), b=[0, 0]), ValueError, "A is not finite"),
]


@pytest.mark.parametrize("arguments,kind,words", BAD, ids=[f"{k}-{words}" for k, (_, _, words) in enumerate(BAD)])
def test_bad_input_is_refused_in_words(arguments, kind, words):
    with pytest.raises(kind, match=words):
        lcp.solve(**arguments)


def broken(format, **arrays):
    """A sparse matrix with other index arrays than it was made with."""
    matrix = sp.eye_array(4, format=format)
    if format == "bsr":
        matrix = sp.eye_array(4, format="csr").tobsr((2, 2))
    for name, values in arrays.items():
        setattr(matrix, name, np.asarray(values))
    return matrix


BROKEN = [
    broken("csr", indptr=[0, 5, 2, 3, 4]),
    broken("csr", indptr=[0, -1, 2, 3, 4]),
    broken("csr", indptr=[0, 1, 2, 3]),
    broken("csr", indptr=[0, 1, 2, 3, 9]),
    broken("csr", indices=[0, 1, -1, 3]),
    broken("csr", indices=[0, 1, 2**40, 3]),
    broken("csr", data=np.ones(5)),
    broken("csr", indices=np.array([0, 1, 2, 2**64 - 1], dtype=np.uint64)),
    broken("csc", indices=[0, 1, 7, 3]),
    broken("csc", indptr=[1, 1, 2, 3, 4]),
    broken("bsr", indices=[0, 3]),
    broken("coo", coords=(np.array([0, 1, 2, 9]), np.arange(4))),
    broken("coo", coords=(np.arange(3), np.arange(3))),
]


@pytest.mark.parametrize("matrix", BROKEN, ids=range(len(BROKEN)))
def test_broken_index_arrays_are_refused(matrix):
    with pytest.raises(ValueError, match="^A"):
        lcp.solve(matrix, -np.ones(4))
    with pytest.raises(TypeError, match="expected integers"):
        lcp.solve(broken("csr", indices=np.arange(4.0)), -np.ones(4))


@pytest.mark.parametrize("kind", [">i4", ">i8", "u1", "u8", "i2"])
def test_indices_may_have_any_type(kind):
    A, b = obstacle(40)
    expected = lcp.solve(A, b).x
    for matrix in (A.copy(), A.tocsc()):
        matrix.indices, matrix.indptr = matrix.indices.astype(kind), matrix.indptr.astype(kind)
        matrix.data = matrix.data.astype(">f8")
        assert np.array_equal(lcp.solve(matrix, b).x, expected), matrix.format


def test_a_problem_that_memory_cannot_hold_is_not_generated():
    for family, size in (("dense", 10**7), ("contact", 10**9), ("fluid", 10**10)):
        with pytest.raises(ValueError, match="entries"):
            lcp.generate(family, size)


def test_comparisons_need_entries_and_a_time_limit():
    with pytest.raises(TypeError, match="LinearOperator"):
        lcp.compare(LinearOperator((2, 2), matvec=lambda x: x, dtype=float), [0, 0])
    with pytest.raises(TypeError, match="seconds"):
        lcp.compare(np.eye(2), [0, 0], seconds="3")


def test_a_problem_without_rows_is_solved():
    result = lcp.solve(np.zeros((0, 0)), np.zeros(0))
    assert result.success and result.x.shape == (0,)


def test_other_threads_run_during_a_solve():
    problem = lcp.generate("dense", 500, seed=1)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    started = time.monotonic()
    while time.monotonic() - started < 0.5:
        lcp.solve(problem.A, problem.b, solver="lemke")
    done.set()
    thread.join()
    assert np.diff(ticks).max() < 0.3 and len(ticks) > 10


def test_ctrl_c_interrupts_a_solve_wherever_it_computes():
    # A dense factorisation of this size takes longer than the limit, without an iteration in between.
    n = 1500
    random = np.random.default_rng(1)
    M = random.standard_normal((n, n))
    A, b = M @ M.T + np.eye(n), random.standard_normal(n)
    sent = []

    def interrupt():
        time.sleep(0.3)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        while True:
            lcp.solve(A, b, solver="interior-point", tol=1e-14)
    late = time.monotonic() - sent[0]
    thread.join()
    assert late < 1.0, "0.3 s, and a loaded machine gets some more"
    assert lcp.solve(np.eye(2), [-1.0, 1.0]).success, "later solves are not affected"


def test_a_fork_after_the_threads_started_solves():
    A, b = obstacle(20_000)
    expected = lcp.solve(A, b, solver="mprgp", max_iterations=20).x
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            same = np.array_equal(lcp.solve(A, b, solver="mprgp", max_iterations=20).x, expected)
            os.write(write, b"1" if same else b"0")
        finally:
            # Whatever happens, it does not go on with the tests.
            os._exit(0)
    os.close(write)
    import select

    ready, _, _ = select.select([read], [], [], 60)
    if not ready:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert ready and os.read(read, 1) == b"1"


def test_ten_thousand_solves_leak_nothing():
    A, b = obstacle(30)

    def memory():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    for _ in range(1000):
        lcp.solve(A, b, solver="lemke")
    before = memory()
    for _ in range(10_000):
        lcp.solve(A, b, solver="lemke")
    assert memory() - before < 4 << 20


def test_comparison_is_a_table_with_a_row_per_solver():
    problem = lcp.generate("fluid", 100, seed=2)
    table = lcp.compare(problem.A, problem.b, problem.lower, problem.upper)
    assert "newton" in table["solver"] and table.rows == len(table.results)
    assert {"residual", "seconds", "status", "apart"} <= set(table.columns)
    assert "linear" in table.skipped
    converged = [apart for apart, status in zip(table["apart"], table["status"]) if status == "converged"]
    assert max(converged) < 1e-4
    assert "newton" in repr(table) and "newton" in table._text()
    with pytest.raises(ValueError, match="nosuch"):
        lcp.compare(problem.A, problem.b, solvers=["nosuch"])


def test_a_plot_tells_all_solvers_apart():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    problem = lcp.generate("fluid", 100, seed=2)
    axes = lcp.compare(problem.A, problem.b, problem.lower, problem.upper).plot()
    looks = {(line.get_color(), line.get_linestyle()) for line in axes.lines}
    assert len(looks) == len(axes.lines) > 10
    axes.figure.canvas.draw()
    assert axes.get_legend().get_window_extent().x0 >= axes.get_window_extent().x1, "the legend covers no line"


def test_generated_problems_have_the_solution_they_come_with():
    for family, size in (("fluid", 50), ("contact", 5), ("dense", 20)):
        problem = lcp.generate(family, size, seed=5)
        assert residual(problem.A, problem.b, problem.lower, problem.upper, problem.solution) < 1e-9, family
    with pytest.raises(ValueError, match="family"):
        lcp.generate("nosuch", 3)


def test_files_are_read_as_they_were_written(tmp_path):
    problem = lcp.generate("fluid", 30, seed=1)
    lcp.write(tmp_path / "p", problem.A, problem.b, problem.lower, problem.upper, x=problem.solution)
    again = lcp.read(tmp_path / "p")
    assert np.array_equal(again.A.toarray(), problem.A.toarray())
    for name in ("b", "lower", "upper", "solution"):
        assert np.array_equal(getattr(again, name), getattr(problem, name)), name
    with pytest.raises(FileNotFoundError):
        lcp.read(tmp_path / "nothing")
    (tmp_path / "p" / "b.mtx").write_text("nonsense")
    with pytest.raises(ValueError, match="b.mtx"):
        lcp.read(tmp_path / "p")


def test_solvers_are_described():
    by_name = {solver.name: solver for solver in lcp.solvers()}
    assert by_name["lemke"].family and "Lemke" in by_name["lemke"].method


def megabytes(field):
    """Memory of this process, from /proc/self/status."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field)) / 1024


def test_a_large_sparse_matrix_is_copied_once_only():
    # The one copy is the solver's own; nothing is copied on the way there.
    n = 3_000_000
    matrix = sp.diags_array([-np.ones(n - 1), 3 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]).tocsr()
    for ours, theirs in zip(_arrays.csr(matrix, "A"), (matrix.indptr, matrix.indices, matrix.data), strict=True):
        assert np.shares_memory(ours, theirs)
    b, lower, upper = np.full(n, -1.0), np.zeros(n), np.full(n, np.inf)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak starts from here
    before = megabytes("VmRSS")
    result = lcp.solve(matrix, b, lower, upper, solver="pgs", absolute=True, max_iterations=1)
    added = megabytes("VmHWM") - before
    assert len(result.x) == n and result.status == "iteration-limit"
    # Row starts of 64 bits, columns, values; b, the bounds, x, y and two vectors of the method.
    copy, vectors = (8 * n + 12 * matrix.nnz) / 2**20, 7 * 8 * n / 2**20
    assert copy <= added < copy + vectors + 0.5 * copy, f"{added:.0f} MB, one copy is {copy:.0f} MB"
