"""The steps of coupled parts: their instants, their number, and which policy an error names."""

from __future__ import annotations

import numpy as np
import pytest

from tests.coupled.cases import jobs_of
from windlass.drive import drive
from windlass.experiment.dispatching import make_policy
from windlass.model import InputError, PolicyError
from windlass.model.timetable import NodeTimetable, WorkerTimetable
from windlass.order.site.policies.fcfs import Fcfs
from windlass.order.site.view import SiteView, Start
from windlass.sim import coupled
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Due, Quiet
from windlass.sim.site.part import SitePart
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.setup import Setup


class Instants(Quiet):
    """Records the instants at which parts advance."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def alter(self, now: float) -> None:
        self.seen.append(now)


def test_the_first_instant_is_that_of_the_first_job() -> None:
    ledger, watcher = Ledger([[2]], parts=1), Instants()
    ledger.watch(0)
    site = SitePart(jobs_of((3, 4, 1), (5, 1, 1)), Fcfs(), ledger)
    assert Coupled([watcher, site], ledger).wait() is None
    assert watcher.seen == [3.0, 5.0, 6.0, 7.0]


def test_a_part_reports_its_end_once() -> None:
    reports: list[int] = []
    # Tasks are over at 1 s; jobs go on and on, and their nodes are watched.
    ledger = Ledger([[2, 2]], parts=1)
    site = SitePart(jobs_of(*[(2 * job, 1, 1) for job in range(50)]), Fcfs(), ledger)
    setup = Setup(np.ones(2), WorkerTimetable.none(), 1, 0.0, True, 8, 0, False, 1)
    rng = np.random.default_rng(1)
    policy, times = make_policy("jsq", np.ones(2), rng), np.array([0.0, 0.5])
    tasks = WorkersPart(setup, policy, times, np.full(2, 0.1), rng, ledger=ledger, progress=reports.append)
    assert Coupled([site, tasks], ledger).wait() is None
    assert reports == [2]


def test_an_error_names_the_policy_of_the_decision() -> None:
    class Lazy:
        name = "lazy"

        def decide(self, view: SiteView) -> Start:
            return Start()

    class OtherDecision(Quiet):
        """A part with another decision, after the jobs."""

        name = "told"
        calls = 0

        def horizon(self) -> float:
            return 9.0 if self.calls == 0 else np.inf

        def decide(self, now: float) -> tuple[Due, ...]:
            return (Due(self, "other"),) if now == 9.0 else ()

        def wants(self, decision: str) -> bool:
            return self.calls == 0

        def view(self, decision: str) -> None:
            return None

        def act(self, decision: str, answer: object) -> None:
            self.calls += 1

    class Other:
        name = "other"

        def decide(self, view: None) -> None:
            return None

    ledger = Ledger([[2]], parts=1)
    cluster = Coupled([SitePart(jobs_of((3, 4, 1)), Lazy(), ledger), OtherDecision()], ledger)
    with pytest.raises(PolicyError, match=r"^policy 'lazy' left 1 jobs waiting"):
        drive(cluster, {"order": Lazy(), "other": Other()})


class Endless(Quiet):
    """A part with an event every second, forever."""

    now = 0.0

    def horizon(self) -> float:
        return self.now + 1.0

    def decide(self, now: float) -> tuple[()]:
        self.now = now
        return ()


def test_a_stuck_site_is_found_next_to_an_endless_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coupled, "_MANY", 100)
    monkeypatch.setattr(coupled, "_CHECK_EVERY", 10)
    ledger = Ledger([[2, 2]], parts=1)
    gone = Outages(NodeTimetable.outage(0, 3.0, None, cores=2), ledger)
    site = SitePart(jobs_of((0, 5, 3), (4, 1, 4)), Fcfs(), ledger)
    with pytest.raises(PolicyError, match="left 1 jobs waiting"):
        Coupled([gone, site, Endless()], ledger).wait()


def test_a_long_wait_for_a_return_is_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coupled, "_MANY", 1000)
    monkeypatch.setattr(coupled, "_CHECK_EVERY", 10)
    ledger = Ledger([[2]], parts=1)
    gone = Outages(NodeTimetable.outage(0, 3.0, 800.0, cores=2), ledger)
    site = SitePart(jobs_of((0, 5, 2), (4, 1, 2)), Fcfs(), ledger)
    cluster = Coupled([gone, site, Endless()], ledger)
    assert cluster.wait() is None
    assert cluster.result()[1].end.tolist() == [5.0, 801.0]


def test_stuck_tasks_are_found_next_to_an_endless_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coupled, "_MANY", 100)
    monkeypatch.setattr(coupled, "_CHECK_EVERY", 10)
    ledger = Ledger([[2, 2]], parts=1)
    gone = Outages(
        NodeTimetable.outage(0, 3.0, None, cores=2) + NodeTimetable.outage(1, 3.0, None, cores=2), ledger
    )
    setup = Setup(np.ones(2), WorkerTimetable.none(), 1, 0.0, True, 8, 0, False, 1)
    rng = np.random.default_rng(1)
    policy = make_policy("jsq", np.ones(2), rng)
    tasks = WorkersPart(setup, policy, np.array([0.0, 9.0]), np.ones(2), rng, ledger=ledger)
    with pytest.raises(InputError, match="1 tasks are left that no worker will run"):
        Coupled([gone, tasks, Endless()], ledger).wait()
