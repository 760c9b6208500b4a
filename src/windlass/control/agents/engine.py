"""The engine of node agents: it reads what they decide, and changes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from windlass.agent.options import Address
from windlass.agent.stop import Stop
from windlass.control.agents.observer import AgentsObserver
from windlass.control.agents.reading import AgentReading, read_agent
from windlass.control.engine import EngineStoppedError
from windlass.control.journal import JournalWriter
from windlass.jit import Compiling
from windlass.model import InputError
from windlass.report.units import counted

#: Agents that are read at the same time.
_AT_ONCE = 8


class AgentsEngine:
    """Node agents, see :class:`~windlass.control.engine.ControlledEngine`.

    An agent decides itself whether its machine takes a task, also while this engine is paused or has ended.

    Parameters
    ----------
    name
        Name of the engine.
    addresses
        Where the agents listen.
    period
        Time between two readings, s.
    clock
        Returns the Unix time, s.
    read
        Reads one agent, or raises InputError.

    Examples
    --------
    >>> AgentsEngine("agents", [Address("127.0.0.1", 9090)], 5.0).about
    'agents of 1 node, which decide themselves; reads only'
    """

    def __init__(
        self,
        name: str,
        addresses: Sequence[Address],
        period: float,
        clock: Callable[[], float] = time.time,
        read: Callable[[Address], AgentReading] = read_agent,
    ) -> None:
        self.name, self._addresses, self._period = name, tuple(addresses), period
        self._clock, self._read = clock, read
        nodes = counted(len(self._addresses), "node")
        self.about = f"agents of {nodes}, which decide themselves; reads only"
        self.scope, self.jobs = ("agents", name), None

    def prepare(self, compiling: Callable[[Compiling], None] | None = None) -> None:
        """Do nothing, see :class:`~windlass.control.engine.ControlledEngine`."""

    @property
    def now(self) -> float:
        """Unix time, s."""
        return self._clock()

    def run(self, journal: JournalWriter | None, stop: Stop) -> None:
        """Read all agents once a period until a stop; those that do not answer are read again.

        Raises
        ------
        EngineStoppedError
            A stop was requested.
        """
        observer = None if journal is None else AgentsObserver(self.name, self.about, journal, self._clock)
        with ThreadPoolExecutor(min(_AT_ONCE, len(self._addresses)), self.name) as pool:
            while not stop.requested:
                found = dict(pool.map(self._reading, self._addresses))
                if observer is not None:
                    observer.polled(found)
                stop.wait(self._period)
        raise EngineStoppedError("stopped on request")

    def _reading(self, address: Address) -> tuple[str, AgentReading | str]:
        where = address.url.removeprefix("http://")
        try:
            return where, self._read(address)
        except InputError as error:
            return where, str(error)
