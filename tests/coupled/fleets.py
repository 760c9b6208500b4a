"""A fleet and other parts on the same rows of a ledger: drawn, run, and validated by their logs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.coupled.cases import Tasks, drawn_tasks, workers
from tests.coupled.test_fleets import Recorded, place_policy
from tests.oracles import staged
from windlass.drive import drive
from windlass.model import JobTable
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec, fixed_table
from windlass.model.timetable import NodeTimetable
from windlass.order.fleet import POLICIES as ORDER
from windlass.order.fleet.compiled import in_loop
from windlass.order.site import POLICIES as SITE_ORDER
from windlass.sim import Replay
from windlass.sim.coupled import Coupled
from windlass.sim.fleet.binding import FleetCores
from windlass.sim.fleet.part import OrderedFleet, PlacedFleet
from windlass.sim.fleet.result import FleetRun
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Part, Quiet
from windlass.sim.site.part import SitePart

#: Policies of a fleet: its name, whether the name is one of orders, and whether the policy is called in Python.
ORDERED = tuple((name, True, hidden) for name in ("fcfs", "swag", "global-srpt") for hidden in (False, True))
PLACED = tuple(
    (name, False, True)
    for name in ("in-place", "in-place, waits", "tetrium", "tetrium, keeps plans", "centralised")
)


def fleet_part(
    case: FleetCase, policy: tuple[str, bool, bool], cores: FleetCores | None, **setting: Any
) -> tuple[OrderedFleet | PlacedFleet, dict[str, Any]]:
    """Return the part under a policy, and the policies to drive it with."""
    name, orders, hidden = policy
    if not orders:
        return PlacedFleet(case, log=True, cores=cores, **setting), {"place": place_policy(name)}
    made = ORDER.make(name, np.random.default_rng(0))
    chosen = Recorded(made) if hidden else made
    setting.pop("decide_every", None)
    return OrderedFleet(case, in_loop(chosen), log=True, cores=cores, **setting), {"order": chosen}


@dataclass(frozen=True)
class Shared:
    """A fleet on sites of a ledger; rigid jobs, outages and short tasks on the same rows."""

    sites: list[list[int]]
    case: FleetCase
    jobs: list[JobTable | None]
    outages: list[NodeTimetable]
    tasks: list[Tasks | None]
    fleet_first: bool

    def rows(self) -> list[range]:
        """The ledger's rows of each site."""
        ends = np.cumsum([0, *map(len, self.sites)]).tolist()
        return [range(*each) for each in itertools.pairwise(ends)]

    def changes(self) -> NodeTimetable:
        """All outages, by row of the ledger."""
        found = NodeTimetable.none()
        for rows, times in zip(self.rows(), self.outages, strict=True):
            found += NodeTimetable(times.time, times.node + rows.start, times.cores, times.kill)
        return found


@st.composite
def shared_cases(draw: st.DrawFn, *, homes: bool = False, linked: bool = False) -> Shared:
    """One to three sites of a few cores, with up to six staged jobs and as many rigid ones, at instants that tie."""
    unit = draw(st.sampled_from((1.0, 1.0, 0.1, 1 / 3)))
    node_site = st.lists(st.integers(1, 3), min_size=2, max_size=4)
    pooled = st.integers(1, 5).map(lambda cores: [cores])
    sites = draw(st.lists(st.one_of(node_site, node_site, pooled), min_size=1, max_size=3))
    count, n = draw(st.integers(1, 6)), len(sites)
    submit = np.cumsum(draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))) * unit
    here = st.lists(st.integers(0, 4), min_size=n, max_size=n).map(
        lambda each: each if any(each) else [2] * n
    )
    slots = [sum(site) for site in sites]
    if homes:
        table = [draw(here) for _ in range(count)]
        length = st.lists(
            st.sampled_from([1, 2, 3, 0.5, 0]), min_size=int(np.sum(table)), max_size=int(np.sum(table))
        )
        case = FleetCase(Fleet.of(slots), fixed_table(submit, table, np.array(draw(length)) * unit))
    else:
        seconds = st.sampled_from([1.0, 2.0, 0.5, 4.0]).map(lambda each: each * unit)
        jobs = []
        for _ in range(count):
            stages = [
                StageSpec(
                    draw(seconds), here=tuple(draw(here)), task_bytes=draw(st.sampled_from([6.0, 20.0, 0.0]))
                )
            ]
            for place in range(draw(st.integers(0, 2))):
                stages.append(
                    StageSpec(draw(seconds), tasks=draw(st.integers(1, 5)), parents=(place,), ratio=0.5)
                )
            jobs.append(stages)
        links = draw(st.sampled_from([5.0, 2.0] if linked else [5.0, 2.0, None]))
        fleet = Fleet.of(slots) if links is None else Fleet.of(slots, [links / unit] * n, [links / unit] * n)
        tasks = sum(sum(each.here) if each.here else each.tasks for job in jobs for each in job)
        size = draw(st.sampled_from([None, np.linspace(0.5, 1.5, tasks)]))
        case = FleetCase(fleet, FleetJobs.of(submit.tolist(), jobs, size=size))
    rigid: list[JobTable | None] = []
    outages, short = [], list[Tasks | None]()
    for site in sites:
        number = draw(st.integers(0, 6))
        gaps, run, procs = (
            np.array(draw(st.lists(each, min_size=number, max_size=number)), np.float64)
            for each in (st.integers(0, 3), st.integers(0, 5), st.integers(1, sum(site)))
        )
        rigid.append(
            JobTable.of(np.cumsum(gaps) * unit, run * unit, procs.astype(np.int64), (run + 1) * unit)
            if number
            else None
        )
        outages.append(draw(_outages(site, unit)))
        whole = len(site) > 1 and draw(st.booleans())
        short.append(draw(drawn_tasks(site, unit)) if whole else None)
    return Shared(sites, case, rigid, outages, short, draw(st.booleans()))


@st.composite
def _outages(draw: st.DrawFn, cores: list[int], unit: float) -> NodeTimetable:
    """Up to four outages of nodes, at times that tie with others; all end."""
    made = NodeTimetable.none()
    for _ in range(draw(st.integers(0, 4))):
        node = draw(st.integers(0, len(cores) - 1))
        down, length = draw(st.integers(0, 9)) * draw(st.sampled_from([1, 1, 0.3])), draw(st.integers(1, 5))
        left = draw(st.sampled_from([0, 0, draw(st.integers(0, cores[node]))]))
        kill = len(cores) > 1 and draw(st.sampled_from([True, True, False]))
        made += NodeTimetable.outage(
            node, down * unit, (down + length) * unit, cores=cores[node], left=left, kill=kill
        )
    # A later outage may end before an earlier one: at the end, all cores are there.
    for node, each in enumerate(cores):
        made += NodeTimetable.outage(node, 30 * unit, 31 * unit, cores=each, left=each)
    return made


def run_shared(
    shared: Shared, policy: tuple[str, bool, bool], *, all_parts: bool = False, **setting: Any
) -> tuple[list[Any], Ledger]:
    """Run a fleet and the other parts on one ledger."""
    ledger = Ledger(shared.sites, parts=1 + len(shared.sites))
    fleet, policies = fleet_part(
        shared.case, policy, FleetCores(ledger, tuple(range(len(shared.sites)))), **setting
    )
    parts: list[Part] = [
        Outages(times, ledger, site) for site, times in enumerate(shared.outages) if len(times)
    ]
    rigid: list[Part] = [
        SitePart(jobs, SITE_ORDER.find("easy")(), ledger, site=site, record=True)
        for site, jobs in enumerate(shared.jobs)
        if jobs is not None
    ]
    parts += [fleet, *rigid] if shared.fleet_first else [*rigid, fleet]
    parts += [workers(each, ledger, site=site) for site, each in enumerate(shared.tasks) if each is not None]
    if all_parts:
        parts.append(Quiet())
    done = list(drive(Coupled(parts, ledger), policies))
    assert all(part.ended() for part in parts)
    return done[: len(done) - all_parts], ledger


def validate(
    shared: Shared, done: Sequence[Any], ledger: Ledger, *, homes: bool = False, moves: bool = False
) -> FleetRun:
    """Check a run by its logs, and the ledger at its end; return the fleet's result."""
    nodes, rows = ledger.nodes, shared.rows()
    assert nodes.held.sum() == 0
    assert nodes.idle.tolist() == nodes.capacity.tolist()
    run = next(each for each in done if isinstance(each, FleetRun))
    holds = staged.holds_of_fleet(run)
    replays = iter(each for each in done if isinstance(each, Replay))
    for site, jobs in enumerate(shared.jobs):
        if jobs is not None:
            holds += staged.holds_of_jobs(next(replays), rows[site].start)
    assert staged.precedence(run) == []
    assert staged.places(run, rows) == []
    cores = [each for site in shared.sites for each in site]
    waits = {"run": run, "sites": rows} if homes else {}
    assert staged.capacity(holds, cores, shared.changes(), **waits) == []
    assert staged.carried(run, moves=moves) == []
    return run
