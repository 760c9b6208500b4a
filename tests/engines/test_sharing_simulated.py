"""Sharing on a batch system without delays equals the simulator, view by view."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.engines.fake_batch import FakeBatch
from tests.engines.test_sharing import FakeShares
from tests.oracles.workloads import CHECK
from tests.sim.sharing import allowed
from windlass.drive import drive
from windlass.engines.batch.engine import LiveSite
from windlass.engines.batch.sharing import Shares
from windlass.model import JobTable
from windlass.model.use import JobUse, UseStage
from windlass.order.site.policies.easy import Easy
from windlass.order.site.policies.fcfs import Fcfs
from windlass.share import Share, Sharing, Speeds
from windlass.share.view import Back
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.shares.course import JobStages
from windlass.sim.shares.part import SharesPart
from windlass.sim.site.rated import RatedSite

CLASSES = ("montage", "blast")
#: Each example runs two engines: shrinking a failing one takes minutes.
SOME = settings(CHECK, max_examples=12, phases=[Phase.generate])


def plain(found):
    """Return the content of a view or a checkpoint, rounded."""
    if is_dataclass(found):
        return tuple((each.name, plain(getattr(found, each.name))) for each in fields(found))
    if isinstance(found, tuple):
        return tuple(map(plain, found))
    return repr(round(found, 6)) if isinstance(found, float) else found


class Draws:
    """A policy with random quotas, guests and requeues that records its views and checkpoints."""

    name = "draws"

    def __init__(self, seed, quotas=(0, 50), leaves=0.1):
        self.rng, self.quotas, self.leaves = np.random.default_rng(seed), quotas, leaves
        self.views, self.checkpoints, self.answers = [], [], []

    def decide(self, view):
        rng, made, back = self.rng, [], []
        hosts = sorted(view.running, key=lambda host: host.job)
        self.views.append(plain(replace(view, running=tuple(hosts))))
        for host in hosts:
            if host.guest is not None:
                if rng.random() < self.leaves:
                    back.append(Back(host.guest.job.job, "drawn"))
                elif rng.random() < 0.5:
                    quota = int(rng.choice(self.quotas))
                    made.append(Share(host.job, host.guest.job.job, quota, "drawn", (float(quota),)))
            elif rng.random() < 0.8:
                for job in view.waiting:
                    quota = int(rng.choice(self.quotas[1:]))
                    more = [*made, Share(host.job, job.job, quota, "drawn", (1.0,))]
                    if allowed(view, more):
                        made = more
                        break
        self.answers.append(Sharing(tuple(made), tuple(back)))
        return self.answers[-1]

    def observed(self, checkpoint):
        host, guest = checkpoint.after, checkpoint.guest
        known = (checkpoint.before.elapsed, host.elapsed, host.cpu, host.rate, host.rate_alone, host.waited)
        names = (host.job, guest.job.job, guest.quota, guest.note, checkpoint.ended, checkpoint.killed)
        self.checkpoints.append((len(self.views), *names, plain(known)))


class Alike(FakeShares):
    """Jobs with the simulator's use, which can be read until they have ended."""

    def __init__(self, batch, case):
        super().__init__(batch, case.jobs, restarts=True)
        self.case, self.row_of = case, {job: row for row, job in enumerate(case.jobs.job.tolist())}
        self.met = set()
        self.candidates = {
            job: replace(
                each,
                job_class=case.use.job_class[self.row_of[job]],
                memory=float(case.use.memory[self.row_of[job]]),
            )
            for job, each in self.candidates.items()
        }

    def memory(self, job):
        return self.candidates[job].memory

    def _read(self, job, now):
        row, stood = self.row_of[job], self.batch.stood(job)
        course = JobStages(self.case.use, row, self.candidates[job].cores, 0.0, np.random.default_rng(0))
        return course.read(now - self.batch.began[job] - stood, now, stood)

    def readings(self, jobs, now):
        found = {}
        for job in jobs:
            began = self.batch.began.get(job)
            there = job in self.batch.running or self.batch.ended.get(job) == now
            if there and (now > began or (job, began) in self.met):
                found[job] = self._read(job, now)
            # At the start of a job, when it is first seen, the simulator has no reading of it.
            self.met.add((job, began))
        return found

    def requeue(self, job, why):
        refusal = super().requeue(job, why)
        # It waits behind the jobs submitted at this time.
        *others, back = self.batch.pending
        self.batch.pending = [*others, replace(back, at=back.at + 1e-9 * len(self.backs))]
        return refusal

    def last_reading(self, job, before):
        return self._read(job, self.batch.time)

    def set_quotas(self, pairs):
        super().set_quotas(pairs)
        stopped = {pair.guest for pair in pairs if pair.quota == 0}
        for job in self.row_of:
            (self.batch.stop if job in stopped else self.batch.go_on)(job)


class Case(NamedTuple):
    """Jobs, their use, processors of the site, and seconds between checkpoints."""

    jobs: JobTable
    use: JobUse
    processors: int
    every: float


@st.composite
def cases(draw, slacks=(0.0, 3.0, 40.0)):
    """Up to twelve jobs in whole seconds; ``slacks``: differences of request and run time (s)."""
    count, processors = draw(st.integers(1, 12)), draw(st.sampled_from([2, 4, 7]))
    percents = st.sampled_from([0.0, 10.0, 50.0, 90.0])
    stage = st.builds(UseStage, st.sampled_from([1.0, 3.0, 8.0, 20.0]), percents)
    stages = draw(st.lists(st.lists(stage, min_size=1, max_size=2), min_size=count, max_size=count))
    memory = draw(st.lists(st.sampled_from([0.0, 1e9, 4e9]), min_size=count, max_size=count))
    classes = draw(st.lists(st.sampled_from(CLASSES), min_size=count, max_size=count))
    use = JobUse.of(classes, memory, stages)
    slack = draw(st.lists(st.sampled_from(slacks), min_size=count, max_size=count))
    submit = np.cumsum(draw(st.lists(st.integers(0, 6), min_size=count, max_size=count)))
    procs = draw(st.lists(st.integers(1, processors), min_size=count, max_size=count))
    request = np.maximum(use.run() + np.array(slack), 1.0)
    jobs = JobTable.of(submit, use.run(), procs, request, job=900 - np.arange(count))
    return Case(jobs, use, processors, draw(st.sampled_from([1.0, 2.5, 7.0])))


def simulated(case, order, sharer):
    ledger = Ledger([[case.processors]], parts=1)
    site = RatedSite(case.jobs, order, ledger)

    def whole(host, guest, own, other, quota):
        return Speeds(1.0, 1.0)

    part = SharesPart(
        site,
        case.jobs,
        case.use,
        sharer,
        whole,
        ledger,
        np.random.default_rng(0),
        every=case.every,
        noise=0.0,
    )
    return drive(Coupled([site, part], ledger), {"order": order, "share": sharer})[0]


def live(case, order, sharer):
    batch = FakeBatch(case.jobs, case.processors)
    shares = Alike(batch, case)
    site = LiveSite(batch, side_decision=lambda book: Shares(book, shares, sharer, every=case.every))
    return drive(site, {"order": order, "share": sharer})


def times(jobs, run):
    return dict(zip(jobs.tolist(), zip(run.start.tolist(), run.end.tolist(), strict=True), strict=True))


def same(case, order, seed):
    one, other = Draws(seed), Draws(seed)
    replay, run = simulated(case, order, one), live(case, order, other)
    assert one.views == other.views
    # The simulator does not report pairs that ended after the last decision.
    checkpoints = [
        sorted(each for each in sharer.checkpoints if each[0] < len(one.views)) for sharer in (one, other)
    ]
    assert checkpoints[0] == checkpoints[1]
    assert times(run.job, run) == times(replay.jobs.job, replay)


@SOME
@given(case=cases(slacks=(0.0,)), seed=st.integers(0, 99))
def test_views_answers_and_starts_under_backfilling_equal_the_simulator(case, seed):
    same(case, Easy(), seed)


# If a host ends early, the order is decided before its guest's new expected end is known; FCFS does not need it.
@pytest.mark.matrix(0)
@SOME
@given(case=cases(), seed=st.integers(0, 99))
def test_views_answers_and_starts_with_early_ends_equal_the_simulator(case, seed):
    same(case, Fcfs(), seed)
