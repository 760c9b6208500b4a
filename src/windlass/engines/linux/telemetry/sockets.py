"""Connections: ``/proc/net/sockstat`` and ``/proc/net/snmp``."""

from __future__ import annotations

import math
from collections.abc import Sequence

from windlass.engines.linux.telemetry.proc_file import ProcFile
from windlass.engines.linux.telemetry.rates import Counters
from windlass.engines.linux.telemetry.source import Roots, number_or_none

#: Metrics from sockstat: name, line, and the word that precedes the value.
_HELD = (
    ("sockets.used", b"sockets:", b"used"),
    ("sockets.tcp", b"TCP:", b"inuse"),
    ("sockets.tcp_waiting", b"TCP:", b"tw"),
    ("sockets.tcp_pages", b"TCP:", b"mem"),
    ("sockets.udp", b"UDP:", b"inuse"),
)
#: Metrics from snmp, where a line of names precedes a line of counters: name, line, and the counter's name.
_RATES = (
    ("sockets.tcp_opened", b"Tcp:", b"ActiveOpens"),
    ("sockets.tcp_accepted", b"Tcp:", b"PassiveOpens"),
    ("sockets.tcp_received", b"Tcp:", b"InSegs"),
    ("sockets.tcp_sent", b"Tcp:", b"OutSegs"),
    ("sockets.tcp_resent", b"Tcp:", b"RetransSegs"),
    ("sockets.tcp_resets", b"Tcp:", b"OutRsts"),
    ("sockets.udp_received", b"Udp:", b"InDatagrams"),
    ("sockets.udp_sent", b"Udp:", b"OutDatagrams"),
)


class Sockets:
    """Number of sockets; connections, segments and datagrams per second.

    Parameters
    ----------
    roots
        The location of the files; they show the network namespace of the reading process.

    Examples
    --------
    >>> source = Sockets(Roots())
    >>> len(source.read(1.0)) == len(source.names)
    True
    """

    names: tuple[str, ...] = tuple(name for name, _, _ in (*_HELD, *_RATES))

    def __init__(self, roots: Roots) -> None:
        self._sockstat, self._snmp = (
            ProcFile(roots.proc / "net" / "sockstat"),
            ProcFile(roots.proc / "net" / "snmp"),
        )
        self.files: Sequence[ProcFile] = (self._sockstat, self._snmp)
        self._counters = Counters()

    def read(self, seconds: float) -> list[float]:
        """See :class:`~windlass.engines.linux.telemetry.source.TelemetrySource`."""
        held = {
            words[0]: words
            for words in map(bytes.split, (self._sockstat.read() or b"").splitlines())
            if words
        }
        counted: dict[bytes, dict[bytes, bytes]] = {}
        lines = [words for words in map(bytes.split, (self._snmp.read() or b"").splitlines()) if words]
        for names, values in zip(lines[::2], lines[1::2], strict=False):
            counted[names[0]] = dict(zip(names[1:], values[1:], strict=False))
        gauges = [_after(held.get(line, []), word) for _, line, word in _HELD]
        counters = [number_or_none(counted.get(line, {}).get(word)) for _, line, word in _RATES]
        return [*gauges, *self._counters.rates(counters, seconds)]


def _after(words: Sequence[bytes], word: bytes) -> float:
    if word not in words[:-1]:
        return math.nan
    found = number_or_none(words[words.index(word) + 1])
    return math.nan if found is None else float(found)
