"""A book of a live engine over three sites, and an executor that records launches."""

import numpy as np

from tests.engines.fake import FakeExecutor
from windlass.engines.live.book import LiveBook
from windlass.engines.live.executor import Piece
from windlass.engines.live.program import LiveProgram
from windlass.engines.live.transfers import Transfers
from windlass.model.fleet import Fleet, FleetJobs, StageSpec

AREA = Fleet.of([3, 2, 2], [4e6, 2e6, 1e6], [1e6, 8e6, 0.0])


def two_jobs():
    """Maps of 2, 1 and 1 tasks at the sites, read by two reduces that a last stage reads; and a job of one map."""
    first = [
        StageSpec(2.0, here=(2, 1, 1), task_bytes=100.0, ratio=0.5),
        StageSpec(1.0, tasks=2, parents=(0,), ratio=2.0),
        StageSpec(3.0, tasks=1, parents=(1,)),
    ]
    return FleetJobs.of([0.0, 1.0], [first, [StageSpec(5.0, here=(0, 3, 0), task_bytes=10.0)]])


class Quiet(FakeExecutor):
    """An executor that records launches and does nothing else."""

    def launch(self, order):
        self.launched.append(order)


def made(nodes=1, dispatch=None):
    jobs = two_jobs()
    executor = Quiet(AREA, nodes=nodes)
    book = LiveBook(AREA, jobs, LiveProgram(jobs), executor.workers, "true")
    clock = [0.0]
    sending = Transfers(book, executor, lambda: clock[0], dispatch)
    return book, sending, executor, clock


def loaded(**more):
    book, sending, executor, clock = made(**more)
    sending.load_all()
    for key, order in enumerate(executor.launched):
        sent = sending.take(key)
        book.input[sent.task] = Piece(order.worker, order.work.size, b"")
        book.input_site[sent.task] = executor.workers[order.worker].site
    executor.launched.clear()
    book.submitted[:] = True
    return book, sending, executor, clock


def view(book, rows, now=7.0):
    in_use = np.array([1e6, 3e6, 0.0]), np.array([0.0, 3e6, 0.0])
    return book.view(now, np.array(rows), in_use, True, False)


def end(book, task, now, sizes):
    worker = int(book.worker[task])
    return book.finish(task, tuple(Piece(worker, size, f"{task}.{at}") for at, size in enumerate(sizes)), now)
