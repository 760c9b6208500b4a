"""The reservation of the head: compared with brute force and with EASY backfilling."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.workloads import CHECK
from windlass.order.site import POLICIES
from windlass.order.site.reservation import Reservation, reservation
from windlass.order.site.view import Running, SiteView, Waiting


@st.composite
def views(draw: st.DrawFn) -> SiteView:
    """A head that does not fit, behind jobs whose ends tie, lie in the past, or hold nothing of their own."""
    now = draw(st.sampled_from([0.0, -3.5, 10.0]))
    ends = draw(st.lists(st.sampled_from([-9.0, 10.0, 11.0, 11.0, 20.5, 40.0]), max_size=7))
    widths = draw(st.lists(st.integers(0, 4), min_size=len(ends), max_size=len(ends)))
    owed = draw(st.sampled_from([0, 0, 0, 2]))
    free = 0 if owed else draw(st.integers(0, 3))
    head = draw(st.integers(free + 1, 9))
    return SiteView(
        now,
        processors=9,
        free=free,
        waiting=Waiting.of([7], [0], [head], [draw(st.sampled_from([0.0, 5.0]))]),
        running=Running.of(100 + np.arange(len(ends)), widths, ends),
        owed=owed,
    )


def by_search(view: SiteView) -> Reservation:
    """Tries each number of running jobs, from none on, in the order in which they are expected to end."""
    held = sorted(zip(view.running.expected_end.tolist(), view.running.procs.tolist(), strict=True))
    need = int(view.waiting.procs[0]) + view.owed
    for count in range(len(held) + 1):
        idle = view.free + sum(width for _, width in held[:count])
        if idle >= need:
            at = view.now if count == 0 else max(view.now, held[count - 1][0])
            return Reservation(7, at, idle - need)
    return Reservation(7, math.inf, 0)


@settings(CHECK, max_examples=300)
@given(views())
def test_the_reservation_equals_a_search(view: SiteView) -> None:
    assert reservation(view) == by_search(view)


def is_backfilled(view: SiteView, procs: int, request: float) -> bool:
    """Return whether EASY starts a job behind this head."""
    waiting = Waiting.of([7, 8], [0, 1], [int(view.waiting.procs[0]), procs], [5.0, request])
    view_with_job = SiteView(view.now, view.processors, view.free, waiting, view.running, owed=view.owed)
    return 8 in POLICIES.find("easy")().decide(view_with_job).jobs


@settings(CHECK, max_examples=300)
@given(views())
def test_easy_backfills_jobs_that_end_in_time_or_fit_the_spare(view: SiteView) -> None:
    promised = reservation(view)
    assert promised is not None
    for procs in range(1, view.free + 1):
        for request in (0.0, 1.0, promised.at - view.now, promised.at - view.now + 0.5, 1e9):
            if not 0 <= request < math.inf:
                continue
            # If all jobs that the head waits for are overdue, EASY's own reservation is in the past.
            overdue = promised.at == view.now and request == 0.0
            allowed = view.now + request <= promised.at or procs <= promised.spare
            assert overdue or is_backfilled(view, procs, request) == allowed


def test_a_head_that_fits_has_a_reservation_now() -> None:
    waiting = Waiting.of([7, 8], [0, 1], [2, 9], [5, 5])
    assert reservation(SiteView(3.0, 4, 3, waiting, Running.of([1], [1], [50]))) == (7, 3.0, 1)


def test_an_empty_queue_has_no_reservation() -> None:
    assert reservation(SiteView(3.0, 4, 4, Waiting.of([], [], [], []), Running.of())) is None
