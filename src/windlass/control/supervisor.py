"""Runs engines, each in a thread of its own, and records their conditions in the journal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from windlass.agent.stop import Stop
from windlass.control.engine import ControlledEngine, EngineStoppedError
from windlass.control.journal import EngineStatus, EventRecord, JobKey, JournalWriter
from windlass.model import BatchError, InputError, PolicyError
from windlass.policy.user_code import describe_failure, message_of


class Supervisor:
    """Starts engines, waits for them and replaces them. An engine that fails stops alone; the others go on.

    Parameters
    ----------
    engines
        The engines, with different names.
    journal
        Where their conditions are recorded.
    stop
        Stops all engines.
    report
        Called with a line on each engine that ends or fails, from the engine's thread.

    Raises
    ------
    InputError
        Two engines have one name.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> class Idle:
    ...     name, about, scope, now = "idle", "an engine without work", "idle", 0.0
    ...     def run(self, journal, stop):
    ...         pass
    >>> with JournalWriter(Path(tempfile.mkdtemp()) / "journal.db") as journal:
    ...     supervisor = Supervisor([Idle()], journal, Stop(), print)
    ...     supervisor.start()
    ...     supervisor.join()
    idle: all work has ended
    """

    def __init__(
        self,
        engines: Sequence[ControlledEngine],
        journal: JournalWriter,
        stop: Stop,
        report: Callable[[str], None],
    ) -> None:
        self._journal, self._stop, self._report = journal, stop, report
        #: By name: the failures of engines, and those of them that a stop has brought about.
        self.failures: dict[str, Exception] = {}
        self.late: dict[str, Exception] = {}
        self._take(engines)

    def _take(self, engines: Sequence[ControlledEngine]) -> None:
        names = [engine.name for engine in engines]
        if len(set(names)) < len(names):
            raise InputError(f"engines are named {', '.join(names)}, expected different names")
        self._stops = {engine.name: (engine.scope, self._stop.part()) for engine in engines}
        #: By name: the thread of each engine.
        self.threads = {
            engine.name: threading.Thread(
                target=self._run, args=(engine, self._stops[engine.name][1]), name=engine.name, daemon=True
            )
            for engine in engines
        }

    def replace(self, engines: Sequence[ControlledEngine]) -> None:
        """Stop all engines and start others; an engine takes over what one with an equal scope holds.

        Parameters
        ----------
        engines
            The other engines, with different names, prepared.
        """
        scopes = [engine.scope for engine in engines]
        for scope, stop in self._stops.values():
            stop.notify(hands_over=scope in scopes)
        self.join()
        self._take(engines)
        # Also if a stop was requested meanwhile: then the new engine gives back what it took over.
        self.start()

    @property
    def running(self) -> bool:
        """True while an engine runs."""
        return any(each.is_alive() for each in self.threads.values())

    def start(self) -> None:
        """Start all engines."""
        for each in self.threads.values():
            each.start()

    def join(self) -> None:
        """Wait until all engines have ended."""
        for each in self.threads.values():
            each.join()

    def _run(self, engine: ControlledEngine, stop: Stop) -> None:
        try:
            self._note(engine, "starting")
            try:
                engine.run(self._journal, stop)
            except EngineStoppedError:
                self._note(engine, "stopped")
                self._report(f"{engine.name}: stopped")
            else:
                self._note(engine, "ended")
                self._report(f"{engine.name}: all work has ended")
        except Exception as error:
            self.failures[engine.name] = error
            if self._stop.requested:
                self.late[engine.name] = error
            self._fail(engine, describe_failure(error) or _line_of(error))

    def _fail(self, engine: ControlledEngine, why: str) -> None:
        self._report(f"{engine.name}: failed: {why}")
        try:
            self._journal.append(EventRecord(engine.now, JobKey(engine.name), "error", why))
            self._note(engine, "failed", why)
        except InputError as error:
            # The journal itself is the cause, or was lost too; the report is then all that is left.
            self._report(f"{engine.name}: {error}")

    def _note(self, engine: ControlledEngine, state: str, error: str = "") -> None:
        self._journal.append(EngineStatus(engine.name, state, engine.now, engine.about, error))
        self._journal.flush()


def _line_of(error: Exception) -> str:
    """Return an error as one line: a complete message, or the class and the message."""
    return str(error) if isinstance(error, BatchError | InputError | PolicyError) else message_of(error)
