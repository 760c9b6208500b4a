"""Cores of the ledger held by instances and jobs equal a plain simulation at every instant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from tests.oracles.elastic import Plain
from tests.sim.instances import SMALL, part_of
from tests.sim.test_instances_plain import cases, varied
from windlass.drive import drive
from windlass.model import InputError
from windlass.model.vectors import VectorJobs
from windlass.scale import Totals, idle_time
from windlass.sim.coupled import Coupled
from windlass.sim.instances.fleet import InstanceFleet, Interruptions
from windlass.sim.ledger import Ledger
from windlass.sim.part import Quiet


class Recorder(Quiet):
    """Records the ledger at the end of each instant at which it changes."""

    def __init__(self, ledger: Ledger) -> None:
        self.nodes, self.seen = ledger.nodes, {}

    def settle(self, now: float) -> None:
        self.seen[now] = (self.nodes.capacity.copy(), self.nodes.held.copy())


def held_by_plain(plain, case, cores, now):
    """Capacity of each row, and whole cores held there, after an instant."""
    first = np.concatenate(([0], np.cumsum([kind.most for kind in case.fleet.types])))
    capacity = np.zeros(first[-1], np.int64)
    row_of = [first[one.kind] + one.row for one in plain.all]
    for one in plain.all:
        if one.ready <= now and not one.gone <= now:
            capacity[row_of[one.line]] = cores[one.kind]
    used, whole = np.zeros(first[-1]), np.zeros(first[-1], bool)
    for job, line, began, ended in plain.attempts:
        if began <= now < ended:
            used[row_of[line]] += case.jobs.resources[job, 1]
            asked, kind = case.jobs.resources[job], case.fleet.types[plain.all[line].kind]
            whole[row_of[line]] |= bool((asked > kind.vector()).any())
    held = np.where(whole, capacity, np.ceil(np.round(used, 6)).astype(np.int64))
    return capacity, held


@settings(max_examples=8, deadline=None)
@given(case=cases())
def test_the_ledger_equals_the_plain_simulation(case):
    policy, other = varied(case.seed), varied(case.seed)
    ledger = Ledger([case.fleet.rows()], parts=2)
    part = part_of(case.jobs, case.fleet, ledger, policy, case.seed, others=True)
    recorder = Recorder(ledger)
    done = drive(Coupled((part, recorder), ledger), {"scale": policy})[0]
    kept = replace(case.fleet, idle=idle_time(other, case.fleet.idle))
    plain = Plain(case.jobs, kept, other, np.random.default_rng(case.seed))
    assert done.start.tolist() == plain.start
    np.testing.assert_array_equal(done.launches.gone, [one.gone for one in plain.all])
    assert recorder.seen
    for now, (capacity, held) in recorder.seen.items():
        want, cores = held_by_plain(plain, case, case.fleet.cores(), now)
        assert capacity.tolist() == want.tolist(), now
        assert held[:, 0].tolist() == cores.tolist(), now
        assert not held[:, 1].any()


class CoreHolder(Quiet):
    """Holds a core of a row from an instant on, even if the row is vacated."""

    def __init__(self, ledger: Ledger, row: int, since: float) -> None:
        self._ledger, self._row, self._since = ledger, row, since

    def horizon(self) -> float:
        return self._since

    def decide(self, now: float):
        if self._since <= now:
            self._since = np.inf
            self._ledger.hold(self._row, 1, 1)
        return ()


class Three:
    """Wants three instances."""

    name = "three"
    idle = 0.0

    def decide(self, view):
        return Totals((3,), ("three",))


@pytest.mark.parametrize("row", [0, 1, 2])
def test_holding_cores_of_an_interrupted_instance_is_an_error(row):
    # The latest instances go first, so this many are left when the row's instance goes.
    times, limits = np.array([100.0, 101.0]), np.array([row, 4])
    cuts = Interruptions(times, np.zeros(2, np.int64), limits)
    fleet = InstanceFleet((SMALL,), interruptions=cuts)
    jobs = VectorJobs.of([40.0], [300.0], cores=1)
    for held in range(3):
        ledger = Ledger([fleet.rows()], parts=2)
        part = part_of(jobs, fleet, ledger, Three(), 1, others=True, begin=0.0)
        engine = Coupled((part, CoreHolder(ledger, held, 60.0)), ledger)
        if held < row:
            assert drive(engine, {"scale": Three()})[0].lost == 0
        else:
            with pytest.raises(InputError, match="which was to be vacated"):
                drive(engine, {"scale": Three()})


@pytest.mark.parametrize("wide", [3, 8])
def test_a_draining_instance_leaves_when_its_last_job_ends_when_coupled(wide):
    # Nothing else happens at that instant: decisions are at 160 s and 180 s.
    times, limits = np.array([100.0, 500.0]), np.array([0, 4])
    fleet = InstanceFleet(
        (SMALL,), notice=np.inf, interruptions=Interruptions(times, np.zeros(2, np.int64), limits)
    )
    jobs = VectorJobs.of([50.0, 900.0], [120.0, 1.0], cores=[wide, 1])
    ledger = Ledger([fleet.rows()], parts=2)
    part = part_of(jobs, fleet, ledger, Three(), 1, others=True, begin=0.0)
    recorder = Recorder(ledger)
    done = drive(Coupled((part, recorder), ledger), {"scale": Three()})[0]
    assert done.end[0] == 170.0
    holds = done.launches.busy[:3] > 0.0
    assert done.launches.gone[:3].tolist() == np.where(holds, 170.0, 100.0).tolist()
    assert recorder.seen[170.0][0].sum() == 0


def test_an_ended_job_frees_its_cores_at_once_when_coupled():
    jobs = VectorJobs.of([50.0, 51.0], [17.0, 1.0], cores=[3, 3])
    fleet = InstanceFleet((SMALL,))
    ledger = Ledger([fleet.rows()], parts=2)

    class One(Three):
        def decide(self, view):
            return Totals((1,), ("one",))

    part = part_of(jobs, fleet, ledger, One(), 1, others=True, begin=0.0)
    done = drive(Coupled((part, Recorder(ledger)), ledger), {"scale": One()})[0]
    assert done.start.tolist() == [50.0, 67.0]
