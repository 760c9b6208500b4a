"""The live engine's book alone: views, rejected answers and the order of stages, by hand."""

import math

import numpy as np
import pytest

from tests.engines.books import AREA, Quiet, end, loaded, made, view
from windlass.engines.live.book import ON_THE_WAY, LiveBook
from windlass.engines.live.executor import Piece, SiteRead
from windlass.engines.live.program import LiveProgram
from windlass.engines.live.work import Generate, Hold
from windlass.model import PolicyError, TaskError
from windlass.model.fleet import FleetJobs, StageSpec
from windlass.place.view import Placement


def test_input_is_loaded_at_its_site_by_each_worker_in_turn():
    book, sending, executor, _ = made(nodes=2)
    sending.load_all()
    # Site 1 has the workers 0 and 1, site 2 has 2 and 3, site 3 has 4 and 5; the worker with the least load is next.
    assert [order.worker for order in executor.launched] == [0, 1, 2, 4, 3, 2, 3]
    assert [(order.work, order.slot, order.bring, order.reads) for order in executor.launched[:1]] == [
        (Generate(100), False, False, ())
    ]
    assert executor.launched[-1].work == Generate(10)
    assert [order.key for order in executor.launched] == list(range(7))
    assert sending.busy
    book.alive[[2, 3]] = False
    sending._load(2)
    # No worker is left at its site: the least loaded worker of any site.
    assert executor.launched[-1].worker == 5
    book.alive[:] = False
    with pytest.raises(TaskError, match="no worker is left"):
        sending._load(2)


def test_a_view_has_waiting_tasks_data_locations_and_free_bandwidth():
    book, sending, _, clock = loaded()
    clock[0] = 3.0
    sending.start(0, 0)
    seen = view(book, [0, 3])
    ready = seen.ready
    assert (seen.now, seen.changed, seen.moved) == (7.0, True, False)
    assert ready.job.tolist() == [0, 1]
    assert ready.left.tolist() == [3, 1]
    assert ready.total.tolist() == [4, 3]
    assert ready.waiting.tolist() == [3, 3]
    assert ready.task_s.tolist() == [2.0, 5.0]
    assert ready.ratio.tolist() == [0.5, 1.0]
    assert ready.since.tolist() == [3.0, 0.0]
    assert ready.here.tolist() == [[1, 1, 1], [0, 3, 0]]
    assert ready.data.tolist() == [[100.0, 100.0, 100.0], [0.0, 30.0, 0.0]]
    assert ready.started.tolist() == ready.running.tolist() == [[1, 0, 0], [0, 0, 0]]
    assert seen.fresh.tolist() == [0, 1]
    sites = seen.sites
    assert (sites.slots.tolist(), sites.free.tolist()) == ([3, 2, 2], [2, 2, 2])
    assert (sites.up.tolist(), sites.down.tolist()) == ([4e6, 2e6, 1e6], [1e6, 8e6, 0.0])
    assert sites.up_free.tolist() == [3e6, 0.0, 1e6]
    assert sites.down_free.tolist() == [1e6, 5e6, 0.0]
    # After a move, no input of the job is fresh.
    sending.move(7, 0)
    assert book.input_site[7] == ON_THE_WAY
    assert view(book, [0, 3]).fresh.tolist() == [0, 0]
    assert view(book, [3]).ready.waiting.tolist() == [2]


def test_stages_become_ready_as_their_inputs_end():
    book, sending, executor, _ = loaded()
    assert book.ready_stages().tolist() == [0, 3]
    for task, site in ((0, 0), (1, 1), (2, 1), (3, 2)):
        sending.start(task, site)
    order = executor.launched[1]
    # It runs at another site than its input, and writes a part for each reduce.
    assert (order.worker, order.work, order.slot) == (1, Hold(2.0, (25, 25)), True)
    assert order.reads == (SiteRead(0, 100, (book.input[1],)),)
    assert (sending.source.tolist()[:4], book.free().tolist()) == ([0, 0, 1, 2], [2, 0, 1])
    assert book.ready_stages().tolist() == [3]
    assert not end(book, 0, 4.0, (20, 30))
    assert book.written(1).tolist() == [50.0, 0.0, 0.0]
    assert not end(book, 1, 4.0, (1, 2))
    assert not end(book, 3, 5.0, (7, 0))
    assert (book.since[1], book.left.tolist()) == (0.0, [3, 1])
    assert end(book, 2, 6.0, (5, 5))
    assert (book.since[1], book.left.tolist(), book.done[0]) == (6.0, [2, 1], 4)
    assert book.ready_stages().tolist() == [1, 3]
    assert book.written(1).tolist() == [50.0, 13.0, 7.0]
    assert view(book, [1]).ready.data.tolist() == [[50.0, 13.0, 7.0]]
    assert book.reads(4) == (
        SiteRead(0, 20, (Piece(0, 20, "0.0"),)), SiteRead(1, 6, (Piece(1, 1, "1.0"), Piece(1, 5, "2.0"))),
        SiteRead(2, 7, (Piece(2, 7, "3.0"),)),
    )  # fmt: skip
    assert book.reads(5)[0] == SiteRead(0, 30, (Piece(0, 30, "0.1"),))
    sending.start(4, 0)
    # Half of the stage waits: half of its input.
    assert view(book, [1]).ready.data.tolist() == [[25.0, 6.5, 3.5]]
    assert executor.launched[-1].work == Hold(1.0, (66,))
    assert sending.source[4] == -1
    sending.start(5, 1)
    assert not end(book, 4, 7.0, (66,))
    assert end(book, 5, 8.0, (74,))
    sending.start(6, 2)
    assert np.isnan(book.end).all()
    assert end(book, 6, 9.5, ())
    assert (book.end[0], math.isnan(book.end[1])) == (9.5, True)
    # State of an ended job is dropped.
    assert book.output[:7] == [()] * 7
    assert book.input[:4] == [None] * 4
    assert book.input[7] is not None
    assert (book.free().tolist(), book.busy.tolist()) == ([3, 2, 2], [0, 0, 0])


@pytest.mark.parametrize(
    ("starts", "moves", "message"),
    [
        ([(0, 0, 0, 2)], [], None), ([(0, 0, 0, 1), (0, 0, 0, 1)], [], None), ([(1, 1, 1, 2)], [], None),
        ([(0, 0, 0, 3)], [], "number that wait there"), ([(0, 0, 0, 0)], [], "number that wait there"),
        ([(0, 0, 0, 2), (0, 0, 0, 1)], [], "number that wait there"), ([(2, 0, 0, 1)], [], "number that wait there"),
        ([(-1, 0, 0, 1)], [], "number that wait there"), ([(0, 0, 3, 1)], [], "no such site"),
        ([(0, 3, 0, 1)], [], "no such site"), ([(0, -1, 0, 1)], [], "no such site"),
        ([(0, 0, -1, 1)], [], "no such site"),
        ([(1, 1, 1, 3)], [], "free slots"), ([(1, 1, 1, 2), (0, 1, 1, 1)], [], "free slots"),
        # No bytes come down to the third site.
        ([(0, 0, 2, 1)], [], "no link"), ([(0, 2, 2, 1)], [], None), ([(0, 0, 1, 1)], [], None),
        ([], [(0, 0, 2, 1)], "no link"), ([], [(0, 0, 1, 2)], None), ([], [(1, 1, 0, 3)], None),
        ([], [(1, 1, 0, 4)], "number that wait there"), ([(1, 1, 1, 1)], [(1, 1, 0, 3)], "number that wait there"),
    ],
)  # fmt: skip
def test_an_answer_is_checked_completely_before_it_is_carried_out(starts, moves, message):
    book, _, _, _ = loaded()
    answer = Placement(
        np.array(starts, np.int64).reshape(-1, 4), np.zeros(len(starts), int), ("x",),
        np.array(moves, np.int64).reshape(-1, 4),
    )  # fmt: skip
    if message is None:
        answer.check(view(book, [0, 3]))
    else:
        with pytest.raises(PolicyError, match=message):
            answer.check(view(book, [0, 3]))


def test_input_of_a_started_or_shuffling_stage_cannot_be_moved():
    book, sending, _, _ = loaded()
    sending.start(0, 0)
    none = np.empty((0, 4), np.int64)
    with pytest.raises(PolicyError, match="a stage that has begun"):
        Placement(none, np.zeros(0, int), ("x",), np.array([(0, 0, 1, 1)])).check(view(book, [0]))
    for task in (1, 2, 3):
        sending.start(task, 0 if task == 1 else 1)
    for task in (0, 1, 2, 3):
        end(book, task, 1.0, (1, 1))
    with pytest.raises(PolicyError, match="reads from all sites"):
        Placement(none, np.zeros(0, int), ("x",), np.array([(0, -1, 1, 1)])).check(view(book, [1]))
    Placement(np.array([(0, -1, 1, 2)]), np.zeros(1, int), ("x",)).check(view(book, [1]))
    # No bytes come down to the third site.
    with pytest.raises(PolicyError, match="no link"):
        Placement(np.array([(0, -1, 2, 2)]), np.zeros(1, int), ("x",)).check(view(book, [1]))


def test_largest_first_applies_if_chosen_at_the_first_start():
    sizes = StageSpec(2.0, here=(4, 0, 0), task_bytes=10.0)
    jobs = FleetJobs.of([0.0], [[sizes]])
    jobs.size[:] = [1.0, 3.0, 2.0, 3.0]
    executor = Quiet(AREA)
    book = LiveBook(AREA, jobs, LiveProgram(jobs), executor.workers, "true")
    book.input_site[:] = 0
    assert book.pick(0, 0, 2, False) == [0, 1]
    assert book.pick(0, 0, 3, True) == [1, 3, 2]
    assert book.pick(0, 1, 3, True) == []
    book.begin(1, 0, 0.0)
    # The order of a started stage is kept.
    assert book.pick(0, 0, 9, False) == [3, 2, 0]
