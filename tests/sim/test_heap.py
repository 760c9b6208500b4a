"""The event heap against heapq."""

from __future__ import annotations

import heapq
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.workloads import CHECK
from windlass.sim.events.heap import make_heap, next_time, pop, push, remove

_TIMES = st.one_of(st.integers(0, 3).map(float), st.floats(-1e9, 1e9), st.sampled_from([0.0, -0.0, 1e300]))
_NO_PUSH = st.none()


@pytest.mark.matrix(0)
@CHECK
@given(st.lists(st.one_of(_TIMES, _NO_PUSH), max_size=60))
def test_events_come_in_order_of_time_and_sequence(moves: list[float | None]) -> None:
    heap = make_heap(len(moves))
    pending: list[tuple[float, int]] = []
    for sequence, time in enumerate(moves):
        assert next_time(heap) == (pending[0][0] if pending else math.inf)
        if time is not None:
            push(heap, time, sequence % 3, sequence)
            heapq.heappush(pending, (time, sequence))
        elif pending:
            expected, item = heapq.heappop(pending)
            assert pop(heap) == (expected, item % 3, item)
    rest = [pop(heap) for _ in range(len(pending))]
    assert rest == [(time, item % 3, item) for time, item in sorted(pending)]
    assert next_time(heap) == math.inf


def test_equal_times_keep_the_order_of_pushing() -> None:
    heap = make_heap(100)
    for item in range(100):
        push(heap, 7.0, 0, item)
    assert [pop(heap)[2] for _ in range(100)] == list(range(100))


def test_a_heap_can_be_filled_and_emptied_repeatedly() -> None:
    heap = make_heap(2)
    for turn in range(5):
        push(heap, 2.0, 0, turn)
        push(heap, 1.0, 1, turn)
        assert [pop(heap), pop(heap)] == [(1.0, 1, turn), (2.0, 0, turn)]


def test_a_heap_has_its_own_columns_and_counts() -> None:
    # Compiled code does not check bounds: a count beyond the array would overwrite other memory.
    heap = make_heap(3)
    assert [column.shape for column in heap] == [(3,), (3,), (3,), (3,), (1,)]
    assert [column.dtype.kind for column in heap] == ["f", "i", "i", "i", "V"]
    assert heap.counts.tolist() == [(0, 0)]
    columns = [column.__array_interface__["data"][0] for column in heap]
    assert len(set(columns)) == len(columns)
    for number in range(3):
        push(heap, float(number), 0, number)
    assert heap.counts.tolist() == [(3, 3)]
    pop(heap)
    assert heap.counts.tolist() == [(2, 3)]


@CHECK
@given(st.lists(_TIMES, min_size=1, max_size=40), st.data())
def test_a_removed_event_is_missing_and_the_others_come_in_order(
    times: list[float], data: st.DataObject
) -> None:
    heap = make_heap(len(times))
    for item, time in enumerate(times):
        push(heap, time, item % 3, item)
    left = sorted((time, item) for item, time in enumerate(times))
    gone = data.draw(st.lists(st.sampled_from(range(len(times))), unique=True))
    for item in gone:
        remove(heap, item)
        left.remove((times[item], item))
    assert [pop(heap) for _ in left] == [(time, item % 3, item) for time, item in left]
    assert next_time(heap) == math.inf
