"""What node agents decide, as rows of the control plane's journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from windlass.control.agents.reading import AgentReading
from windlass.control.journal import (
    DecisionRecord,
    EngineStatus,
    EventRecord,
    JobKey,
    JournalWriter,
    ViewRecord,
)
from windlass.control.site_status import MOST, HeldCores, MachineState, SiteStatus, status_text

#: By address: what an agent answers, or why it does not.
Readings = Mapping[str, AgentReading | str]


class AgentsObserver:
    """Writes the journal of one engine.

    Parameters
    ----------
    name, about
        The engine, and a line on it.
    journal
        The journal.
    clock
        Returns the Unix time, s.
    """

    def __init__(self, name: str, about: str, journal: JournalWriter, clock: Callable[[], float]) -> None:
        self._name, self._about, self._journal, self._clock = name, about, journal, clock
        #: By address: the latest decision that is in the journal.
        self._accepts: dict[str, bool] = {}
        #: By address: why an agent does not answer.
        self._away: dict[str, str] = {}

    def polled(self, readings: Readings) -> None:
        """Write what has changed, and the state of all machines."""
        now = self._clock()
        for address, each in readings.items():
            key = JobKey(self._name, address)
            if isinstance(each, str):
                if self._away.get(address) != each:
                    self._journal.append(EventRecord(now, key, "error", f"{address}: {each}"))
                self._away[address] = each
                continue
            if self._away.pop(address, None) is not None:
                self._journal.append(EventRecord(now, key, "reachable", address))
            if self._accepts.get(address) is not each.accepts:
                self._accepts[address] = each.accepts
                answer = "accept tasks" if each.accepts else "reject tasks"
                self._journal.append(
                    DecisionRecord(now, key, "admit", each.policy or "unknown", answer, each.why)
                )
        state = agents_status(readings)
        self._journal.append(ViewRecord(now, self._name, "", status_text(state)))
        why = "; ".join(f"{address}: {text}" for address, text in list(self._away.items())[:3])
        away = len(self._away) == len(readings)
        self._journal.append(
            EngineStatus(self._name, "unreachable" if away else "running", now, self._about, why)
        )


def agents_status(readings: Readings) -> SiteStatus:
    """Return the state of the machines: their busy cores count as held.

    Parameters
    ----------
    readings
        The answers.

    Examples
    --------
    >>> found = agents_status({"n1:9090": AgentReading(True, "calm", "rising", 4, 0.3), "n2:9090": "does not answer"})
    >>> [(each.name, each.state, each.idle, each.note) for each in found.machines]
    [('n1:9090', 'accepting', 3, 'calm'), ('n2:9090', 'unreachable', 0, 'does not answer')]
    >>> found.cores, found.idle, found.accepting
    (4, 3, (1, 2))
    """
    machines, cores, idle = list[MachineState](), 0, 0
    for address, each in readings.items():
        if isinstance(each, str):
            machines.append(MachineState(address, "unreachable", 0, 0, note=each))
            continue
        free = each.cores - round(each.cores * each.busy)
        cores, idle = cores + each.cores, idle + free
        state = "accepting" if each.accepts else "rejecting"
        machines.append(MachineState(address, state, each.cores, free, note=each.why))
    held = (HeldCores("busy", cores - idle),) if cores > idle else ()
    return SiteStatus((), (), 0, 0, cores, idle, held, tuple(machines[:MOST]), lists_jobs=False)
