"""The policy `pairs` against a plain one: loops over hosts and quotas, and batch ridge regression over all rows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.share.cases import CLASSES, candidate, host
from windlass.share import Candidate, Checkpoint, Guest, ShareView
from windlass.share.lib.effects import Effects
from windlass.share.lib.features import Hosts, guest_features, host_features
from windlass.share.lib.largest import Belief
from windlass.share.lib.regress import BayesianLine
from windlass.share.policies.pairs import Pairs

ACTIONS = (10, 20, 30, 40, 50, 60, 70, 80, 90)


def host_row(one, guest, quota):
    """Features of a host's slowdown: the time that it lacks, and the guest's presence in four forms."""
    given, own = quota / 100, one.cpu / 100
    wants = 1.0 if math.isnan(guest.cpu) else guest.cpu / 100
    there = min(wants, given)
    stage = {None: 0.5, True: 1.0, False: 0.0}[one.parallel]
    lacks = max(1.0, own / (1 - given)) - 1
    return np.array([lacks, there, own * there, one.memory_used / 100 * there, stage * there])


def guest_row(one, guest, quota):
    """Features of a guest's speed: its part of the time it wants, and the host's presence in two forms."""
    given, wants = quota / 100, 1.0 if math.isnan(guest.cpu) else guest.cpu / 100
    part = min(1.0, given / max(wants, 1e-9))
    there = min(one.cpu / 100, 1 - given)
    return np.array([part, there * part, wants * there * part])


class PlainLine:
    """Rows and values; the weights that fit them and a prior best, and their uncertainty."""

    def __init__(self, size):
        self.mean = np.eye(size)[0]
        self.spread = np.array([0.2, 0.3, 0.3, 0.3, 0.3][:size])
        self.rows, self.values = [], []

    def at(self, row):
        design = np.array([*(each / 0.25 for each in self.rows), *np.diag(1 / self.spread)])
        values = np.array([*(each / 0.25 for each in self.values), *(self.mean / self.spread)])
        weights = np.linalg.lstsq(design, values, rcond=None)[0]
        return row @ weights, math.sqrt(row @ np.linalg.inv(design.T @ design) @ row)


class PlainPairs:
    """The documented policy in plain Python."""

    def __init__(self, budget=10.0, worth=30.0, care=2.0, probe=20):
        self.budget, self.worth, self.care, self.probe = budget / 100, worth / 100, care, probe
        self.slower, self.faster, self.pairs, self.refused = PlainLine(5), PlainLine(3), {}, 0

    def slope(self, one, guest):
        seen = self.pairs.get((one.job_class, guest.job_class), [])
        squares = sum(there * there for there, _ in seen)
        return sum(there * missed for there, missed in seen) / (squares + (0.05 / 0.3) ** 2)

    def slack(self, one):
        rate = one.rate if math.isnan(one.rate_alone) else one.rate_alone
        if math.isnan(rate) or math.isnan(one.tasks_left) or one.tasks_left == 0:
            return math.inf
        return max(0.0, one.walltime - one.elapsed) * rate / one.tasks_left

    def good(self, one, guest, quota, starts):
        row = host_row(one, guest, quota)
        slower, unsure = self.slower.at(row)
        slower += self.slope(one, guest) * row[1]
        faster, _ = self.faster.at(guest_row(one, guest, quota))
        worst = slower + self.care * unsure
        found = worst <= self.budget and (1 + worst) * 1.1 <= self.slack(one) and faster >= 0
        if starts:
            wants = 1.0 if math.isnan(guest.cpu) else guest.cpu / 100
            won = min(1.0, max(0.0, faster)) * wants * guest.cores
            lost = (1 - 1 / (1 + max(slower, 0.0))) * one.cpu / 100 * one.cores
            found = found and faster >= self.worth and won > lost
        return found

    def largest(self, one, guest, actions, starts):
        return max((quota for quota in actions if self.good(one, guest, quota, starts)), default=0)

    def starts(self, one, guest):
        if math.isnan(one.rate_alone) and not math.isnan(one.tasks_left):
            return 0
        if found := self.largest(one, guest, ACTIONS, True):
            return found
        if host_row(one, guest, 10)[0] > self.budget:
            return 0
        self.refused += 1
        return 10 if self.refused % self.probe == 0 else 0

    def again(self, one, guest):
        """Return the pair's next quota; None if it is unchanged."""
        slowed = self.slowed(one)
        hurt = guest.quota > 0 and slowed > self.budget
        ceiling = guest.quota - 1 if hurt else int(guest.note[0]) if guest.note else 90
        allowed = [quota for quota in ACTIONS if quota <= ceiling]
        found = self.largest(one, guest.job, allowed, False) if allowed else 0
        if not found and not hurt and guest.quota > 0 and not math.isnan(slowed):
            return None
        return 10 if not found and guest.quota > 10 and allowed else found

    @staticmethod
    def slowed(one):
        if math.isnan(one.rate_alone) or math.isnan(one.rate):
            return math.nan
        return one.rate_alone / one.rate - 1 if one.rate else math.inf

    def observed(self, before, after, guest):
        if guest.quota == 0:
            return
        if not math.isnan(slowed := self.slowed(after)):
            row, slowed = host_row(before, guest.job, guest.quota), min(slowed, 3.0)
            missed = slowed - self.slower.at(row)[0]
            self.pairs.setdefault((before.job_class, guest.job.job_class), []).append((row[1], missed))
            self.slower.rows.append(row)
            self.slower.values.append(slowed)
        if not math.isnan(guest.progress):
            self.faster.rows.append(guest_row(before, guest.job, guest.quota))
            self.faster.values.append(min(guest.progress / 100, 4.0))


def drawn_host(rng, job, **changed):
    known = {
        "job_class": str(rng.choice(CLASSES)), "cores": int(rng.integers(1, 9)), "cpu": rng.uniform(0, 100),
        "memory_used": rng.uniform(0, 60), "parallel": [None, False, True][rng.integers(3)],
        "tasks_left": float(rng.choice([math.nan, 0.0, 60.0, 145.0])), "rate": rng.uniform(0.03, 0.06),
        "rate_alone": float(rng.choice([0.05, 0.05, math.nan])), "elapsed": rng.uniform(0, 900),
    }  # fmt: skip
    return host(job, **{**known, **changed})


def drawn_guest(rng, job, **changed):
    cpu = float(rng.choice([math.nan, rng.uniform(1, 100)]))
    known = {"job_class": str(rng.choice(CLASSES)), "cores": int(rng.integers(1, 9)), "cpu": cpu}
    return candidate(job, **{**known, **changed})


def train(rng, policies, times):
    for _ in range(times):
        quota, before = int(rng.choice([0, *ACTIONS])), drawn_host(rng, 1)
        progress = float(rng.choice([math.nan, rng.uniform(0, 150), 900.0]))
        guest = Guest(drawn_guest(rng, 2), quota, progress)
        slowed = float(rng.choice([rng.uniform(-0.1, 0.3), 8.0], p=[0.9, 0.1]))
        after = replace(
            before, rate=float(rng.choice([0.05 / (1 + slowed), math.nan])), rate_alone=before.rate_alone
        )
        policies[0].observed(Checkpoint(before, after, guest))
        policies[1].observed(before, after, guest)


PARAMETERS = [
    {},
    {"budget": 25.0, "worth": 5.0, "care": 0.5, "probe": 3},
    {"budget": 40.0, "worth": 0.0, "care": 1.0, "probe": 2},
    {"care": 0.0, "probe": 1},
]


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("seed", range(3))
def test_quotas_of_new_guests_equal_those_of_a_plain_policy(parameters, seed):
    rng = np.random.default_rng(seed)
    ours, plain = Pairs(**parameters), PlainPairs(**parameters)
    found = []
    for _ in range(25):
        train(rng, (ours, plain), int(rng.integers(0, 4)))
        one, guest = drawn_host(rng, 1), drawn_guest(rng, 2)
        shares = ours.decide(ShareView(0.0, (one,), (guest,))).shares
        wanted = plain.starts(one, guest) if one.fits(guest) else 0
        assert [share.quota for share in shares] == ([wanted] if wanted else [])
        found.append(wanted)
    assert len(set(found)) > 1 or not parameters


@pytest.mark.matrix
@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("seed", range(3))
def test_quotas_of_existing_pairs_equal_those_of_a_plain_policy(parameters, seed):
    rng = np.random.default_rng(seed)
    ours, plain = Pairs(**parameters), PlainPairs(**parameters)
    found = []
    for _ in range(25):
        train(rng, (ours, plain), int(rng.integers(0, 4)))
        quota = int(rng.choice([0, 10, 10, 20, 50]))
        note = ((float(rng.choice([9.0, 10.0, 40.0, 90.0])),), ())[rng.integers(2)]
        rates = {"rate": float(rng.choice([0.0, 0.04, 0.0457, 0.05, math.nan]))}
        one = drawn_host(rng, 1, guest=Guest(drawn_guest(rng, 2, cores=1), quota, note=note), **rates)
        shares = ours.decide(ShareView(0.0, (one,), ())).shares
        wanted = plain.again(one, one.guest)
        assert [share.quota for share in shares] == ([] if wanted is None else [wanted])
        found.append(wanted)
    assert len(set(found)) > 1


def test_guests_of_a_class_are_distinguished_by_use_and_cores():
    # Each is evaluated on its own host, and equal guests are evaluated once.
    policy = Pairs(budget=50.0, worth=0.0, care=0.0, probe=10**9)
    hosts = tuple(host(job, cpu=95.0, cores=8) for job in range(6))
    waits = [
        candidate(10, cores=1, cpu=50.0),
        candidate(11, cores=8, cpu=50.0),
        candidate(12, cores=8, cpu=1.0),
        candidate(13, cores=8, cpu=50.0, job_class="statistics"),
    ]
    policy.effects.take("montage", "statistics", 1.0, 3.0)
    together = {
        share.guest: share.quota for share in policy.decide(ShareView(0.0, hosts, tuple(waits))).shares
    }
    alone = {
        share.guest: share.quota
        for each in waits
        for share in policy.decide(ShareView(0.0, hosts, (each,))).shares
    }
    assert together == alone
    assert set(alone) == {11}


def test_the_choice_weighs_a_guest_s_actual_use():
    # By hand: at 50 % the host, which uses all of its 8 cores, is slowed by 1, and loses half of 8 busy cores.
    only_time = BayesianLine.prior(np.eye(5)[0], np.full(5, 1e-6), 0.25).solved()
    speed = BayesianLine.prior(np.eye(3)[0], np.full(3, 1e-6), 0.25).solved()
    belief = Belief(only_time, speed, Effects(), care=0.0, budget=2.0)
    one = Hosts.of([host(cpu=100.0, cores=8, tasks_left=0.0)])
    for cpu, cores, good in ((50.0, 8, False), (50.0, 9, True), (20.0, 19, False), (20.0, 21, True)):
        guest = Candidate(2, "blast", cores, 0.0, 60.0, cpu=cpu)
        assert belief.largest(one, guest, (50,), worth=0.0).good.tolist() == [[good]]


def test_a_guest_s_estimated_use_is_at_most_its_use_alone():
    # By hand: a guest that is believed to run at twice its speed keeps as many cores busy as at its speed.
    only_time = BayesianLine.prior(np.eye(5)[0], np.full(5, 1e-6), 0.25).solved()
    one = Hosts.of([host(cpu=100.0, cores=8, tasks_left=0.0)])
    for speed in (1.0, 1.5, 2.0, 9.0):
        line = BayesianLine.prior(speed * np.eye(3)[0], np.full(3, 1e-6), 0.25).solved()
        belief = Belief(only_time, line, Effects(), care=0.0, budget=2.0)
        for cores, good in ((8, False), (9, True)):
            guest = Candidate(2, "blast", cores, 0.0, 60.0, cpu=50.0)
            found = belief.largest(one, guest, (50,), worth=0.0)
            assert found.good.tolist() == [[good]]
            assert found.faster == pytest.approx(np.array([[speed]]))


@pytest.mark.parametrize("seed", range(5))
def test_features_equal_those_of_plain_rows(seed):
    rng = np.random.default_rng(seed)
    hosts, guest = [drawn_host(rng, job) for job in range(3)], drawn_guest(rng, 9)
    quotas = np.array([10, 30, 90])
    for found, row in ((host_features, host_row), (guest_features, guest_row)):
        wanted = [[row(one, guest, quota) for quota in quotas.tolist()] for one in hosts]
        assert found(Hosts.of(hosts), guest, quotas) == pytest.approx(np.array(wanted))


@pytest.mark.parametrize(
    ("changed", "back"),
    [
        # The host needs 80 more tasks at 0.05 tasks/s alone: 1600 s.
        ({}, False),
        ({"elapsed": 1599.0}, True),
        ({"elapsed": 1600.0}, False),
        ({"elapsed": 1599.0, "restarts": False}, False),
        # Where its rate alone is unknown or zero, it needs its remaining walltime: 3000 s.
        ({"elapsed": 2999.0, "rate_alone": math.nan}, True),
        ({"elapsed": 3000.0, "rate_alone": math.nan}, False),
        ({"elapsed": 2999.0, "rate_alone": 0.0}, True),
        ({"elapsed": 0.0, "rate_alone": math.nan, "over": 9000.0}, False),
    ],
)
def test_a_stopped_guest_is_requeued_if_that_loses_less_than_waiting(changed, back):
    restarts, over = changed.get("restarts", True), changed.get("over", 600.0)
    guest = Guest(candidate(2, restarts=restarts), 10, note=(90.0,), elapsed=changed.get("elapsed", 5000.0))
    one = host(cpu=100.0, rate=0.01, rate_alone=changed.get("rate_alone", 0.05), guest=guest, elapsed=over)
    policy = Pairs()
    if math.isnan(one.rate_alone) or one.rate_alone == 0.0:
        # Its slowdown is not measured: the quota is rejected by the estimate.
        one = replace(one, guest=replace(guest, quota=0))
    answer = policy.decide(ShareView(0.0, (one,), ()))
    assert [(each.guest, [share.quota for share in answer.shares]) for each in answer.back] == (
        [(2, [])] if back else []
    )
    if not back:
        assert [share.quota for share in answer.shares] == [0]
