"""Network traffic, summed over all devices: ``/proc/net/dev``."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from windlass.engines.linux.telemetry.proc_file import ProcFile
from windlass.engines.linux.telemetry.rates import Summed
from windlass.engines.linux.telemetry.source import Roots, unknown

#: Name, and index among a device's counters.
_RATES = (
    ("rx_bytes", 0), ("rx_packets", 1), ("rx_errors", 2), ("rx_dropped", 3),
    ("tx_bytes", 8), ("tx_packets", 9), ("tx_errors", 10), ("tx_dropped", 11),
)  # fmt: skip
_LOOPBACK = b"lo"
_COUNTERS = 16


class NetworkSource:
    """Bytes, packets, errors and drops per second of all devices except loopback, and loopback's bytes and packets.

    A packet that passes a bridge and its underlying device is counted at both.

    Parameters
    ----------
    roots
        The location of the file. It shows the network namespace of the reading process, such as a container's.

    Examples
    --------
    >>> source = NetworkSource(Roots())
    >>> len(source.read(1.0)) == len(source.names)
    True
    """

    names: tuple[str, ...] = (*(f"net.{name}" for name, _ in _RATES), "net.lo_bytes", "net.lo_packets")

    def __init__(self, roots: Roots) -> None:
        self._file = ProcFile(roots.proc / "net" / "dev")
        self.files: Sequence[ProcFile] = (self._file,)
        self._outer, self._loopback = Summed(len(_RATES)), Summed(2)

    def read(self, seconds: float) -> list[float]:
        """See :class:`~windlass.engines.linux.telemetry.source.TelemetrySource`."""
        text = self._file.read()
        if text is None:
            self._outer.rates(None, seconds)
            self._loopback.rates(None, seconds)
            return unknown(self.names)
        devices = _devices(text)
        own = devices.pop(_LOOPBACK, None)
        outer = self._outer.rates(
            {name: [each[at] for _, at in _RATES] for name, each in devices.items()}, seconds
        )
        inner = self._loopback.rates({} if own is None else {_LOOPBACK: own[:2]}, seconds)
        return [*outer, *(inner if own is not None else [math.nan] * 2)]


def _devices(text: bytes) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = {}
    for line in text.splitlines():
        name, colon, rest = line.rpartition(b":")
        words = rest.split()
        if colon and len(words) >= _COUNTERS and all(word.isdigit() for word in words):
            found[name.strip()] = [int(word) for word in words]
    return found
