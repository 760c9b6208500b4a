"""Only the parts that an instant concerns are called, and the results are those of calling all parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.coupled.cases import Case, Tasks, cases, jobs_of, workers
from tests.coupled.test_instances import Until
from tests.oracles.plain import Plain
from tests.oracles.workloads import CHECK
from tests.sim.instances import SMALL, part_of
from tests.sim.sharing import RandomSharer, busy
from windlass.drive import drive
from windlass.model import InputError, JobTable, PolicyError
from windlass.model.timetable import NodeTimetable
from windlass.model.vectors import VectorJobs
from windlass.order.site import POLICIES
from windlass.order.site.policies.fcfs import Fcfs
from windlass.sim.coupled import Coupled
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Concerns, Due, Part, Quiet
from windlass.sim.shares.part import SharesPart
from windlass.sim.site.part import SitePart
from windlass.sim.site.rated import RatedSite
from windlass.sim.telemetry.neighbours import CoreChanges, Neighbours

_NAMES = ("fcfs", "easy", "sjf", "conservative")


def content(value: Any) -> Any:
    """Return a result as values that compare exactly."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if is_dataclass(value):
        return [content(getattr(value, each.name)) for each in fields(value)]
    if isinstance(value, tuple | list):
        return [content(each) for each in value]
    return value


def outcome(make: Callable[[], tuple[list[Part], Ledger, dict[str, Any]]], *, all_parts: bool) -> Any:
    """Run parts; with `all_parts`, next to one that declares nothing, so that each part is called at each instant."""
    parts, ledger, policies = make()
    if all_parts:
        parts.append(Quiet())
    try:
        results = drive(Coupled(parts, ledger), policies)
    except (InputError, PolicyError) as error:
        return str(error)
    nodes = ledger.nodes
    assert (nodes.idle == nodes.capacity - nodes.held.sum(axis=1)).all()
    return content(results[: len(parts) - all_parts]), content(nodes.held)


@settings(CHECK, max_examples=150)
@given(
    sites=st.lists(cases(), min_size=1, max_size=3),
    names=st.lists(st.sampled_from(_NAMES), min_size=3, max_size=3),
    in_python=st.lists(st.booleans(), min_size=3, max_size=3),
    dispatch=st.sampled_from(["jsq", "ppot", "pull", "sparrow"]),
    apart=st.booleans(),
)
def test_calling_the_parts_concerned_equals_calling_all_parts(
    sites: list[Case], names: list[str], in_python: list[bool], dispatch: str, apart: bool
) -> None:
    def make() -> tuple[list[Part], Ledger, dict[str, Any]]:
        ledger = Ledger([case.cores for case in sites], parts=len(sites))
        shared = Plain(POLICIES.find(names[0])())
        made: list[tuple[int, int, Part]] = []
        for site, case in enumerate(sites):
            policy = shared if in_python[site] else POLICIES.find(names[site])()
            if len(case.outages):
                made.append((0, site, Outages(case.outages, ledger, site)))
            made.append((1, site, SitePart(case.jobs, policy, ledger, site=site, record=True)))
            if case.tasks is not None:
                made.append((2, site, workers(case.tasks, ledger, site=site, policy=dispatch)))
        made.sort(key=lambda each: each[1::-1] if apart else each[:2])
        return [part for _, _, part in made], ledger, {"order": shared}

    assert outcome(make, all_parts=False) == outcome(make, all_parts=True)


@settings(CHECK, max_examples=80)
@given(
    case=cases(with_tasks=True), first=st.lists(st.booleans(), min_size=14, max_size=14), late=st.booleans()
)
def test_two_parts_of_jobs_and_tasks_on_the_same_nodes_see_each_change(
    case: Case, first: list[bool], late: bool
) -> None:
    jobs, mine = case.jobs, np.array(first[: len(case.jobs)])
    columns = (jobs.submit, jobs.run, jobs.procs, jobs.request)
    halves = [JobTable.of(*(column[which] for column in columns)) for which in (mine, ~mine)]

    def make() -> tuple[list[Part], Ledger, dict[str, Any]]:
        ledger = Ledger([case.cores], parts=3)
        assert case.tasks is not None
        demand = Neighbours(CoreChanges(np.array([1.0, 6.0]), np.array([0, 0]), np.array([1, -1])), ledger)
        tasks = workers(case.tasks, ledger)
        sites = [SitePart(each, POLICIES.find("easy")(), ledger, record=True) for each in halves]
        # Tasks before the jobs have had their turn when a job takes cores.
        between: list[Part] = [*sites, tasks] if late else [tasks, *sites]
        return [Outages(case.outages, ledger), *between, demand], ledger, {}

    assert outcome(make, all_parts=False) == outcome(make, all_parts=True)


@pytest.mark.parametrize("seed", range(6))
def test_regions_of_jobs_tasks_and_instances_run_as_if_all_parts_were_called(seed: int) -> None:
    def make() -> tuple[list[Part], Ledger, dict[str, Any]]:
        rng, fleet, policy = np.random.default_rng(seed), InstanceFleet((SMALL,)), Until(3, 500.0)
        ledger = Ledger([[4] * 5, fleet.rows(), [4] * 5, fleet.rows()], parts=4)
        parts: list[Part] = []
        for region in (0, 2):
            submit = np.sort(rng.integers(0, 400, 60)).astype(float)
            run = rng.integers(1, 60, 60).astype(float)
            jobs = JobTable.of(submit, run, rng.integers(1, 7, 60), run + 5.0)
            vectors = VectorJobs.of(submit=submit[::3] + 40.0, run=run[::3], cores=rng.integers(1, 4, 20))
            parts += [
                part_of(vectors, fleet, ledger, policy, seed, site=region + 1, others=True, begin=0.0),
                SitePart(jobs, POLICIES.find("easy")(), ledger, site=region),
                *(tasks_on(ledger, rng, region + each, rows) for each, rows in ((0, 5), (1, SMALL.most))),
            ]
        return parts, ledger, {"scale": policy}

    found = outcome(make, all_parts=False)
    assert isinstance(found, tuple)
    assert found == outcome(make, all_parts=True)


@pytest.mark.matrix(0)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_jobs_that_share_and_tasks_on_the_same_nodes_see_each_change(seed: int) -> None:
    case, cores = busy(seed), 4

    def make() -> tuple[list[Part], Ledger, dict[str, Any]]:
        rng, sharer = np.random.default_rng(seed), RandomSharer(np.random.default_rng(seed))
        ledger = Ledger([[cores] * (case.processors // cores)], parts=1)
        site = RatedSite(case.jobs, POLICIES.find("easy")(), ledger)
        shares = SharesPart(
            site, case.jobs, case.use, sharer, case.physics, ledger, np.random.default_rng(seed), every=7.0
        )
        times = NodeTimetable.outage(1, 20.0, 60.0, cores=cores, kill=True)
        tasks = tasks_on(ledger, rng, 0, case.processors // cores)
        return [Outages(times, ledger), site, shares, tasks], ledger, {"share": sharer}

    found = outcome(make, all_parts=False)
    assert isinstance(found, tuple)
    assert found == outcome(make, all_parts=True)
    (_, _, shared, _), _ = found
    assert len(np.frombuffer(shared[0][2])) > 0


def tasks_on(ledger: Ledger, rng: np.random.Generator, site: int, rows: int) -> Part:
    """Return small tasks on the rows of a site."""
    submit, work = np.sort(rng.random(200) * 450.0 + 35.0), rng.exponential(0.5, 200)
    return workers(Tasks(submit.tolist(), work.tolist(), [1.0] * rows), ledger, site=site)


class Noting(Quiet):
    """A part with events at given times, which notes its steps, and may take a core of a row in `decide`."""

    def __init__(
        self,
        name: str,
        notes: list[Any],
        times: Sequence[float] = (),
        concerns: Concerns | None = None,
        takes: tuple[Ledger, int] | None = None,
    ) -> None:
        self.name, self.notes, self.times, self.takes = name, notes, list(times), takes
        self.concerned = Concerns() if concerns is None else concerns

    def concerns(self) -> Concerns:
        return self.concerned

    def horizon(self) -> float:
        return self.times[0] if self.times else np.inf

    def advance(self, until: float) -> float:
        self.notes.append((self.name, "advance", until))
        return until

    def alter(self, now: float) -> None:
        self.notes.append((self.name, "alter", now))

    def settle(self, now: float) -> None:
        self.notes.append((self.name, "settle", now))

    def decide(self, now: float) -> Sequence[Due]:
        self.notes.append((self.name, "decide", now))
        while self.times and self.times[0] <= now:
            self.times.pop(0)
            if self.takes is not None:
                ledger, row = self.takes
                ledger.hold(row, 0, 1)
        return ()

    def ended(self) -> bool:
        return not self.times


def test_an_instant_calls_the_part_that_is_due_and_no_other() -> None:
    notes: list[Any] = []
    parts = [Noting("a", notes, [1.0]), Noting("b", notes, [2.0]), Noting("c", notes)]
    assert Coupled(parts).wait() is None
    steps = ("advance", "alter", "decide")
    assert notes == [("a", step, 1.0) for step in steps] + [("b", step, 2.0) for step in steps]


def test_a_changed_row_calls_those_that_watch_its_site_at_their_turn() -> None:
    ledger, notes = Ledger([[4], [4]], parts=1), list[Any]()
    for site in (0, 1):
        ledger.watch(site)
    here, there = Concerns(sites=(1,)), Concerns(sites=(0,))
    parts = [
        Noting("earlier", notes, concerns=here),
        Noting("taker", notes, [3.0], takes=(ledger, 1)),
        Noting("later", notes, concerns=here),
        Noting("elsewhere", notes, concerns=there),
    ]
    assert Coupled(parts, ledger).wait() is None
    assert notes == [
        ("taker", "advance", 3.0),
        ("taker", "alter", 3.0),
        ("taker", "decide", 3.0),
        # The turn of the first has passed: it decides as it would have done, and then sees the change.
        ("earlier", "advance", 3.0),
        ("earlier", "decide", 3.0),
        ("earlier", "settle", 3.0),
        ("later", "advance", 3.0),
        ("later", "settle", 3.0),
        ("later", "decide", 3.0),
    ]


def test_a_part_and_those_that_it_reads_are_called_together() -> None:
    notes: list[Any] = []
    read = Noting("read", notes, [5.0])
    reader = Noting("reader", notes, [2.0], Concerns(parts=(read,)))
    second = Noting("second", notes, concerns=Concerns(parts=(reader,)))
    other = Noting("other", notes, [9.0])
    assert Coupled([reader, read, second, other]).wait() is None
    called = [(name, now) for name, step, now in notes if step == "decide"]
    assert called == [
        *(("reader", 2.0), ("read", 2.0), ("second", 2.0)),
        *(("reader", 5.0), ("read", 5.0), ("second", 5.0)),
        ("other", 9.0),
    ]


def test_a_part_that_reads_one_that_is_not_coupled_is_rejected() -> None:
    reader = Noting("reader", [], concerns=Concerns(parts=(Quiet(),)))
    with pytest.raises(InputError, match="part 1 reads a part that is not among the coupled ones; list that"):
        Coupled([Noting("first", []), reader])


def test_a_simulation_ends_with_its_work_although_an_endless_part_has_events() -> None:
    # The site has no horizon, as nothing watches its rows: it ends without being due.
    class Endless(Quiet):
        now = 0.0

        def concerns(self) -> Concerns:
            return Concerns()

        def horizon(self) -> float:
            return self.now + 1.0

        def advance(self, until: float) -> float:
            self.now = until
            return until

    ledger, endless = Ledger([[4]], parts=1), Endless()
    site = SitePart(jobs_of((0, 7.5, 4), (3, 4, 1)), Fcfs(), ledger)
    cluster = Coupled([endless, site], ledger)
    assert cluster.wait() is None
    assert cluster.result()[1].end.tolist() == [7.5, 11.5]
    assert endless.now == 12.0
