"""What is undone in a live engine's book when a task fails, or a worker is gone with what ran and lay there."""

from __future__ import annotations

import numpy as np

from windlass.engines.live.book import ENDED, ON_THE_WAY, RESTS, RUNS, WAITS, LiveBook


class Losses:
    """Undoes in a book what was lost, so that all that is needed is done again.

    Parameters
    ----------
    book
        The engine's; nothing else in it is touched.
    """

    def __init__(self, book: LiveBook) -> None:
        self._book = book
        # Tasks whose input is lost, and is loaded anew once somebody needs it.
        self._unloaded: set[int] = set()

    def again(self, task: int, state: int = WAITS) -> None:
        """A running task failed, or one that had ended wrote what is lost: it waits again, or ``RESTS`` first."""
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
        """A worker is gone.

        Tasks that ran there wait again, and so do those that had ended there or at one that was gone before, where
        a task that has not ended reads what they wrote: last stages first, so that all that leads to a lost part is
        done again. See :meth:`to_load` for input that was there.
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
        """Tasks that wait or rest and whose input is lost; each is told once."""
        needed = {task for task in self._unloaded if self._book.state[task] in (WAITS, RESTS)}
        self._unloaded -= needed
        return sorted(needed)
