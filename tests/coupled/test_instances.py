"""Instances add and remove rows of the ledger: small tasks run on them, and other parts hold cores there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.coupled.cases import Tasks, workers
from tests.sim.instances import SMALL, part_of
from tests.sim.test_instances_ledger import Recorder
from windlass.drive import drive
from windlass.model import InputError
from windlass.model.vectors import VectorJobs
from windlass.scale import Totals
from windlass.sim.coupled import Coupled
from windlass.sim.instances.fleet import InstanceFleet, Interruptions
from windlass.sim.instances.result import Scaled
from windlass.sim.ledger import Ledger
from windlass.sim.part import Concerns, Quiet


class Until:
    """Wants `count` instances until an instant, and none afterwards."""

    name = "until"
    idle = 0.0

    def __init__(self, count: int, until: float = np.inf) -> None:
        self._count, self._until = count, until

    def decide(self, view):
        return Totals((self._count if view.now < self._until else 0,), ("until",))


class Holder(Quiet):
    """Holds cores of the first row from one instant to another; releases them when required, unless it is stubborn."""

    def __init__(
        self, ledger: Ledger, cores: int, since: float, until: float, stubborn: bool = False
    ) -> None:
        self._ledger, self._cores, self._times = ledger, cores, [since, until]
        self._stubborn, self.held = stubborn, 0
        ledger.watch(0)

    def concerns(self) -> Concerns:
        # Instances are called because they share the rows, and not because this part might concern all.
        return Concerns(sites=(0,))

    def horizon(self) -> float:
        return self._times[0] if self._times else np.inf

    def advance(self, until: float) -> float:
        if len(self._times) == 1 and self._times[0] <= until:
            self._times.pop()
            self.held = self._ledger.hold(0, 1, -self._cores)
        return until

    def settle(self, now: float) -> None:
        nodes = self._ledger.nodes
        if nodes.vacate[0] and nodes.idle[0] < 0 and not self._stubborn:
            self.held = self._ledger.hold(0, 1, int(nodes.idle[0]))

    def decide(self, now: float) -> Sequence[object]:
        if len(self._times) == 2 and self._times[0] <= now:
            self._times.pop(0)
            self.held = self._ledger.hold(0, 1, self._cores)
        return ()


def run_with_holder(
    jobs: VectorJobs, policy: Until, *held: float, fleet: InstanceFleet | None = None, stubborn: bool = False
) -> tuple[Scaled, Holder]:
    """Run jobs coupled with a holder of cores, given as (cores, since, until)."""
    found = fleet or InstanceFleet((SMALL,))
    ledger = Ledger([found.rows()], parts=2)
    part = part_of(jobs, found, ledger, policy, 1, others=True, begin=0.0)
    holder = Holder(ledger, int(held[0]), held[1], held[2], stubborn)
    return drive(Coupled((part, holder), ledger), {"scale": policy})[0], holder


def test_tasks_run_at_the_speed_that_jobs_leave() -> None:
    fleet = InstanceFleet((SMALL,))
    ledger, policy = Ledger([fleet.rows()], parts=1), Until(1)
    jobs = VectorJobs.of(submit=[50.0], run=[100.0], cores=3)
    part = part_of(jobs, fleet, ledger, policy, 1, others=True, begin=0.0)
    tasks = Tasks([60.0, 200.0], [1.0, 1.0], [1.0] * 4)
    jobs_done, tasks_done = drive(Coupled((part, workers(tasks, ledger)), ledger), {"scale": policy})
    # Its instance is ready at 30 s; a job with three of four cores leaves a quarter of the speed.
    assert jobs_done.start.tolist() == [50.0]
    assert tasks_done.worker.tolist() == [0, 0]
    assert tasks_done.response.tolist() == pytest.approx([4.0, 1.0])


def test_tasks_of_a_removed_instance_move() -> None:
    fleet = InstanceFleet((SMALL,), interruptions=Interruptions(*(np.array(x) for x in ([65.0], [0], [1]))))
    ledger, policy = Ledger([fleet.rows()], parts=1), Until(2)
    jobs = VectorJobs.of(submit=[50.0, 400.0], run=[1.0, 1.0], cores=1)
    part = part_of(jobs, fleet, ledger, policy, 1, others=True, begin=0.0)
    tasks = Tasks([60.0, 60.0], [30.0, 30.0], [1.0] * 4)
    done = drive(Coupled((part, workers(tasks, ledger)), ledger), {"scale": policy})
    assert set(done[1].worker.tolist()) == {0}
    assert done[1].response.max() > 55.0


def test_a_job_waits_for_cores_that_another_part_holds() -> None:
    jobs = VectorJobs.of(submit=[50.0], run=[10.0], cores=3)
    done, _ = run_with_holder(jobs, Until(1), 2, 40.0, 75.0)
    assert done.start.tolist() == [75.0]
    done, _ = run_with_holder(jobs, Until(1), 1, 40.0, 75.0)
    assert done.start.tolist() == [50.0]


def test_an_instance_leaves_only_after_other_parts_release_it() -> None:
    jobs = VectorJobs.of(submit=[31.0, 300.0], run=[10.0, 1.0], cores=1)

    class Again(Until):
        def decide(self, view):
            return Totals((1 if view.now < 60.0 or view.now >= 200.0 else 0,), ("again",))

    done, _ = run_with_holder(jobs, Again(1), 2, 35.0, 130.0)
    # The job ends at 41 s and no instance is wanted from 60 s on; the other part leaves at 130 s.
    assert done.launches.gone.tolist()[0] == 130.0
    assert len(done.launches.kind) == 2


def test_a_part_must_release_cores_of_an_interrupted_instance() -> None:
    jobs = VectorJobs.of(submit=[35.0], run=[50.0], cores=1)
    cuts = Interruptions(*(np.array(x) for x in ([60.0, 61.0], [0, 0], [0, 4])))
    fleet = InstanceFleet((SMALL,), interruptions=cuts)
    done, holder = run_with_holder(jobs, Until(1), 2, 40.0, 500.0, fleet=fleet)
    assert (done.lost, holder.held) == (1, 0)
    with pytest.raises(InputError, match="which was to be vacated"):
        run_with_holder(jobs, Until(1), 2, 40.0, 500.0, fleet=fleet, stubborn=True)


def test_held_cores_are_rounded_up() -> None:
    jobs = VectorJobs.of(submit=[40.0, 40.0, 40.0], run=[10.0] * 3, cores=[0.5, 0.5, 2.5])
    done, _ = run_with_holder(jobs, Until(1), 1, 35.0, 45.0)
    # Half a core twice is one whole; two and a half more are four, of which one is another's.
    assert done.start.tolist() == [40.0, 40.0, 45.0]


class DecidesToLeave(Holder):
    """Releases its cores in a decision, after other parts may have decided."""

    def advance(self, until: float) -> float:
        return until

    def decide(self, now: float) -> Sequence[object]:
        if len(self._times) == 1 and self._times[0] <= now:
            self._times.pop()
            self.held = self._ledger.hold(0, 1, -self._cores)
        return super().decide(now)


@pytest.mark.parametrize("first", [True, False])
def test_cores_released_by_a_later_decision_are_used_at_that_instant(first: bool) -> None:
    fleet = InstanceFleet((SMALL,))
    ledger, policy = Ledger([fleet.rows()], parts=2), Until(1)
    jobs = VectorJobs.of(submit=[50.0], run=[10.0], cores=3)
    part = part_of(jobs, fleet, ledger, policy, 1, others=True, begin=0.0)
    parts, recorder = (part, DecidesToLeave(ledger, 2, 40.0, 75.0)), Recorder(ledger)
    done = drive(Coupled((*(parts if first else parts[::-1]), recorder), ledger), {"scale": policy})
    assert done[0 if first else 1].start.tolist() == [75.0]
    # Other parts see it at that instant, too.
    assert recorder.seen[75.0][1][0].tolist() == [3, 0]


@pytest.mark.parametrize(("cores", "launches"), [(2, 1), (3, 2), (8, 3)])
def test_an_instance_used_by_another_part_is_not_fully_available(cores: int, launches: int) -> None:
    fleet = InstanceFleet((SMALL,))
    ledger = Ledger([fleet.rows()], parts=2)
    jobs = VectorJobs.of(submit=[40.0, 60.0], run=[10.0, 5.0], cores=[1, cores])
    part = part_of(jobs, fleet, ledger, Until(0), 1, others=True, at_once=True)
    # From 50 s on no job is on the first instance, and two of its four cores are held until 130 s.
    done = drive(Coupled((part, Holder(ledger, 2, 45.0, 130.0)), ledger), {"scale": Until(0)})[0]
    assert done.start.tolist() == [40.0, 60.0]
    assert len(done.launches.kind) == launches
