"""decide() of every policy: the common contract, and the three ways to call it."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given

from tests.oracles.byhand import drive
from tests.oracles.naive import ORACLES
from tests.oracles.plain import Plain
from tests.oracles.validator import violations_of
from tests.oracles.workloads import CHECK, EASY_TIES, Case, case, cases
from windlass.order.site import POLICIES
from windlass.order.site.view import Running, SiteView, Waiting
from windlass.sim import Replay, replay
from windlass.sim.site import part as batch
from windlass.sim.site.setup import make_run
from windlass.sim.site.state import SiteRun, SiteState

# A job exceeds its request of 1 s, and another job arrives at that instant.
OUTLIVED = case(1, [0, 0, 1], [2, 1, 1], [1, 1, 1], [1, 1, 1])
# Job 1 exceeds its request, job 2 waits for it, and job 3 would fit next to job 1.
OVERTAKEN = case(4, [0, 20, 30], [100, 10, 1000], [3, 4, 1], [10, 10, 1000])

every_policy = pytest.mark.parametrize("name", ORACLES)
_FIELDS = ("now", "processors", "free", "refused")


def contents(view: SiteView) -> list[object]:
    """Return all fields of a view as plain values, NaN notes as None."""
    columns = [getattr(view.waiting, name) for name in ("job", "submit", "procs", "request")]
    columns += [getattr(view.running, name) for name in ("job", "procs", "expected_end")]
    notes = [None if np.isnan(note) else note for note in view.waiting.note.tolist()]
    return [getattr(view, name) for name in _FIELDS] + [column.tolist() for column in columns] + [notes]


@contextmanager
def recorded_sites() -> Iterator[list[SiteState]]:
    """Record the sites that the simulator creates; they hold the notes."""
    kept: list[SiteState] = []

    def make(*arguments: Any, **options: Any) -> SiteRun:
        run = make_run(*arguments, **options)
        kept.append(run.site)
        return run

    with mock.patch.object(batch, "make_run", make):
        yield kept


def reasons_of(replayed: Replay) -> list[str]:
    return [replayed.reasons[code] for code in replayed.why.tolist()]


def hint_matters(case: Case, name: str, kill: bool) -> bool:
    """Return whether any decision changes without the mark of refused jobs."""
    policy = POLICIES.find(name)()

    def choose(view: SiteView) -> list[object]:
        start = policy.decide(view)
        return [start.jobs, str(start.notes.tolist())]  # as text, NaN is equal to itself

    steps = drive(policy, *case, kill=kill).steps
    return any(choose(step.view) != choose(dataclasses.replace(step.view, refused=0)) for step in steps)


@every_policy
@CHECK
@given(case=cases())
def test_refused_is_only_a_hint(case: Case, name: str) -> None:
    assert not hint_matters(case, name, kill=True)


@pytest.mark.parametrize("name", ["fcfs", "sjf", "easy"])
@CHECK
@given(case=cases())
def test_refused_is_only_a_hint_if_jobs_exceed_their_requests(case: Case, name: str) -> None:
    assert not hint_matters(case, name, kill=False)


def test_refused_is_only_a_hint_for_easy_with_tied_ends() -> None:
    assert not hint_matters(EASY_TIES, "easy", kill=True)


def test_refused_is_only_a_hint_for_conservative_with_exceeded_requests() -> None:
    assert not hint_matters(OVERTAKEN, "conservative", kill=False)


def test_conservative_with_an_arrival_when_a_request_is_exceeded() -> None:
    replayed = replay(*OUTLIVED, POLICIES.find("conservative")(), kill=False)
    assert violations_of(replayed, kill=False) == []


def test_conservative_keeps_waiting_jobs_behind_an_exceeded_request() -> None:
    replayed = replay(*OVERTAKEN, POLICIES.find("conservative")(), kill=False)
    assert replayed.start.tolist() == [0, 100, 110]


@every_policy
@pytest.mark.parametrize("kill", [True, False])
@CHECK
@given(case=cases())
def test_starts_without_the_hint_equal_the_definition(case: Case, name: str, kill: bool) -> None:
    driven = drive(POLICIES.find(name)(), *case, kill=kill, hint=False)
    assert driven.starts == ORACLES[name](*case, kill=kill)


@every_policy
@CHECK
@given(case=cases())
def test_decide_does_not_change_the_view(case: Case, name: str) -> None:
    before = []
    driven = drive(POLICIES.find(name)(), *case, watch=lambda view: before.append(contents(view)))
    assert [contents(step.view) for step in driven.steps] == before


@every_policy
def test_a_view_may_be_read_only(name: str) -> None:
    waiting = Waiting.of(job=[1, 2, 3], submit=[0, 1, 2], procs=[4, 2, 2], request=[60, 99, 50])
    running = Running.of(job=[9], procs=[2], expected_end=[55])
    for columns in (waiting, running):
        for field in dataclasses.fields(columns):
            getattr(columns, field.name).flags.writeable = False
    view = SiteView(5.0, processors=4, free=2, waiting=waiting, running=running)
    assert set(POLICIES.find(name)().decide(view).jobs) <= {1, 2, 3}


@every_policy
def test_an_empty_queue_starts_no_job(name: str) -> None:
    view = SiteView(5.0, 4, 4, Waiting.of([], [], [], []), Running.of())
    start = POLICIES.find(name)().decide(view)
    assert (start.jobs, start.reasons()) == ((), ())


@every_policy
def test_an_integer_clock_is_accepted(name: str) -> None:
    view = SiteView(5, 4, 4, Waiting.of([7], [3], [4], [60]), Running.of())
    assert POLICIES.find(name)().decide(view).jobs == (7,)


@every_policy
@CHECK
@given(case=cases())
def test_each_start_has_a_reason_and_fits(case: Case, name: str) -> None:
    policy = POLICIES.find(name)()
    for step in drive(policy, *case).steps:
        width_of = dict(zip(step.view.waiting.job.tolist(), step.view.waiting.procs.tolist(), strict=True))
        assert len(step.start.reasons()) == len(step.start.jobs) == len(set(step.start.jobs))
        assert set(step.start.reasons()) <= set(policy.reasons)
        assert sum(width_of[job] for job in step.start.jobs) <= step.view.free


@every_policy
@CHECK
@given(case=cases())
def test_compiled_python_and_direct_calls_agree(case: Case, name: str) -> None:
    policy, plain = POLICIES.find(name)(), Plain(POLICIES.find(name)())
    with recorded_sites() as sites:
        compiled, python = replay(*case, policy), replay(*case, plain)
    by_hand = drive(policy, *case)
    assert compiled.start.tolist() == python.start.tolist() == by_hand.starts
    assert compiled.end.tolist() == python.end.tolist()
    assert reasons_of(compiled) == reasons_of(python) == by_hand.why
    for site in sites:
        np.testing.assert_array_equal(site.note, by_hand.notes)
    assert [contents(view) for view in plain.views] == [contents(step.view) for step in by_hand.steps]


@every_policy
def test_a_policy_has_no_memory(name: str) -> None:
    policy = POLICIES.find(name)()
    first = replay(*EASY_TIES, policy).start.tolist()
    replay(*OUTLIVED, policy)
    assert replay(*EASY_TIES, policy).start.tolist() == first
    assert replay(*EASY_TIES, pickle.loads(pickle.dumps(policy))).start.tolist() == first


def test_running_jobs_are_stored_in_eight_bytes_per_number() -> None:
    small = np.array([3, 1], np.int32)
    running = Running.of(small, small, np.array([5.0, 2.0], np.float32), small, small, small, needs=[small])
    for column in (
        running.job,
        running.procs,
        running.user,
        running.group,
        running.named_queue,
        running.needs,
    ):
        assert column.dtype == np.int64
    assert running.expected_end.dtype == np.float64
