"""A driver's dry run that goes on: policies decide as the queue changes, and nothing is changed or written."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

from windlass.drive import Engine, StopRequest, drive, interruptible_sleep
from windlass.engines.batch.owners import live_owners
from windlass.engines.batch.result import BatchRun
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.journal import Unwritten
from windlass.engines.slurm.observer import DriverObserver
from windlass.engines.slurm.settings import Driving, Notify
from windlass.engines.slurm.sharing import measuring_site
from windlass.engines.slurm.system import SlurmSystem
from windlass.order.site import POLICIES as ORDER
from windlass.order.site.view import Start
from windlass.policy.answers import expect_answer
from windlass.share import Sharing


class ProposingEngine:
    """An engine that checks each answer, reports it, and does not carry it out.

    Parameters
    ----------
    engine
        The engine that waits and views.
    observer
        Notified of each answer.
    """

    def __init__(self, engine: Engine[BatchRun], observer: DriverObserver) -> None:
        self._engine, self._observer = engine, observer
        self._view: Any = None
        self.wait, self.result, self.close = engine.wait, engine.result, engine.close

    def view(self, decision: str) -> Any:
        """Return the engine's view."""
        self._view = self._engine.view(decision)
        return self._view

    def act(self, decision: str, answer: Any) -> None:
        """Check an answer and report it."""
        checked: Any = expect_answer(answer, Start if decision == ORDER.key else Sharing)
        checked.check(self._view)
        self._observer.decided(decision, self._view, answer)


def preview_slurm(
    client: Client,
    driving: Driving,
    notify: Notify,
    observer: DriverObserver,
    stop: StopRequest,
    *,
    clock: Callable[[], float] = time.time,
) -> None:
    """Let policies decide whenever the queue changes, without any change of Slurm or of a file, until a stop.

    The same job is decided about again and again, because it is not started. No lock is taken, so a driver may run.

    Parameters
    ----------
    client
        Slurm.
    driving
        Policies and polling options; the journal of a driver is read, and need not exist.
    notify
        Called with each warning of the system.
    observer
        Notified of polls and answers.
    stop
        Ends the dry run.
    clock
        Returns the Unix time, s.

    Raises
    ------
    EngineStoppedError
        A stop was requested.
    PolicyError
        A policy's answer could not be carried out.
    BatchError
        Slurm stays unreachable.
    """
    sleep = interruptible_sleep(stop)
    client = dataclasses.replace(client, sleep=sleep)
    options = dataclasses.replace(driving.options, dry_run=True)
    journal = Unwritten(driving.journal, notify)
    owners = live_owners(driving.policies[ORDER.key], journal)
    system = SlurmSystem(
        client,
        journal,
        options,
        notify=notify,
        clock=clock,
        sleep=sleep,
        polled=observer.polled,
    )
    engine = ProposingEngine(measuring_site(system, client, driving, journal, owners), observer)
    drive(engine, {**driving.policies, ORDER.key: owners.order()}, stop=stop)
