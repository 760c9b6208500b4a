"""Compiled state from one declaration: types, allocation, growth, and records read from Python and compiled code."""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import types
from numpy.typing import NDArray
from typing_extensions import TypeAliasType

from windlass.jit import Kernel
from windlass.jit.schema import Scalars, allocate, column, grown, numba_type

Floats = NDArray[np.float64]
_SIGNATURE = types.int64(types.float64)
_PAIR = np.dtype([("left", np.int32), ("right", np.float64)])


class Clock(Scalars):
    now: float = -np.inf
    jobs: int = 3
    lost: int


class Inner(NamedTuple):
    row: Annotated[NDArray[np.int32], column("rows", fill=-1)]


class Machine(NamedTuple):
    function: Annotated[object, _SIGNATURE]
    inner: Inner
    ends: Annotated[Floats, column("jobs", fill=np.nan)]
    table: Annotated[NDArray[np.int64], column("jobs", 3)]
    wide: Annotated[Floats, column("sites", "jobs")]
    pair: Annotated[NDArray[np.void], column("sites", dtype=_PAIR)]
    clock: Annotated[NDArray[np.void], Clock]


Kind = TypeVar("Kind", bound=np.generic)
#: The form of ``NDArray`` in NumPy 2.4 and in 2.5.
Earlier = np.ndarray[tuple[int, ...], np.dtype[Kind]]
Later = TypeAliasType("Later", np.ndarray[tuple[int, ...], np.dtype[Kind]], type_params=(Kind,))


class Forms(NamedTuple):
    earlier: Annotated[Earlier[np.int16], column("jobs")]
    later: Annotated[Later[np.float32], column("jobs")]


def machine(jobs=2, sites=2, **fields):
    return allocate(
        Machine,
        {"jobs": jobs, "sites": sites},
        function=None,
        inner=allocate(Inner, {"rows": 4}),
        **fields,
    )


def test_both_forms_of_array_annotations_are_read():
    assert numba_type(Forms).types == (types.int16[::1], types.float32[::1])
    assert [each.dtype for each in allocate(Forms, {"jobs": 2})] == [np.int16, np.float32]


def test_the_numba_type_follows_from_the_annotations():
    found = dict(zip(Machine._fields, numba_type(Machine).types, strict=True))
    assert found["function"] == types.FunctionType(_SIGNATURE)
    assert found["inner"] == types.NamedTuple((types.int32[::1],), Inner)
    assert found["ends"] == types.float64[::1]
    assert found["table"] == types.int64[:, ::1]
    assert found["pair"].dtype.fields.keys() == {"left", "right"}
    assert found["clock"].dtype.fields.keys() == {"now", "jobs", "lost"}


def test_entries_have_their_initial_value():
    made = machine()
    assert np.isnan(made.ends).all()
    assert (made.table == 0).all()
    assert (made.inner.row == -1).all()
    assert made.clock[0].item() == (-np.inf, 3, 0)


def test_given_arrays_are_converted_only_where_necessary():
    ends = np.array([1.0, 2.0])
    assert machine(ends=ends).ends is ends
    assert machine(ends=[1, 2]).ends.dtype == np.float64


def test_a_given_array_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"Machine.ends: shape \(3,\), expected \(2,\)"):
        machine(ends=np.zeros(3))


def test_unknown_and_missing_fields_are_refused():
    with pytest.raises(TypeError, match="other"):
        machine(other=1)
    with pytest.raises(TypeError, match="function"):
        allocate(Machine, {"jobs": 1, "sites": 1}, inner=None)


def test_a_field_of_an_unknown_kind_is_refused():
    class Odd(NamedTuple):
        number: Annotated[int, "seven"]

    with pytest.raises(TypeError, match=r"Odd.number: expected a column"):
        numba_type(Odd)


@given(jobs=st.integers(0, 5), more=st.integers(0, 5), sites=st.integers(0, 3))
def test_growth_keeps_entries_and_fills_new_ones(jobs, more, sites):
    rng = np.random.default_rng(jobs)
    old = machine(jobs, sites, ends=rng.random(jobs), wide=rng.random((sites, jobs)))
    new = grown(old, jobs=jobs + more)
    assert new.ends[:jobs].tolist() == old.ends.tolist()
    assert np.isnan(new.ends[jobs:]).all()
    assert new.table.shape == (jobs + more, 3)
    assert new.wide[:, :jobs].tolist() == old.wide.tolist()
    assert (new.wide[:, jobs:] == 0).all()
    assert new.clock is old.clock
    assert new.pair is old.pair
    assert new.inner is old.inner


class Small(NamedTuple):
    clock: Annotated[NDArray[np.void], Clock]
    ends: Annotated[Floats, column(1)]


def _work(machine):
    clock = machine.clock[0]
    clock.jobs += 2
    clock.now = 7.5
    return clock.lost


def test_a_record_is_shared_by_python_and_compiled_code():
    kernel = Kernel(_work, types.int64(numba_type(Small)), allocates=False)
    state = allocate(Small, {})
    clock = Clock.of(state.clock)
    clock.lost = 9
    assert kernel.ready()(state) == 9
    assert (clock.now, clock.jobs) == (7.5, 5)
    assert _work(state) == 9
    assert clock.jobs == 7
