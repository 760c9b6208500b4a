"""Slurm as a batch system on a strict fake: held, released and untouched jobs."""

import pytest

from tests.engines.slurm.fake_commands import free, job, jobs, node, nodes
from tests.engines.slurm.strict import Strict
from tests.engines.slurm.test_system import TWO, Bench
from windlass.engines.batch.queue_return import QueueReturn
from windlass.engines.batch.system import Cancelled, NoMore, Started, Submitted
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.entries import GivenBack, Refused, Released, Releasing, Withheld
from windlass.engines.slurm.give_back import may_release
from windlass.engines.slurm.job_reader import read_jobs
from windlass.engines.slurm.journal import Journal, read_journal
from windlass.engines.slurm.system import SlurmOptions, SlurmSystem
from windlass.model import InputError

BARRED = {"state_reason": "JobHeldAdmin"}


@pytest.fixture
def bench(tmp_path):
    return lambda **options: Bench(tmp_path, **options)


class OnStrict:
    """A system on a strict Slurm, with a clock that advances only during sleeps."""

    def __init__(self, tmp_path, slurm, **options):
        self.now, self.lines, self.slurm = 1100.0, [], slurm
        client = Client(slurm, 1.0, 1.0, sleep=self.sleep, clock=lambda: self.now)
        self.journal = Journal(tmp_path / "journal")
        self.system = SlurmSystem(
            client,
            self.journal,
            SlurmOptions(**options),
            notify=self.lines.append,
            clock=lambda: self.now,
            sleep=self.sleep,
        )

    def sleep(self, seconds):
        self.now += seconds

    def polls(self, times):
        """Return the events of a number of polls."""
        return [event for _ in range(times) for event in self.system.poll(0.25)]


def test_a_driver_may_release_a_job_only_if_its_user_holds_it():
    rows = read_jobs(jobs(job(1), job(2, **BARRED), free(3)))
    assert [may_release(row) for row in rows] == [True, False, False]


def test_give_back_releases_exactly_the_driver_s_jobs(bench):
    rows = (job(1), job(2, **BARRED), free(3), job(4, comment="x"), job(5, partition="other"), job(6))
    found = bench(squeue=jobs(*rows))
    found.journal.append(Withheld(1005.0, 6, 1000.0))
    assert found.give_back("share") == QueueReturn((1,))
    assert found.fake.commands_with("release") == [("release", "1")]
    assert read_journal(found.path)[-2:] == [GivenBack(1100.0, (1,)), Released(1100.0, 1, 1000.0, 0)]
    released_only = bench(squeue=jobs(free(3)))
    assert (released_only.give_back(), released_only.fake.commands_with("release")) == (QueueReturn(), [])


def test_give_back_names_jobs_that_stay_held(bench):
    fake = [jobs(job(6), job(7), job(8), job(9)), jobs(job(6), free(7), job(8))]
    found = bench(squeue=fake, scontrol_release=(1, "", "Access/permission denied"))
    answer = found.give_back()
    # Job 9 has ended meanwhile.
    assert answer == QueueReturn((7, 9), dict.fromkeys((6, 8), "Access/permission denied"))
    assert answer.problem() == "jobs 6, 8 stay held: Access/permission denied"
    # All jobs were released, despite the command's output.
    fine = bench(squeue=[jobs(job(5)), jobs(free(5))], scontrol_release=(1, "", "x"))
    assert fine.give_back() == QueueReturn((5,))


def test_only_held_arrays_left_to_windlass_are_reported(bench):
    many = {"array_task_string": "1-3"}
    rows = (
        free(1, **many),
        job(2, comment="", **many),
        job(3),
        job(4, het_job_id=4),
        job(5, comment="a windlass", **many),
    )
    found = bench(squeue=jobs(*rows))
    found.poll()
    assert found.lines == ["job 4 is a job array or heterogeneous job; left alone: release it with scontrol"]


def test_the_end_of_the_queue_is_reported_once_with_until_idle(bench):
    for until_idle in (True, False):
        found = bench(squeue=jobs(), options=SlurmOptions(until_idle=until_idle))
        lines = [event for _ in range(4) for event in found.poll(2.0)]
        assert lines == ([NoMore()] if until_idle else [])


def test_a_slurm_without_nodes_is_an_error(bench):
    with pytest.raises(InputError, match=r"^Slurm has no nodes$"):
        bench(sinfo=nodes())
    found = bench(sinfo=nodes(node("w1"), node("w2", "down"), node("w3", cpus=5)), squeue=jobs())
    assert found.system.processors == 7


def test_known_jobs_are_those_of_the_last_poll(bench):
    found = bench(squeue=[jobs(job(7)), jobs()], sinfo=TWO)
    assert not found.system.knows(7)
    found.poll()
    assert (found.system.knows(7), found.system.knows(8), found.system.describe([7, 9])) == (
        True,
        False,
        "scontrol release 7,9",
    )
    found.poll(1.0)
    assert not found.system.knows(7)


def test_a_partly_failed_release_is_journalled_with_its_reason(tmp_path):
    slurm = Strict()
    for number in (7, 8):
        slurm.submit(number, looks=5)
    found = OnStrict(tmp_path, slurm)
    found.polls(1)
    slurm.rows[7] = job(7, cpus=1, node_count=1, **BARRED)
    assert found.system.start([7, 8]) == {7: "Access/permission denied for job 7"}
    kinds = [type(entry) for entry in read_journal(tmp_path / "journal")]
    assert kinds == [Releasing, Releasing, Refused, Released]
    assert [type(event) for event in found.polls(2)] == [Cancelled, Started]


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_released_job_that_cannot_start_is_held_and_reported(tmp_path, dry_run):
    slurm = Strict(cpus=4)
    slurm.submit(7, looks=5)
    found = OnStrict(tmp_path, slurm, dry_run=dry_run)
    found.polls(1)
    found.system.start([7])
    slurm.released.clear()
    slurm.rows[7]["state_reason"] = "Dependency"
    assert [type(event) for event in found.polls(1)] == [Cancelled]
    assert slurm.states() == {7: "PENDING" if dry_run else "held"}
    assert found.lines == ([] if dry_run else ["job 7 is held: Slurm cannot start it yet: Dependency"])


def test_a_job_held_again_by_its_user_is_reported_and_left_alone(tmp_path):
    slurm = Strict()
    slurm.submit(7, looks=5)
    found = OnStrict(tmp_path, slurm)
    found.polls(1)
    found.system.start([7])
    slurm.released.clear()
    found.polls(1)
    slurm.change("uhold", 7)
    assert [type(event) for event in found.polls(1)] == [Cancelled]
    assert found.lines == ["job 7: a user held it after its release; left alone until the user releases it"]
    assert found.journal.standing.withheld[7] == Withheld(found.now, 7, 1000.0)
    assert found.system.start([8]) == {8: "no such job is held"}


def test_a_guest_runs_with_its_host_and_is_as_submitted_after_requeueing(tmp_path):
    slurm = Strict(cpus=4)
    slurm.submit(7, 4, looks=50)
    slurm.submit(8, 4, looks=50, comment="windlass share restart", time_limit=2)
    found = OnStrict(tmp_path, slurm)
    found.polls(1)
    found.system.start([7])
    found.polls(2)
    assert found.system.release_shared(8, 7, 30, 300.0, 1400.0) == ""
    assert (slurm.wants[8], slurm.rows[8]["time_limit"]) == ("w1", 5)
    assert [type(event) for event in found.polls(2)] == [Started]
    assert slurm.states() == {7: "RUNNING", 8: "RUNNING"}
    assert found.system.guests.requested_limit(found.system.details(8)) == 120.0
    assert found.system.guests.requeue(found.system.details(8), "slow") == ""
    (lines,) = found.polls(1)
    # It is queued with the limit of its user, which is restored after this poll.
    assert (type(lines), lines.job, lines.request) == (Submitted, 8, 120.0)
    assert (slurm.wants[8], slurm.rows[8]["time_limit"], found.system.guests.known()) == ("", 2, {})
    # The user's limit is kept if it is longer.
    found.polls(1)
    assert found.system.release_shared(8, 7, 30, 60.0, 1400.0) == ""
    assert slurm.rows[8]["time_limit"] == 2


def test_a_guest_that_slurm_does_not_release_is_as_submitted(tmp_path):
    slurm = Strict(cpus=4)
    slurm.submit(7, 4, looks=50)
    slurm.submit(8, 4, comment="windlass share", time_limit=2)
    found = OnStrict(tmp_path, slurm)
    found.polls(1)
    found.system.start([7])
    found.polls(2)
    slurm.rows[8]["state_reason"] = "JobHeldAdmin"
    assert found.system.release_shared(8, 7, 30, 300.0, 1400.0) == "Access/permission denied for job 8"
    assert (slurm.wants[8], slurm.rows[8]["time_limit"], found.system.guests.known()) == ("", 2, {})
