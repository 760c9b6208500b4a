"""Users of live jobs: their numbers, their consumption, and the schedules of a replay that knows all from the start."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.fake_batch import FakeBatch
from tests.engines.test_batch import same_schedule
from tests.oracles.workloads import CHECK, cases
from windlass.drive import drive
from windlass.engines.batch.engine import LiveSite
from windlass.engines.batch.owners import LiveOwners, SavedUse, UserUse, live_owners, parse_use
from windlass.engines.batch.system import Ended, Holds, JobOwner, NoMore, Submitted
from windlass.model import InputError, Owners
from windlass.order.site.ownership import placed
from windlass.order.site.policies.limited import Limited
from windlass.order.site.policies.queue import Queue
from windlass.sim import replay

#: Fair share alone: users that a replay knows in advance change the factors of all, and not their order.
SHARES = {"weight_age": 0, "weight_job_size": 0, "half_life": 5.0}
POLICIES = {
    "fair tree": Queue({"multifactor": SHARES}),
    "classic": Queue({"multifactor": {**SHARES, "half_life": math.inf, "fair_tree": False}}, "conservative"),
    "accounts": Queue({"multifactor": {**SHARES, "accounts": True}}),
    "qos": Queue({"multifactor": {**SHARES, "weight_qos": 1e6, "qos": "q0=1 q1=5"}}),
    "jobs": Limited(jobs_per_user=1),
    "processors": Limited({"multifactor": SHARES}, procs_per_user=3),
}
#: User, account and queue of a job; -1 if unknown.
OWNER = st.tuples(st.integers(-1, 3), st.integers(-1, 1), st.integers(-1, 1))


def named(kind, number):
    return f"{kind}{number}" if number >= 0 else ""


@pytest.mark.matrix
@pytest.mark.parametrize("name", POLICIES)
@settings(CHECK, max_examples=25)
@given(case=cases(), draws=st.lists(OWNER, min_size=14, max_size=14))
def test_jobs_of_users_start_as_in_a_replay(case, draws, name):
    jobs, processors = case
    draws = draws[: len(jobs)]
    system = FakeBatch(
        jobs,
        processors,
        owners={
            job: JobOwner(*map(named, "uaq", draw))
            for job, draw in zip(jobs.job.tolist(), draws, strict=True)
        },
    )
    policy = POLICIES[name]
    numbers = np.array(draws, dtype=np.int64).reshape(-1, 3).T
    ready, owners = placed(policy, Owners.of(len(jobs), *numbers), ("q0", "q1"))
    live = LiveOwners(policy)
    run = drive(LiveSite(system, owners=live), {"order": live.order()})
    same_schedule(run, replay(jobs, processors, ready, owners=owners))


class Scripted:
    """A system of one processor with events at given times; a job runs until its end is reported."""

    processors = 1

    def __init__(self, *events):
        self.events, self.time, self.started = sorted(events, key=lambda pair: pair[0]), 0.0, []

    def now(self):
        return self.time

    def poll(self, timeout):
        if not self.events or (timeout == 0.0 and self.events[0][0] > self.time):
            self.time += timeout
            return []
        self.time = max(self.time, self.events[0][0])
        found = [event for at, event in self.events if at <= self.time]
        self.events = [pair for pair in self.events if pair[0] > self.time]
        return found

    def start(self, jobs):
        self.started += jobs
        self.events += [(self.time + 1.0, Ended(job, self.time + 1.0)) for job in jobs]
        return {}

    def describe(self, jobs):
        return ""

    def close(self):
        pass


def test_a_job_from_before_the_driver_counts_since_its_start_and_saved_use_decays():
    policy = Queue({"multifactor": {**SHARES, "half_life": 10.0}})
    # Ann's job has run for 10 s when it is met, of which 4 s were counted by the driver before.
    system = Scripted(
        (20.0, Holds(1, 10.0, 2, 99.0, JobOwner("ann"))), (21.0, Ended(1, 21.0)), (21.0, NoMore())
    )
    saved = SavedUse(14.0, (UserUse("ann", "", 8.0), UserUse("bob", "", 4.0)))
    owners = LiveOwners(policy, saved)
    drive(LiveSite(system, owners=owners), {"order": owners.order()})
    found = {each.user: each.seconds for each in owners.saved().users}

    def decayed(seconds, since, until):
        return seconds * 2.0 ** (-(until - since) / 10.0)

    held = 2.0 * 10.0 / math.log(2.0) * (1.0 - 2.0**-0.7)
    assert found == pytest.approx({"ann": decayed(8.0, 14.0, 21.0) + held, "bob": decayed(4.0, 14.0, 21.0)})
    assert owners.saved().at == 21.0


def test_a_user_with_saved_use_goes_last():
    policy = Queue({"multifactor": SHARES}, "none")
    for heavy, order in (("ann", [2, 1]), ("bob", [1, 2])):
        system = Scripted(
            (0.0, Submitted(1, 0.0, 1, 9.0, JobOwner("ann"))),
            (0.0, Submitted(2, 0.0, 1, 9.0, JobOwner("bob"))),
            (0.0, NoMore()),
        )
        owners = LiveOwners(policy, SavedUse(0.0, (UserUse(heavy, "", 7.0),)))
        drive(LiveSite(system, owners=owners), {"order": owners.order()})
        assert system.started == order


def test_a_policy_that_needs_no_owners_is_not_wrapped():
    policy = Queue("sjf")
    assert LiveOwners().order() is None
    owners = LiveOwners(policy)
    assert owners.order().represents is policy
    assert not owners.counts


def test_what_users_consumed_is_saved_each_minute_and_read_by_the_next_driver():
    policy, texts = Queue({"multifactor": SHARES}), {}
    journal = SimpleNamespace(text=texts.get, save=texts.__setitem__)
    owners = live_owners(policy, journal)
    row = owners.enter(JobOwner("ann", "lab"))
    one = np.array([row]), np.array([2])
    for now, saved in ((100.0, 100.0), (159.0, 100.0), (160.0, 160.0), (161.0, 160.0)):
        owners.count(now, *one)
        assert parse_use(texts["use"]).at == saved
    owners.save()
    again = live_owners(policy, journal)
    assert again.saved() == owners.saved() == parse_use(texts["use"])
    # A clock that was set back goes on.
    again.count(50.0, *one)
    again.count(51.0, *one)
    assert again.saved().at == 51.0
    assert again.saved().users[0].seconds > owners.saved().users[0].seconds * 2 ** (-1.0 / 5.0)


def test_a_clock_that_is_set_back_counts_and_saves_from_there_on():
    kept = []
    owners = LiveOwners(Queue({"multifactor": {**SHARES, "half_life": math.inf}}), keep=kept.append)
    ann, procs = np.array([owners.enter(JobOwner("ann"))]), np.array([2])
    for now in (1000.0, 1010.0, 400.0, 410.0, 461.0):
        owners.count(now, ann, procs)
    assert [each.at for each in kept] == [1000.0, 400.0, 461.0]
    assert owners.used().tolist() == [2 * (10.0 + 10.0 + 51.0)]


def test_a_policy_without_shares_saves_nothing():
    texts = {}
    owners = live_owners(Limited(jobs_per_user=1), SimpleNamespace(text=texts.get, save=texts.__setitem__))
    owners.count(100.0, np.zeros(0, int), np.zeros(0, int))
    owners.save()
    assert texts == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"at": 1, "users": [["a"]]}',
        '{"at": NaN, "users": []}',
        '{"at": 1, "users": [["a", "", -1]]}',
    ],
)
def test_saved_use_that_is_invalid_is_one_clear_line(text):
    with pytest.raises(InputError, match=r"^the journal: not saved use of users: [^\n]+$"):
        parse_use(text)
