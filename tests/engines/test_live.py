"""The live engine in virtual time: lost workers, lost data, real work, errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines import check
from tests.engines.fake import FakeExecutor
from windlass.dispatch.policies.jsq import Jsq
from windlass.drive import drive
from windlass.engines.live.engine import LiveFleet
from windlass.engines.live.program import LiveProgram, StageProgram
from windlass.experiment.worlds.fleet.priority_order import OrderedPlacement
from windlass.model import InputError, PolicyError, TaskError
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.order.fleet.policies.swag import Swag
from windlass.place.policies.in_place import InPlace
from windlass.place.policies.tetrium import Tetrium
from windlass.place.view import Placement
from windlass.sim.coupled import SinglePart
from windlass.sim.fleet.part import PlacedFleet

AREA = Fleet.of([2, 2, 2], [1e6] * 3, [1e6] * 3)


#: Times with exact sums: the live engine sees events within a clock tick at once, and a simulator distinguishes any two
#: times, even by a rounding error.
TICK = 1 / 64
TICKS = st.integers(0, 64).map(lambda ticks: ticks * TICK)
ANY_TIME = st.floats(0.0, 1.0)


@st.composite
def workloads(draw, sizes=(0.0, 1e5), seconds=ANY_TIME):
    jobs = draw(st.integers(1, 3))
    submit = sorted(TICK * tick for tick in draw(st.lists(st.integers(0, 192), min_size=jobs, max_size=jobs)))
    counts = st.integers(0, 3)
    stages = []
    for _ in range(jobs):
        here = draw(st.tuples(counts, counts, counts).filter(any))
        job = [StageSpec(draw(seconds), here=here, task_bytes=draw(st.sampled_from(sizes)))]
        for depth in range(draw(st.integers(0, 2))):
            parents = draw(st.sets(st.integers(0, depth), min_size=1))
            job.append(StageSpec(draw(seconds), tasks=draw(counts) + 1, parents=tuple(parents)))
        stages.append(job)
    return FleetJobs.of(submit, stages)


@settings(max_examples=150, deadline=None)
@given(
    jobs=workloads(),
    nodes=st.integers(1, 2),
    notice=st.sampled_from([0.0, 0.4]),
    load_s=st.sampled_from([0.0, 0.7]),
    fails=st.booleans(),
    deaths=st.lists(st.tuples(st.floats(0.0, 4.0), st.integers(0, 3)), max_size=2, unique_by=lambda d: d[1]),
    policy=st.sampled_from([InPlace(), Tetrium(), OrderedPlacement(Swag())]),
)
def test_no_task_is_lost_or_counted_twice_after_deaths(jobs, nodes, notice, load_s, fails, deaths, policy):
    executor = FakeExecutor(AREA, nodes, deaths=[], notice=notice)
    alive = len(executor.workers) - 1
    deaths = [(at, worker) for at, worker in deaths if worker < alive]
    executor = FakeExecutor(AREA, nodes, deaths, 0.01, notice, load_s, fails)
    run = drive(LiveFleet(AREA, jobs, executor), {"place": policy})
    check.every_task_ran(run)
    check.no_site_is_over_its_slots(run)
    check.bytes_add_up(run)
    assert np.isfinite(run.end).all()
    assert executor.closed == 1
    if not deaths:
        check.stages_follow_each_other(run)
        assert (run.tries == 1).all()
    # Exactly one attempt of each task counts, the last.
    assert (run.tries >= 1).all()
    sent = [order for _, order in executor.launched if order.slot]
    assert len(sent) == run.tries.sum()
    assert (executor.held[[w.number for w in executor.workers if w.number not in executor.dead]] == 0).all()


class Noting:
    """SWAG that records its calls: time, jobs and task counts."""

    name = "noting"

    def __init__(self):
        self.calls, self._swag = [], Swag()

    def decide(self, view):
        self.calls.append(
            (round(view.now, 6), view.job.tolist(), view.subjobs.tolist(), view.backlog.tolist())
        )
        return self._swag.decide(view)


@settings(max_examples=300, deadline=None)
@given(jobs=workloads(sizes=(0.0,), seconds=TICKS))
def test_without_transfers_it_equals_the_simulator(jobs):
    live, simulated = Noting(), Noting()
    run = drive(LiveFleet(AREA, jobs, FakeExecutor(AREA)), {"place": OrderedPlacement(live)})
    other = drive(SinglePart(PlacedFleet(FleetCase(AREA, jobs))), {"place": OrderedPlacement(simulated)})
    assert live.calls == simulated.calls
    np.testing.assert_allclose(run.response, other.response, atol=1e-6)


def test_the_order_is_kept_when_a_stage_without_readers_ends():
    # The first job's second stage ends at 2 s, and its third at 4 s, with the job.
    stages = [
        StageSpec(1.0, here=(1, 0, 0)),
        StageSpec(1.0, tasks=1, parents=(0,)),
        StageSpec(3.0, tasks=1, parents=(0,)),
    ]
    jobs = FleetJobs.of([0.0, 0.0], [stages, [StageSpec(1.0, here=(9, 0, 0))]])
    for engine in (LiveFleet(AREA, jobs, FakeExecutor(AREA)), SinglePart(PlacedFleet(FleetCase(AREA, jobs)))):
        noting = Noting()
        drive(engine, {"place": OrderedPlacement(noting)})
        assert [now for now, *_ in noting.calls] == [0.0, 1.0, 4.0]


def test_a_lost_output_is_recomputed_and_its_reader_waits():
    fleet = Fleet.of([1, 1], [1e6] * 2, [1e6] * 2)
    jobs = FleetJobs.of(
        [0.0],
        [
            [
                StageSpec(1.0, here=(1, 1), task_bytes=10),
                StageSpec(2.0, tasks=1, parents=(0,)),
                StageSpec(1.0, tasks=1, parents=(1,)),
            ]
        ],
    )
    # Site 2 dies while the second stage runs at site 1: its input is lost, but not its result.
    run = drive(LiveFleet(fleet, jobs, FakeExecutor(fleet, deaths=[(0.5, 1)])), {"place": InPlace()})
    assert run.tries.tolist() == [1, 2, 1, 1]
    assert run.site.tolist() == [0, 0, 0, 0]


def chain(seconds, here=(1, 0, 0)):
    stages = [StageSpec(seconds[0], here=here, task_bytes=10)]
    stages += [StageSpec(s, tasks=1, parents=(at,)) for at, s in enumerate(seconds[1:])]
    return FleetJobs.of([0.0], [stages])


class At:
    """A policy that runs each stage at a given site, or at the last one if that is lost."""

    name = "at"

    def __init__(self, sites):
        self.sites = sites

    def decide(self, view):
        starts = []
        for row in range(len(view.ready.job)):
            stage = len(self.sites) - int(view.ready.left[row])
            site = self.sites[stage] if view.sites.slots[self.sites[stage]] else len(view.sites.slots) - 1
            source = -1 if view.ready.shuffles[row] else int(view.ready.here[row].argmax())
            starts.append((row, source, site, 1))
        return Placement(np.array(starts), np.zeros(len(starts), int), ("as told",))


def test_an_earlier_lost_output_is_recomputed_when_needed():
    # The map's output is lost with site 1 when it is not needed; then its reader's output is lost with site 2.
    executor = FakeExecutor(AREA, deaths=[(2.5, 0), (3.5, 1)], notice=0.1)
    run = drive(LiveFleet(AREA, chain([1.0, 1.0, 5.0]), executor), {"place": At([0, 1, 2])})
    assert np.isfinite(run.end).all()
    assert run.tries.tolist() == [2, 2, 1]
    assert run.site.tolist() == [2, 2, 2]


def test_loading_on_a_dead_worker_does_not_use_up_all_attempts():
    executor = FakeExecutor(AREA, deaths=[(0.1, 0)], notice=2.0, load_s=0.5, fails=True)
    run = drive(LiveFleet(AREA, chain([1.0, 1.0]), executor), {"place": InPlace()})
    assert np.isfinite(run.end).all()


def test_unneeded_input_is_not_reloaded():
    jobs = chain([1.0, 5.0])
    executor = FakeExecutor(AREA, deaths=[(2.0, 0)])
    loads = []

    class Given(LiveProgram):
        def load(self, task):
            loads.append(task)
            return super().load(task)

    # The map runs at the second site, away from its input, which is lost after the map has ended.
    run = drive(LiveFleet(AREA, jobs, executor, program=Given(jobs)), {"place": At([1, 2])})
    assert loads == [0]
    assert run.tries.tolist() == [1, 1]


def test_a_full_worker_chosen_by_the_dispatch_policy_is_skipped():
    class First:
        def arrived(self, now): ...
        def completed(self, worker, work, seconds): ...
        def choose(self, lengths):
            return 0

    jobs = FleetJobs.of([0.0], [[StageSpec(1.0, here=(6, 0, 0), task_bytes=6)]])
    run = drive(
        LiveFleet(AREA, jobs, FakeExecutor(AREA, nodes=2), dispatch=lambda workers: First()),
        {"place": InPlace()},
    )
    assert run.end.tolist() == [3.0]


def test_real_work_gives_real_results():
    texts = [b"a b a\n", b"b c\n", b"c c a\n"]

    def split(inputs, parts):
        words = b"".join(inputs).split()
        return [b"\n".join(w for w in words if w[0] % parts == part) + b"\n" for part in range(parts)]

    jobs = FleetJobs.of(
        [0.0], [[StageSpec(1.0, here=(1, 1, 1), task_bytes=6), StageSpec(1.0, tasks=2, parents=(0,))]]
    )

    class Given(LiveProgram):
        def load(self, task):
            from windlass.engines.live.work import Call

            return Call(lambda inputs, parts: [texts[task]], 1)

    program = Given(jobs, [StageProgram(function=split), StageProgram(command="sort")])
    run = drive(LiveFleet(AREA, jobs, FakeExecutor(AREA), program=program), {"place": Tetrium()})
    words = sorted(b"".join(result for *_, result in run.results).split())
    assert words == sorted(b"".join(texts).split())
    assert [place[:3] for place in run.results] == [(0, 1, 0), (0, 1, 1)]


def test_a_failing_task_ends_the_run_and_is_named():
    jobs = FleetJobs.of([0.0], [[StageSpec(1.0, here=(0, 2, 0), task_bytes=6)]])
    executor = FakeExecutor(AREA)
    program = LiveProgram(jobs, [StageProgram(command="false")])
    with pytest.raises(TaskError, match="job 1, stage 1, task 1: RuntimeError: 'false' failed with status 1"):
        drive(LiveFleet(AREA, jobs, executor, program=program), {"place": InPlace()})
    assert executor.closed == 1


def test_without_any_worker_left_the_run_ends():
    jobs = FleetJobs.of([0.0], [[StageSpec(9.0, here=(1, 1, 1), task_bytes=6)]])
    executor = FakeExecutor(AREA, deaths=[(1.0, 0), (1.5, 1), (2.0, 2)])
    with pytest.raises(TaskError, match="no worker is left"):
        drive(LiveFleet(AREA, jobs, executor), {"place": InPlace()})


def test_a_policy_that_starts_nothing_is_an_error():
    class Idle:
        name = "idle"

        def decide(self, view):
            return Placement(np.empty((0, 4), int), np.empty(0, int), ())

    jobs = FleetJobs.of([0.0, 5.0], [[StageSpec(1.0, here=(1, 0, 0))], [StageSpec(1.0, here=(1, 0, 0))]])
    with pytest.raises(PolicyError, match="policy 'idle' leaves tasks of 2 jobs waiting for ever"):
        drive(LiveFleet(AREA, jobs, FakeExecutor(AREA)), {"place": Idle()})


def test_the_dispatch_policy_chooses_among_living_workers():
    jobs = FleetJobs.of([0.0], [[StageSpec(1.0, here=(8, 0, 0), task_bytes=6)]])
    executor = FakeExecutor(AREA, nodes=2, deaths=[(1.5, 0)])
    make = lambda workers: Jsq(workers, rng=np.random.default_rng(1))  # noqa: E731
    run = drive(LiveFleet(AREA, jobs, executor, dispatch=make), {"place": InPlace()})
    check.every_task_ran(run)
    assert set(run.worker[run.begun < 1.5].tolist()) <= {0, 1}
    assert set(run.worker[run.begun > 1.5].tolist()) == {1}


def test_invalid_steps_are_named_in_the_error():
    stages = [
        StageSpec(1.0, here=(2, 0, 0)),
        StageSpec(1.0, tasks=1, parents=(0,)),
        StageSpec(1.0, tasks=2, parents=(0,)),
    ]
    jobs = FleetJobs.of([0.0], [stages])
    with pytest.raises(InputError, match="steps: 1 given for 3 stages"):
        LiveProgram(jobs, [StageProgram()])
    with pytest.raises(InputError, match="stage 1: 2 stages read what it writes, expected at most one"):
        LiveProgram(jobs, [StageProgram(command="cat"), StageProgram(), StageProgram()])
    with pytest.raises(InputError, match="stage 1: 1 files for 2 tasks"):
        LiveProgram(FleetJobs.of([0.0], [stages[:1]]), [StageProgram(files=("x",))])
