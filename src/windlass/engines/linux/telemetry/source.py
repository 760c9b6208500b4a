"""The protocol of a source of metrics, and the location of the kernel's files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from windlass.engines.linux.telemetry.proc_file import ProcFile


@dataclass(frozen=True, slots=True)
class Roots:
    """The mount points of procfs and cgroups; in a container the host's may be mounted elsewhere.

    Parameters
    ----------
    proc
        The mount point of procfs.
    groups
        The mount point of cgroups: the single hierarchy (v2), or the folder with one for each controller (v1).

    Examples
    --------
    >>> Roots().proc.as_posix()
    '/proc'
    """

    proc: Path = Path("/proc")
    groups: Path = Path("/sys/fs/cgroup")


class TelemetrySource(Protocol):
    """A source of metrics. Values that it cannot read are NaN; a missing file is never an error."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its metrics, always the same."""
        ...

    @property
    def files(self) -> Sequence[ProcFile]:
        """The files that it needs; the attribute ``why`` of an unreadable one has the reason."""
        ...

    def read(self, seconds: float) -> list[float]:
        """Return the current metrics, in the order of their names.

        Parameters
        ----------
        seconds
            Time since the last call by a monotonic clock, s; rates are NaN in the first.
        """
        ...


def unknown(names: tuple[str, ...]) -> list[float]:
    """Return NaN for each name.

    >>> unknown(("a", "b"))
    [nan, nan]
    """
    return [math.nan] * len(names)


def number_or_none(word: bytes | None) -> int | None:
    """Parse a whole number; None if it is not one.

    >>> number_or_none(b"12"), number_or_none(b"x"), number_or_none(None)
    (12, None, None)
    """
    try:
        return None if word is None else int(word)
    except ValueError:
        return None
