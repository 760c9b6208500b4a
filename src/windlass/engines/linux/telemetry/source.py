"""What each source of metrics offers, and where the kernel's files are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from windlass.engines.linux.telemetry.proc_file import Held


@dataclass(frozen=True, slots=True)
class Roots:
    """Where the kernel shows itself; in a container the host's may be mounted elsewhere.

    Parameters
    ----------
    proc
        Of processes and of the machine.
    groups
        Of control groups: their one hierarchy (v2), or the folder with one for each controller (v1).

    Examples
    --------
    >>> Roots().proc.as_posix()
    '/proc'
    """

    proc: Path = Path("/proc")
    groups: Path = Path("/sys/fs/cgroup")


class TelemetrySource(Protocol):
    """One kind of file. What it cannot read is NaN; it never raises for what a machine does not have."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of its metrics, always the same."""
        ...

    @property
    def files(self) -> Sequence[Held]:
        """What it needs; those that could not be read say why."""
        ...

    def read(self, seconds: float) -> list[float]:
        """The metrics now, in the order of their names.

        Parameters
        ----------
        seconds
            Since the last call, by a clock that never jumps; rates are NaN with the first.
        """
        ...


def unknown(names: tuple[str, ...]) -> list[float]:
    """Of each nothing is known.

    >>> unknown(("a", "b"))
    [nan, nan]
    """
    return [math.nan] * len(names)


def number_or_none(word: bytes | None) -> int | None:
    """A whole number, or None.

    >>> number_or_none(b"12"), number_or_none(b"x"), number_or_none(None)
    (12, None, None)
    """
    try:
        return None if word is None else int(word)
    except ValueError:
        return None
