"""The engine of a queue with holds: the driver of ``windlass pbs drive`` and ``windlass htcondor drive``."""

from __future__ import annotations

import time
from collections.abc import Callable

from windlass.agent.stop import Stop
from windlass.control.hurry import hurried_sleep
from windlass.control.journal import JournalWriter
from windlass.control.taken_over import queue_taken_over
from windlass.engines.batch.holds.driver import by_hand, drive_holds
from windlass.engines.batch.holds.settings import HoldDriving
from windlass.engines.batch.holds.site import HoldSite, SystemAwayError
from windlass.engines.batch.status import DriverStatus
from windlass.jit import Compiling
from windlass.order.site import POLICIES as ORDER


class HeldQueueEngine:
    """A queue with holds, see :class:`~windlass.control.engine.ControlledEngine`; it writes only the driver's journal.

    Parameters
    ----------
    site
        The queue.
    driving
        The settings of the driver, with policies that no other engine has.
    report
        Called with each line of the driver's log.
    status
        Updated while the driver runs; its ``contact`` must be the queue's.
    """

    def __init__(
        self, site: HoldSite, driving: HoldDriving, report: Callable[[str], None], status: DriverStatus
    ) -> None:
        self._site, self._driving, self._report, self._status = site, driving, report, status
        words = site.words
        self.name, self.scope, self.jobs = words.command, (words.command, site.queue), None
        self.about = f"{words.system} queue {site.queue}, order by {driving.policies[ORDER.key].name}"

    def prepare(self, compiling: Callable[[Compiling], None] | None = None) -> None:
        """Do nothing, see :class:`~windlass.control.engine.ControlledEngine`."""

    @property
    def now(self) -> float:
        """Unix time, s."""
        return time.time()

    def run(self, journal: JournalWriter | None, stop: Stop) -> None:
        """Drive the queue until no job is left, or until a stop.

        Raises
        ------
        EngineStoppedError
            A stop was requested, and the queue was given back, or handed over.
        InputError
            The queue cannot be driven.
        PolicyError
            A policy's answer cannot be carried out; the queue was given back.
        BatchError
            The system stays unreachable, does not start a job, or jobs could not be given back.
        """
        words, status = self._site.words, self._status
        site = self._site.waiting(hurried_sleep(stop, words.system, SystemAwayError))
        command = by_hand(words)
        with queue_taken_over(stop, status, not self._driving.keep_held, command, self._report):
            drive_holds(site, self._driving, self._report, status, stop=stop)
