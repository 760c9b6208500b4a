"""Run times are those of similar jobs, longer than a job's age, and within its request."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windlass.experiment.start_times.history import SiteHistory
from windlass.experiment.start_times.run_times import ENOUGH, RunTimes
from windlass.io.traces import Workload
from windlass.io.traces.groups import Belongings, Members
from windlass.model import JobTable


def history_of(shares, users, procs=None, request=100.0):
    """Return ended jobs that used these shares of their requests, and one job of each user that waits."""
    kinds = sorted(set(users))
    count = len(shares) + len(kinds)
    run = np.array([share * request for share in shares] + [request] * len(kinds))
    table = JobTable.of(
        submit=np.zeros(count),
        run=run,
        procs=np.ones(count) if procs is None else np.array([*procs, *[1] * len(kinds)]),
        request=np.full(count, request),
    )
    names = tuple(str(user) for user in kinds)
    members = Members(np.array([*[kinds.index(user) for user in users], *range(len(kinds))]), names)
    end = np.where(np.arange(count) < len(shares), run, np.inf)
    return SiteHistory(Workload(table, 999, of=Belongings(user=members)), np.zeros(count), end), len(shares)


@given(
    st.lists(st.tuples(st.floats(0.01, 1), st.integers(0, 2)), min_size=1, max_size=20),
    st.lists(st.floats(0, 99), min_size=1, max_size=6),
    st.integers(0, 9),
)
def test_a_drawn_run_time_is_longer_than_the_age_and_within_the_request(jobs, ages, seed):
    history, first = history_of(*zip(*jobs, strict=True))
    rows = np.full(len(ages), first)
    drawn = RunTimes(history, 200.0).draw(rows, np.array(ages), 7, np.random.default_rng(seed))
    assert drawn.shape == (len(ages), 7)
    assert (drawn > np.array(ages)[:, None]).all()
    assert (drawn <= 100.0 + 1e-9).all()


def drawn_shares(history, row, now=200.0):
    drawn = RunTimes(history, now).draw(np.array([row]), np.zeros(1), 400, np.random.default_rng(1))
    return set(np.round(drawn[0] / 100, 6).tolist())


def test_runs_are_drawn_from_the_same_user_with_the_same_request_and_processors():
    own, other = [0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]
    history, first = history_of([*own, *other], ["ann"] * 4 + ["bob"] * 4)
    assert drawn_shares(history, first) == set(own)
    assert drawn_shares(history, first + 1) == set(other)
    # Jobs of the same user on other processors count only if too few are alike.
    history, first = history_of([*own, *other], ["ann"] * 8, procs=[1] * 4 + [2] * 4)
    assert drawn_shares(history, first) == set(own)
    history, first = history_of([*own[1:], *other], ["ann"] * 7, procs=[1] * 3 + [2] * 4)
    assert drawn_shares(history, first) == {*own[1:], *other}


def test_the_site_s_runs_stand_for_a_user_with_few_jobs():
    shares = [0.1, 0.2, 0.3, 0.4, 0.5]
    history, first = history_of(shares, ["ann"] * (ENOUGH - 1) + ["bob"] * 2)
    assert drawn_shares(history, first) == set(shares)


def test_only_ended_jobs_count():
    history, first = history_of([0.1, 0.2, 0.3, 0.4, 0.9], ["ann"] * 5)
    assert drawn_shares(history, first, now=50.0) == {0.1, 0.2, 0.3, 0.4}
    assert drawn_shares(history, first, now=5.0) == {1.0}


def test_the_age_of_a_running_job_excludes_shorter_runs():
    history, first = history_of([0.1, 0.2, 0.3, 0.4], ["ann"] * 4)
    drawn = RunTimes(history, 200.0).draw(np.array([first]), np.array([25.0]), 200, np.random.default_rng(1))
    known = np.isin(np.round(drawn[0]), [30.0, 40.0])
    # A draw that was too short six times in a row is replaced by any time up to the request.
    assert known.mean() > 0.9
    assert (drawn[0] > 25.0).all()
