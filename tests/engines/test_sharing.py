"""Sharing on a batch system, in virtual time: two jobs on one allocation, and books that agree with the system."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.fake_batch import FakeBatch
from windlass.drive import drive
from windlass.engines.batch.engine import LiveSite
from windlass.engines.batch.sharing import Shares
from windlass.engines.batch.sharing_backend import JobEnding, Pair
from windlass.model import InputError, JobTable
from windlass.order.site.policies.easy import Easy
from windlass.share import POLICIES
from windlass.share.allocation import Candidate
from windlass.share.usage import Reading
from windlass.share.view import Back, Share, Sharing


class FakeShares:
    """Guests run on their hosts' processors at full speed; half of each job's cores is idle."""

    def __init__(self, batch, table, unwilling=(), refuses=(), restarts=False):
        self.batch, self.unwilling, self.refuses, self.restarts = (
            batch,
            set(unwilling),
            set(refuses),
            restarts,
        )
        self.candidates = {
            job: Candidate(job, "any", procs, 0.0, request, restarts=restarts)
            for job, procs, request in zip(
                table.job.tolist(), table.procs.tolist(), table.request.tolist(), strict=True
            )
        }
        self.begun, self.pairs, self.seen, self.closed, self.guests = {}, (), [], 0, {}
        self.outcomes, self.strangers, self.allowed, self.backs = {}, set(), {}, []
        batch.used = self.used

    def used(self):
        """Processors in use: a guest uses those of its host while that runs."""
        batch = self.batch
        going = {job: batch.jobs[job][2] for job in (*batch.released, *batch.running) if job in batch.jobs}
        lent = {guest for guest, host in self.guests.items() if host in going}
        return sum(procs for job, procs in going.items() if job not in lent)

    def candidate(self, job):
        return None if job in self.unwilling else self.candidates.get(job)

    def memory(self, job):
        return 1e9

    def readings(self, jobs, now):
        found = {}
        for job in jobs:
            if job in self.batch.running:
                since = now - self.begun.setdefault(job, now)
                cores = self.candidates[job].cores
                found[job] = Reading(now, 0.5 * cores * since, 0.0, 1, True, since, math.nan, 0.0)
        return found

    def last_reading(self, job, before):
        return before

    def outcome(self, job):
        return self.outcomes.get(job, JobEnding.DONE)

    def together(self, host, guest):
        return guest not in self.strangers

    def allow(self, job, seconds):
        self.allowed[job] = self.batch.time + seconds

    def take_in(self, pair, longest, until):
        host, guest = pair.host, pair.guest
        if guest in self.refuses:
            return "it is refused"
        assert longest >= self.candidates[guest].request
        self.guests[guest] = host
        cores, self.batch.capacity = self.batch.capacity, math.inf
        refusal = self.batch.start([guest]).get(guest, "")
        self.batch.capacity = cores
        return refusal

    def requeue(self, job, why):
        self.backs.append((self.batch.time, job, why))
        self.guests.pop(job, None)
        self.begun.pop(job, None)
        self.batch.pending += self.batch.requeue(job)
        return ""

    def set_quotas(self, pairs):
        self.pairs = tuple(pairs)
        if not self.seen or self.seen[-1] != self.pairs:
            self.seen.append(self.pairs)

    def close(self):
        self.closed += 1
        self.pairs = ()


def table_of(rows):
    submit, run, procs, request = zip(*sorted(rows), strict=True)
    return JobTable.of(submit, run, procs, request)


def run(table, processors, policy, *, every=5.0, latency=0.0, **options):
    batch = FakeBatch(table, processors, latency=latency)
    shares = FakeShares(batch, table, **options)
    site = LiveSite(batch, side_decision=lambda book: Shares(book, shares, policy, every=every))
    return drive(site, {"order": Easy(), "share": policy}), shares


def static():
    return POLICIES.make("static", np.random.default_rng(1))


def test_a_guest_starts_with_its_host_and_continues_after_its_end():
    table = JobTable.of(submit=[0, 0, 0], run=[20, 40, 5], procs=[4, 2, 4], request=[30, 50, 9])
    done, shares = run(table, 4, static())
    # The guest has two of the four processors at 20 s; the third job needs all of them.
    assert done.start.tolist() == [0.0, 5.0, 45.0]
    assert done.end.tolist() == [20.0, 45.0, 50.0]
    assert shares.seen == [(), (Pair(1, 2, 50),), ()]
    assert shares.closed == 1
    assert done.reasons[done.why[1]] == "shares an allocation: static"


def test_unwilling_jobs_do_not_share():
    table = JobTable.of(submit=[0, 0], run=[20, 20], procs=[4, 4], request=[30, 30])
    for unwilling in ({1}, {2}):
        done, shares = run(table, 4, static(), unwilling=unwilling)
        assert done.start.tolist() == [0.0, 20.0]
        assert set(shares.seen) <= {()}


def test_a_guest_that_the_system_rejects_keeps_waiting():
    table = JobTable.of(submit=[0, 0], run=[20, 20], procs=[4, 4], request=[30, 30])
    done, shares = run(table, 4, static(), refuses={2})
    assert done.start.tolist() == [0.0, 20.0]
    assert set(shares.seen) <= {()}


class Fickle:
    """A policy that makes a job a guest, and requeues it at the next checkpoint."""

    name = "fickle"

    def __init__(self):
        self.times = 0

    def decide(self, view):
        for host in view.running:
            if host.guest is not None:
                return Sharing((), (Back(host.guest.job.job, "changed its mind"),))
            if view.waiting and self.times == 0:
                self.times += 1
                return Sharing((Share(host.job, view.waiting[0].job, 30, "tries"),))
        return Sharing()


def test_a_requeued_guest_starts_again():
    table = JobTable.of(submit=[0, 0], run=[20, 20], procs=[4, 4], request=[30, 30])
    done, shares = run(table, 4, Fickle(), restarts=True)
    assert done.start.tolist() == [0.0, 20.0]
    assert shares.seen == [(), (Pair(1, 2, 30),), ()]


def test_pairs_of_an_earlier_driver_continue():
    table = JobTable.of(submit=[0, 0, 0], run=[20, 20, 5], procs=[4, 4, 4], request=[30, 30, 9])
    batch = FakeBatch(table, 4)
    shares = FakeShares(batch, table)
    batch.pending = batch.poll(0.0)
    batch.start([1])
    shares.take_in(Pair(1, 2, 70), 99.0, 99.0)
    left = (Pair(1, 2, 70), Pair(8, 9, 10))
    site = LiveSite(batch, side_decision=lambda book: Shares(book, shares, static(), every=5.0, left=left))
    done = drive(site, {"order": Easy(), "share": static()})
    assert Pair(1, 2, 70) in {pair for pairs in shares.seen for pair in pairs}
    assert done.end.tolist() == [20.0, 20.0, 25.0]


def test_a_checkpoint_interval_of_zero_is_rejected():
    table = JobTable.of(submit=[0], run=[1], procs=[1])
    with pytest.raises(InputError, match="every is 0"):
        LiveSite(FakeBatch(table, 1), side_decision=lambda book: Shares(book, None, static(), every=0.0))


jobs = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 60), st.integers(1, 8), st.integers(0, 40)).map(
        lambda job: (float(job[0]), float(job[1]), job[2], float(job[1] + job[3]))
    ),
    min_size=1,
    max_size=14,
)


@pytest.mark.matrix(0)
@settings(max_examples=60, deadline=None)
@given(jobs, st.sampled_from(["static", "always", "asax", "pairs"]), st.sampled_from([0.0, 1.0]))
def test_all_jobs_end_once_and_processors_are_never_held_twice(rows, name, latency):
    table = table_of(rows)
    policy = POLICIES.make(name, np.random.default_rng(3))
    # The fake rejects a start that does not fit, by its own count of used processors.
    done, shares = run(table, 8, policy, latency=latency, restarts=True)
    assert np.isfinite(done.end).all()
    assert shares.pairs == ()
    for pairs in shares.seen:
        named = [job for pair in pairs for job in (pair.host, pair.guest)]
        assert len(named) == len(set(named))


@settings(max_examples=30, deadline=None)
@given(jobs)
def test_without_willing_jobs_the_schedule_is_that_without_sharing(rows):
    table = table_of(rows)
    done, _ = run(table, 8, static(), unwilling=set(table.job.tolist()))
    plain = drive(LiveSite(FakeBatch(table, 8)), {"order": Easy()})
    assert done.start.tolist() == plain.start.tolist()


class Piecemeal(FakeBatch):
    """A system that returns one event per poll."""

    kept = ()

    def poll(self, timeout):
        events = self.kept or super().poll(timeout)
        self.kept = events[1:]
        return events[:1]


@pytest.mark.parametrize("kind", [FakeBatch, Piecemeal])
def test_a_preview_of_sharing_watches_jobs_first_and_changes_nothing(kind):
    table = JobTable.of(submit=[0, 10, 10], run=[40, 20, 5], procs=[4, 4, 1], request=[50, 30, 9])
    batch = kind(table, 4)
    batch.pending = batch.poll(0.0)
    batch.start([1])
    shares = FakeShares(batch, table)
    site = LiveSite(batch, side_decision=lambda book: Shares(book, shares, static(), every=5.0))
    view, answer = site.preview_sharing(static(), 10.0)
    # The policy sees all jobs that have arrived by the end of that time.
    assert (view.now, [each.job for each in view.waiting]) == (10.0, [2, 3])
    assert [(host.job, host.cpu) for host in view.running] == [(1, 50.0)]
    assert [(share.host, share.guest, share.quota) for share in answer.shares] == [(1, 2, 50)]
    assert (batch.starts, shares.pairs, batch.time) == ([(0.0, (1,))], (), 10.0)


def test_without_waiting_jobs_there_is_no_preview_of_sharing():
    table = JobTable.of(submit=[0], run=[40], procs=[4], request=[50])
    batch = FakeBatch(table, 4)
    batch.pending = batch.poll(0.0)
    batch.start([1])
    site = LiveSite(
        batch, side_decision=lambda book: Shares(book, FakeShares(batch, table), static(), every=5.0)
    )
    assert site.preview_sharing(static(), 10.0) is None


def test_jobs_behind_a_head_that_became_a_guest_may_start_at_once():
    class TakesThree:
        name = "takes three"

        def decide(self, view):
            hosts = [host.job for host in view.running if host.guest is None]
            waits = [each.job for each in view.waiting]
            return Sharing((Share(1, 3, 50, "idle"),) if 1 in hosts and 3 in waits else ())

    # Job 3 waits for job 2, which ends at 50 s, and job 4 would take one of its two processors.
    table = JobTable.of(
        submit=[0, 0, 0, 1], run=[90, 50, 5, 900], procs=[4, 1, 2, 1], request=[90, 50, 5, 900]
    )
    done, _ = run(table, 6, TakesThree(), every=4.0)
    assert done.start.tolist() == [0.0, 0.0, 4.0, 4.0]
