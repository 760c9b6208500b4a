"""Two sites of one ledger: each runs exactly as without the other."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.coupled.bounds import case as crowded
from tests.coupled.cases import Case, cases, jobs_of, none, run, workers
from tests.coupled.test_instants import drained, gone
from tests.oracles.plain import Plain
from tests.oracles.workloads import CHECK
from windlass.drive import drive
from windlass.model import InputError, PolicyError
from windlass.order.site import POLICIES, SitePolicy
from windlass.order.site.policies.fcfs import Fcfs
from windlass.sim import Replay
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Part
from windlass.sim.site.part import SitePart

_NAMES = ("fcfs", "easy", "sjf", "conservative")
_COLUMNS = ("start", "end", "lost", "lost_start", "lost_end", "held")


def happened(result: Any) -> list[Any]:
    """Return all results of jobs or tasks, for exact comparison."""
    if isinstance(result, Replay):
        why = [result.reasons[code] for code in result.why]
        return [*(getattr(result, name).tobytes() for name in _COLUMNS), why]
    values = [getattr(result, each.name) for each in fields(result)]
    return [value.tobytes() if isinstance(value, np.ndarray) else value for value in values]


def alone(case: Case, policy: SitePolicy) -> list[Any] | None:
    """Run one site alone; None if jobs or tasks can never run."""
    try:
        ran = run(case, policy, dispatch="ppot")
    except (PolicyError, InputError):
        return None
    return [happened(ran.replay), *([] if ran.tasks is None else [happened(ran.tasks)])]


def together(sites: list[Case], policies: list[SitePolicy], *, apart: bool) -> list[list[Any]]:
    """What happens at each of the sites of one ledger; site by site in each step, or all steps of a site first."""
    ledger = Ledger([case.cores for case in sites], parts=len(sites))
    made: list[tuple[int, int, Part]] = []
    for site, (case, policy) in enumerate(zip(sites, policies, strict=True)):
        if len(case.outages):
            made.append((0, site, Outages(case.outages, ledger, site)))
        made.append((1, site, SitePart(case.jobs, policy, ledger, site=site, number=site, record=True)))
        if case.tasks is not None:
            made.append((2, site, workers(case.tasks, ledger, site=site, policy="ppot")))
    made.sort(key=lambda each: each[1::-1] if apart else each[:2])
    chosen = next((policy for policy in policies if isinstance(policy, Plain)), policies[0])
    results = drive(Coupled([part for _, _, part in made], ledger), {"order": chosen})
    found: list[list[Any]] = [[] for _ in sites]
    for (step, site, _), result in zip(made, results, strict=True):
        if step > 0:
            found[site].append(happened(result))
    nodes = ledger.nodes
    assert nodes.held.sum() == 0
    assert nodes.idle.tolist() == nodes.capacity.tolist()
    return found


def pair(names: tuple[str, str], hidden: tuple[bool, bool]) -> list[SitePolicy]:
    """Return a policy per site; sites with Python policies share one."""
    made = [POLICIES.find(name)() for name in (names[0], names[0] if all(hidden) else names[1])]
    return [Plain(policy) if hide else policy for policy, hide in zip(made, hidden, strict=True)]


@settings(CHECK, max_examples=150)
@given(
    sites=st.tuples(cases(), cases()),
    names=st.tuples(st.sampled_from(_NAMES), st.sampled_from(_NAMES)),
    hidden=st.tuples(st.booleans(), st.booleans()),
    apart=st.booleans(),
)
def test_coupled_sites_run_as_each_alone(
    sites: tuple[Case, Case], names: tuple[str, str], hidden: tuple[bool, bool], apart: bool
) -> None:
    expected = [alone(case, policy) for case, policy in zip(sites, pair(names, hidden), strict=True)]
    if None in expected:
        with pytest.raises((PolicyError, InputError), match=r"left \d+ jobs waiting|\d+ tasks are left"):
            together(list(sites), pair(names, hidden), apart=apart)
    else:
        assert together(list(sites), pair(names, hidden), apart=apart) == expected


@pytest.mark.matrix
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("hidden", [(False, False), (True, True), (False, True)])
def test_large_coupled_sites_run_as_each_alone(hidden: tuple[bool, bool], apart: bool) -> None:
    # Neither site ends with a word, and the second begins amid what would be one.
    sites = [crowded(5, 70, 200, 300), crowded(6, 90, 200, 300)]
    names = ("easy", "fcfs")
    expected = [alone(case, policy) for case, policy in zip(sites, pair(names, hidden), strict=True)]
    assert together(sites, pair(names, hidden), apart=apart) == expected
    # And at both, jobs are killed.
    assert all(len(run(case, name).replay.lost) for case, name in zip(sites, names, strict=True))


@pytest.mark.parametrize("site", [0, 1])
def test_only_jobs_of_the_site_that_fails_are_killed(site: int) -> None:
    jobs = jobs_of((0, 10, 4), (1, 1, 1))
    sites = [Case(jobs, [2, 2], gone(1, 5.0, 7.0) if each == site else none()) for each in (0, 1)]
    ledger = Ledger([case.cores for case in sites], parts=2)
    parts: list[Part] = [
        SitePart(jobs, Fcfs(), ledger, site=each, number=each, record=True) for each in (0, 1)
    ]
    outages = Outages(sites[site].outages, ledger, site)
    (_, *replays) = drive(Coupled([outages, *parts], ledger), {})
    assert [replay.lost.tolist() for replay in replays] == [[0] if each == site else [] for each in (0, 1)]
    assert [replay.start.tolist() for replay in replays] == [
        [7.0, 5.0] if each == site else [0.0, 10.0] for each in (0, 1)
    ]


def test_owed_cores_are_counted_per_site() -> None:
    plain = Plain(Fcfs())
    sites = [
        Case(jobs_of((0, 10, 4), (2, 1, 1)), [2, 2], drained(0, 1.0)),
        Case(jobs_of((0, 5, 3)), [4], none()),
    ]
    together(sites, [plain, plain], apart=False)
    assert [(view.now, view.processors, view.free, view.owed) for view in plain.views] == [
        (0.0, 4, 4, 0),
        (0.0, 4, 4, 0),
        (2.0, 4, 0, 2),
        (10.0, 4, 2, 0),
    ]
