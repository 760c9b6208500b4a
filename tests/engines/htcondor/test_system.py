"""The driver of HTCondor against the fake, in virtual time: what it starts, leaves alone and holds."""

import pytest

from tests.adversary.clock import BEGIN, VirtualClock
from tests.engines.htcondor.fake_condor import (
    HELD,
    IDLE,
    OTHER_QUEUE,
    POLICY,
    QUEUE,
    SUBMITTED,
    WINDLASS,
    FakeCondor,
    compiled,
)
from windlass.engines.batch import driver_lock
from windlass.engines.batch.holds.driver import drive_holds, give_back_holds, plan_holds
from windlass.engines.batch.holds.entries import HeldAgain, HoldingAgain, Lifted, Lifting, OperatorHold
from windlass.engines.batch.holds.journal import read_hold_journal
from windlass.engines.batch.holds.settings import HoldDriving, HoldOptions
from windlass.engines.batch.holds.site import SystemAwayError
from windlass.engines.batch.queue_return import QueueReturn
from windlass.engines.batch.status import DriverStatus
from windlass.engines.htcondor.client import CondorClient
from windlass.engines.htcondor.models import MATCH_S
from windlass.engines.htcondor.site import CondorSite
from windlass.model import InputError
from windlass.order.site.policies.easy import Easy
from windlass.order.site.policies.fcfs import Fcfs


class Bench:
    """An HTCondor, and drivers on it."""

    def __init__(self, folder, machines=(4,), latency=0.5, **more):
        self.clock = VirtualClock()
        self.condor, self.lines = FakeCondor(self.clock, machines, latency, **more), []
        self.file, self.status, self.run = folder / "journal", DriverStatus(), self.condor

    def site(self):
        clock = self.clock
        client = CondorClient(
            lambda command, timeout: self.run(command, timeout),
            60.0,
            10.0,
            self.lines.append,
            clock.wait,
            clock.time,
            clock.time,
            self.status.contact,
        )
        return CondorSite(client, QUEUE)

    def driving(self, policy=None, until_idle=True, keep_held=False):
        return HoldDriving({"order": policy or Fcfs()}, self.file, HoldOptions(2.0, until_idle), keep_held)

    def drive(self, policy=None, seconds=None, **more):
        """Drive until no job is left, or until interrupted after `seconds`."""
        if seconds is not None:
            self.clock.at(self.clock.now + seconds, self.interrupt)
        settings = self.driving(policy, seconds is None, **more)
        clock = self.clock
        try:
            return drive_holds(
                self.site(), settings, self.lines.append, self.status, clock=clock.time, sleep=clock.wait
            )
        except KeyboardInterrupt:
            return None

    def interrupt(self):
        raise KeyboardInterrupt

    def give_back(self):
        return give_back_holds(self.site(), self.file, self.lines.append)

    def changes(self, by):
        return [(each.job, each.kind, each.held) for each in self.condor.log if each.by == by]

    def entries(self, *kinds):
        return [each for each in read_hold_journal(self.file) if isinstance(each, kinds)]


@pytest.fixture
def bench(tmp_path, monkeypatch):
    monkeypatch.setattr(driver_lock, "_folder", lambda: tmp_path)
    return Bench(tmp_path)


def test_jobs_start_in_the_policy_s_order_and_each_release_is_journaled_first(bench):
    for run, cpus in ((60.0, 3), (20.0, 4), (10.0, 1)):
        bench.condor.submit(run, cpus, 100.0)
    run = bench.drive(Easy())
    assert bench.condor.ran == ["1.0", "3.0", "2.0"]
    assert len(run.job) == 3
    assert bench.changes("driver") == [(f"{job}.0", "windlass", False) for job in (1, 3, 2)]
    kinds = [(type(each), each.job) for each in bench.entries(Lifting, Lifted) if each.job == "2.0"]
    assert kinds == [(Lifting, "2.0"), (Lifted, "2.0")]


def test_jobs_without_the_attribute_and_of_other_queues_are_left_alone_and_counted(bench):
    bench.condor.submit(30.0, 3, queue=None, hold=False)
    bench.condor.submit(20.0, 1, queue=OTHER_QUEUE, hold=False)
    others = [bench.condor.submit(5.0, 1, queue=queue) for queue in (None, OTHER_QUEUE)]
    bench.condor.submit(5.0, 1)
    bench.clock.wait(1.0)
    bench.drive()
    assert bench.changes("driver") == [("5.0", "windlass", False)]
    released = next(each.at for each in bench.condor.log if each.by == "driver")
    assert BEGIN + 20.0 <= released <= BEGIN + 25.0
    assert {bench.condor.jobs[job].code for job in others} == {SUBMITTED}


def test_a_hold_of_a_user_replaces_that_of_the_submission_and_is_kept(bench):
    job = bench.condor.submit(5.0, 1)
    bench.condor.hold(job)
    bench.clock.at(BEGIN + 30.0, lambda: bench.condor.lift(job))
    bench.drive(seconds=20.0)
    assert bench.condor.jobs[job].status == HELD
    assert bench.give_back() == QueueReturn()
    bench.drive(seconds=40.0)
    assert bench.changes("driver") == bench.changes("give-back") == []
    assert bench.condor.ran == [job]


def test_a_user_s_hold_between_the_list_and_the_release_is_kept(bench):
    job = bench.condor.submit(5.0, 1)

    def held_meanwhile(command, timeout):
        if command[0] == "condor_release":
            bench.condor.hold(job)
        return bench.condor(command, timeout)

    bench.run = held_meanwhile
    bench.drive(seconds=30.0)
    assert bench.changes("driver") == []
    assert (bench.condor.jobs[job].status, bench.condor.kind(bench.condor.jobs[job])) == (HELD, "user")


def test_a_hold_of_the_system_is_neither_lifted_nor_replaced(bench):
    job = bench.condor.submit(60.0, 1)
    bench.clock.at(BEGIN + 10.0, lambda: bench.condor.hold(job, "HTCondor", POLICY, 7))
    bench.drive(seconds=100.0)
    assert bench.changes("driver") == [(job, "windlass", False)]
    assert bench.condor.jobs[job].code == POLICY
    # Its user releases it after a repair: it ran once, so it waits for its turn again.
    bench.condor.latency = 5.0
    bench.condor.lift(job)
    bench.drive(seconds=20.0)
    assert bench.changes("driver") == [
        (job, "windlass", False),
        (job, "windlass", True),
        (job, "windlass", False),
    ]


def test_an_evicted_job_is_held_again_with_the_subcode_and_waits_at_the_end(bench):
    one, other = bench.condor.submit(50.0, 4, 100.0), bench.condor.submit(5.0, 4, 100.0)
    bench.clock.at(BEGIN + 10.0, lambda: bench.condor.evict(one))
    bench.condor.latency = 3.0
    bench.drive(seconds=150.0)
    assert bench.condor.ran == [one, other, one]
    assert bench.changes("driver")[:2] == [(one, "windlass", False), (one, "windlass", True)]
    assert [type(each) for each in bench.entries(HoldingAgain, HeldAgain)] == [HoldingAgain, HeldAgain]
    assert f"job {one} held again: it was requeued" in bench.lines


def test_a_job_that_ran_and_that_its_user_releases_twice_is_left_to_htcondor(bench):
    job = bench.condor.submit(60.0, 4)
    filler = bench.condor.submit(200.0, 4)
    bench.condor.latency = 5.0
    bench.clock.at(BEGIN + 20.0, lambda: bench.condor.hold(job))
    bench.clock.at(BEGIN + 40.0, lambda: bench.condor.lift(job))
    bench.clock.at(BEGIN + 60.0, lambda: bench.condor.lift(job))
    bench.drive(seconds=120.0, keep_held=True)
    assert bench.changes("driver") == [
        (job, "windlass", False),
        (filler, "windlass", False),
        (job, "windlass", True),
    ]
    assert bench.condor.jobs[job].status == IDLE


def test_a_match_that_a_machine_rejects_is_no_requeue(bench):
    job = bench.condor.submit(50.0, 1, 100.0)

    def reject():
        bench.condor.jobs[job].starts = 0
        bench.condor.evict(job)

    bench.condor.latency = 5.0
    bench.clock.at(BEGIN + 10.0, reject)
    bench.drive(seconds=100.0)
    assert bench.changes("driver") == [(job, "windlass", False)]
    assert bench.condor.ran == [job, job]


def test_a_job_that_no_slot_takes_is_set_aside_and_others_go_ahead(bench):
    job = bench.condor.submit(5.0, 4, 100.0, blocked=True)
    other = bench.condor.submit(5.0, 4, 100.0)
    bench.clock.at(BEGIN + MATCH_S + 30.0, lambda: bench.condor.alter(job, blocked=False))
    bench.drive(seconds=MATCH_S + 200.0)
    assert bench.condor.ran == [other, job]
    line = f"job {job} held again: HTCondor cannot start it yet: no slot took it within {MATCH_S:g} s"
    assert bench.lines.count(line) == 1


def test_a_job_that_started_just_before_it_would_be_held_again_runs_on(bench):
    job = bench.condor.submit(100.0, 1, 200.0, blocked=True)

    def starts_meanwhile(command, timeout):
        if command[0] == "condor_hold":
            bench.condor.latency = 0.0
            bench.condor.alter(job, blocked=False)
        return bench.condor(command, timeout)

    bench.run = starts_meanwhile
    bench.drive(seconds=MATCH_S + 400.0)
    assert bench.condor.ran == [job]
    assert bench.changes("driver") == [(job, "windlass", False)]


def test_a_job_that_its_user_gives_back_to_windlass_after_a_release_is_left_alone(bench):
    bench.condor.latency = 5.0
    job = bench.condor.submit(5.0, 1)
    bench.clock.at(BEGIN + 3.0, lambda: bench.condor.hold(job, subcode=WINDLASS))
    bench.drive(seconds=50.0)
    assert bench.changes("driver") == [(job, "windlass", False)]
    assert [each.job for each in bench.entries(OperatorHold)] == [job]
    assert f"job {job}: a user held it after its release; left alone" in bench.lines


def test_a_give_back_releases_what_waits_and_nothing_else(bench):
    ours = [bench.condor.submit(50.0, 4) for _ in range(3)]
    theirs, other = bench.condor.submit(50.0, 4), bench.condor.submit(50.0, 4, queue=OTHER_QUEUE)
    bench.condor.hold(theirs)
    bench.drive(seconds=20.0)
    assert f"given back to HTCondor: {', '.join(ours[1:])}" in bench.lines
    assert {job for job, row in bench.condor.jobs.items() if row.status == HELD} == {theirs, other}
    assert bench.give_back() == QueueReturn()


def test_a_driver_without_permission_names_the_jobs_that_stay_held(bench):
    job = bench.condor.submit(50.0, 4)
    bench.condor.allowed = False
    found = bench.give_back()
    assert found.released == ()
    assert "Couldn't find/release all jobs" in found.held[job]
    bench.drive(seconds=60.0)
    assert bench.status.refusals > 1
    hint = "check that QUEUE_SUPER_USERS lists this user"
    assert bench.lines.count(f"job {job} stays held: Couldn't find/release all jobs; {hint}") == 1
    assert bench.condor.jobs[job].status == HELD


def test_jobs_of_other_queue_daemons_and_drained_machines_reduce_the_cpus(bench):
    bench.condor.machines["slot1@n2"] = 4
    bench.condor.foreign["another.example.org"] = 3
    for _ in range(3):
        bench.condor.submit(30.0, 4)
    bench.drive(seconds=10.0, keep_held=True)
    assert bench.condor.ran == ["1.0"]
    bench.condor.drain("slot1@n2", True)
    bench.drive(seconds=80.0, keep_held=True)
    assert bench.condor.ran == ["1.0"]
    bench.condor.foreign.clear()
    bench.drive(seconds=10.0, keep_held=True)
    assert bench.condor.ran == ["1.0", "2.0"]


def test_jobs_that_stay_listed_after_their_end_have_ended(bench):
    one, other = bench.condor.submit(5.0, 4, stays=True), bench.condor.submit(5.0, 4, stays=True)
    run = bench.drive()
    assert bench.condor.ran == [one, other]
    assert run.cancelled.tolist() == [False, False]


def test_a_job_of_another_universe_or_with_an_expression_is_left_alone(bench):
    dag = bench.condor.submit(50.0, 1, universe=7)
    job = bench.condor.submit(50.0, "/Expr(DetectedCpus)/")
    bench.drive(seconds=20.0, keep_held=True)
    assert bench.changes("driver") == []
    assert {bench.condor.jobs[each].status for each in (dag, job)} == {HELD}
    line = f'job {job}: RequestCpus is "/Expr(DetectedCpus)/", expected a whole number ≥ 1; left alone'
    assert bench.lines.count(line) == 1


def test_a_job_wider_than_the_pool_is_reported_once_and_delays_no_other(bench):
    wide, other = bench.condor.submit(5.0, 9, name="wide"), bench.condor.submit(5.0, 1)
    bench.drive(seconds=60.0, keep_held=True)
    assert bench.condor.ran == [other]
    line = f"job {wide} (wide, user ann) cannot start: it requests 9 CPUs, the pool's slots have 4"
    assert bench.lines.count(line) == 1


def test_a_dry_run_prints_a_command_whose_condition_matches_these_jobs_alone(bench):
    ours, _ = bench.condor.submit(50.0, 3), bench.condor.submit(50.0, 4)
    lines = plan_holds(bench.site(), bench.driving())
    assert lines[0] == f"{ours}, 3 CPUs: head of the queue"
    test = compiled(lines[1].partition("'")[2].rstrip("'"))
    matching = [job for job, row in bench.condor.jobs.items() if test(row.ad(bench.clock.now))]
    assert matching == [ours]
    assert not bench.file.exists()
    bench.condor.hold(ours)
    assert not test(bench.condor.jobs[ours].ad(bench.clock.now))


def test_a_queue_daemon_that_stays_away_ends_the_driver(bench):
    bench.condor.submit(50.0, 4)
    down = (1, "", "-- Failed to fetch ads from: <10.0.0.1:9618> : submit.example.org")
    bench.clock.at(BEGIN + 5.0, lambda: setattr(bench, "run", lambda command, timeout: down))
    with pytest.raises(SystemAwayError, match=r"HTCondor does not answer after .* s: -- Failed to fetch ads"):
        bench.drive()
    assert any("`windlass htcondor give-back` releases them" in line for line in bench.lines)


def test_the_last_run_is_read_from_the_history(tmp_path, monkeypatch):
    monkeypatch.setattr(driver_lock, "_folder", lambda: tmp_path)
    for history in (True, False):
        bench = Bench(tmp_path, latency=5.0, history=history)
        bench.file = tmp_path / f"journal-{history}"
        job = bench.condor.submit(5.0, 1)
        # It is removed after its release, before the negotiator's next cycle.
        bench.clock.at(BEGIN + 1.0, lambda condor=bench.condor, job=job: condor.remove(job))
        assert bench.drive().cancelled.tolist() == [history]


def test_a_pool_without_slots_is_refused(bench):
    bench.condor.machines.clear()
    with pytest.raises(InputError, match="no slot is in the pool; see condor_status"):
        bench.drive()
    assert IDLE not in {job.status for job in bench.condor.jobs.values()}
