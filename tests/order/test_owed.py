"""Reservations with owed processors or exceeded requests, compared with a plain list of steps."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from windlass.order.site import POLICIES
from windlass.order.site.reservation import reservation
from windlass.order.site.view import Running, SiteView, Waiting

PROCESSORS, NOW = 9, 10.0


def drawn(seed: int, pools: int) -> SiteView:
    """Jobs whose ends tie or lie in the past, and a queue behind them; processors may be owed."""
    rng = np.random.default_rng([11, seed, pools])
    late = [] if seed % 2 else [4.0, 10.0]
    held, waits = int(rng.integers(0, 6)), int(rng.integers(1, 7))
    owed = int(rng.integers(0, 4)) * int(rng.integers(0, 2))
    there = rng.integers(1, 8, pools)
    running = Running.of(
        50 + np.arange(held),
        rng.integers(0, 5, held),
        rng.choice([*late, 11.0, 13.0, 13.0, 20.5], held),
        needs=rng.integers(0, 3, (pools, held)) if pools else None,
    )
    waiting = Waiting.of(
        np.arange(waits),
        rng.integers(0, 10, waits),
        rng.integers(1, 7, waits),
        rng.choice([0.0, 1.0, 2.5, 7.0, 30.0], waits),
        needs=[rng.integers(0, most + 1, waits) for most in there] if pools else None,
    )
    free = 0 if owed else int(rng.integers(0, 4))
    if not pools:
        return SiteView(NOW, PROCESSORS, free, waiting, running, owed=owed)
    names = ("GPUs", "memory")[:pools]
    return SiteView(
        NOW, PROCESSORS, free, waiting, running, owed=owed, pools=rng.integers(0, there + 1), pool_names=names
    )


def reserved(view: SiteView) -> list[float]:
    """Each job of the queue in turn, as early as those ahead of it allow."""
    pools = len(view.pools)
    changes = [(NOW, np.array([view.free, *view.pools]))]
    owed = view.owed
    for row, end in enumerate(view.running.expected_end.tolist()):
        width = int(view.running.procs[row])
        paid = min(owed, width)
        owed -= paid
        back = [width - paid, *(view.running.needs[:, row] if pools else [])]
        changes.append((max(end, math.nextafter(NOW, math.inf)), np.array(back)))
    notes = []
    for row, request in enumerate(view.waiting.request.tolist()):
        asks = np.array([view.waiting.procs[row], *(view.waiting.needs[:, row] if pools else [])])
        found = math.inf
        for start in sorted({at for at, _ in changes}):
            end = max(start + request, math.nextafter(start, math.inf))
            steps = [at for at, _ in changes if start < at < end] + [start]
            if all((sum(own for at, own in changes if at <= step) >= asks).all() for step in steps):
                found = start
                break
        notes.append(found)
        if found < math.inf:
            end = max(found + request, math.nextafter(found, math.inf))
            changes += [(found, -asks), (end, asks)]
    return notes


@pytest.mark.matrix(0)
@pytest.mark.parametrize("pools", [0, 1, 2])
def test_reservations_subtract_owed_processors(pools: int) -> None:
    policy, owing = POLICIES.find("conservative")(), 0
    for seed in range(80):
        view = drawn(seed, pools)
        answer = policy.decide(view)
        notes = reserved(view)
        assert answer.notes.tolist() == notes, seed
        assert sorted(answer.jobs) == [row for row, note in enumerate(notes) if note == NOW]
        owing += view.owed > 0 and notes[0] < math.inf
    assert owing > 5


@pytest.mark.matrix(0)
@pytest.mark.parametrize("pools", [0, 1, 2])
def test_expired_reservations_are_renewed(pools: int) -> None:
    policy = POLICIES.find("conservative")()
    for seed in range(60):
        view = drawn(seed, pools)
        passed = dataclasses.replace(view.waiting, note=np.full(len(view.waiting.job), NOW - 1.0))
        notes = policy.decide(dataclasses.replace(view, waiting=passed)).notes
        assert notes.tolist() == reserved(view), seed


def test_reservations_are_kept_while_more_is_owed_than_the_next_job_returns() -> None:
    running = Running.of([50, 51], [1, 5], [11.0, 13.0])
    waiting = Waiting.of([0, 1], [0.0, 1.0], [3, 3], [7.0, 7.0])
    kept = dataclasses.replace(waiting, note=np.array([20.0, 13.0]))
    view = SiteView(NOW, 6, 0, kept, running, owed=3)
    # New reservations would be the other way round.
    assert reserved(view) == [13.0, 20.0]
    assert POLICIES.find("conservative")().decide(view).notes.tolist() == [20.0, 13.0]


@pytest.mark.parametrize("pools", [1, 2])
def test_the_head_waits_for_all_of_its_resources(pools: int) -> None:
    """Of processors the owed is paid first; the head can start when the last of what it asks for is back."""
    later = 0
    for seed in range(80):
        view = drawn(seed, pools)
        running, need = view.running, int(view.waiting.procs[0]) + view.owed
        expected = (math.inf, 0)
        for back in range(len(running.job) + 1):
            free = view.free + int(running.procs[:back].sum())
            others = view.pools + running.needs[:, :back].sum(axis=1)
            if free >= need and (others >= view.waiting.needs[:, 0]).all():
                at = NOW if back == 0 else max(NOW, float(running.expected_end[back - 1]))
                expected = (at, free - need)
                break
        found = reservation(view)
        assert found is not None
        assert (found.at, found.spare) == expected, seed
        later += NOW < found.at < math.inf
    assert later > 5
