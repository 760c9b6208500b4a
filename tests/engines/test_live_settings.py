"""Live runs over sites: patience, lost workers in views, and settings of one call."""

import inspect

import numpy as np
import pytest

from tests.engines.fake import FakeExecutor
from tests.engines.test_live_engine import TWO, AnswersInTurn, start
from windlass.drive import drive
from windlass.engines.live import run as running
from windlass.engines.live.engine import LiveFleet
from windlass.engines.live.program import StageProgram
from windlass.engines.live.run import data_bytes, run_live
from windlass.model import PolicyError
from windlass.model.fleet import Fleet, FleetJobs, StageSpec
from windlass.place.policies.in_place import InPlace

ONE = start((0, 0, 0, 1))


def jobs_of(seconds, submit):
    return FleetJobs.of(submit, [[StageSpec(each, here=(1, 0), task_bytes=8.0)] for each in seconds])


class From:
    """A policy that starts nothing before given times."""

    name = "from"

    def __init__(self, *times):
        self.times = list(times)

    def decide(self, view):
        if view.now < self.times[0]:
            return start(wake=self.times[0])
        self.times.pop(0)
        return ONE


def test_patience_counts_only_while_nothing_runs_and_no_job_is_to_come():
    # The first job runs 50 s; the second comes long after and is left for 25 s, as is the third after another 40 s.
    jobs = jobs_of([50.0, 40.0, 1.0], [0.0, 100.0, 110.0])
    run = drive(LiveFleet(TWO, jobs, FakeExecutor(TWO)), {"place": From(0.0, 125.0, 190.0)})
    assert run.begun == pytest.approx([0.0, 125.0, 190.0])


def test_patience_ends_half_a_minute_after_the_last_task():
    executor = FakeExecutor(TWO)
    with pytest.raises(PolicyError, match="leaves tasks of 1 jobs waiting for ever"):
        drive(LiveFleet(TWO, jobs_of([50.0, 1.0], [0.0, 1.0]), executor), {"place": From(0.0, 81.0)})
    assert 80.0 <= executor.time <= 81.0


def test_a_lost_worker_changes_sites_and_orders_once():
    executor = FakeExecutor(Fleet.of([2, 1], [1e6] * 2, [1e6] * 2), nodes=2, deaths=[(0.4, 1)])
    policy = AnswersInTurn(start(), start(), ONE, ONE)
    drive(LiveFleet(executor.fleet, jobs_of([1.0, 1.0], [0.0, 0.0]), executor), {"place": policy})
    first, gone, *later = policy.views
    assert (first.now, first.changed, first.moved, first.sites.slots.tolist()) == (0.0, False, True, [2, 1])
    assert (gone.changed, gone.moved, gone.sites.slots.tolist()) == (True, True, [1, 1])
    assert gone.now == pytest.approx(0.4)
    assert [(view.changed, view.moved) for view in later[:1]] == [(False, False)]


def test_input_lost_during_loading_is_reloaded_before_time_zero():
    executor = FakeExecutor(
        Fleet.of([2, 1], [1e6] * 2, [1e6] * 2), nodes=2, deaths=[(0.0, 0)], notice=0.5, load_s=3.0, fails=True
    )
    executor.poll(0.0)
    run = drive(LiveFleet(executor.fleet, jobs_of([1.0, 1.0], [0.0, 0.0]), executor), {"place": InPlace()})
    loads = [(at, order.worker) for at, order in executor.launched if not order.slot]
    assert {worker for _, worker in loads} == {0, 1}
    # Time 0 is when the last of the loads has ended.
    assert run.begun[0] == pytest.approx(0.0)
    assert run.end == pytest.approx([1.0, 2.0])
    assert executor.time - 2.0 >= loads[-1][0] + 3.0 - 1e-6


def test_a_result_has_the_slots_of_the_workers():
    fleet, more = Fleet.of([1, 2], [1e6] * 2, [1e6] * 2), Fleet.of([2, 5], [1e6] * 2, [1e6] * 2)
    run = drive(LiveFleet(fleet, jobs_of([1.0], [0.0]), FakeExecutor(more, nodes=2)), {"place": InPlace()})
    assert run.fleet.slots.tolist() == [2, 5]
    assert run.fleet.names == fleet.names
    # Unmeasured tables have the columns of a simulated run, and no rows.
    assert (run.flows.shape, run.rates.shape) == ((0, 6), (0, 4))
    assert (run.jobs_reported, run.subjobs_reported) == (0, 0)


class Target:
    """A target that opens a fake executor and records its arguments."""

    def open(self, fleet, most):
        self.opened = fleet, most
        return FakeExecutor(fleet)


def test_every_argument_of_run_live_reaches_the_engine(monkeypatch):
    seen, reports = [], []

    def made(*given, **more):
        seen.append((given, more))
        return LiveFleet(*given, **more)

    monkeypatch.setattr(running, "LiveFleet", made)
    jobs, target = jobs_of([1.0, 1.0], [0.0, 0.5]), Target()
    steps = [StageProgram(), StageProgram(function=lambda inputs, parts: [b"x"])]
    given = dict(
        dispatch=lambda workers: None, decide_every=2.0, estimates="finished", progress=reports.append
    )
    run = run_live(TWO, jobs, InPlace(), target, steps=steps, **given)
    (fleet, workload, executor), more = seen[0]
    assert (fleet, workload, target.opened) == (TWO, jobs, (TWO, data_bytes(jobs)))
    assert isinstance(executor, FakeExecutor)
    assert {name: more[name] for name in given} == given
    assert more["program"].steps == tuple(steps)
    assert run.begun == pytest.approx([0.0, 2.0])
    assert (reports, [each[:3] for each in run.results]) == ([0.5, 1.0], [(1, 1, 0)])
    run = run_live(TWO, jobs, InPlace(), target)
    assert run.begun == pytest.approx([0.0, 1.0])
    documented = dict(dispatch=None, decide_every=0.0, estimates="true", progress=None)
    assert {name: seen[1][1][name] for name in documented} == documented
    defaults = inspect.signature(LiveFleet).parameters
    assert {name: defaults[name].default for name in documented} == documented


@pytest.mark.parametrize("seed", range(12))
def test_the_data_of_all_stages_is_their_input_plus_their_output(seed):
    rng = np.random.default_rng(seed)
    stages = []
    for number in range(int(rng.integers(1, 6))):
        ratio = float(rng.choice([0.0, 0.5, 1.0, 3.0]))
        parents = tuple(at for at in range(number) if rng.random() < 0.5)
        if parents:
            stages.append(StageSpec(1.0, tasks=int(rng.integers(1, 4)), parents=parents, ratio=ratio))
        else:
            here = tuple(rng.integers(1, 4, 2).tolist())
            stages.append(StageSpec(1.0, here=here, task_bytes=float(rng.integers(1, 50)) * 8, ratio=ratio))
    total, written = 0.0, []
    for stage in stages:
        own = sum(stage.here) * stage.task_bytes if not stage.parents else 0.0
        read = own + sum(written[at] for at in stage.parents)
        written.append(read * stage.ratio)
        total += read + written[-1]
    assert data_bytes(FleetJobs.of([0.0, 1.0], [stages, stages])) == int(2 * total)
