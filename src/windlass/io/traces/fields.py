"""Parsers of times, durations and numbers in logs."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta

from pydantic import TypeAdapter, ValidationError

from windlass.io.traces.columns import quote

_TIMEDELTA = TypeAdapter(timedelta)
_CLOCK = re.compile(r"[0-9]+(:[0-9]+)?")
_LARGEST = float(2**53)  # float64 represents every whole number up to this one
_MEMORY = re.compile(r"([0-9]+(?:\.[0-9]+)?)([KMGTPE]?)(?:I?B|W)?", re.IGNORECASE)
_POWERS = "KMGTPE"


class UnreadableError(ValueError):
    """A field that cannot be parsed; the message names the field, its value and the expected one."""

    @classmethod
    def of(cls, field: str, value: str, expected: str) -> UnreadableError:
        """Build the error with its message.

        >>> str(UnreadableError.of("End", "soon", "a time"))
        "End is 'soon', expected a time"
        """
        return cls(f"{field} is {quote(value)}, expected {expected}")


def instant(field: str, text: str) -> float:
    """Parse a time, s since 1970: ISO 8601, or a number of seconds.

    A time without a zone is read as UTC.

    Raises
    ------
    UnreadableError
        The text is neither.

    Examples
    --------
    >>> instant("Start", "1970-01-01T00:01:00"), instant("Start", "1970-01-01 02:00:00+02:00"), instant("Start", "7.5")
    (60.0, 0.0, 7.5)
    """
    # The message of an error takes longer than a date, and most times are dates.
    if len(text) < 10 or text[4] != "-":
        try:
            return number(field, text)
        except UnreadableError:
            pass
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise UnreadableError.of(field, text, "a time such as 2024-05-01T12:00:00") from None


def duration(field: str, text: str) -> float:
    """Parse a duration, s: 01:02:03, 1-02:03:04 (days first), ISO 8601 such as PT1H2M, or a number of seconds.

    Raises
    ------
    UnreadableError
        The text is none of these. 02:03 is rejected too, because the first number could be minutes or hours.

    Examples
    --------
    >>> [duration("Elapsed", text) for text in ("01:02:03", "1-00:00:00", "PT1H2M", "100:00:00", "90")]
    [3723.0, 86400.0, 3720.0, 360000.0, 90.0]
    """
    try:
        return number(field, text)
    except UnreadableError:
        pass
    days, dash, rest = text.partition("-")
    dated = dash == "-" and days.isascii() and days.isdecimal()
    try:
        if not dated and _CLOCK.fullmatch(text):
            raise UnreadableError(text)
        found = _TIMEDELTA.validate_python(f"{days}d {rest}" if dated else text).total_seconds()
        if found >= 0:
            return found
    except (ValidationError, UnreadableError):
        pass
    raise UnreadableError.of(field, text, "a duration such as 01:02:03 or 1-02:03:04")


def number(field: str, text: str) -> float:
    """Parse a number of 0 or more.

    >>> number("Elapsed", "1.5")
    1.5
    """
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    # float() also accepts 1_000, which is not a number in any log.
    if not math.isfinite(found) or found < 0 or "_" in text:
        raise UnreadableError.of(field, text, "a number of 0 or more")
    return found + 0.0


def whole(field: str, text: str) -> int:
    """Parse a whole number of 0 or more.

    >>> whole("AllocCPUS", "16")
    16
    """
    if not (text.isascii() and text.isdecimal() and len(text) < 17 and int(text) <= _LARGEST):
        raise UnreadableError.of(field, text, "a whole number of 0 or more")
    return int(text)


def memory(field: str, text: str, unit: str = "M") -> float:
    """Parse an amount of memory, bytes: 16G, 4000M, 2tb; K is 1,024, as in batch systems.

    Parameters
    ----------
    field, text
        Name of the field in the log, and its text.
    unit
        Unit of a number without one: K, M, G, T, P or E, or empty for bytes.

    Examples
    --------
    >>> memory("mem", "2G"), memory("mem", "16kb"), memory("mem", "1")
    (2147483648.0, 16384.0, 1048576.0)
    """
    match = _MEMORY.fullmatch(text)
    if match is None:
        raise UnreadableError.of(field, text, "an amount of memory such as 16G")
    plain = text[-1].isdecimal()
    sign = (unit if plain else match[2]).upper()
    return number(field, match[1]) * 1024.0 ** (_POWERS.index(sign) + 1 if sign else 0)
