"""The calendar of a log: the date of its time 0, and the zone in which its clocks are read."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from windlass.model.errors import InputError

HOUR = 3600.0
DAY = 86400.0
#: The first and last second for which ``datetime`` has a date in every zone, with a day to spare.
_FIRST, _LAST = -62_135_500_000.0, 253_402_200_000.0
#: Number of offsets that are kept: a log of decades has thousands of days.
_KNOWN_OFFSETS = 1 << 16
_OFFSET = re.compile(r"UTC([+-])([01][0-9]|2[0-3]):([0-5][0-9])")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*")


@dataclass(frozen=True, slots=True)
class Calendar:
    """The date of a log's time 0 and the zone of its clock.

    Parameters
    ----------
    origin
        Time 0 of the log, s since 1970 (UTC).
    zone
        A name such as ``Europe/Paris``, ``UTC``, or an offset such as ``UTC+02:00``. None if the dates of the log have
        no zone: they are then those of the log's own clock.

    Raises
    ------
    InputError
        The origin is no date, or the zone is unknown.

    Examples
    --------
    >>> calendar = Calendar(1132444805.0, "Europe/London")
    >>> calendar.text(0.0), calendar.zone_text
    ('Sun 2005-11-20 00:00:05', 'Europe/London')
    >>> calendar.hour_of_day(np.array([0.0, 7200.0])).tolist(), calendar.weekday(np.array([0.0, 86400.0])).tolist()
    ([0, 2], [6, 0])
    """

    origin: float
    zone: str | None = None

    def __post_init__(self) -> None:
        if not _FIRST <= self.origin <= _LAST:
            raise InputError(
                f"calendar: origin is {self.origin:g} s after 1970, expected a year of four digits"
            )
        if self._zone() is None:
            raise InputError(f"calendar: zone {self.zone!r} is unknown, expected one such as Europe/Paris")

    @property
    def zone_text(self) -> str:
        """The zone in words."""
        return "the log's own clock" if self.zone is None else self.zone

    @property
    def origin_note(self) -> str:
        """A note that times count from time 0, the first submission: in UTC, or on the log's own clock.

        >>> Calendar(1132444805.0, "Europe/London").origin_note
        'times count from 2005-11-20T00:00:05Z, the first submission'
        >>> Calendar(1132444805.0).origin_note
        'times count from 2005-11-20T00:00:05, the first submission'
        """
        date = datetime.fromtimestamp(self.origin, UTC).replace(tzinfo=None).isoformat()
        return f"times count from {date}{'' if self.zone is None else 'Z'}, the first submission"

    def later(self, seconds: float) -> Calendar:
        """Return the calendar of a log whose time 0 is this much later, s.

        >>> Calendar(1132444805.0, "Europe/London").later(86_400.0).text(0.0)
        'Mon 2005-11-21 00:00:05'
        """
        return Calendar(self.origin + seconds, self.zone)

    def text(self, time: float) -> str:
        """Return the date and the time of day of a time of the log, s."""
        at = datetime.fromtimestamp(self._within(self.origin + time), self._zone())
        return at.strftime("%a %Y-%m-%d %H:%M:%S")

    def local(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (n,) what the log's clock shows at times of the log, as seconds since 1970 on that clock."""
        at = self.origin + np.asarray(times, np.float64)
        days = np.floor(at / DAY)
        known, place = np.unique(days, return_inverse=True)
        begin = np.array([self._offset(day * DAY) for day in known.tolist()])
        end = np.array([self._offset((day + 1) * DAY) for day in known.tolist()])
        offsets = begin[place]
        # The second of a change matters only on the days on which the zone changes its offset.
        for row in np.flatnonzero((begin != end)[place]).tolist():
            offsets[row] = self._offset(float(np.floor(at[row])))
        shown: NDArray[np.float64] = at + offsets
        return shown

    def hour_of_day(self, times: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return (n,) the hour of the day, 0 to 23, at times of the log, s."""
        return np.floor(self.local(times) / HOUR).astype(np.int64) % 24

    def weekday(self, times: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return (n,) the day of the week, 0 for Monday to 6, at times of the log, s."""
        # 1970 began on a Thursday.
        return (np.floor(self.local(times) / DAY).astype(np.int64) + 3) % 7

    def _offset(self, at: float) -> float:
        return _offset(self._within(at), self.zone)

    def _within(self, at: float) -> float:
        return min(max(at, _FIRST), _LAST)

    def _zone(self) -> tzinfo | None:
        return UTC if self.zone is None else _zone_of(self.zone)


def known_zone(name: str) -> bool:
    """Return whether a zone is known on this machine.

    >>> known_zone("UTC+05:30"), known_zone("Mars/Olympus")
    (True, False)
    """
    return _zone_of(name) is not None


def offset_name(seconds: float) -> str:
    """Return the name of the zone with an offset from UTC.

    >>> offset_name(-12_600.0), offset_name(0.0)
    ('UTC-03:30', 'UTC')
    """
    minutes = round(abs(seconds) / 60)
    return f"UTC{'-' if seconds < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}" if minutes else "UTC"


def _zone_of(name: str) -> tzinfo | None:
    if name == "UTC":
        return UTC
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        away = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return timezone(-away if offset[1] == "-" else away)
    if _NAME.fullmatch(name) is None:
        return None
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        return None


@functools.lru_cache(maxsize=_KNOWN_OFFSETS)
def _offset(at: float, zone: str | None) -> float:
    """Return the offset of a zone from UTC at a time since 1970, s; both in s."""
    away = datetime.fromtimestamp(at, UTC if zone is None else _zone_of(zone)).utcoffset()
    return 0.0 if away is None else away.total_seconds()
