"""The header comments of a Standard Workload Format log."""

from __future__ import annotations

import re
from dataclasses import dataclass

from windlass.model import InputError
from windlass.model.calendar import HOUR, Calendar, known_zone, offset_name

_ENTRY = re.compile(r"\s*([A-Za-z][A-Za-z0-9_ ]*?)\s*:\s*(.*)")
_AWAY = re.compile(r"[+-]?[0-9]{1,6}")
#: Times from 1973 to the year 10000 are dates; logs whose start is unknown have 0 or 1.
_DATES, _NO_DATES = 100_000_000, 253_402_200_000
#: The zone that is furthest from UTC, s: that of Kiritimati.
_FURTHEST = 14 * HOUR
_COUNT = re.compile(r"[0-9]{1,15}(?![0-9])")


@dataclass(frozen=True, slots=True)
class SwfHeader:
    """The comment lines of a log, all of them, in order.

    Lines of the form ``Key: value`` are entries; keys such as ``Partition`` and ``Note`` may repeat. The rest is free
    text, which is preserved when the log is written again.

    Parameters
    ----------
    lines
        Each comment line without its semicolon and line end.

    Raises
    ------
    InputError
        A line contains a line end.

    Examples
    --------
    >>> header = SwfHeader((" MaxNodes: 64", " MaxProcs: 128", " Note: night shift only"))
    >>> header.get("Note"), header.processors
    ('night shift only', 128)
    """

    lines: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for line in self.lines:
            if "\n" in line:
                raise InputError(f"SWF header: {line!r} contains a line end, expected one line each")

    @classmethod
    def of(cls, **entries: object) -> SwfHeader:
        """Build a header from entries, after the version of the format.

        >>> SwfHeader.of(MaxProcs=128).lines
        (' Version: 2.2', ' MaxProcs: 128')
        """
        return cls((" Version: 2.2", *(f" {key}: {value}" for key, value in entries.items())))

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        """Every (key, value), in order."""
        matches = (_ENTRY.fullmatch(line) for line in self.lines)
        return tuple((match[1], match[2].strip()) for match in matches if match)

    @property
    def processors(self) -> int | None:
        """``MaxProcs``, otherwise ``MaxNodes``; None if neither is a number of 1 or more."""
        return self._count("MaxProcs") or self._count("MaxNodes")

    @property
    def calendar(self) -> Calendar | None:
        """``UnixStartTime`` in the zone ``TimeZoneString``, otherwise ``TimeZone`` (s from UTC); None without a start.

        >>> SwfHeader((" UnixStartTime: 1132444805", " TimeZoneString: Europe/London")).calendar
        Calendar(origin=1132444805.0, zone='Europe/London')
        """
        start = self._count("UnixStartTime")
        if start is None or not _DATES <= start < _NO_DATES:
            return None
        if known_zone(self._zone):
            return Calendar(float(start), self._zone)
        away = _AWAY.fullmatch(self.get("TimeZone") or "")
        return Calendar(
            float(start), offset_name(float(away[0])) if away and abs(int(away[0])) <= _FURTHEST else "UTC"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """A line if ``TimeZoneString`` is not a zone that this machine knows.

        >>> SwfHeader((" UnixStartTime: 1132444805", " TimeZoneString: Mars/Olympus")).notes
        ("TimeZoneString: unknown zone 'Mars/Olympus', expected one such as Europe/Paris; dates are in UTC",)
        """
        calendar = self.calendar
        if calendar is None or not self._zone or known_zone(self._zone):
            return ()
        return (
            f"TimeZoneString: unknown zone {self._zone[:60]!r}, expected one such as Europe/Paris; dates are in "
            f"{calendar.zone_text}",
        )

    @property
    def _zone(self) -> str:
        return (self.get("TimeZoneString") or "").strip()

    def get(self, key: str) -> str | None:
        """Return the first value of a key; None if there is none."""
        return next(iter(self.all(key)), None)

    def all(self, key: str) -> tuple[str, ...]:
        """Return all values of a key, in order; upper and lower case are equal.

        >>> SwfHeader((" Queue: 1 day", " Queue: 2 night")).all("queue")
        ('1 day', '2 night')
        """
        return tuple(value for name, value in self.entries if name.lower() == key.lower())

    def _count(self, key: str) -> int | None:
        match = _COUNT.match(self.get(key) or "")
        return int(match[0]) if match else None
