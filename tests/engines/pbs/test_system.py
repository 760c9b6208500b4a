"""The driver of a queue of PBS against the fake, in virtual time: what it starts, leaves alone and holds."""

import sqlite3
from itertools import pairwise

import pytest

from tests.adversary.clock import BEGIN, VirtualClock
from tests.engines.pbs.fake_pbs import OTHER_QUEUE, QUEUE, FakePbs
from windlass.engines.batch import driver_lock
from windlass.engines.batch.driver_lock import DriverLock
from windlass.engines.batch.holds.driver import drive_holds, give_back_holds, plan_holds
from windlass.engines.batch.holds.entries import (
    HeldAgain,
    HoldingAgain,
    Lifted,
    Lifting,
    NotLifted,
    OperatorHold,
    QueueReturned,
)
from windlass.engines.batch.holds.journal import HoldJournal, UnwrittenHolds, read_hold_journal
from windlass.engines.batch.holds.settings import HoldDriving, HoldOptions
from windlass.engines.batch.holds.site import SystemAwayError
from windlass.engines.batch.holds.system import HoldSystem
from windlass.engines.batch.queue_return import QueueReturn
from windlass.engines.batch.status import DriverStatus
from windlass.engines.batch.system import Delayed, Started, Submitted
from windlass.engines.pbs.client import PbsClient
from windlass.engines.pbs.site import PbsSite
from windlass.model import BatchError, InputError
from windlass.order.site.policies.easy import Easy
from windlass.order.site.policies.fcfs import Fcfs


class Bench:
    """A PBS, and drivers on it."""

    def __init__(self, folder, vnodes=(4,), latency=0.5, **more):
        self.clock = VirtualClock()
        self.pbs, self.lines, self.folder = FakePbs(self.clock, vnodes, latency, **more), [], folder
        self.file, self.status = folder / "journal", DriverStatus()
        self.run = self.pbs

    def client(self, patience=60.0):
        clock = self.clock
        notify = self.lines.append
        return PbsClient(
            lambda command, timeout: self.run(command, timeout),
            patience,
            10.0,
            notify,
            clock.wait,
            clock.time,
            clock.time,
            self.status.contact,
        )

    def site(self):
        return PbsSite(self.client(), QUEUE)

    def driving(self, policy=None, until_idle=True, keep_held=False):
        options = HoldOptions(2.0, until_idle)
        return HoldDriving({"order": policy or Fcfs()}, self.file, options, keep_held)

    def drive(self, policy=None, seconds=None, **more):
        """Drive until no job is left, or until interrupted after `seconds`."""
        if seconds is not None:
            self.clock.at(self.clock.now + seconds, self.interrupt)
        settings = self.driving(policy, seconds is None, **more)
        try:
            return drive_holds(
                self.site(),
                settings,
                self.lines.append,
                self.status,
                clock=self.clock.time,
                sleep=self.clock.wait,
            )
        except KeyboardInterrupt:
            return None

    def interrupt(self):
        raise KeyboardInterrupt

    def give_back(self):
        return give_back_holds(self.site(), self.file, self.lines.append)

    def changes(self, by):
        return [(each.job, each.kind, each.held) for each in self.pbs.log if each.by == by]

    def entries(self, *kinds):
        return [each for each in read_hold_journal(self.file) if isinstance(each, kinds)]


@pytest.fixture
def bench(tmp_path, monkeypatch):
    monkeypatch.setattr(driver_lock, "_folder", lambda: tmp_path)
    return Bench(tmp_path)


def test_jobs_start_in_the_policy_s_order_and_each_release_is_journaled_first(bench):
    for number, (run, cpus) in enumerate([(60.0, 3), (20.0, 4), (10.0, 1)], 1):
        bench.pbs.submit(run, cpus, 100.0, number=number)
    run = bench.drive(Easy())
    assert bench.pbs.ran == ["1.pbs", "3.pbs", "2.pbs"]
    assert len(run.job) == 3
    assert bench.changes("driver") == [(f"{job}.pbs", "o", False) for job in (1, 3, 2)]
    kinds = [(type(each), each.job) for each in bench.entries(Lifting, Lifted) if each.job == "2.pbs"]
    assert kinds == [(Lifting, "2.pbs"), (Lifted, "2.pbs")]
    assert any(line.startswith("start 1.pbs: ") for line in bench.lines)


def test_a_refused_hold_is_tried_again_after_growing_delays(bench):
    """PBS does not let the driver hold a released job; a command per poll would fill the journal."""
    bench.pbs.submit(10.0, 1)
    tries = []
    original = bench.pbs

    def run(command, timeout):
        if command[0] == "qhold":
            tries.append(bench.clock.now)
            return 1, "", f"qhold: Unauthorized Request  {command[-1]}\n"
        return original(command, timeout)

    bench.run = run
    bench.pbs.jobs["1.pbs"].blocked = "Not Running: Queue not started."
    bench.drive(seconds=600.0)
    waits = [after - before for before, after in pairwise(tries)]
    assert 5 <= len(tries) <= 9
    assert all(after > 1.4 * before for before, after in pairwise(waits[:4]))
    assert len(bench.entries(HoldingAgain)) == len(tries)
    assert {each.why for each in bench.entries(HoldingAgain)} == {
        "PBS cannot start it yet: Not Running: Queue not started."
    }


def test_jobs_of_other_queues_and_without_the_hold_are_left_alone_and_counted(bench):
    bench.pbs.submit(30.0, 3, queue=OTHER_QUEUE, holds="")
    bench.pbs.submit(20.0, 1, holds="")
    other = bench.pbs.submit(5.0, 1, queue=OTHER_QUEUE, holds="o")
    bench.pbs.submit(5.0, 1)
    bench.clock.wait(1.0)
    bench.drive()
    assert bench.changes("driver") == [("4.pbs", "o", False)]
    # Both of the others filled the vnode until the first of them had ended.
    released = next(each.at for each in bench.pbs.log if each.by == "driver")
    assert BEGIN + 20.0 <= released <= BEGIN + 25.0
    assert bench.pbs.jobs[other].holds == {"o"}


def test_a_user_s_hold_is_kept_and_the_job_starts_after_it(bench):
    job = bench.pbs.submit(5.0, 1, holds="ou")
    bench.clock.at(BEGIN + 30.0, lambda: bench.pbs.lift(job, "u", "user"))
    bench.drive(seconds=60.0)
    assert bench.changes("driver") == [(job, "o", False)]
    assert next(each.at for each in bench.pbs.log if each.by == "driver") >= BEGIN + 30.0
    assert bench.pbs.ran == [job]


def test_a_dependency_and_an_execution_time_are_awaited(bench):
    one, other = bench.pbs.submit(5.0, 1, holds="os"), bench.pbs.submit(5.0, 1, waits_until=BEGIN + 40.0)
    bench.clock.at(BEGIN + 20.0, lambda: bench.pbs.lift(one, "s", "PBS"))
    bench.drive(seconds=80.0)
    times = {each.job: each.at for each in bench.pbs.log if each.by == "driver"}
    assert BEGIN + 20.0 <= times[one] <= BEGIN + 30.0
    assert BEGIN + 40.0 <= times[other] <= BEGIN + 50.0


def test_an_operator_s_hold_after_a_release_is_kept_by_all_drivers_and_by_a_give_back(bench):
    bench.pbs.latency = 5.0
    job = bench.pbs.submit(5.0, 1)
    # The driver has released it, and the scheduler's next cycle has not come.
    bench.clock.at(BEGIN + 3.0, lambda: bench.pbs.hold(job, "o", "operator"))
    bench.drive(seconds=50.0)
    assert bench.changes("driver") == [(job, "o", False)]
    assert [each.job for each in bench.entries(OperatorHold)] == [job]
    line = f"job {job}: an operator held it after its release; left alone"
    assert bench.lines.count(line) == 1
    bench.drive(seconds=30.0)
    assert bench.give_back() == QueueReturn()
    assert bench.pbs.jobs[job].holds == {"o"}


def test_a_hold_that_follows_a_give_back_by_hand_is_kept_by_the_next_driver(bench):
    one, other = bench.pbs.submit(50.0, 4, 100.0), bench.pbs.submit(5.0, 4, 100.0)
    bench.drive(seconds=10.0, keep_held=True)
    assert bench.give_back() == QueueReturn((other,))
    bench.pbs.hold(other, "o", "operator")
    bench.drive(seconds=100.0)
    assert bench.pbs.ran == [one]
    assert bench.pbs.jobs[other].holds == {"o"}


def test_a_job_that_an_operator_releases_is_left_to_pbs(bench):
    bench.pbs.submit(50.0, 4, 100.0)
    job = bench.pbs.submit(5.0, 1, 100.0)
    bench.clock.at(BEGIN + 10.0, lambda: bench.pbs.lift(job, "o", "operator"))
    bench.drive(seconds=100.0)
    assert (job, "o", False) not in bench.changes("driver")
    assert bench.pbs.ran == ["1.pbs", job]
    assert f"job {job}: an operator released it" in bench.lines


def test_a_requeued_job_is_held_again_and_waits_at_the_end(bench):
    one, other = bench.pbs.submit(50.0, 4, 100.0), bench.pbs.submit(5.0, 4, 100.0)
    bench.clock.at(BEGIN + 10.0, lambda: bench.pbs.rerun(one))
    bench.pbs.latency = 3.0
    bench.drive(seconds=150.0)
    assert bench.pbs.ran in ([one, other, one], [one, one, other])
    assert bench.changes("driver")[:2] == [(one, "o", False), (one, "o", True)]
    assert [type(each) for each in bench.entries(HoldingAgain, HeldAgain)] == [HoldingAgain, HeldAgain]
    assert any("held again: it was requeued" in line for line in bench.lines)


def test_a_job_that_pbs_cannot_start_is_set_aside_and_others_go_ahead(bench):
    job = bench.pbs.submit(5.0, 4, 100.0)
    bench.pbs.jobs[job].blocked = "Not Running: Queue windlass job limit reached for user ann"
    bench.clock.at(BEGIN + 60.0, lambda: bench.pbs.alter(job, blocked=""))
    other = bench.pbs.submit(5.0, 4, 100.0)
    bench.drive(seconds=400.0)
    assert bench.pbs.ran == [other, job]
    assert any("held again: PBS cannot start it yet: Not Running: Queue" in line for line in bench.lines)


def test_a_job_wider_than_the_queue_s_vnodes_is_reported_once_and_delays_no_other(bench):
    wide, other = bench.pbs.submit(5.0, 9, name="wide"), bench.pbs.submit(5.0, 1)
    bench.drive(seconds=60.0, keep_held=True)
    assert bench.pbs.ran == [other]
    line = f"job {wide} (wide, user ann) cannot start: it requests 9 CPUs, the queue's vnodes have 4"
    assert bench.lines.count(line) == 1
    assert bench.status.stuck == 1


def test_a_held_array_is_an_operator_s_and_left_alone_by_the_driver_and_a_give_back(bench):
    job = bench.pbs.submit(5.0, 1, array=True)
    bench.drive(seconds=30.0, keep_held=True)
    assert bench.lines.count(f"job {job} is a job array; left alone: release it with qrls -h o") == 1
    assert bench.changes("driver") == []
    bench.lines.clear()
    assert bench.give_back() == QueueReturn()
    assert bench.lines == [f"job {job} is a job array; left alone: release it with qrls -h o"]
    assert bench.pbs.jobs[job].holds == {"o"}


def test_only_vnodes_of_the_queue_count(bench, tmp_path):
    bench.pbs.vnodes |= {"n2": 8}
    bench.pbs.vnode_queues["n2"] = QUEUE
    bench.pbs.submit(100.0, 4, queue=OTHER_QUEUE, holds="")
    bench.pbs.submit(5.0, 8)
    bench.drive()
    assert bench.status.processors == 8
    assert next(each.at for each in bench.pbs.log if each.by == "driver") < BEGIN + 10.0


def test_a_drained_vnode_is_reported(bench):
    bench.pbs.vnodes["n2"] = 2
    bench.pbs.submit(30.0, 1)
    bench.clock.at(BEGIN + 10.0, lambda: bench.pbs.drain("n2", True))
    bench.drive()
    assert "4 of 6 CPUs of the queue's vnodes are up" in bench.lines
    assert (bench.status.processors, bench.status.capacity_falls) == (4, 1)


def test_waiting_jobs_are_given_back_at_the_end_unless_they_are_kept(bench):
    for _ in range(3):
        bench.pbs.submit(50.0, 4)
    bench.drive(seconds=20.0, keep_held=True)
    assert [sorted(bench.pbs.jobs[job].holds) for job in ("2.pbs", "3.pbs")] == [["o"], ["o"]]
    bench.drive(seconds=10.0)
    assert all(not job.holds for job in bench.pbs.jobs.values())
    assert [each.jobs for each in bench.entries(QueueReturned)] == [("2.pbs", "3.pbs")]
    assert bench.lines[-1] == "given back to PBS: 2.pbs, 3.pbs"
    assert bench.status.left_held == 0


def test_a_give_back_that_is_refused_names_the_jobs(bench):
    bench.pbs.submit(50.0, 4)
    bench.pbs.submit(50.0, 4)

    def run(command, timeout):
        if command[0] == "qrls":
            return 15007 & 255, "", "".join(f"qrls: Unauthorized Request  {job}\n" for job in command[3:])
        return bench.pbs(command, timeout)

    bench.run = run
    found = bench.give_back()
    assert found.released == ()
    assert found.problem() == "jobs 1.pbs, 2.pbs stay held: Unauthorized Request"


def test_a_refused_release_is_tried_again_and_does_not_stop_others(bench):
    bench.pbs.submit(5.0, 4)
    bench.pbs.submit(5.0, 4)

    def run(command, timeout):
        if command[0] == "qrls" and "1.pbs" in command and bench.clock.now < BEGIN + 60.0:
            left = [job for job in command[3:] if job != "1.pbs"]
            bench.pbs((*command[:3], *left), timeout)
            return 15007 & 255, "", "qrls: Unauthorized Request  1.pbs\n"
        return bench.pbs(command, timeout)

    bench.run = run
    bench.drive()
    assert sorted(bench.pbs.ran) == ["1.pbs", "2.pbs"]
    assert bench.entries(NotLifted)[0].why == "Unauthorized Request 1.pbs"
    assert bench.lines.count("job 1.pbs stays held: Unauthorized Request") == 1


def test_an_unreadable_job_is_reported_once_and_left_alone(bench):
    bench.pbs.submit(20.0, 1, walltime=100.0)
    bad = bench.pbs.submit(20.0, "many")
    bench.pbs.jobs[bad].holds = {"o", "u"}
    bench.pbs.jobs[bad].state = "H"
    bench.drive(seconds=60.0, keep_held=True)
    line = f'job {bad}: Resource_List.ncpus is "many", expected a whole number ≥ 1; left alone'
    assert bench.lines.count(line) == 1
    assert bench.pbs.ran == ["1.pbs"]


def test_a_server_that_goes_away_ends_the_driver_after_its_patience(bench):
    bench.pbs.submit(50.0, 1)

    def run(command, timeout):
        if bench.clock.now > BEGIN + 10.0:
            return 15010 & 255, "", f"{command[0]}: cannot connect to server pbs (errno=15010)\n"
        return bench.pbs(command, timeout)

    bench.run = run
    with pytest.raises(SystemAwayError, match=r"PBS does not answer after .* s: q"):
        bench.drive()
    assert any(
        "jobs may still be held; `windlass pbs give-back` releases them" in line for line in bench.lines
    )
    assert bench.status.left_held >= 1


def test_commands_that_are_gone_at_the_end_leave_a_line_on_held_jobs(bench):
    bench.pbs.submit(50.0, 4)
    bench.pbs.submit(50.0, 4)

    def run(command, timeout):
        if bench.clock.now > BEGIN + 10.0:
            raise FileNotFoundError(command[0])
        return bench.pbs(command, timeout)

    bench.run = run
    with pytest.raises(InputError, match="qstat: not found"):
        bench.drive()
    assert (
        "jobs may still be held; `windlass pbs give-back` releases them: qstat: not found" in bench.lines[-1]
    )
    assert bench.status.left_held == 1


def test_a_dry_run_changes_nothing(bench):
    bench.pbs.submit(5.0, 3)
    bench.pbs.submit(5.0, 2)
    assert plan_holds(bench.site(), bench.driving()) == [
        "1.pbs, 3 CPUs: head of the queue",
        "qrls -h o 1.pbs",
    ]
    assert bench.changes("driver") == []
    assert not bench.file.exists()


def test_one_driver_a_queue(bench):
    with DriverLock("pbs", f"pbs:{QUEUE}", bench.folder):
        for call in (bench.drive, bench.give_back):
            with pytest.raises(InputError, match="another driver"):
                call()


def test_a_queue_without_vnodes_is_an_error(bench):
    bench.pbs.vnode_queues["n1"] = OTHER_QUEUE
    with pytest.raises(InputError, match="--queue: no vnode may run jobs of queue 'windlass'"):
        bench.drive()


def test_a_give_back_reports_its_jobs_if_the_disk_is_full_after_their_release(bench, monkeypatch):
    one, other = bench.pbs.submit(50.0, 4, 100.0), bench.pbs.submit(5.0, 4, 100.0)
    bench.drive(seconds=10.0, keep_held=True)
    write = HoldJournal._write

    def full(journal, lines):
        if any("lifted" in each.line for each in lines):
            raise sqlite3.OperationalError("database or disk is full")
        write(journal, lines)

    monkeypatch.setattr(HoldJournal, "_write", full)
    assert bench.give_back() == QueueReturn((other,))
    assert bench.lines[-1].endswith("disk is full; the journal lacks the jobs that were given back")
    assert one in bench.pbs.ran


def test_a_full_disk_gives_the_queue_back_without_the_journal(bench, monkeypatch):
    bench.pbs.submit(50.0, 4)
    bench.pbs.submit(50.0, 4)

    def full(journal, lines):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("windlass.engines.batch.holds.journal.HoldJournal._write", full)
    with pytest.raises(InputError, match="cannot be written"):
        bench.drive()
    assert all(not job.holds for job in bench.pbs.jobs.values())
    assert any("giving the queue back without a journal entry" in line for line in bench.lines)


def test_a_damaged_journal_is_no_obstacle_for_a_give_back(bench):
    job = bench.pbs.submit(50.0, 4)
    bench.file.write_bytes(b"no journal at all" * 100)
    assert bench.give_back() == QueueReturn((job,))
    assert bench.lines[0].startswith(f"--journal: {bench.file}: cannot be read: ")
    with pytest.raises((InputError, BatchError)):
        bench.drive()


def test_a_short_job_is_reported_as_ended_or_cancelled_by_the_history(tmp_path, monkeypatch):
    monkeypatch.setattr(driver_lock, "_folder", lambda: tmp_path)
    for history, cancelled in ((True, True), (False, False)):
        bench = Bench(tmp_path, latency=5.0, history=history)
        bench.file = tmp_path / f"journal-{history}"
        job = bench.pbs.submit(5.0, 1)
        # It is deleted after its release, before the scheduler's next cycle.
        bench.clock.at(BEGIN + 1.0, lambda pbs=bench.pbs, job=job: pbs.delete(job))
        run = bench.drive()
        assert run.cancelled.tolist() == [cancelled]


def test_suspended_time_is_reported(bench):
    job = bench.pbs.submit(60.0, 4, 100.0)
    clock = bench.clock
    system = HoldSystem(bench.site(), UnwrittenHolds(), HoldOptions(2.0), clock=clock.time, sleep=clock.wait)
    events = system.poll(5.0)
    assert [type(each) for each in events] == [Submitted]
    assert system.start([events[0].job]) == {}
    clock.at(BEGIN + 10.0, lambda: setattr(bench.pbs.jobs[job], "state", "S"))
    clock.at(BEGIN + 30.0, lambda: setattr(bench.pbs.jobs[job], "state", "R"))
    seen = []
    while clock.now < BEGIN + 50.0:
        seen += system.poll(2.0)
    assert isinstance(seen[0], Started)
    assert sum(each.seconds for each in seen if isinstance(each, Delayed)) == pytest.approx(20.0, abs=4.0)
