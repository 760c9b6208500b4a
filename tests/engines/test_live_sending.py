"""Tasks and loads that a live engine sends, their workers, retries and losses, by hand."""

import pytest

from tests.engines.books import Quiet, end, loaded, made
from windlass.engines.live.book import ENDED, ON_THE_WAY, RESTS, RUNS, WAITS, LiveBook
from windlass.engines.live.executor import Failed, Piece
from windlass.engines.live.program import LiveProgram
from windlass.engines.live.transfers import REST_S, Transfers
from windlass.engines.live.work import Generate
from windlass.model import PolicyError, TaskError
from windlass.model.fleet import Fleet, FleetJobs, StageSpec


def test_a_lost_task_is_retried_with_backoff_at_most_eight_times():
    book, sending, executor, clock = loaded()
    for tries in range(1, 8):
        sending.start(0, 0)
        sent = sending.take(executor.launched[-1].key)
        assert (sent.task, sent.run, sending.tries[0], sending.launched[0]) == (0, True, tries, clock[0])
        sending.fail(sent, Failed(0, True, "gone"))
        rest = REST_S * 2.0 ** (tries - 1)
        assert (book.state[0], book.free()[0], book.started[0, 0]) == (RESTS, 3, 0)
        assert sending.wakes() == clock[0] + rest
        assert not sending.wake(clock[0] + 0.99 * rest)
        clock[0] += rest
        assert sending.busy
        assert sending.wake(clock[0])
        assert book.state[0] == WAITS
        assert not sending.busy
    sending.start(0, 0)
    sent = sending.take(executor.launched[-1].key)
    with pytest.raises(TaskError, match="job 1, stage 1, task 1: lost 8 times; the last time: gone"):
        sending.fail(sent, Failed(0, True, "gone"))
    assert REST_S == 0.25
    # The second job's first task, by its own error.
    sending.start(8, 1)
    sent = sending.take(executor.launched[-1].key)
    with pytest.raises(TaskError, match="job 2, stage 1, task 2: its own"):
        sending.fail(sent, Failed(0, False, "its own"))


def test_a_lost_load_is_retried_after_a_rest():
    book, sending, executor, clock = made()
    sending.load_all()
    sent = sending.take(0)
    sending.fail(sent, Failed(0, True, "gone"))
    assert (sending.wakes(), book.state[0]) == (0.25, WAITS)
    count = len(executor.launched)
    assert not sending.wake(0.25)
    assert len(executor.launched) == count + 1
    assert executor.launched[-1].slot is False
    sent = sending.take(executor.launched[-1].key)
    sending.fail(sent, Failed(0, True, "gone"))
    assert sending.wakes() == clock[0] + 0.5


def test_needed_tasks_and_outputs_of_a_lost_worker_are_redone():
    book, sending, executor, _ = loaded()
    for task, site in ((0, 0), (1, 0), (2, 1), (3, 2)):
        sending.start(task, site)
    for task in (0, 1, 2):
        end(book, task, 1.0, (1, 1))
    launched = len(executor.launched)
    sending.lose(0)
    # The outputs of tasks 0 and 1 are lost with their input; task 3 runs on; task 2's lies at site 2.
    assert book.state[:4].tolist() == [WAITS, WAITS, ENDED, RUNS]
    assert (book.done[0], book.slots().tolist(), book.free().tolist()) == (1, [0, 2, 2], [0, 2, 1])
    assert book.started[0].tolist() == [0, 1, 1]
    # No worker is left at their site: the least loaded worker of any site.
    assert [(order.work, order.worker) for order in executor.launched[launched:]] == [(Generate(100), 2)] * 2
    assert book.input_site[:2].tolist() == [ON_THE_WAY] * 2
    assert book.output[0] == ()
    sending.lose(2)
    assert book.state[3] == WAITS
    assert book.alive.tolist() == [False, True, False]
    assert executor.launched[-1].worker == 1


def test_a_lost_output_makes_a_complete_stage_incomplete():
    book, sending, _, _ = loaded()
    for task, site in ((0, 0), (1, 0), (2, 1), (3, 2)):
        sending.start(task, site)
    for task in range(4):
        end(book, task, 1.0, (1, 1))
    assert book.left[0] == 2
    sending.lose(2)
    assert (book.left[0], book.done[0], book.complete(0)) == (3, 3, False)
    # Its input was lost, too, and is being loaded.
    assert book.ready_stages().tolist() == [3]
    assert book.input_site[3] == ON_THE_WAY


class RecordingDispatch:
    """A dispatch policy whose answer the test sets; it records its calls."""

    name = "noted"

    def __init__(self, workers):
        self.workers, self.done, self.answer = workers, [], 0

    def arrived(self, now):
        self.done.append(("arrived", now))

    def choose(self, lengths):
        self.done.append(("choose", lengths.tolist()))
        return self.answer

    def completed(self, worker, work, seconds):
        self.done.append(("completed", worker, work, seconds))

    def left(self, worker):
        self.done.append(("left", worker))


def test_each_site_with_several_workers_has_its_own_dispatch_policy():
    policies = []

    def dispatch(workers):
        policies.append(RecordingDispatch(workers))
        return policies[-1]

    fleet = Fleet.of([3, 1, 2], [1e6] * 3, [1e6] * 3)
    jobs = FleetJobs.of([0.0], [[StageSpec(2.0, here=(3, 1, 2), task_bytes=10.0)]])
    executor = Quiet(fleet, nodes=2)
    book = LiveBook(fleet, jobs, LiveProgram(jobs), executor.workers, "true")
    book.input_site[:] = [0, 0, 0, 1, 2, 2]
    book.input[:] = [Piece(0, 10, b"")] * 6
    sending = Transfers(book, executor, lambda: 4.0, dispatch)
    # The second site has one worker: no choice is needed.
    assert [each.workers for each in policies] == [2, 2]
    for bad in (-1, 2, None):
        policies[1].answer = bad
        with pytest.raises(PolicyError, match=f"dispatch policy 'noted' chose worker {bad}, expected 0 to 1"):
            sending._choose(2, 3.0)
    policies[1].done.clear()
    policies[1].answer = 1
    sending.start(4, 2)
    assert executor.launched[-1].worker == 4
    assert policies[1].done == [("arrived", 4.0), ("choose", [0, 0])]
    # A full or lost worker is skipped for the one with the most free slots.
    sending.start(5, 2)
    assert executor.launched[-1].worker == 3
    assert policies[1].done[-1] == ("choose", [0, 1])
    sent = sending.take(executor.launched[0].key)
    sending.completed(sent, 0.0)
    assert policies[1].done[-1] == ("completed", 1, 2.0, 1e-9)
    sending.completed(sent, 3.5)
    assert policies[1].done[-1] == ("completed", 1, 2.0, 3.5)
    sending.lose(1)
    assert policies[0].done == [("left", 1)]
    policies[0].answer = 1
    sending.start(0, 0)
    assert executor.launched[-1].worker == 0
    sending.start(3, 1)
    sending.completed(sending.take(executor.launched[-1].key), 1.0)
    assert executor.launched[-1].worker == 2


def test_without_a_policy_the_worker_with_the_most_free_slots_is_chosen():
    book, sending, executor, _ = loaded(nodes=2)
    chosen = []
    for task in (0, 1):
        sending.start(task, 0)
        chosen.append(executor.launched[-1].worker)
    assert chosen == [0, 0]
    book.alive[0] = False
    book.input[0] = None
    sending.start(2, 0)
    assert executor.launched[-1].worker == 1
