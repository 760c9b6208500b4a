"""The queue of a live Slurm as what-if sees it: which jobs are replayed, on how many processors, and from what past."""

from __future__ import annotations

from tests.control.test_slurm_starts import EASY, Bench, poll
from tests.engines.slurm.fake_commands import free, job, node, nodes, over, running
from windlass.control.journal import JobKey, JournalReader, JournalWriter, ViewRecord
from windlass.control.site_status import PastJob, status_text
from windlass.control.slurm.queue import ReplayedQueue
from windlass.control.slurm.starts import LiveStarts
from windlass.control.slurm.status import StartReasons, site_status
from windlass.control.what_if import chosen_queue, what_if
from windlass.engines.slurm.log import EndedJob
from windlass.engines.slurm.node_reader import read_nodes
from windlass.engines.slurm.observer import SlurmPoll
from windlass.experiment.worlds.policy import PolicySpec

QUEUE = ReplayedQueue(EASY, list)


def requests(given: SlurmPoll) -> dict[str, float]:
    state = site_status(given, StartReasons(), QUEUE.of(given))
    return {each.id: each.request for each in (*state.running, *state.waiting)}


def test_jobs_that_start_when_cores_become_idle_have_their_time_limit_as_request():
    given = poll(
        2000.0,
        running(1, cpus=2, time_limit=5),
        job(2, cpus=4, time_limit=3),
        free(3, cpus=1, time_limit=None),
        free(4, cpus=1, dependency="afterok:1"),
        job(5, cpus=1, comment=""),
        job(6, cpus=1, state_reason="JobHeldAdmin"),
        job(7, cpus=5),
    )
    year = 365 * 86_400.0
    assert requests(given) == {"1": 300.0, "2": 180.0, "3": year, "4": 0.0, "5": 0.0, "6": 0.0, "7": 0.0}


def test_cores_of_a_drained_node_that_jobs_hold_are_not_free():
    two = read_nodes(nodes(node("w1", cpus=4), node("w2", "idle", ["DRAIN"], cpus=4)))
    rows = poll(2000.0, running(1, cpus=3), running(2, cpus=3)).jobs
    assert QUEUE.of(SlurmPoll(2000.0, rows, two, {})).free == 0
    assert QUEUE.of(SlurmPoll(2000.0, rows[:1], two, {})).free == 1


def test_a_policy_from_a_file_is_replaced(tmp_path):
    queue = ReplayedQueue(PolicySpec(name=str(tmp_path / "mine.py")), list)
    assert queue.of(poll(5.0)).policy == "easy"


def test_the_past_is_what_ended_at_the_time_of_the_poll():
    ended = [EndedJob(1, 0, 5, end, 2, None, "ann", "main", "COMPLETED", "a") for end in (50, 70)]
    year = 365 * 86_400.0
    assert ReplayedQueue(EASY, lambda: ended).of(poll(60.0)).past == (PastJob(0, 5, 50, 2, year),)


def test_jobs_that_end_while_polls_are_compared_are_kept_for_replays(tmp_path):
    bench = Bench(tmp_path)
    with JournalWriter(bench.file) as journal:
        journal.flush()
        with JournalReader(bench.file) as reader:
            past = EndedJob(1, 0, 5, 50, 2, 60, "ann", "main", "COMPLETED", "a")
            starts = LiveStarts(
                lambda name: JobKey("slurm", "iowa", name), EASY, journal, reader, lambda: [past], lambda: 0.0
            )
            assert starts.latest_ended == ()
            starts.look(poll(1015.0, running(7)))
            assert [each.job for each in starts.latest_ended] == [1]
            starts.look(poll(1030.0, over(7)))
            assert [each.job for each in starts.latest_ended] == [1, 7]


def test_a_view_of_a_live_slurm_is_replayed(tmp_path):
    given = poll(2000.0, running(1, cpus=3), job(2, cpus=4), job(3, cpus=1))
    with JournalWriter(tmp_path / "journal.db") as journal:
        content = status_text(site_status(given, StartReasons(), QUEUE.of(given)))
        journal.append(ViewRecord(given.now, "slurm", "iowa", content))
    with JournalReader(tmp_path / "journal.db") as reader:
        queue = chosen_queue(reader)
    found = what_if(queue, [], draws=1)
    assert (queue.processors, found.jobs, found.running) == (4, ("2", "3"), 1)
