"""An engine that records each decision before it is carried out."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

from windlass.drive import Engine
from windlass.engines.batch.entries import Decided
from windlass.engines.batch.result import BatchRun
from windlass.engines.batch.status import DriverStatus
from windlass.order.site import POLICIES as ORDER
from windlass.order.site.view import Start


class DecisionJournal(Protocol):
    """Where decisions are recorded."""

    def append(self, *entries: Decided) -> None:
        """Write entries; they are on disk when this returns."""
        ...


class JournaledEngine:
    """An engine that writes each decision to a journal before it carries it out.

    Parameters
    ----------
    engine
        The engine that carries decisions out.
    journal
        The journal.
    policy
        The policy's name in the journal.
    status
        Updated with each decision.
    clock
        Returns the Unix time, s.
    name
        Returns the name of a job in the journal.
    decided
        Called with each decision, its view and its answer once it is in the journal, before it is carried out.
    """

    def __init__(
        self,
        engine: Engine[BatchRun],
        journal: DecisionJournal,
        policy: str,
        status: DriverStatus | None = None,
        clock: Callable[[], float] = time.time,
        name: Callable[[int], str] = str,
        decided: Callable[[str, Any, Any], None] = lambda decision, view, answer: None,
    ) -> None:
        self._engine, self._journal, self._policy, self._clock = engine, journal, policy, clock
        self._status, self._name, self._decided = status or DriverStatus(), name, decided
        self._view: Any = None
        self.wait, self.result, self.close = engine.wait, engine.result, engine.close

    def view(self, decision: str) -> Any:
        """Return the engine's view."""
        self._view = self._engine.view(decision)
        return self._view

    def act(self, decision: str, answer: Any) -> None:
        """Write down the started jobs and the reasons, then carry the decision out."""
        if decision == ORDER.key and isinstance(answer, Start) and answer.jobs:
            jobs = tuple(self._name(int(job)) for job in answer.jobs)
            why = tuple(str(reason) for reason in answer.reasons())
            self._journal.append(Decided(self._clock(), self._policy, jobs, why))
        self._decided(decision, self._view, answer)
        self._engine.act(decision, answer)
        if decision == ORDER.key:
            self._status.decisions += 1
            self._status.lag = max(0.0, self._clock() - self._status.polled)
