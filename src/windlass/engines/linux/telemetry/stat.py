"""CPU time, and events of the kernel: ``/proc/stat``."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence

from windlass.engines.linux.telemetry.proc_file import ProcFile
from windlass.engines.linux.telemetry.rates import Counters, grown
from windlass.engines.linux.telemetry.source import Roots, number_or_none, unknown

#: States of a core, in the order of the file. Guests' time is included in that of users.
_STATES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_IDLE, _IOWAIT = 3, 4
#: Kinds of soft interrupts, with their indices in the file's line; 0 is the sum.
_SOFT = (("all", 0), ("timer", 2), ("net_tx", 3), ("net_rx", 4), ("block", 5), ("sched", 8), ("rcu", 10))
_LINES = (b"ctxt", b"processes", b"intr", b"procs_running", b"procs_blocked")


class Stat:
    """Shares of all cores' time by state, the busiest and the idlest core, and events per second.

    ``stat.busy`` is everything except idle and iowait: time that a hypervisor gave to others (``steal``) counts as
    used. Shares are computed from counted ticks and need no clock.

    Parameters
    ----------
    roots
        The location of the file.

    Examples
    --------
    >>> source = Stat(Roots())
    >>> len(source.read(1.0)) == len(source.names)
    True
    """

    names: tuple[str, ...] = (
        "stat.busy",
        *(f"stat.{state}" for state in _STATES),
        "stat.core_most",
        "stat.core_least",
        "stat.core_spread",
        "stat.switches",
        "stat.forks",
        "stat.interrupts",
        "stat.running",
        "stat.blocked",
        *(f"stat.soft_{name}" for name, _ in _SOFT),
    )

    def __init__(self, roots: Roots) -> None:
        self._file = ProcFile(roots.proc / "stat")
        self.files: Sequence[ProcFile] = (self._file,)
        self._ticks: Mapping[Hashable, Sequence[int]] = {}
        self._counters = Counters()

    def read(self, seconds: float) -> list[float]:
        """See :class:`~windlass.engines.linux.telemetry.source.TelemetrySource`."""
        text = self._file.read()
        if text is None:
            return unknown(self.names)
        lines = {line[0]: line[1:] for raw in text.splitlines() if (line := raw.split())}
        ticks: dict[Hashable, list[int]] = {
            name: _ints(words) for name, words in lines.items() if name.startswith(b"cpu")
        }
        before, self._ticks = self._ticks, ticks
        shares = _shares(before.get(b"cpu"), ticks.get(b"cpu", ()))
        cores = [
            busy
            for name, now in ticks.items()
            if name != b"cpu" and not math.isnan(busy := _busy(_shares(before.get(name), now)))
        ]
        single = [number_or_none(lines[name][0]) if lines.get(name) else None for name in _LINES]
        soft = lines.get(b"softirq", [])
        kinds = [number_or_none(soft[at]) if at < len(soft) else None for _, at in _SOFT]
        rates = self._counters.rates([*single[:3], *kinds], seconds)
        spread = [max(cores), min(cores), max(cores) - min(cores)] if cores else [math.nan] * 3
        gauges = [math.nan if each is None else float(each) for each in single[3:]]
        return [_busy(shares), *shares, *spread, *rates[:3], *gauges, *rates[3:]]


def _ints(words: Sequence[bytes]) -> list[int]:
    return [int(word) for word in words[: len(_STATES)] if word.isdigit()]


def _shares(before: Sequence[int] | None, now: Sequence[int]) -> list[float]:
    """Return the share of each state in the ticks counted since; NaN if there were none."""
    if before is None or len(before) != len(_STATES) or len(now) != len(_STATES):
        return [math.nan] * len(_STATES)
    # The kernel estimates idle time and iowait, which may decrease by a tick.
    steps = [grown(one, other) or 0 for one, other in zip(before, now, strict=True)]
    total = sum(steps)
    return [step / total for step in steps] if total else [math.nan] * len(_STATES)


def _busy(shares: Sequence[float]) -> float:
    return min(1.0, max(0.0, 1.0 - shares[_IDLE] - shares[_IOWAIT])) if shares[0] == shares[0] else math.nan
