"""Checks that the verdict of a row changes when its inputs do."""

from collections.abc import Iterable
from dataclasses import replace

from windlass_reproductions.criteria import Judged, Within
from windlass_reproductions.reproduction import Row
from windlass_reproductions.verdicts import Interval


def edge(part: Within) -> float:
    """Return a limit of a part."""
    return part.high if part.high < float("inf") else part.low


def inside(part: Within) -> Within:
    """Return the part with an exact value within its limits."""
    step = -1.0 if part.high < float("inf") else 1.0
    if part.high < float("inf") and part.low > -float("inf"):
        return replace(part, found=Interval((part.low + part.high) / 2, 0.0))
    return replace(part, found=Interval(edge(part) + step, 0.0))


def outside(part: Within) -> Within:
    """Return the part with an exact value outside its limits."""
    step = 1.0 if part.high < float("inf") else -1.0
    return replace(part, found=Interval(edge(part) + step, 0.0))


def astride(part: Within) -> Within:
    """Return the part with an interval across its limit, which leaves it undecided."""
    return replace(part, found=Interval(edge(part), 1.0))


def verdict_with(judged: Judged, *turns) -> bool | None:
    """Return the verdict after applying each function to its part."""
    return replace(
        judged, parts=tuple(turn(part) for turn, part in zip(turns, judged.parts, strict=True))
    ).holds


def why_fixed(row: Row) -> str:
    """Return why a row's verdict cannot change, or an empty text if it can.

    A row with a verdict must have criteria. Each of its parts alone must change the verdict, and so must its own
    inputs when they are inverted.
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
    # A value on a limit is its own inverse.
    pairs = zip(judged.parts, inverted, strict=True)
    on_limits = any(part == turned for part, turned in pairs if part.holds is row.holds)
    if row.holds is not None and not on_limits and replace(judged, parts=inverted).holds is row.holds:
        return "says the same of its inputs inverted"
    return ""


def rows_with_fixed_verdicts(rows: Iterable[Row]) -> dict[str, str]:
    """Return the rows whose verdicts cannot change, with the reason."""
    return {row.what: why_fixed(row) for row in rows if why_fixed(row)}


def lacks_reason(row: Row) -> bool:
    """Return whether a row that does not hold lacks a reason."""
    return row.holds is not True and not row.note
