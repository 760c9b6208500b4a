"""Sharing when jobs are cancelled, suspended, late or on other cores, in virtual time."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tests.engines.fake_batch import FakeBatch
from tests.engines.test_sharing import FakeShares, static
from windlass.drive import drive
from windlass.engines.batch.book import BatchBook
from windlass.engines.batch.engine import LiveSite
from windlass.engines.batch.sharing import Shares
from windlass.engines.batch.sharing_backend import JobEnding, Pair
from windlass.engines.batch.system import Delayed, Holds
from windlass.model import JobTable
from windlass.order.site.policies.easy import Easy
from windlass.share import Share, Sharing
from windlass.share.allocation import Candidate
from windlass.share.book import ShareBook
from windlass.share.usage import Reading


def run(table, policy, *, kill=True, prepare=lambda shares: None, **options):
    batch = FakeBatch(table, 4, kill=kill)
    shares, backs = FakeShares(batch, table, **options), []
    prepare(shares)
    site = LiveSite(
        batch, side_decision=lambda book: Shares(book, shares, policy, every=5.0, report_back=backs.append)
    )
    return drive(site, {"order": Easy(), "share": policy}), shares, backs


@pytest.mark.parametrize("restarts", [True, False])
def test_a_late_guest_is_requeued_for_the_head_if_restarts_are_allowed(restarts):
    # The guest's promised end is its host's walltime plus the rest of its own 40 s.
    table = JobTable.of(submit=[0, 0, 0], run=[20, 200, 5], procs=[4, 2, 4], request=[20, 40, 9])
    done, shares, backs = run(table, static(), kill=False, restarts=restarts)
    promised = 20.0 + 40.0 - 0.5 * (20.0 - 5.0)
    start = dict(zip(done.job.tolist(), done.start.tolist(), strict=True))
    if restarts:
        # The head starts at the promised end, and the guest restarts as a guest of the head.
        assert start == {1: 0.0, 3: promised, 2: 55.0}
        assert [(at, job) for at, job, _ in shares.backs] == [(promised, 2)]
        # Its progress is lost, which is reported: half of 15 s, and all time since.
        assert "the head of the queue can start; 40 s of its work are lost" in backs[0].why
    else:
        assert start == {1: 0.0, 2: 5.0, 3: 205.0}
        assert (shares.backs, backs) == ([], [])


class Stops:
    """A policy that gives job 2 half of the time, and then stops it for the rest of its host's."""

    name = "stops"

    def __init__(self):
        self.views = []

    def decide(self, view):
        self.views.append(view)
        hosts = {host.job: host for host in view.running}
        if 1 not in hosts:
            return Sharing()
        return Sharing((Share(1, 2, 50 if hosts[1].guest is None else 0, "tries"),))


@pytest.mark.parametrize(("restarts", "end"), [(True, 72.5), (False, 77.5)])
def test_a_stopped_guest_has_its_promised_end_if_restarts_are_allowed(restarts, end):
    # Its promised end is 20 s plus 60 s less half of 15 s. It has used 2.5 s when its host ends.
    table = JobTable.of(submit=[0, 0, 1], run=[20, 70, 5], procs=[4, 4, 4], request=[20, 60, 5])
    policy = Stops()
    run(table, policy, kill=False, restarts=restarts)
    view = next(view for view in policy.views if view.now >= 25.0)
    assert [(host.job, host.ends) for host in view.running] == [(2, end)]
    assert (view.head.job, view.head.at) == (3, end)


class RecordingPolicy:
    """A policy that gives waiting jobs half of the time, and records checkpoints."""

    name = "told"

    def __init__(self):
        self.checkpoints = []

    def decide(self, view):
        return static().decide(view)

    def observed(self, checkpoint):
        self.checkpoints.append(checkpoint)


@pytest.mark.parametrize("outcome", list(JobEnding))
def test_a_cut_off_host_makes_no_checkpoint_and_a_killed_one_counts_as_killed(outcome):
    table = JobTable.of(submit=[0, 0], run=[18, 40], procs=[4, 4], request=[30, 50])
    policy = RecordingPolicy()
    run(table, policy, prepare=lambda shares: shares.outcomes.update({1: outcome}))
    ends = [(each.ended, each.killed) for each in policy.checkpoints if each.ended]
    assert ends == ([] if outcome is JobEnding.CUT else [(True, outcome is JobEnding.KILLED)])
    if ends:
        # Until it ended, not until its last reading.
        assert policy.checkpoints[-1].after.elapsed == 18.0


def test_a_guest_on_other_cores_than_its_host_is_separated():
    table = JobTable.of(submit=[0, 0], run=[20, 20], procs=[4, 2], request=[30, 30])
    done, shares, _ = run(table, static(), prepare=lambda shares: shares.strangers.add(2))
    assert shares.seen == [(), (Pair(1, 2, 50),), ()]
    assert done.end.tolist() == [20.0, 25.0]


def test_a_guest_s_time_limit_allows_for_its_reduced_pace():
    table = JobTable.of(submit=[0, 0], run=[20, 40], procs=[4, 4], request=[30, 50])
    _, shares, _ = run(table, static())
    # At 15 s it has used 5 of its 50 s, and its host may run for 15 more.
    assert shares.allowed[2] == 15.0 + 45.0 + 15.0


def test_a_suspended_job_ends_later_and_has_used_less_of_its_request():
    book = BatchBook(4)
    book.take(Holds(7, 10.0, 2, 60.0))
    assert not book.take(Delayed(7, 30.0, 8.0))
    assert not book.take(Delayed(8, 30.0, 8.0))
    assert book.view(30.0).running.expected_end.tolist() == [78.0]
    assert (book.ran(7, 30.0), book.paused(7)) == (12.0, 8.0)


def pair():
    book = ShareBook()
    book.started(Candidate(1, "any", 4, 0.0, 60.0), at=0.0, memory=8e9)
    book.read({1: Reading(10.0, 10.0, 0.0, 1, True, 10.0, 90.0)})
    view = book.view(10.0, [Candidate(2, "any", 4, 0.0, 60.0)])
    book.carry_out(view, Sharing((Share(1, 2, 30, "host idles"),)))
    return book


def readings(at, done):
    return {job: Reading(at, 10.0 + at, 0.0, 1, True, done, 90.0 - done) for job in (1, 2)}


@pytest.mark.parametrize("suspended", [1, 2])
def test_nothing_is_learned_from_an_interval_with_a_suspension(suspended):
    book = pair()
    before = book.elapsed(suspended, 20.0)
    book.paused(suspended, 6.0)
    assert before - book.elapsed(suspended, 20.0) == pytest.approx(6.0 * (1.0 if suspended == 1 else 0.3))
    book.read(readings(20.0, 14.0))
    assert book.checkpoints() == []
    # The next interval is measured again.
    book.read(readings(30.0, 24.0))
    assert [each.after.rate for each in book.checkpoints()] == [1.0]


def test_a_job_that_ran_before_the_driver_is_measured_from_then_on():
    book = ShareBook()
    known = Reading(100.0, 40.0, 0.0, 1, True, 50.0, 50.0, 0.0)
    book.started(Candidate(1, "any", 4, 0.0, 600.0), 100.0, 8e9, 90.0, known)
    book.read({1: Reading(110.0, 50.0, 0.0, 1, True, 55.0, 45.0, 0.0)})
    (host,) = book.view(110.0, []).running
    assert (host.cpu, host.rate, host.elapsed) == (25.0, 0.5, 100.0)


def test_a_host_that_ends_between_checkpoints_is_reported_by_its_last_reading():
    book = pair()
    # Its cgroups are gone: its CPU use is unknown, but its tasks are in its file.
    last = Reading(14.0, math.nan, 0.0, 1, True, 12.0, 0.0, math.nan)
    book.ended(1, {1: last, 2: readings(16.0, 1.0)[2]}, 16.0)
    (checkpoints,) = book.checkpoints()
    assert (checkpoints.ended, checkpoints.after.rate, checkpoints.after.elapsed) == (True, 0.5, 16.0)


def test_checkpoints_continue_after_the_clock_was_set_back():
    """By an hour: without this there would be none until the clock has caught up."""
    book = SimpleNamespace(
        waiting=1,
        running=list,
        queue=list,
        columns=lambda rows: ([], np.zeros(0)),
        free=0,
        owed=0,
        width=lambda job: 0,
    )
    backend = SimpleNamespace(readings=lambda jobs, now: {}, set_quotas=lambda pairs: None)
    shares = Shares(book, backend, SimpleNamespace(name="any"), every=5.0)

    def checkpoints(begin):
        return sum(shares.due(begin + 0.25 * step) is not None for step in range(240))

    begin = 1.8e9
    assert checkpoints(begin) == 12
    assert checkpoints(begin - 3600.0) == 12
    assert shares.wakes() <= begin - 3600.0 + 65.0
