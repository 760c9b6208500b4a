"""Every verdict of a row turns where what it judges is turned."""

from collections.abc import Iterable
from dataclasses import replace

from windlass_reproductions.criteria import Judged, Within
from windlass_reproductions.reproduction import Row
from windlass_reproductions.verdicts import Interval


def edge(part: Within) -> float:
    """A limit of a part."""
    return part.high if part.high < float("inf") else part.low


def inside(part: Within) -> Within:
    """The same part, known to be within its limits."""
    step = -1.0 if part.high < float("inf") else 1.0
    if part.high < float("inf") and part.low > -float("inf"):
        return replace(part, found=Interval((part.low + part.high) / 2, 0.0))
    return replace(part, found=Interval(edge(part) + step, 0.0))


def outside(part: Within) -> Within:
    """The same part, known to be without."""
    step = 1.0 if part.high < float("inf") else -1.0
    return replace(part, found=Interval(edge(part) + step, 0.0))


def astride(part: Within) -> Within:
    """The same part, of which nobody knows."""
    return replace(part, found=Interval(edge(part), 1.0))


def verdict_with(judged: Judged, *turns) -> bool | None:
    """What it says where its parts are turned so."""
    return replace(
        judged, parts=tuple(turn(part) for turn, part in zip(turns, judged.parts, strict=True))
    ).holds


def why_fixed(row: Row) -> str:
    """Why a row's verdict cannot turn; empty where it can.

    A row with a verdict must say what it is judged by; each of its parts alone turns it, and so do its own inputs,
    inverted.
    """
    if row.judged is None:
        return "" if row.holds is None else "has a verdict and nothing that it is judged by"
    judged, count = row.judged, len(row.judged.parts)
    if row.holds is not judged.holds:
        return "says something else than what it is judged by"
    if not count:
        return "" if row.holds is None else "has a verdict of nothing"
    expected = {inside: True, outside: False, astride: None}
    if {turn: verdict_with(judged, *[turn] * count) for turn in expected} != expected:
        return "does not turn with all its parts"
    for turned in range(count):
        turns = [outside if at == turned else inside for at in range(count)]
        lone = None if judged.unanimous and count > 1 else False
        if verdict_with(judged, *turns) is not lone:
            return f"does not see its part {turned}"
    inverted = tuple(part.inverted() if part.holds is row.holds else part for part in judged.parts)
    # What lies on a limit is its own inverse.
    pairs = zip(judged.parts, inverted, strict=True)
    on_limits = any(part == turned for part, turned in pairs if part.holds is row.holds)
    if row.holds is not None and not on_limits and replace(judged, parts=inverted).holds is row.holds:
        return "says the same of its inputs inverted"
    return ""


def rows_with_fixed_verdicts(rows: Iterable[Row]) -> dict[str, str]:
    """Those rows whose verdicts cannot turn, and why."""
    return {row.what: why_fixed(row) for row in rows if why_fixed(row)}


def lacks_reason(row: Row) -> bool:
    """Whether a row that does not hold says no reason."""
    return row.holds is not True and not row.note
