"""Random clusters, jobs and tasks on changing nodes: independent validators check every run."""

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
    """Return the final number of cores of each node."""
    left = list(case.cores)
    for node, cores in zip(case.outages.node.tolist(), case.outages.cores.tolist(), strict=True):
        left[node] = cores
    return left


def run_or_stuck(case: Case, policy: object) -> Ran | None:
    """Run a case; None if it raises because jobs or tasks can never run."""
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


def validate(case: Case, ran: Ran) -> None:
    """Check that a run has no violations."""
    assert ledger.violations(ran.replay, case.cores, case.outages) == []
    nodes = ran.ledger.nodes
    assert nodes.held.sum() == 0
    assert nodes.idle.tolist() == nodes.capacity.tolist()
    if not len(case.outages):
        assert validator.violations_of(ran.replay) == []
    if case.tasks is not None and ran.tasks is not None:
        standing = service.nodes_of(ran.replay, case.cores, case.outages, case.tasks.floor)
        assert service.unserved(ran.tasks, case.tasks.work, case.tasks.speeds, standing) == []


def job_bits(ran: Ran | None) -> list[bytes]:
    """Return all results of the jobs, for exact comparison."""
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


@pytest.mark.slow
@pytest.mark.parametrize("name", _NAMES)
@CHECK
@given(case=cases())
def test_every_run_is_valid_and_equal_with_a_python_policy(name: str, case: Case) -> None:
    compiled = run_or_stuck(case, POLICIES.find(name)())
    if compiled is not None:
        validate(case, compiled)
        if name != "conservative":
            shortest = name == "sjf"
            assert (
                ledger.idle_while_waiting(compiled.replay, case.cores, case.outages, shortest=shortest) == []
            )
    assert job_bits(run_or_stuck(case, Plain(POLICIES.find(name)()))) == job_bits(compiled)


@pytest.mark.parametrize("name", _NAMES)
@CHECK
@given(case=cases(with_tasks=True, outages=False))
def test_runs_with_tasks_and_no_outages_are_valid(name: str, case: Case) -> None:
    validate(case, run(case, name))


@CHECK
@given(case=cases(with_tasks=True))
def test_tasks_do_not_change_jobs(case: Case) -> None:
    coupled_run = run_or_stuck(case, "easy")
    if coupled_run is not None:
        assert job_bits(run_or_stuck(dataclasses.replace(case, tasks=None), "easy")) == job_bits(coupled_run)
