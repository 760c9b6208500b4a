"""The state of a part, as compiled code reads it at a handle's address."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import types
from numba.np.numpy_support import from_dtype

from windlass.jit import Kernel
from windlass.sim.handle import Handle, address_of, opening

RECORD = np.dtype([("a", np.int64), ("b", np.float64)], align=True)
FUNCTION = types.float64(types.float64)


class Inner(NamedTuple):
    """A tuple within the state."""

    cube: object
    number: object


class State(NamedTuple):
    """Every kind of value that a state has."""

    floats: object
    inner: object
    function: object
    matrix: object
    records: object
    whole: object
    flags: object


KIND = types.NamedTuple(
    [
        types.float64[::1],
        types.NamedTuple([types.float64[:, :, ::1], types.float64], Inner),
        types.FunctionType(FUNCTION),
        types.int64[:, ::1],
        from_dtype(RECORD)[::1],
        types.int64,
        types.boolean[::1],
    ],
    State,
)
opened = opening(KIND)


def _double(x):
    return 2.0 * x


def _read(address, out, row, column):
    state = opened(address)
    out[0] = state.floats[column]
    out[1] = state.inner.cube[row, 0, column]
    out[2] = state.inner.number
    out[3] = state.function(state.inner.number)
    out[4] = state.matrix[row, column]
    out[5] = state.records[row].b + state.records[row].a
    out[6] = state.whole
    out[7] = state.flags[row]
    out[8] = len(state.floats) + 100 * state.matrix.shape[0] + 10_000 * state.inner.cube.size
    state.floats[column] = -1.0
    return 0


DOUBLE = Kernel(_double, FUNCTION, allocates=False)
READ = Kernel(_read, types.int64(types.int64, types.float64[::1], types.int64, types.int64), allocates=False)


def _state(rows=2, columns=3, number=0.5, whole=-7, seed=1):
    rng = np.random.default_rng(seed)
    records = np.zeros(rows, RECORD)
    records["a"], records["b"] = rng.integers(-9, 9, rows), rng.random(rows)
    cube, matrix = rng.random((rows, 4, columns)), rng.integers(-9, 9, (rows, columns))
    function, flags = DOUBLE.as_argument(), rng.random(rows) < 0.5
    return State(rng.random(columns), Inner(cube, number), function, matrix, records, whole, flags)


@settings(max_examples=50, deadline=None)
@given(
    rows=st.integers(1, 4),
    columns=st.integers(1, 4),
    number=st.floats(allow_nan=True),
    whole=st.integers(-(2**53), 2**53),
    seed=st.integers(0, 99),
    data=st.data(),
)
def test_compiled_code_reads_and_changes_what_the_state_has(rows, columns, number, whole, seed, data):
    state = _state(rows, columns, number, whole, seed)
    row, column = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
    record, found = state.records[row], np.zeros(9)
    expected = [
        state.floats[column],
        state.inner.cube[row, 0, column],
        number,
        2.0 * number,
        state.matrix[row, column],
        record["b"] + record["a"],
        whole,
        state.flags[row],
        columns + 100 * rows + 40_000 * rows * columns,
    ]
    handle = Handle(state, KIND)
    READ.ready()(handle.address, found, row, column)
    np.testing.assert_array_equal(found, np.array(expected, float))
    assert state.floats[column] == -1.0


def test_a_refilled_handle_has_the_same_address_and_the_other_state():
    handle, found = Handle(_state(seed=1), KIND), np.zeros(9)
    address, other = handle.address, _state(5, 6, 1.5, 3, seed=2)
    handle.refill(other)
    READ.ready()(handle.address, found, 4, 5)
    assert handle.address == address
    assert handle.address % 64 == 0
    assert handle.state is other
    assert (found[2], found[6], found[4]) == (1.5, 3, other.matrix[4, 5])


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"floats": np.zeros(3, np.float32)}, r"float64, 1d, C.*found 1 dimensions of float32"),
        ({"floats": np.zeros((3, 1))}, "found 2 dimensions of float64"),
        ({"floats": np.zeros(6)[::2]}, "found 1 dimensions of float64, not contiguous"),
        ({"matrix": np.zeros((2, 3), np.int64).T}, "found 2 dimensions of int64, not contiguous"),
        ({"flags": np.zeros(2, np.int8)}, "found 1 dimensions of int8"),
        ({"records": np.zeros(2, [("a", np.int64), ("c", np.float64)])}, "found 1 dimensions of .*'c'"),
        ({"inner": (np.zeros((1, 4, 3)),)}, "2 values, found 1"),
    ],
)
def test_a_value_of_another_type_is_refused(changed, problem):
    with pytest.raises(TypeError, match=problem):
        Handle(_state()._replace(**changed), KIND)


def test_records_of_an_equal_type_are_accepted():
    equal = np.dtype([("a", np.int64), ("b", np.float64)], align=True)
    assert equal is not RECORD
    state = _state()
    handle, found = Handle(state._replace(records=state.records.astype(equal)), KIND), np.zeros(9)
    READ.ready()(handle.address, found, 1, 0)
    assert found[5] == state.records[1]["a"] + state.records[1]["b"]


def test_a_type_without_a_layout_is_refused():
    with pytest.raises(TypeError, match=r"cannot have int32.*expected arrays"):
        Handle((1,), types.Tuple([types.int32]))


@given(st.integers(0, 3), st.sampled_from([np.float64, np.int64, np.bool_, RECORD]), st.integers(0, 2))
def test_the_address_of_an_array_is_that_of_numpy(length, dtype, skipped):
    array = np.zeros((length + skipped, 2), dtype)[skipped:]
    assert address_of(array) == array.ctypes.data


@pytest.mark.parametrize("kept", [True, False])
def test_types_with_equal_fields_do_not_share_a_layout_by_chance(kept):
    """A layout is found by the identity of its type, which must not be that of one that is gone."""
    for number in range(50):
        kind = types.UniTuple(types.float64[::1], 1 + number % 3)
        state = tuple(np.array([float(each)]) for each in range(1 + number % 3))
        handle = Handle(state, kind)
        assert handle._layout.kind is kind
        if not kept:
            del kind, handle
