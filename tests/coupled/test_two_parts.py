"""Two parts of jobs on the nodes of one site together never exceed its capacity."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.coupled import holders
from tests.coupled.bounds import case as crowded
from tests.coupled.cases import Case, cases, jobs_of
from tests.coupled.test_random import cores_left
from tests.oracles.plain import Plain
from tests.oracles.workloads import CHECK
from windlass.drive import drive
from windlass.model import JobTable, PolicyError
from windlass.order.site import POLICIES, SitePolicy
from windlass.sim import Replay
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Part
from windlass.sim.site.part import SitePart

_NAMES = ("fcfs", "easy", "sjf", "conservative")
_COLUMNS = ("start", "end", "lost", "lost_start", "lost_end", "held")


class Halves(NamedTuple):
    """Jobs of two parts on the same nodes."""

    case: Case
    jobs: tuple[JobTable, JobTable]


def halves(case: Case, first: list[bool]) -> Halves:
    """The jobs of a case, each in the first part or in the second."""
    mine, jobs = np.array(first), case.jobs
    columns = (jobs.submit, jobs.run, jobs.procs, jobs.request)
    one, other = (JobTable.of(*(column[which] for column in columns)) for which in (mine, ~mine))
    return Halves(case, (one, other))


@st.composite
def drawn(draw: st.DrawFn) -> Halves:
    """Draw a case whose jobs are split between two parts."""
    case = draw(cases(with_tasks=False))
    count = len(case.jobs)
    return halves(case, draw(st.lists(st.booleans(), min_size=count, max_size=count)))


def run(shared: Halves, policies: tuple[SitePolicy, SitePolicy]) -> list[Replay] | None:
    """Run both parts; None if it raises because jobs can never run."""
    case = shared.case
    ledger = Ledger([case.cores], parts=2)
    ledger.watch(0)
    parts: list[Part] = [
        SitePart(jobs, policy, ledger, number=number, record=True)
        for number, (jobs, policy) in enumerate(zip(shared.jobs, policies, strict=True))
    ]
    in_python = next((policy for policy in policies if isinstance(policy, Plain)), policies[0])
    cluster = Coupled([Outages(case.outages, ledger), *parts], ledger)
    if case.jobs.procs.max() > sum(cores_left(case)):
        # It may have run before cores were lost for good.
        try:
            _, *replays = drive(cluster, {"order": in_python})
        except PolicyError:
            return None
    else:
        _, *replays = drive(cluster, {"order": in_python})
    nodes = ledger.nodes
    assert nodes.held.sum() == 0
    assert nodes.idle.tolist() == nodes.capacity.tolist()
    return replays


def bits(replays: list[Replay] | None) -> list[bytes]:
    """Return all results, for exact comparison."""
    return [getattr(replay, name).tobytes() for replay in replays or () for name in _COLUMNS]


_PAIRS = st.tuples(st.sampled_from(_NAMES), st.sampled_from(_NAMES))


@pytest.mark.slow
@settings(CHECK, max_examples=250)
@given(shared=drawn(), names=_PAIRS)
def test_two_parts_never_exceed_the_capacity(shared: Halves, names: tuple[str, str]) -> None:
    first, second = (POLICIES.find(name)() for name in names)
    for policies in ((first, second), (Plain(first), second), (first, Plain(second))):
        replays = run(shared, policies)
        if replays is not None:
            assert holders.violations(replays, shared.case.cores, shared.case.outages) == []


@settings(CHECK, max_examples=150)
@given(shared=drawn(), names=_PAIRS)
def test_two_parts_run_the_same_with_a_python_policy(shared: Halves, names: tuple[str, str]) -> None:
    first, second = (POLICIES.find(name)() for name in names)
    compiled = bits(run(shared, (first, second)))
    assert bits(run(shared, (Plain(first), second))) == compiled
    assert bits(run(shared, (first, Plain(second)))) == compiled


@pytest.mark.parametrize("names", [("fcfs", "easy"), ("easy", "sjf"), ("conservative", "conservative")])
def test_two_parts_on_many_crowded_nodes_are_valid(names: tuple[str, str]) -> None:
    case = crowded(2, 70, 250, 1)
    shared = halves(case, np.random.default_rng(1).integers(0, 2, len(case.jobs)).astype(bool).tolist())
    first, second = (POLICIES.find(name)() for name in names)
    replays = run(shared, (first, second))
    assert replays is not None
    assert holders.violations(replays, case.cores, case.outages) == []
    # Both lose jobs, and they meet on the same nodes.
    assert all(len(replay.lost) > 0 for replay in replays)
    assert holders.swept(replays, case.cores, case.outages).shared > 50


def test_the_validator_finds_cores_held_twice() -> None:
    case = crowded(2, 70, 250, 1)
    shared = halves(case, [True] * len(case.jobs))
    policy = POLICIES.find("easy")()
    replays = run(shared, (policy, policy))
    assert replays is not None
    assert holders.violations(replays, case.cores, case.outages) == []
    found = holders.violations([replays[0], replays[0]], case.cores, case.outages)
    assert any(re.fullmatch(r"at [\d.]+ s, \d+ of \d cores of node \d+ are held", each) for each in found)
    assert any("killed" in each or "vacated" in each for each in found)


@pytest.mark.parametrize("in_python", [False, True])
def test_cores_are_not_used_before_they_are_released(in_python: bool) -> None:
    ledger = Ledger([[1]], parts=2)
    ledger.watch(0)
    just_after = float(np.nextafter(5.0, 9))
    policy = Plain(POLICIES.find("fcfs")()) if in_python else POLICIES.find("fcfs")()
    parts = [
        SitePart(jobs_of((0, just_after, 1)), policy, ledger),
        SitePart(jobs_of((5.0, 1, 1)), policy, ledger, number=1),
    ]
    first, second = drive(Coupled(parts, ledger), {"order": policy})
    assert (first.end.tolist(), second.start.tolist()) == ([just_after], [just_after])


@pytest.mark.parametrize("in_python", [False, True])
def test_a_job_of_no_length_holds_its_cores_while_others_decide(in_python: bool) -> None:
    ledger = Ledger([[1, 1]], parts=2)
    ledger.watch(0)
    policy = Plain(POLICIES.find("fcfs")()) if in_python else POLICIES.find("fcfs")()
    parts = [SitePart(jobs_of((0, 0, 1)), policy, ledger, number=part, record=True) for part in (0, 1)]
    first, second = drive(Coupled(parts, ledger), {"order": policy})
    assert (first.held[:, 1].tolist(), second.held[:, 1].tolist()) == ([0.0], [1.0])
