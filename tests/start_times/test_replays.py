"""Replayed starts: exact if nothing is uncertain, and blind to what comes later."""

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from windlass.experiment.start_times.history import SiteHistory
from windlass.experiment.start_times.question import history_of
from windlass.experiment.start_times.replays import planned_starts, replayed_starts
from windlass.experiment.worlds.policy import PolicySpec
from windlass.io.traces import Workload
from windlass.model import JobTable
from windlass.order.site import POLICIES

PROCESSORS = 8
JOBS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 40), st.integers(1, PROCESSORS)), min_size=2, max_size=14
)
SPECS = [
    PolicySpec(name="fcfs"),
    PolicySpec(name="easy"),
    PolicySpec(name="sjf"),
    PolicySpec(name="queue", parameters={"priority": "wfp3", "backfill": "easy"}),
]


def workload_of(jobs, factor=1):
    submit, run, procs = zip(*sorted(jobs), strict=True)
    request = [each * factor for each in run]
    return Workload(JobTable.of(submit=submit, run=run, procs=procs, request=request), PROCESSORS)


def starts_of(history, now, spec, draws=2, seed=1):
    def make(rng):
        return spec.make(POLICIES, rng)

    state = history.at(now)
    return state, replayed_starts(history, state, make, draws, np.random.default_rng(seed))


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
@settings(max_examples=40, deadline=None)
@given(jobs=JOBS, place=st.integers(0, 100))
def test_the_replay_of_known_run_times_is_the_schedule(spec, jobs, place):
    workload = workload_of(jobs)
    history = history_of(workload, spec, recorded=False)
    instants = np.unique(np.concatenate([workload.jobs.submit, history.end]))
    now = float(instants[place % len(instants)])
    known = np.arange(np.searchsorted(workload.jobs.submit, now, side="right"))
    # The schedule without later jobs: no replay knows them.
    alone = history_of(workload.take(known), spec, recorded=False)
    state, found = starts_of(alone, now, spec)
    assert found.shape == (len(state.waiting), 2)
    assert (found == alone.start[state.waiting][:, None]).all()


@settings(max_examples=40, deadline=None)
@given(jobs=JOBS, later=JOBS, place=st.integers(0, 100), seed=st.integers(0, 5))
def test_what_comes_later_changes_no_prediction(jobs, later, place, seed):
    spec = PolicySpec(name="easy")
    workload = workload_of(jobs, factor=3)
    history = history_of(workload, spec, recorded=False)
    now = float(workload.jobs.submit[place % len(workload.jobs)])
    known = int(np.searchsorted(workload.jobs.submit, now, side="right"))
    begun = history.start[:known] < now
    ended = begun & (history.end[:known] <= now)
    # Other jobs after this instant, and other ends of the jobs that run or wait.
    submit, run, procs = zip(*later, strict=True)
    table = workload.jobs
    more = JobTable.of(
        submit=[*table.submit[:known], *sorted(now + 1 + each for each in submit)],
        run=[*table.run[:known], *run],
        procs=[*table.procs[:known], *procs],
        request=[*table.request[:known], *run],
    )
    start = np.concatenate([np.where(begun, history.start[:known], now + 500), more.submit[known:]])
    end = np.concatenate([np.where(ended, history.end[:known], now + 1000), more.submit[known:] + 1])
    other = SiteHistory(Workload(more, PROCESSORS), start, end)
    _, before = starts_of(history, now, spec, draws=3, seed=seed)
    _, after = starts_of(other, now, spec, draws=3, seed=seed)
    assert (before == after).all()


def planned_by_hand(history, state):
    """Return the earliest start of each waiting job in turn, found by trying every instant."""
    jobs = history.workload.jobs
    held = [
        (history.start[row], history.start[row] + jobs.request[row], jobs.procs[row]) for row in state.running
    ]
    starts = []
    for row in state.waiting:
        ends = sorted({state.now, *(end for _, end, _ in held if end > state.now)})
        for at in ends:
            until = at + jobs.request[row]
            instants = [at, *(begin for begin, _, _ in held if at < begin < until)]
            used = [sum(procs for begin, end, procs in held if begin <= each < end) for each in instants]
            if max(used) + jobs.procs[row] <= history.workload.processors:
                break
        held.append((at, until, jobs.procs[row]))
        starts.append(at)
    return starts


@settings(max_examples=60, deadline=None)
@given(jobs=JOBS, place=st.integers(0, 100), factor=st.integers(1, 4))
def test_slurm_s_rule_is_the_earliest_start_in_turn(jobs, place, factor):
    workload = workload_of(jobs, factor)
    history = history_of(workload, PolicySpec(name="easy"), recorded=False)
    state = history.at(float(workload.jobs.submit[place % len(jobs)]))
    assume(len(state.waiting))
    assert planned_starts(history, state).tolist() == planned_by_hand(history, state)


def test_arrivals_are_those_of_an_earlier_day():
    day = 86_400.0
    # Every day at noon, a short job goes ahead of long ones under shortest job first.
    submit = [each * day for each in range(5)]
    jobs = JobTable.of(
        submit=[*submit, 5 * day - 50, 5 * day - 40], run=[20.0] * 5 + [100.0] * 2, procs=[8] * 7
    )
    spec = PolicySpec(name="sjf")
    history = history_of(Workload(jobs, 8), spec, recorded=False)
    state, found = starts_of(history, 5 * day - 30, spec, draws=8)
    assert state.waiting.tolist() == [6]
    # The running job ends 50 s after the daily job arrives, which goes first and takes 20 s.
    assert (found == 5 * day + 50 + 20).all()
    none = dataclasses.replace(state, waiting=state.waiting[:0])
    assert replayed_starts(
        history, none, lambda rng: spec.make(POLICIES, rng), 3, np.random.default_rng(1)
    ).shape == (0, 3)


def test_a_site_with_more_in_use_than_it_has_starts_no_job_until_some_end():
    jobs = JobTable.of(submit=[0, 0, 5], run=[10, 30, 10], procs=[3, 3, 2])
    history = SiteHistory(Workload(jobs, 4), np.array([0.0, 0.0, np.inf]), np.array([np.inf] * 3))
    _, found = starts_of(history, 6.0, PolicySpec(name="easy"))
    assert found.tolist() == [[10.0, 10.0]]


def test_a_job_that_exceeds_its_request_ends_soon_and_never_in_the_past():
    jobs = JobTable.of(submit=[0, 5], run=[90, 10], procs=[4, 4], request=[20, 10])
    history = SiteHistory(Workload(jobs, 4), np.array([0.0, np.inf]), np.array([90.0, np.inf]))
    _, found = starts_of(history, 50.0, PolicySpec(name="easy"), draws=8)
    assert ((found > 50.0) & (found <= 51.0)).all()
    assert planned_starts(history, history.at(50.0)).tolist() == pytest.approx([50.0])
