"""The guarantees of each policy, checked on each decision."""

from __future__ import annotations

import math

from hypothesis import given

from tests.oracles import naive
from tests.oracles.byhand import Step, drive
from tests.oracles.workloads import CHECK, Case, cases
from windlass.order.site import POLICIES
from windlass.sim import replay

Holder = tuple[float, int]


@CHECK
@given(cases())
def test_fcfs_starts_in_order_of_submission(case: Case) -> None:
    starts = replay(case.jobs, case.processors, POLICIES.find("fcfs")()).start.tolist()
    assert starts == sorted(starts)


@CHECK
@given(cases())
def test_conservative_starts_no_job_after_its_first_reservation(case: Case) -> None:
    driven = drive(POLICIES.find("conservative")(), *case)
    late = [row for row, start in enumerate(driven.starts) if start > driven.first_notes[row]]
    assert late == []
    assert driven.first_notes == naive.conservative(*case).first


@CHECK
@given(cases())
def test_conservative_never_moves_a_reservation_back(case: Case) -> None:
    latest: dict[int, float] = {}
    for step in drive(POLICIES.find("conservative")(), *case).steps:
        notes = dict(zip(step.view.waiting.job.tolist(), step.start.notes.tolist(), strict=True))
        assert [job for job in notes if notes[job] > latest.get(job, math.inf)] == []
        latest = notes


@CHECK
@given(cases())
def test_conservative_starts_jobs_at_their_reservation(case: Case) -> None:
    driven = drive(POLICIES.find("conservative")(), *case)
    assert driven.starts == driven.notes


@CHECK
@given(cases())
def test_easy_backfills_without_delaying_the_head(case: Case) -> None:
    for step in drive(POLICIES.find("easy")(), *case, kill=False).steps:
        if (head := _head(step)) is not None:
            in_turn, backfilled = _holders(step, head)
            assert _can_start(step, head, in_turn + backfilled) <= _can_start(step, head, in_turn)


@CHECK
@given(cases())
def test_easy_never_leaves_a_fitting_head_waiting(case: Case) -> None:
    for step in drive(POLICIES.find("easy")(), *case, kill=False).steps:
        if (head := _head(step)) is not None:
            started = _in_turn_procs(step, head)
            assert step.view.waiting.procs[head] > step.view.free - started


@CHECK
@given(cases())
def test_easy_starts_the_head_by_its_first_reservation(case: Case) -> None:
    driven = drive(POLICIES.find("easy")(), *case)
    promised: dict[int, float] = {}
    for step in driven.steps:
        if (head := _head(step)) is not None:
            job = int(step.view.waiting.job[head])
            promised.setdefault(job, _can_start(step, head, _holders(step, head)[0]))
    starts = dict(zip(case.jobs.job.tolist(), driven.starts, strict=True))
    assert [job for job, by in promised.items() if starts[job] > by] == []


def _head(step: Step) -> int | None:
    """Queue position of the first job that this decision leaves waiting."""
    waiting = step.view.waiting.job.tolist()
    return next((position for position, job in enumerate(waiting) if job not in step.start.jobs), None)


def _in_turn_procs(step: Step, head: int) -> int:
    return int(step.view.waiting.procs[:head].sum())


def _holders(step: Step, head: int) -> tuple[list[Holder], list[Holder]]:
    """Expected ends and widths: of all that run once the jobs ahead of the head started; of the backfilled."""
    waiting, running = step.view.waiting, step.view.running
    holders = list(zip(running.expected_end.tolist(), running.procs.tolist(), strict=True))
    backfilled = []
    for position, job in enumerate(waiting.job.tolist()):
        if job in step.start.jobs:
            holder = (step.view.now + float(waiting.request[position]), int(waiting.procs[position]))
            (holders if position < head else backfilled).append(holder)
    return holders, backfilled


def _can_start(step: Step, head: int, holders: list[Holder]) -> float:
    """The first expected end by which those that still hold processors leave the head enough."""
    need = int(step.view.waiting.procs[head])
    for at in sorted(end for end, _ in holders):
        if step.view.processors - sum(procs for end, procs in holders if end > at) >= need:
            return at
    raise AssertionError("the head can never start")
