"""A part that records the cores of a site over time, and which loads hold them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.sim.ledger import Ledger
from windlass.sim.part import Concerns, Due, Quiet

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SiteCores:
    """The cores of a site at the end of an instant.

    Parameters
    ----------
    at
        The instant, s.
    idle
        Idle cores.
    capacity, free
        (rows,) cores of each row, and those of them that are idle.
    held
        Cores that each load holds, by its name; only those that hold some.
    """

    at: float
    idle: int
    capacity: _Ints
    free: _Ints
    held: Mapping[str, int]

    def text(self) -> str:
        """Return the loads with their cores, such as ``batch 96, etl 8``, the largest first."""
        return holders_text(self.held)

    def figures(self) -> dict[str, object]:
        """Return the cores as plain values."""
        return {"idle": self.idle, "cores": int(self.capacity.sum()), "held": dict(self.held)}


def holders_text(held: Mapping[str, float]) -> str:
    """Return loads with their cores, the largest first.

    >>> holders_text({"etl": 8, "batch@iowa": 96.25}), holders_text({})
    ('batch 96.2, etl 8', 'none')
    """
    ordered = sorted(held.items(), key=lambda each: -each[1])
    return ", ".join(f"{name.partition('@')[0]} {round(cores, 1):g}" for name, cores in ordered) or "none"


class SiteWatch(Quiet):
    """Records the cores of a site at each instant at which some row of it changes.

    List it after all other parts. It reads the ledger only.

    Parameters
    ----------
    ledger, site
        The ledger, and the site's number.
    holders
        The load of each number in the ledger.
    since, until
        Time from which to which it records, s; the state at ``since`` is recorded too.
    also
        Called with the time at each of these instants.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> from windlass.sim.coupled import Coupled
    >>> from windlass.sim.site.part import SitePart
    >>> ledger = Ledger([[4]], parts=1)
    >>> jobs = SitePart(JobTable.of(submit=[1, 2], run=[10, 10], procs=[3, 3]), Fcfs(), ledger)
    >>> watch = SiteWatch(ledger, 0, {0: "batch@iowa"}, 0.0)
    >>> Coupled([jobs, watch], ledger).wait()
    >>> watch.cores(5.0).idle, watch.cores(5.0).text(), [each.at for each in watch.between(0.0, 20.0)]
    (1, 'batch 3', [1.0, 11.0])
    """

    def __init__(
        self,
        ledger: Ledger,
        site: int,
        holders: Mapping[int, str],
        since: float,
        until: float = np.inf,
        also: Callable[[float], None] | None = None,
    ) -> None:
        self._nodes, self._site, self._rows = ledger.nodes, site, ledger.rows(site)
        self._holders, self._since, self._until = holders, since, until
        self._also = also
        self._states = [self._read(-np.inf)]
        ledger.watch(site)

    def concerns(self) -> Concerns:
        """Return the site."""
        return Concerns(sites=(self._site,))

    def decide(self, now: float) -> Sequence[Due]:
        """Record the cores; of several calls at one instant, the last one counts."""
        if now <= self._until:
            if self._states[-1].at == now or now <= self._since:
                self._states.pop()
            self._states.append(self._read(now))
            if self._also is not None:
                self._also(now)
        return ()

    def cores(self, at: float) -> SiteCores:
        """Return the cores at the end of an instant, s."""
        return next(each for each in reversed(self._states) if each.at <= at or each is self._states[0])

    def before(self, at: float) -> SiteCores:
        """Return the cores before an instant, s."""
        return next(each for each in reversed(self._states) if each.at < at or each is self._states[0])

    def between(self, since: float, until: float) -> list[SiteCores]:
        """Return the states that began from ``since`` to before ``until``, s."""
        return [each for each in self._states if since <= each.at < until]

    def _read(self, now: float) -> SiteCores:
        nodes, rows = self._nodes, slice(self._rows.start, self._rows.stop)
        by_load: dict[str, int] = {}
        for part, cores in enumerate(nodes.held[rows].sum(axis=0).tolist()):
            if cores:
                name = self._holders.get(part, f"part {part}")
                by_load[name] = by_load.get(name, 0) + cores
        idle = int(nodes.total[self._site])
        return SiteCores(now, idle, nodes.capacity[rows].copy(), nodes.idle[rows].copy(), by_load)


@dataclass(frozen=True, slots=True)
class WaitCores:
    """The cores of a site while a job waited.

    Parameters
    ----------
    enough
        Time for which at least as many cores were idle as the job requested, s.
    held
        Mean number of cores that each load held.
    """

    enough: float
    held: Mapping[str, float]


def cores_of_wait(watch: SiteWatch, since: float, until: float, procs: int) -> WaitCores:
    """Return the cores of a site while a job that requested ``procs`` cores waited, from ``since`` to ``until`` (s)."""
    states = [watch.cores(since), *(each for each in watch.between(since, until) if each.at > since)]
    ends = [*(each.at for each in states[1:]), until]
    enough, held = 0.0, dict[str, float]()
    for state, end in zip(states, ends, strict=True):
        length = end - max(state.at, since)
        enough += length if state.idle >= procs else 0.0
        for name, cores in state.held.items():
            held[name] = held.get(name, 0.0) + cores * length / (until - since)
    return WaitCores(enough, held)
