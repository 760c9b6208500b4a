"""Runs engines, each in a thread of its own, pauses them, and records their conditions in the journal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence

from windlass.agent.stop import Stop
from windlass.control.engine import ControlledEngine, EngineStoppedError
from windlass.control.journal import EngineStatus, EventRecord, JobKey, JournalWriter
from windlass.model import BatchError, InputError, PolicyError
from windlass.policy.user_code import describe_failure, message_of

#: Time for an engine to give back what it holds until a pause is reported as under way, s.
_PATIENCE = 15.0
#: Interval at which handlers of signals run while threads end, s.
_JOIN_S = 0.1


class Supervisor:
    """Starts engines, waits for them, pauses and replaces them. An engine that fails stops alone; the others go on.

    Parameters
    ----------
    engines
        The engines, with different names.
    journal
        Where their conditions are recorded; None to record nothing.
    stop
        Stops all engines.
    report
        Called with a line on each engine that ends or fails, from the engine's thread.
    paused
        Names of engines that are not started until they are resumed.

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
        journal: JournalWriter | None,
        stop: Stop,
        report: Callable[[str], None],
        paused: Collection[str] = (),
    ) -> None:
        self._journal, self._stop, self._report = journal, stop, report
        #: Held while engines are paused, resumed, replaced or ended.
        self._changes = threading.RLock()
        self._paused = set(paused)
        #: By name: the failures of engines, and those of them that a stop has brought about.
        self.failures: dict[str, BaseException] = {}
        self.late: dict[str, BaseException] = {}
        self._take(engines, frozenset())

    def _take(self, engines: Sequence[ControlledEngine], handed_over: Collection[Hashable]) -> None:
        names = [engine.name for engine in engines]
        if len(set(names)) < len(names):
            raise InputError(f"engines are named {', '.join(names)}, expected different names")
        self._engines = {engine.name: engine for engine in engines}
        self._stops = {
            engine.name: self._stop.part(takes_over=engine.scope in handed_over) for engine in engines
        }
        #: By name: the thread of each engine that was started.
        self.threads: dict[str, threading.Thread] = {}

    def prepare(self, engines: Sequence[ControlledEngine]) -> None:
        """Compile what engines need to record their runs, before they replace others.

        Raises
        ------
        InputError
            What an engine needs cannot be read.
        """
        if self._journal is not None:
            for engine in engines:
                engine.prepare()

    def replace(self, engines: Sequence[ControlledEngine]) -> None:
        """Stop all engines and start others; an engine takes over what one with an equal scope holds.

        Parameters
        ----------
        engines
            The other engines, with different names, prepared.
        """
        with self._changes:
            scopes = [engine.scope for engine in engines if engine.name not in self._paused]
            running = [engine.scope for name, engine in self._engines.items() if self.runs(name)]
            for name, stop in self._stops.items():
                stop.notify(hands_over=self._engines[name].scope in scopes)
            self.join()
            self._take(engines, running)
            # Also if a stop was requested meanwhile: then the new engine gives back what it took over.
            self.start()

    @property
    def engines(self) -> Mapping[str, ControlledEngine]:
        """The engines by name."""
        return self._engines

    @property
    def running(self) -> bool:
        """True while an engine runs or is paused."""
        return any(each.is_alive() for each in self.threads.values()) or any(
            name in self._paused for name in self._engines
        )

    def runs(self, engine: str) -> bool:
        """Return whether an engine's thread runs."""
        thread = self.threads.get(engine)
        return thread is not None and thread.is_alive()

    def paused(self, engine: str) -> bool:
        """Return whether an engine is paused, or ends because it will be."""
        return engine in self._paused

    def start(self) -> None:
        """Start all engines that are not paused."""
        with self._changes:
            for name in self._engines:
                if name in self._paused:
                    self._note(self._engines[name], "paused")
                    self._report(f"{name}: paused")
                else:
                    self._start(name)

    def _start(self, name: str) -> None:
        thread = threading.Thread(
            target=self._run, args=(self._engines[name], self._stops[name]), name=name, daemon=True
        )
        self.threads[name] = thread
        thread.start()

    def join(self) -> None:
        """Wait until all engines have ended."""
        with self._changes:
            for each in self.threads.values():
                while each.is_alive():
                    # Python runs the handler of a signal in the main thread, between two of its steps. A signal that
                    # arrives just before a wait does not end that wait.
                    each.join(_JOIN_S)

    def preview_pause(self, engine: str) -> str:
        """Return what a pause would do.

        Raises
        ------
        InputError
            The engine is paused, or has ended without a failure.
        """
        if engine in self._paused:
            raise InputError(f"actions: engine {engine} is paused already")
        stays = "it stays paused until it is resumed, also after a restart"
        if self.runs(engine):
            return (
                f"engine {engine} stops deciding and gives back what it holds, as at the end of the command; "
                f"{stays}"
            )
        error = self.failures.get(engine)
        if error is None:
            raise InputError(f"actions: engine {engine} does not run, expected one that runs or has failed")
        return f"engine {engine} has failed and decides nothing ({_line_of(error)}); {stays}"

    def preview_resume(self, engine: str) -> str:
        """Return what a resume would do.

        Raises
        ------
        InputError
            The engine runs, or everything is being stopped.
        """
        if self.runs(engine):
            still = (
                "still gives back what it holds, try again later"
                if engine in self._paused
                else "runs already"
            )
            raise InputError(f"actions: engine {engine} {still}")
        if self._stop.requested:
            raise InputError("actions: the control plane is being stopped")
        error = self.failures.get(engine)
        failed = "" if error is None else f", which has failed ({_line_of(error)}),"
        return (
            f"engine {engine}{failed} is started: it takes up what waits for it, and decides "
            f"({self._engines[engine].about})"
        )

    def pause(self, engine: str) -> str:
        """Stop one engine, which gives back what it holds, and return the outcome; errors as of a preview.

        An engine that has failed is not started by a restart or a reload once it is paused.
        """
        with self._changes:
            self.preview_pause(engine)
            self._paused.add(engine)
            if not self.runs(engine):
                self._note(self._engines[engine], "paused")
                return f"paused; the engine had failed: {_line_of(self.failures[engine])}"
            self._stops[engine].notify()
            thread = self.threads[engine]
        thread.join(_PATIENCE)
        if thread.is_alive():
            return (
                "under way: the engine still gives back what it holds; its state is paused once it has ended"
            )
        error = self.failures.get(engine)
        return "paused" if error is None else f"paused, with an error: {_line_of(error)}"

    def resume(self, engine: str) -> str:
        """Start an engine that was paused or has failed, and return the outcome; errors as of a preview."""
        with self._changes:
            self.preview_resume(engine)
            self._paused.discard(engine)
            self.failures.pop(engine, None)
            self._stops[engine] = self._stop.part()
            self._start(engine)
        return "started"

    def _run(self, engine: ControlledEngine, stop: Stop) -> None:
        try:
            self._note(engine, "starting")
            try:
                engine.run(self._journal, stop)
            except EngineStoppedError:
                state = "paused" if engine.name in self._paused else "stopped"
                self._note(engine, state)
                self._report(f"{engine.name}: {state}")
            else:
                self._note(engine, "ended")
                self._report(f"{engine.name}: all work has ended")
        # A policy may raise anything, and may exit. A thread that exits ends without a message.
        except BaseException as error:
            self.failures[engine.name] = error
            if self._stop.requested:
                self.late[engine.name] = error
            self._fail(engine, describe_failure(error) or _line_of(error))

    def _fail(self, engine: ControlledEngine, why: str) -> None:
        self._report(f"{engine.name}: failed: {why}")
        try:
            if self._journal is not None:
                self._journal.append(EventRecord(engine.now, JobKey(engine.name), "error", why))
            self._note(engine, "failed", why)
        except InputError as error:
            # The journal itself is the cause, or was lost too; the report is then all that is left.
            self._report(f"{engine.name}: {error}")

    def _note(self, engine: ControlledEngine, state: str, error: str = "") -> None:
        if self._journal is not None:
            self._journal.append(EngineStatus(engine.name, state, engine.now, engine.about, error))
            self._journal.flush()


def _line_of(error: BaseException) -> str:
    """Return an error as one line: a complete message, or the class and the message."""
    return str(error) if isinstance(error, BatchError | InputError | PolicyError) else message_of(error)
