"""Numbers for display: durations, shares, and values with four digits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit for display: a value is multiplied by ``factor`` and followed by ``symbol``.

    Whole values of a ``whole`` unit have no decimals.
    """

    symbol: str
    factor: float
    whole: bool = False


PLAIN = Unit("", 1.0)
#: The unit of counts of jobs and tasks.
COUNT = Unit("", 1.0, whole=True)
PERCENT = Unit("%", 100.0)
SECONDS = Unit("s", 1.0)
_TIMES = (SECONDS, Unit("min", 1 / 60), Unit("h", 1 / 3600), Unit("d", 1 / 86400))
_SIZES = tuple(
    Unit(symbol, 10.0**-power)
    for symbol, power in (("B", 0), ("kB", 3), ("MB", 6), ("GB", 9), ("TB", 12), ("PB", 15))
)

#: Last words of metrics that are counts.
_COUNTS = ("jobs", "tasks", "starved", "attempts", "queries")
#: Units of metrics, by the end of their names.
_ENDS = {"_s": SECONDS, "_usd": Unit("USD", 1.0), "_gb": Unit("GB", 1.0)}


def without_unit(metric: str) -> str:
    """Return the words of a metric's name, without its unit.

    >>> without_unit("mean_wait_s"), without_unit("cost_usd"), without_unit("jobs")
    ('mean wait', 'cost', 'jobs')
    """
    end = next((end for end in _ENDS if metric.endswith(end)), "")
    return metric.removesuffix(end).replace("_", " ")


def unit_for(metric: str, values: Iterable[float]) -> Unit:
    """Return one unit for all values of a metric, so that the values of a column are easy to compare.

    Times (suffix ``_s``) and amounts of data (``_bytes``) have the largest unit in which no value other than 0 is below
    1.

    Examples
    --------
    >>> unit_for("mean_wait_s", [353943.0, 6889.0]).symbol
    'h'
    >>> unit_for("utilisation", [0.7]).symbol, unit_for("cost_usd", [0.7]).symbol
    ('%', 'USD')
    >>> unit_for("wan_bytes", [65.7e9, 2.1e9]).symbol
    'GB'
    """
    if metric.endswith("utilisation"):
        return PERCENT
    if metric.endswith("_s"):
        return time_unit(values)
    if metric.endswith("_bytes"):
        return _largest(_SIZES, values)
    if metric.rpartition("_")[2] in _COUNTS:
        return COUNT
    return next((unit for end, unit in _ENDS.items() if metric.endswith(end)), PLAIN)


def time_unit(seconds: Iterable[float]) -> Unit:
    """Return the largest unit of time in which no value other than 0 is below 1; seconds if there is none."""
    return _largest(_TIMES, seconds)


def _largest(units: Sequence[Unit], values: Iterable[float]) -> Unit:
    """Return the largest unit in which no value other than 0 is below 1; the smallest unit if there is none."""
    sizes = [abs(value) for value in values if value and math.isfinite(value)]
    smallest = min(sizes, default=0.0)
    return next((unit for unit in reversed(units) if smallest * unit.factor >= 1), units[0])


def sentence_unit(metric: str, values: Iterable[float]) -> Unit:
    """Return one unit for all values of a metric in a sentence.

    Times have the largest unit in which no value other than 0 is below 1, unless another value then has five digits.

    Examples
    --------
    >>> sentence_unit("mean_wait_s", [14400.0, 600.0]).symbol, sentence_unit("mean_wait_s", [864000.0, 120.0]).symbol
    ('min', 'h')
    """
    if not metric.endswith("_s"):
        return unit_for(metric, values)
    known = [abs(value) for value in values if math.isfinite(value)]
    unit, largest = time_unit(known), max(known, default=0.0)
    larger = [each for each in _TIMES if each.factor <= unit.factor]
    return next((each for each in larger if largest * each.factor < 10_000), larger[-1])


def percentage(part: float) -> str:
    """Format a part, such as 0.25, in percent with two digits; only a part of 1 is 100 %, and only 0 is 0 %.

    Examples
    --------
    >>> percentage(0.0394), percentage(0.74), percentage(0.996), percentage(0.99999), percentage(3.456)
    ('3.9 %', '74 %', '99.6 %', '> 99.9 %', '346 %')
    """
    percent = 100 * part
    if percent in (0, 100):
        return f"{percent:.0f} %"
    if percent < 0.01:
        return "< 0.01 %"
    if 99 <= percent < 100:
        return "> 99.9 %" if percent > 99.9 else f"{percent:.1f} %"
    return f"{percent:.2g} %" if percent < 99 else f"{percent:,.0f} %"


def number(value: float, decimals: int | None = None) -> str:
    """Format a number with four digits, or with all of its integer digits; ``decimals`` sets those after the point.

    Examples
    --------
    >>> number(1.91352), number(98.3175), number(353943.1), number(0.0), number(float("nan"))
    ('1.914', '98.32', '353,943', '0', '–')
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    places = decimals_of(value) if decimals is None else decimals
    return f"{value:,.{places}f}".replace("-", "−")


def decimals_of(value: float) -> int:
    """Return the number of decimals that gives four digits in total; 0 for 0 and for whole numbers from 10 on."""
    if not math.isfinite(value) or value == 0 or (value == int(value) and abs(value) >= 10):
        return 0
    # Rounding first treats 9.9996 as 10.00, which is what is displayed.
    leading = math.floor(math.log10(float(f"{abs(value):.3e}")))
    return min(max(3 - leading, 0), 9)


def duration(seconds: float) -> str:
    """Format a time with its two largest units.

    Examples
    --------
    >>> duration(6889), duration(353943), duration(59.99), duration(0), duration(3600)
    ('1 h 55 min', '4 d 2 h', '1 min', '0 s', '1 h')
    """
    if not math.isfinite(seconds):
        return number(seconds)
    sign, seconds = ("−" if seconds < 0 else ""), abs(seconds)
    if float(f"{seconds:.3g}") < 60:
        return f"{sign}{seconds:.3g} s"
    for major, minor, big, small in ((86400, 3600, "d", "h"), (3600, 60, "h", "min"), (60, 1, "min", "s")):
        whole, part = divmod(round(seconds / minor), major // minor)
        if whole:
            return f"{sign}{whole:,} {big}" + (f" {part} {small}" if part else "")
    return f"{sign}1 min"


def share(part: float, whole: float) -> str:
    """Format a share in percent; a small share is never shown as 0 %, and one below the whole never as 100 %.

    Examples
    --------
    >>> share(1, 3), share(1, 100000), share(0, 5), share(99999, 100000), share(5, 5)
    ('33.3 %', '< 0.1 %', '0 %', '> 99.9 %', '100 %')
    """
    percent = 100 * part / whole if whole else 0.0
    if percent in (0, 100):
        return f"{percent:.0f} %"
    if percent < 0.1:
        return "< 0.1 %"
    return "> 99.9 %" if percent > 99.9 else f"{percent:.1f} %"


def counted(count: int, noun: str) -> str:
    """Format a count with its noun, such as ``1 job``, ``28,475 jobs`` and ``3 queries``."""
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of an English noun.

    >>> plural("job"), plural("query"), plural("day")
    ('jobs', 'queries', 'days')
    """
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"
