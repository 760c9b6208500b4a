"""The policy `limited`: invariants of its limits, closed hours by definition, and bad parameters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.model import JobTable, Owners
from windlass.order.site import POLICIES
from windlass.order.site.lib.limits import hours_at
from windlass.order.site.policies.easy import Easy
from windlass.order.site.policies.limited import Limited
from windlass.order.site.policies.queue import Queue
from windlass.order.site.view import Running, SiteView, Waiting
from windlass.sim.site.replay import replay

HOUR = 3600.0
WEEK = 168.0


def is_closed(policy: Limited, now: float) -> bool:
    return hours_at(policy.given, now).closes <= now


def jobs_of(**columns: list[float]) -> JobTable:
    return JobTable.of(**columns)


rows = st.lists(
    st.tuples(
        st.integers(0, 40), st.integers(1, 20), st.integers(1, 4), st.integers(0, 3), st.integers(0, 15)
    ),
    min_size=1,
    max_size=25,
)


def table_of(drawn) -> tuple[JobTable, Owners]:
    drawn = sorted(drawn)
    submit, run, procs, user, over = (np.array(each) for each in zip(*drawn, strict=True))
    return JobTable.of(submit, run, procs, run + over), Owners.of(len(drawn), user=user)


@pytest.mark.matrix(0)
@given(rows)
def test_without_limits_it_is_the_queue(drawn):
    jobs, owners = table_of(drawn)
    plain = replay(jobs, 4, Queue("sjf", "easy"), owners=owners)
    assert (replay(jobs, 4, Limited("sjf"), owners=owners).start == plain.start).all()
    assert (
        replay(jobs, 4, Limited(backfill="none")).start == replay(jobs, 4, Queue("fcfs", "none")).start
    ).all()


@given(rows, st.integers(1, 3), st.integers(2, 5))
def test_no_user_exceeds_a_limit(drawn, most_jobs, most_procs):
    jobs, owners = table_of(drawn)
    done = replay(jobs, 4, Limited(jobs_per_user=most_jobs, procs_per_user=most_procs), owners=owners)
    for user in np.unique(owners.user):
        own = owners.user == user
        for instant in done.start[own]:
            held = own & (done.start <= instant) & (done.end > instant)
            assert held.sum() <= most_jobs
            assert held.sum() <= 1 or jobs.procs[held].sum() <= most_procs
    assert np.isfinite(done.start).all()


def test_a_job_over_the_limit_blocks_no_other():
    jobs = jobs_of(submit=[0, 0, 0], run=[10, 10, 10], procs=[1, 1, 1])
    done = replay(jobs, 4, Limited(jobs_per_user=1), owners=Owners.of(3, user=[0, 0, 1]))
    assert done.start.tolist() == [0.0, 10.0, 0.0]


def test_running_jobs_count_towards_the_processors_of_their_user():
    jobs = jobs_of(submit=[0, 1, 2], run=[10, 10, 10], procs=[2, 2, 1])
    done = replay(jobs, 8, Limited(procs_per_user=3), owners=Owners.of(3, user=[0, 0, 0]))
    assert done.start.tolist() == [0.0, 10.0, 2.0]


def test_jobs_without_a_user_have_no_limit():
    jobs = jobs_of(submit=[0, 0], run=[10, 10], procs=[1, 1])
    done = replay(jobs, 4, Limited(jobs_per_user=1), owners=Owners.of(2, user=[-1, -1]))
    assert done.start.tolist() == [0.0, 0.0]


def is_in(spans: list[tuple[float, ...]], hour: float) -> bool:
    """Return whether an hour is in one of the spans of a week."""
    return any(begin <= hour % WEEK < end for begin, end in spans)


def hours_of(spans: list[tuple[float, ...]], now: float) -> tuple[float, float, float]:
    """By definition, in quarters of an hour: the end of the open hours, the next opening, and the end after that."""
    quarters = [now + 0.25 * HOUR * step for step in range(4 * 24 * 15)]
    closed = [is_in(spans, each / HOUR) for each in quarters]
    closes = next((at for at, shut in zip(quarters, closed, strict=True) if shut), np.inf)
    turns = [at for at, was, shut in zip(quarters[1:], closed, closed[1:], strict=False) if was and not shut]
    opens = turns[0] if turns else np.inf
    again = next((at for at, shut in zip(quarters, closed, strict=True) if shut and at >= opens), np.inf)
    return closes, opens, again


@pytest.mark.parametrize("closed", ["8-17 32-41", "0-4 20-28 160-168", "0-1", "167-168", "0-167"])
@pytest.mark.parametrize("hour", [0.0, 3.5, 8.0, 16.0, 17.0, 100.0, 161.0, 167.5, 500.25])
def test_hours_are_those_of_the_definition(closed, hour):
    policy = Limited(long=1.0, closed=closed)
    spans = [tuple(map(float, part.split("-"))) for part in closed.split()]
    now = hour * HOUR
    assert is_closed(policy, now) == is_in(spans, hour)
    assert tuple(hours_at(policy.given, now)) == pytest.approx(hours_of(spans, now))


def test_without_closed_hours_they_are_always_open():
    assert tuple(hours_at(Limited().given, 5.0)) == (np.inf, np.inf, np.inf)


def test_a_long_job_waits_for_the_opening_and_ends_before_the_next_closed_hours():
    # A job that outlives its request keeps the site busy, and short jobs make it decide each hour. Of two long jobs,
    # one fits the night of 15 hours, and the other needs the weekend.
    hours = np.arange(1, 121) * HOUR
    submit = np.concatenate([[0.0, HOUR / 2, HOUR / 2], hours])
    run = np.concatenate([[200 * HOUR], np.ones(122)])
    request = np.concatenate([[1.0, 15 * HOUR, 20 * HOUR], np.ones(120)])
    jobs = JobTable.of(submit, run, np.ones(123, int), request)
    policy = Limited(long=2 * HOUR, closed="0-16 31-40 55-64 79-88")
    done = replay(jobs, 4, policy, kill=False)
    assert done.start[1] == 16 * HOUR
    # From hour 88 on, the site is open until the end of the week.
    assert done.start[2] == 88 * HOUR


def test_draining_keeps_the_opening_free_for_waiting_long_jobs():
    short = 2 * HOUR
    waiting = Waiting.of(job=[1, 2, 3], submit=[0, 1, 2], procs=[3, 2, 1], request=[5 * HOUR, short, short])
    now = 16 * HOUR
    view = SiteView(now, processors=4, free=4, waiting=waiting, running=Running.of())
    kept = Limited(long=4 * HOUR, closed="8-17").decide(view)
    assert kept.jobs == (3,)
    free = Limited(long=4 * HOUR, closed="8-17", drain=False).decide(view)
    assert free.jobs == (2, 3)


def test_an_idle_site_starts_its_first_job_in_closed_hours():
    jobs = jobs_of(submit=[0], run=[9 * HOUR], procs=[1])
    assert replay(jobs, 1, Limited(long=1.0, closed="0-100")).start.tolist() == [0.0]


@pytest.mark.slow
def test_the_numbers_of_a_priority_follow_those_of_the_limits():
    priority = {"multifactor": {"weight_age": 0.0, "weight_fairshare": 100.0, "weight_job_size": 0.0}}
    jobs = jobs_of(submit=[0, 1, 2], run=[10, 10, 10], procs=[2, 2, 2])
    owners = Owners.of(3, user=[0, 0, 1])
    limited = replay(jobs, 2, Limited(priority, closed="1-2"), owners=owners)
    assert limited.start.tolist() == replay(jobs, 2, Queue(priority), owners=owners).start.tolist()
    assert limited.start.tolist() == [0.0, 20.0, 10.0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"jobs_per_user": 0}, "jobs_per_user is 0, expected a number of at least 1"),
        ({"procs_per_user": float("nan")}, "procs_per_user is nan"),
        ({"long": 0}, "long is 0 s, expected a time above 0"),
        ({"closed": "17-8"}, "closed: '17-8'"),
        ({"closed": "0-4 3-9"}, "closed: '3-9'"),
        ({"closed": "0-169"}, "closed: '0-169'"),
        ({"closed": "night"}, "closed: 'night'"),
        ({"closed": "0-168"}, "expected an hour of the week in which long jobs may run"),
        ({"backfill": "conservative"}, "backfill is 'conservative', expected none or easy"),
        ({"backfill": {"easy": {"order": "sjf"}}}, "backfill has an order"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        Limited(**parameters)


def test_it_is_registered():
    assert POLICIES.make("limited", np.random.default_rng(1)).reasons == Easy.reasons
