"""What-if: with known run times it is the replay of the true schedule; pairs, removed processors, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.experiment.start_times.alternatives import (
    Alternative,
    DrawnValue,
    alternatives_of,
    compare_alternatives,
)
from windlass.experiment.start_times.history import SiteHistory
from windlass.experiment.start_times.question import history_of
from windlass.experiment.start_times.replays import drawn_futures, replayed_starts, starts_in
from windlass.experiment.start_times.sentences import what_if_sentences
from windlass.experiment.worlds.policy import PolicySpec
from windlass.io.traces import Workload
from windlass.model import InputError, JobTable
from windlass.order.site import POLICIES
from windlass.order.site.policies.easy import Easy
from windlass.sim.site.replay import replay

EASY, SJF = PolicySpec(name="easy"), PolicySpec(name="sjf")

rows = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 40), st.integers(1, 6)), min_size=2, max_size=30)


def history_at(drawn, at: float, processors: int = 6) -> SiteHistory:
    """Return jobs that run for exactly their requests, as known at an instant: later ones have not arrived."""
    drawn = [row for row in sorted(drawn) if row[0] <= at]
    submit, run, procs = (np.array(each, float) for each in zip(*drawn, strict=True))
    jobs = JobTable.of(submit, run, procs.astype(int))
    whole = history_of(Workload(jobs, processors), EASY, recorded=False)
    start = np.where(whole.start < at, whole.start, np.inf)
    return SiteHistory(whole.workload, start, np.where(whole.end <= at, whole.end, np.inf))


@settings(deadline=None)
@given(rows, st.integers(5, 60))
def test_with_known_run_times_it_is_the_replay_of_the_true_schedule(drawn, at):
    drawn = [(0, *drawn[0][1:]), *drawn[1:]]
    history = history_at(drawn, at)
    found = compare_alternatives(history, float(at), EASY, [Alternative(EASY, 6)], draws=2)
    true = replay(history.workload.jobs, 6, Easy())
    expected = true.start[history.at(float(at)).waiting]
    for column in found.present.starts.T:
        assert column == pytest.approx(expected)
    # The same alternative changes nothing, in each draw.
    assert (found.others[0].starts == found.present.starts).all()
    assert found.sooner_and_later(found.others[0]) == (0, 0)


@settings(deadline=None)
@given(rows, st.integers(5, 60), st.sampled_from(["fcfs", "sjf", "conservative"]))
def test_another_policy_decides_from_now_on(drawn, at, name):
    drawn = [(0, *drawn[0][1:]), *drawn[1:]]
    history, now = history_at(drawn, at), float(at)
    state = history.at(now)
    if not len(state.waiting):
        return
    found = compare_alternatives(history, now, EASY, [Alternative(PolicySpec(name=name), 6)], draws=1)
    # By hand: the running jobs are the first of a queue in their order, with what is left of them.
    jobs = history.workload.jobs
    left = history.start[state.running] + jobs.run[state.running] - now
    table = JobTable.of(
        submit=np.zeros(len(left) + len(state.waiting)),
        run=np.concatenate([left, jobs.run[state.waiting]]),
        procs=np.concatenate([jobs.procs[state.running], jobs.procs[state.waiting]]),
        request=np.concatenate([left, jobs.request[state.waiting]]),
    )
    if name == "fcfs":
        by_hand = replay(table, 6, POLICIES.make(name, np.random.default_rng(1))).start[len(left) :] + now
        assert found.others[0].starts[:, 0] == pytest.approx(by_hand)
    assert (found.others[0].starts >= now).all()


def queue_of(
    waiting: list[tuple[float, int]], running: list[tuple[float, int]], processors: int
) -> SiteHistory:
    """Return a site at time 1: jobs of (run, processors), those that run since 0 and those that wait since then."""
    both = [*running, *waiting]
    jobs = JobTable.of(np.zeros(len(both)), [run for run, _ in both], [procs for _, procs in both])
    start = np.concatenate([np.zeros(len(running)), np.full(len(waiting), np.inf)])
    return SiteHistory(Workload(jobs, processors), start, np.full(len(both), np.inf))


def starts_with(history: SiteHistory, processors: int) -> list[float]:
    found = compare_alternatives(history, 1.0, EASY, [Alternative(EASY, processors)], draws=1)
    return found.others[0].starts[:, 0].tolist()


def test_running_jobs_keep_their_processors_when_some_are_removed():
    # Two jobs of 2 run until 10 and 20; with 3 processors, one of those released at 10 is removed.
    history = queue_of([(5.0, 2), (5.0, 1)], [(10.0, 2), (20.0, 2)], 4)
    assert starts_with(history, 4) == [10.0, 15.0]
    assert starts_with(history, 3) == [20.0, 10.0]


def test_idle_processors_may_be_removed():
    history = queue_of([(5.0, 3)], [(10.0, 2)], 4)
    assert starts_with(history, 3) == [10.0]


def test_more_processors_are_there_at_once():
    history = queue_of([(5.0, 3)], [(10.0, 2)], 4)
    assert starts_with(history, 5) == [1.0]


def test_a_job_that_is_wider_never_starts_and_is_not_in_the_mean():
    history = queue_of([(5.0, 4), (5.0, 1)], [(10.0, 4)], 4)
    found = compare_alternatives(history, 1.0, EASY, [Alternative(EASY, 3)], draws=1)
    other = found.others[0]
    assert other.starts[:, 0].tolist() == [np.inf, 10.0]
    assert found.never(other) == 1
    # The narrow job starts 5 s sooner without the wide one ahead of it.
    assert found.change(other).mean == -5.0
    assert found.table()["never"].to_list() == [0, 1]


def test_alternatives_see_the_same_draws():
    rng = np.random.default_rng(3)
    jobs = JobTable.of(
        np.sort(rng.uniform(0, 300_000, 400)), rng.uniform(100, 9000, 400), rng.integers(1, 5, 400)
    )
    jobs = JobTable.of(jobs.submit, jobs.run, jobs.procs, jobs.run * rng.uniform(1, 4, 400))
    history = history_of(Workload(jobs, 5), EASY, recorded=False)
    at = float(jobs.submit[300])
    found = compare_alternatives(history, at, EASY, [Alternative(EASY, 5), Alternative(SJF, 5)])
    assert (found.others[0].starts == found.present.starts).all()
    assert np.ptp(found.present.starts, axis=1).max() > 0
    # The draws are those of a prediction.
    state = history.at(at)
    single = replayed_starts(history, state, lambda own: Easy(), 20, np.random.default_rng(1))
    assert (single == found.present.starts).all()
    futures = list(drawn_futures(history, state, 20, np.random.default_rng(1)))
    assert (starts_in(history, state, futures[3], Easy()) == single[:, 3]).all()


def test_the_first_sentence_names_the_best_alternative():
    history = queue_of([(50.0, 4), (5.0, 4)], [(10.0, 4)], 4)
    found = compare_alternatives(history, 1.0, EASY, alternatives_of(EASY, 4, [SJF], [8]), draws=2)
    lines = list(what_if_sentences(found, "at 1 s"))
    assert lines[0].startswith("With easy, 8 processors, the 2 jobs that wait at 1 s would start")
    assert found.by_job()["job"].to_list() == ["2", "3"]
    same = compare_alternatives(history, 1.0, EASY, [Alternative(EASY, 4)], draws=2)
    assert next(what_if_sentences(same, "at 1 s")).startswith(
        "No alternative shortens the mean wait of the 2 jobs"
    )
    idle = compare_alternatives(history, -1.0, EASY, [Alternative(EASY, 4)], draws=2)
    assert next(what_if_sentences(idle, "at −1 s")).startswith("No job waits at −1 s")


def test_an_alternative_without_room_for_a_job_is_not_the_best():
    history = queue_of([(5.0, 4), (5.0, 1)], [(10.0, 4)], 4)
    # Without room for the wide job, the narrow one starts sooner.
    narrow = compare_alternatives(history, 1.0, EASY, [Alternative(EASY, 3)], draws=2)
    assert next(what_if_sentences(narrow, "at 1 s")).startswith("No alternative shortens the mean wait")
    # Without room for any job, there is no mean to compare.
    wide = queue_of([(5.0, 4), (6.0, 4)], [(10.0, 4)], 4)
    both = compare_alternatives(wide, 1.0, EASY, [Alternative(EASY, 3), Alternative(EASY, 8)], draws=2)
    assert next(what_if_sentences(both, "at 1 s")).startswith("With easy, 8 processors, the 2 jobs")


def test_one_waiting_job_is_singular():
    found = compare_alternatives(queue_of([(5.0, 4)], [(10.0, 4)], 4), 1.0, EASY, [], draws=2)
    lines = list(what_if_sentences(found, "at 1 s"))
    assert lines[1].startswith("At present, with easy, 4 processors, it waits another 9 s on average")
    assert lines[2].endswith("with drawn run times and arrivals.")


def test_bad_questions_are_refused():
    history = queue_of([(5.0, 1)], [], 4)
    with pytest.raises(InputError, match="at is nan s, expected a finite time"):
        compare_alternatives(history, np.nan, EASY, [])
    with pytest.raises(InputError, match="13 alternatives, expected at most 12"):
        compare_alternatives(history, 1.0, EASY, [Alternative(EASY, 4)] * 13)
    with pytest.raises(InputError, match="processors is 0, expected at least 1"):
        Alternative(EASY, 0)
    with pytest.raises(InputError, match="unknown policy"):
        compare_alternatives(history, 1.0, EASY, [Alternative(PolicySpec(name="none such"), 4)])


def test_a_value_without_draws_is_not_a_number():
    assert np.isnan(DrawnValue.of(np.empty(0)).mean)
