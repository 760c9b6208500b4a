"""Drawn clusters, jobs and tasks on nodes that come and go: every run is judged by validators that know no ledger."""

from __future__ import annotations

import dataclasses
import re

import pytest
from hypothesis import given

from tests.coupled.cases import Case, Ran, cases, run
from tests.oracles import ledger, service, validator
from tests.oracles.plain import Plain
from tests.oracles.workloads import CHECK
from windlass.model import InputError, PolicyError
from windlass.order.site import POLICIES

_NAMES = ("fcfs", "easy", "sjf", "conservative")


def cores_left(case: Case) -> list[int]:
    """What each node has in the end."""
    left = list(case.cores)
    for node, cores in zip(case.outages.node.tolist(), case.outages.cores.tolist(), strict=True):
        left[node] = cores
    return left


def run_or_stuck(case: Case, policy: object) -> Ran | None:
    """What came out; None where jobs can never run, or tasks cannot, and that is said."""
    left = cores_left(case)
    try:
        return run(case, policy)
    except PolicyError as error:
        problem, possible = str(error), sum(left) < case.jobs.procs.max()
    except InputError as error:
        problem, possible = str(error), sum(left) == 0
    assert re.search(r"left \d+ jobs waiting|\d+ tasks are left", problem)
    assert possible
    return None


def judge(case: Case, ran: Ran) -> None:
    """Nothing is wrong with what happened."""
    assert ledger.violations(ran.replay, case.cores, case.outages) == []
    nodes = ran.ledger.nodes
    assert nodes.held.sum() == 0
    assert nodes.idle.tolist() == nodes.capacity.tolist()
    if not len(case.outages):
        assert validator.violations_of(ran.replay) == []
    if case.tasks is not None and ran.tasks is not None:
        standing = service.nodes_of(ran.replay, case.cores, case.outages, case.tasks.floor)
        assert service.unserved(ran.tasks, case.tasks.work, case.tasks.speeds, standing) == []


def told(ran: Ran | None) -> list[bytes]:
    """All that happened to jobs, to the bit."""
    if ran is None:
        return []
    happened = ran.replay
    columns = (
        happened.start,
        happened.end,
        happened.lost,
        happened.lost_start,
        happened.lost_end,
        happened.held,
    )
    return [column.tobytes() for column in columns]


@pytest.mark.parametrize("name", _NAMES)
@CHECK
@given(case=cases())
def test_every_run_is_possible_and_the_same_asked_in_python(name: str, case: Case) -> None:
    compiled = run_or_stuck(case, POLICIES.find(name)())
    if compiled is not None:
        judge(case, compiled)
        if name != "conservative":
            shortest = name == "sjf"
            assert ledger.overlooked(compiled.replay, case.cores, case.outages, shortest=shortest) == []
    assert told(run_or_stuck(case, Plain(POLICIES.find(name)()))) == told(compiled)


@pytest.mark.parametrize("name", _NAMES)
@CHECK
@given(case=cases(with_tasks=True, outages=False))
def test_tasks_on_nodes_that_only_jobs_take(name: str, case: Case) -> None:
    judge(case, run(case, name))


@CHECK
@given(case=cases(with_tasks=True))
def test_jobs_do_not_notice_tasks(case: Case) -> None:
    beside = run_or_stuck(case, "easy")
    if beside is not None:
        assert told(run_or_stuck(dataclasses.replace(case, tasks=None), "easy")) == told(beside)
