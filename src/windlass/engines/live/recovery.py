"""Changes to a live engine's book when a task fails, or a worker is lost with the work and data on it."""

from __future__ import annotations

import numpy as np

from windlass.engines.live.book import ENDED, ON_THE_WAY, RESTS, RUNS, WAITS, LiveBook


class Losses:
    """Marks lost work in a book so that all work that is still needed is done again.

    Parameters
    ----------
    book
        The engine's book.
    """

    def __init__(self, book: LiveBook) -> None:
        self._book = book
        # Tasks with lost input, which is loaded again once a task needs it.
        self._unloaded: set[int] = set()

    def again(self, task: int, state: int = WAITS) -> None:
        """Return a failed task, or one with lost output, to the queue; with ``RESTS`` it rests first."""
        book = self._book
        row = int(book.stage[task])
        book.started[row, book.site[task]] -= 1
        if book.state[task] == RUNS:
            book.leave(task)
        else:
            if book.complete(row):
                book.left[book.jobs.job[row]] += 1
            book.done[row] -= 1
            book.output[task] = ()
        book.state[task] = state

    def lose(self, worker: int) -> None:
        """Record the loss of a worker.

        Tasks that ran there wait again. So do finished tasks with output on a lost worker that an unfinished task
        reads, last stages first, so that all ancestors of a lost part are done again. Lost input is reported by
        :meth:`to_load`.
        """
        book = self._book
        book.alive[worker] = False
        for task in np.flatnonzero((book.state == RUNS) & (book.worker == worker)).tolist():
            self.again(task)
        for row in range(len(book.jobs.job) - 1, -1, -1):
            needed = [child for child in book.program.children(row) if not book.complete(child)]
            if not np.isnan(book.end[book.jobs.job[row]]) or not needed:
                continue
            for task in book.tasks_of(row).tolist():
                if book.state[task] == ENDED and any(
                    not book.alive[piece.worker] for piece in book.output[task]
                ):
                    self.again(task)
        for task, piece in enumerate(book.input):
            if piece is not None and piece.worker == worker:
                book.input[task], book.input_site[task] = None, ON_THE_WAY
                self._unloaded.add(task)

    def to_load(self) -> list[int]:
        """Return the waiting or resting tasks with lost input; each is returned once."""
        needed = {task for task in self._unloaded if self._book.state[task] in (WAITS, RESTS)}
        self._unloaded -= needed
        return sorted(needed)
