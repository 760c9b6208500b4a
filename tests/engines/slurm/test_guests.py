"""Guests on Slurm: after a kill at any time, the next driver knows and reverts the changes."""

import dataclasses

import pytest

from tests.engines.slurm.fake_commands import free, job, jobs, node, nodes, running
from windlass.engines.batch.queue_return import QueueReturn
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.entries import Taking
from windlass.engines.slurm.give_back import return_queue
from windlass.engines.slurm.job_reader import read_jobs
from windlass.engines.slurm.journal import Journal, Unwritten
from windlass.engines.slurm.system import SlurmOptions, SlurmSystem


class Killed(BaseException):
    """The driver was killed."""


@dataclasses.dataclass
class Slurm:
    """Job 8 runs on w1, and job 7 is held; commands work until the caller is killed at a given one."""

    dies_at: int = -1
    limit: int = 2
    wants: str = ""
    state: str = "held"
    restarts: int = 0
    recorded: int = 0

    def __call__(self, command, timeout):
        changes = command[1] in ("update", "release", "requeuehold", "uhold")
        if changes and self.recorded == self.dies_at:
            raise Killed
        self.recorded += changes
        match command[1:]:
            case ["release", _]:
                self.state = "free"
            case ["uhold", _]:
                self.state = "held"
            case ["requeuehold", _]:
                self.state, self.restarts = "held", self.restarts + 1
            case ["update", "JobId=7", field]:
                name, _, value = field.partition("=")
                if name == "TimeLimit":
                    self.limit = int(value)
                else:
                    self.wants = value
        fake = {"squeue": self.squeue, "sinfo": lambda: nodes(node("w1", cpus=8))}.get(
            command[0], lambda: "w1\n"
        )
        return 0, fake(), ""

    def squeue(self):
        makes = {"held": job, "free": free, "runs": running}[self.state]
        times = {"restart_cnt": self.restarts, "submit_time": 1000 + 50 * self.restarts}
        return jobs(makes(7, time_limit=self.limit, **times), running(8))


def driver(slurm, journal, **options):
    client = Client(slurm, 1.0, 1.0)
    now = [1100.0]

    def sleep(seconds):
        now[0] += seconds

    return SlurmSystem(client, journal, SlurmOptions(**options), clock=lambda: now[0], sleep=sleep)


@pytest.mark.parametrize("step", range(4))
def test_after_a_kill_during_sharing_a_job_is_as_submitted_or_a_guest(tmp_path, step):
    slurm = Slurm(dies_at=step if step < 3 else -1)
    first = driver(slurm, Journal(tmp_path / "journal"))
    first.poll(0.0)
    if step < 3:
        with pytest.raises(Killed):
            first.release_shared(7, 8, 30, 900.0, 1400.0)
    else:
        assert first.release_shared(7, 8, 30, 900.0, 1400.0) == ""
        assert (slurm.limit, slurm.wants, slurm.state) == (15, "w1", "free")
    slurm.dies_at = -1
    later = driver(slurm, Journal(tmp_path / "journal"))
    later.poll(0.0)
    if step < 3:
        assert (slurm.limit, slurm.wants, slurm.state) == (2, "", "held")
        assert later.guests.known() == {}
    else:
        # It may start at any time: it is a guest, with its user's request and the decided quota.
        assert later.guests.known() == {7: Taking(1100.0, 7, 8, 30, 120.0, 1400.0, 1000.0, 0)}
        assert later.guests.requested_limit(later.details(7)) == 120.0


@pytest.mark.parametrize("step", range(4))
def test_after_a_kill_during_requeueing_a_job_is_as_submitted_or_running(tmp_path, step):
    slurm = Slurm()
    first = driver(slurm, Journal(tmp_path / "journal"))
    first.poll(0.0)
    first.release_shared(7, 8, 30, 900.0, 1400.0)
    slurm.state = "runs"
    first.poll(1.0)
    slurm.recorded, slurm.dies_at = 0, step if step < 3 else -1

    def requeue():
        first.guests.requeue(first.details(7), "the head can start")
        first.poll(1.0)

    if step < 3:
        with pytest.raises(Killed):
            requeue()
    else:
        requeue()
    slurm.dies_at = -1
    later = driver(slurm, Journal(tmp_path / "journal"))
    lines = later.poll(0.0)
    if step == 0:
        assert (slurm.state, slurm.restarts, list(later.guests.known())) == ("runs", 0, [7])
        return
    assert (slurm.limit, slurm.wants, slurm.state, slurm.restarts) == (2, "", "held", 1)
    assert later.guests.known() == {}
    # The hold is the driver's own, so the job waits for the engine.
    assert 7 in [event.job for event in lines if type(event).__name__ == "Submitted"]


def test_a_job_that_slurm_does_not_release_is_as_submitted(tmp_path):
    slurm = Slurm()

    def refuses(command, timeout):
        if command[1] == "release":
            return 1, "", "Requested nodes are busy"
        return slurm(command, timeout)

    system = driver(refuses, Journal(tmp_path / "journal"))
    system.poll(0.0)
    assert system.release_shared(7, 8, 30, 900.0, 1400.0) == "Requested nodes are busy"
    assert (slurm.limit, slurm.wants, system.guests.known()) == (2, "", {})


def test_jobs_given_back_are_as_submitted(tmp_path):
    slurm = Slurm(dies_at=2)
    first = driver(slurm, Journal(tmp_path / "journal"))
    first.poll(0.0)
    with pytest.raises(Killed):
        first.release_shared(7, 8, 30, 900.0, 1400.0)
    slurm.dies_at = -1
    lines = []
    client = Client(slurm, 1.0, 1.0, sleep=lambda seconds: None)
    assert return_queue(client, Unwritten(tmp_path / "journal"), None, lines.append) == QueueReturn((7,))
    assert lines == []
    assert (slurm.limit, slurm.wants, slurm.state) == (2, "", "free")


def test_a_dry_run_reverts_nothing(tmp_path):
    slurm = Slurm(dies_at=2)
    first = driver(slurm, Journal(tmp_path / "journal"))
    first.poll(0.0)
    with pytest.raises(Killed):
        first.release_shared(7, 8, 30, 900.0, 1400.0)
    slurm.recorded, slurm.dies_at = 0, 0
    driver(slurm, Unwritten(tmp_path / "journal"), dry_run=True).poll(0.0)
    assert (slurm.limit, slurm.wants) == (15, "w1")


def test_a_reused_job_number_is_another_job(tmp_path):
    slurm = Slurm()
    first = driver(slurm, Journal(tmp_path / "journal"))
    first.poll(0.0)
    first.release_shared(7, 8, 30, 900.0, 1400.0)
    other = jobs(job(7, submit_time=1090, time_limit=9), running(8))

    def anew(command, timeout):
        return (0, other, "") if command[0] == "squeue" else slurm(command, timeout)

    slurm.recorded, slurm.dies_at = 0, 0
    later = driver(anew, Journal(tmp_path / "journal"))
    later.poll(0.0)
    assert later.guests.known() == {}
    assert later.guests.requested_limit(read_jobs(other)[0]) == 540.0


class Refusing(Slurm):
    """Refuses as many updates as `refuses` is; each is recorded."""

    refuses = 0
    updates = 0

    def __call__(self, command, timeout):
        if command[1] == "update":
            self.updates += 1
            if self.refuses:
                self.refuses -= 1
                return 1, "", "slurm_update error: Job can not be altered now, try again later"
        return super().__call__(command, timeout)


def requeued_guest(slurm, journal, lines):
    """A driver whose guest, job 7, was requeued and waits again."""
    found = driver(slurm, journal)
    found.guests._notify = lines.append
    found.poll(0.0)
    assert found.release_shared(7, 8, 30, 900.0, 1400.0) == ""
    slurm.state = "runs"
    found.poll(1.0)
    assert found.guests.requeue(found.details(7), "memory") == ""
    return found


@pytest.mark.parametrize("refuses", [1, 2, 5])
def test_settings_that_slurm_refuses_to_revert_are_tried_again(tmp_path, refuses):
    slurm, lines = Refusing(), []
    with Journal(tmp_path / "journal") as journal:
        found = requeued_guest(slurm, journal, lines)
        slurm.refuses = refuses
        found.poll(1.0)
        assert found.guests.known()
        for _ in range(60):
            found.poll(5.0)
        assert (slurm.limit, slurm.wants, found.guests.known()) == (2, "", {})
    assert len(lines) == 1
    assert lines[0].startswith("job 7 keeps a guest's time limit or nodes: ")


def test_a_refusal_for_ever_is_tried_ever_more_rarely(tmp_path):
    slurm, lines = Refusing(), []
    with Journal(tmp_path / "journal") as journal:
        found = requeued_guest(slurm, journal, lines)
        before, slurm.refuses = slurm.updates, 10**6
        for _ in range(400):
            found.poll(1.0)
    # After 5, 10, 20, 40, 80 and 160 s, and two updates at each attempt.
    assert 8 <= slurm.updates - before <= 16
    assert len(lines) == 1


def test_a_guest_that_is_taken_in_twice_gets_its_user_s_limit_back(tmp_path):
    slurm, lines = Slurm(), []
    with Journal(tmp_path / "journal") as journal:
        found = requeued_guest(slurm, journal, lines)
        (event,) = [each for each in found.poll(1.0) if each.job == 7]
        assert (event.request, found.details(7).limit) == (120.0, 120.0)
        assert found.release_shared(7, 8, 30, 900.0, 2400.0) == ""
        assert found.guests.known()[7].limit == 120.0
        slurm.state = "runs"
        found.poll(1.0)
        assert found.guests.requeue(found.details(7), "memory") == ""
        found.poll(1.0)
        assert (slurm.limit, slurm.wants) == (2, "")


def test_a_guest_that_slurm_does_not_start_is_not_taken_in_again_at_once(tmp_path):
    """Its time limit as a guest exceeds the limit of the partition: it was held again before it ran."""
    slurm = Slurm()
    with Journal(tmp_path / "journal") as journal:
        found = driver(slurm, journal)
        found.poll(0.0)
        assert found.release_shared(7, 8, 30, 900.0, 1400.0) == ""
        slurm.state = "held"
        found.poll(1.0)
        assert (slurm.limit, found.guests.known()) == (2, {})
        assert found.release_shared(7, 8, 30, 900.0, 1400.0).startswith("Slurm did not start it as a guest")
        assert slurm.limit == 2
        for _ in range(601):
            found.poll(1.0)
        assert found.release_shared(7, 8, 30, 900.0, 2400.0) == ""


def test_a_refused_release_says_nothing_about_a_guest_s_limit(tmp_path):
    slurm = Slurm()
    with Journal(tmp_path / "journal") as journal:
        found = driver(slurm, journal)
        found.poll(0.0)
        found.start = lambda jobs: dict.fromkeys(jobs, "Slurm temporarily unable to accept it")
        assert found.release_shared(7, 8, 30, 900.0, 1400.0).startswith("Slurm temporarily")
        del found.start
        found.poll(1.0)
        assert found.release_shared(7, 8, 30, 900.0, 1400.0) == ""
