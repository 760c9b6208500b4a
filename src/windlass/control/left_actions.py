"""Actions that a killed process has left without an outcome, which the next process looks up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Self

from windlass.agent.stop import Stop
from windlass.control.actions.job_control import JobControl
from windlass.control.actions.kinds import KINDS
from windlass.control.journal import ActionRecord, JournalReader, JournalWriter
from windlass.model import BatchError, InputError

#: Time until an engine that does not answer is requested again, s.
_AGAIN_S = 30.0
_UNKNOWN = "unknown: the process ended; see the state of the job"


class LeftActions:
    """Writes the outcomes of open actions: those on engines at once, those on jobs when their engine answers.

    Parameters
    ----------
    journal
        The journal.
    jobs
        Returns how the jobs of an engine are held and released; None if they are not.
    one
        Held during each lookup, so that no action changes the job meanwhile.
    again
        Time until an engine that did not answer is requested again, s.
    """

    def __init__(
        self,
        journal: JournalWriter,
        jobs: Callable[[str], JobControl | None],
        one: AbstractContextManager[object],
        again: float = _AGAIN_S,
    ) -> None:
        self._journal, self._jobs, self._one, self._again = journal, jobs, one, again
        self._stop = Stop()
        self._thread = threading.Thread(target=self._look_up, name="left actions", daemon=True)
        with JournalReader(journal.path) as reader:
            left = reader.actions.open()
        #: Actions on jobs without an outcome.
        self.open: list[ActionRecord] = []
        for each in left:
            if each.action in KINDS and KINDS[each.action].of_job:
                self.open.append(each)
            else:
                journal.conclude_action(each.key, each.time, "carried out, as found after a restart")

    def __enter__(self) -> Self:
        if self.open:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.notify()
        if self._thread.is_alive():
            self._thread.join()

    def try_once(self) -> None:
        """Look up the open actions, each once."""
        for each in tuple(self.open):
            with self._one:
                outcome = self._found(each)
            if outcome is not None:
                self._journal.conclude_action(each.key, each.time, outcome)
                self.open.remove(each)

    def _look_up(self) -> None:
        while self.open and not self._stop.requested:
            self.try_once()
            if self.open:
                self._stop.wait(self._again)

    def _found(self, action: ActionRecord) -> str | None:
        """Return the outcome of an action; None if its engine does not answer."""
        jobs = self._jobs(action.job.engine)
        if jobs is None:
            return _UNKNOWN
        try:
            return jobs.found(action.action, action.job.id)
        except BatchError:
            return None
        except InputError as error:
            return f"{_UNKNOWN} ({error})"
