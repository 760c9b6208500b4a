"""The engine of a live cluster of instances: the autoscaler of ``windlass k8s`` and ``windlass ray``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from windlass.agent.stop import Stop
from windlass.control.engine import EngineStoppedError
from windlass.control.journal import JobKey, JournalReader, JournalWriter
from windlass.control.scaling.observer import ObservedScale, ObservedSystem, ScaleObserver
from windlass.drive import drive, interruptible_sleep
from windlass.engines.elastic.clock import SystemClock
from windlass.engines.elastic.engine import Clock, LiveScale
from windlass.engines.elastic.metrics import ScaleStatus
from windlass.engines.elastic.system import ClusterError, ElasticSystem
from windlass.engines.kubernetes.lease import LeadershipLostError
from windlass.experiment.worlds.policy import PolicySpec
from windlass.jit import Compiling
from windlass.model import InputError
from windlass.scale import POLICIES
from windlass.scale.monitor import Monitor

#: The longest time between two signs of life in the journal, s.
_BEAT_S = 10.0

#: Opens a cluster; it waits with the given function, which a stop of the engine ends.
Connect = Callable[[Callable[[float], None]], AbstractContextManager[ElasticSystem]]


@dataclass(frozen=True, slots=True)
class ScalingSettings:
    """The settings of an engine; those of the commands ``autoscale``, and names.

    Parameters
    ----------
    name, site
        Names of the engine and of its cluster.
    kind
        The kind of cluster, such as ``Kubernetes``.
    policy
        The scaling policy.
    history
        The file of past demand.
    period
        Time between two decisions, s.
    gives_up
        True to end with an error when another autoscaler leads.
    """

    name: str
    site: str
    kind: str
    policy: PolicySpec
    history: Path
    period: float
    gives_up: bool = False


class ScalingEngine:
    """A live cluster of instances, see :class:`~windlass.control.engine.ControlledEngine`.

    Requests remain at the end, as with the commands: so no instance is removed while the process restarts.

    Parameters
    ----------
    settings
        The settings.
    connect
        Opens the cluster.
    acts
        True to request instances; False to decide only, without a change of the cluster or of the file of past demand.
    report
        Called with each line of the engine's log.
    clock
        Returns the Unix time, s.
    status
        Updated while the engine runs, for its metrics; by default, one of its own.
    modules
        What ``connect`` imports, imported before engines are in threads of their own.

    Raises
    ------
    InputError
        The policy cannot be made.
    """

    def __init__(
        self,
        settings: ScalingSettings,
        connect: Connect,
        *,
        acts: bool,
        report: Callable[[str], None],
        clock: Callable[[], float] = time.time,
        status: ScaleStatus | None = None,
        modules: Sequence[str] = (),
    ) -> None:
        self._modules = tuple(modules)
        self.name, self._settings, self._connect = settings.name, settings, connect
        self._acts, self._report, self._clock, self._status = acts, report, clock, status or ScaleStatus()
        self._policy = settings.policy.make(POLICIES, np.random.default_rng(1))
        does = "requests instances" if acts else "decides only"
        self.about = f"{settings.kind}, scale by {self._policy.name}; {does}"
        self.scope, self.jobs = (settings.kind, settings.site), None

    def prepare(self, compiling: Callable[[Compiling], None] | None = None) -> None:
        """Import what the cluster needs, see :class:`~windlass.control.engine.ControlledEngine`.

        What is missing is a failure of this engine alone, once it runs.
        """
        for each in self._modules:
            with suppress(ImportError):
                import_module(each)

    @property
    def now(self) -> float:
        """Unix time, s."""
        return self._clock()

    def plan(self) -> tuple[str, ...]:
        """Return what the policy would request now, one line each, without a change.

        Raises
        ------
        ClusterError
            The cluster does not answer.
        """
        with self._connect(time.sleep) as system, self._scaled(system, SystemClock()) as engine:
            return tuple(engine.plan(self._policy))

    def run(self, journal: JournalWriter | None, stop: Stop) -> None:
        """Scale the cluster, or decide only, until a stop; a cluster that does not answer is tried again.

        Raises
        ------
        EngineStoppedError
            A stop was requested.
        InputError
            The cluster cannot be opened, or the file of past demand cannot be used.
        PolicyError
            A policy's answer cannot be carried out.
        """
        if journal is not None:
            journal.flush()
        while True:
            try:
                self._run(journal, stop)
            except LeadershipLostError as error:
                if self._settings.gives_up:
                    raise
                # Another autoscaler acts; this one waits for its turn.
                self._report(str(error))
            except ClusterError as error:
                raise InputError(str(error)) from error
            else:
                raise EngineStoppedError("stopped on request")

    def _run(self, journal: JournalWriter | None, stop: Stop) -> None:
        settings = self._settings
        # An autoscaler that waits until it leads is alive.
        sleep = self._status.health.sleeping(interruptible_sleep(stop))
        with self._connect(sleep) as system:
            if journal is None:
                with self._scaled(system, StoppableClock(self._clock, stop, lambda: None)) as engine:
                    drive(engine, {POLICIES.key: self._policy}, stop=stop)
                return
            with JournalReader(journal.path) as reader:
                observer = ScaleObserver(
                    JobKey(self.name, settings.site),
                    self.about,
                    self._policy.name,
                    journal,
                    reader,
                    acts=self._acts,
                    clock=self._clock,
                )
                clock = StoppableClock(self._clock, stop, observer.beat)
                with self._scaled(ObservedSystem(system, observer), clock) as engine:
                    observed = ObservedScale(engine, system.types, observer, self._acts)
                    drive(observed, {POLICIES.key: self._policy}, stop=stop)

    @contextmanager
    def _scaled(self, system: ElasticSystem, clock: Clock) -> Iterator[LiveScale]:
        """Yield the engine of a cluster, with the file of past demand."""
        settings, names = self._settings, [kind.name for kind in system.types]
        with Monitor(settings.history, names, period=settings.period, writes=self._acts) as monitor:
            yield LiveScale(
                system, monitor, clock, period=settings.period, notify=self._report, status=self._status
            )


class StoppableClock:
    """A clock whose sleep a stop ends, and that calls a function at intervals meanwhile.

    Parameters
    ----------
    clock
        Returns the Unix time, s.
    stop
        The stop request.
    beat
        Called every ten seconds of a sleep.

    Examples
    --------
    >>> stop = Stop()
    >>> clock = StoppableClock(lambda: 0.0, stop, lambda: None)
    >>> clock.sleep(0.0)
    True
    >>> stop.notify()
    >>> clock.sleep(300.0)
    False
    """

    def __init__(self, clock: Callable[[], float], stop: Stop, beat: Callable[[], None]) -> None:
        self.now, self._stop, self._beat = clock, stop, beat

    def sleep(self, seconds: float) -> bool:
        """Sleep for ``seconds``; return False at a stop request."""
        while seconds > _BEAT_S:
            if self._stop.wait(_BEAT_S):
                return False
            self._beat()
            seconds -= _BEAT_S
        return not self._stop.wait(seconds)
