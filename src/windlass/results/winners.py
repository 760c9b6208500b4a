"""The winner and its margin at each point of a sweep, as a matrix over two axes."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

from windlass.results.outcome import At
from windlass.results.tables import Results
from windlass.results.verdict.judge import PointVerdict, Verdict


@dataclass(frozen=True, slots=True)
class WinnerCell:
    """The best variant at one point of a sweep.

    Parameters
    ----------
    point
        The point, such as ``processors=64, load=0.8``.
    best, mean
        Name of the best variant without the point, and its mean.
    second
        Name of the second best variant; None if no other variant may win and has a value.
    margin
        Lead over the second relative to its mean, at least 0, such as 0.25; NaN without a second.
    significant
        Whether all variants that may win, not only the second, are significantly worse.
    """

    point: str
    best: str
    mean: float
    second: str | None
    margin: float
    significant: bool


@dataclass(frozen=True, slots=True)
class WinnerMatrix:
    """Winners over two axes of a sweep.

    Parameters
    ----------
    metric, better
        The compared metric, and whether higher (1) or lower (−1) values are better.
    point
        Values on all other axes; empty without other axes.
    axes
        Dotted names of the axes of rows and columns; the second is empty if one field is swept.
    rows, columns
        Values of the two axes, in the order of the scenario; one empty text as the only column if one field is swept.
    cells
        A row per value of the first axis; None where no variant has a value and meets all requirements.
    """

    metric: str
    better: int
    point: str
    axes: tuple[str, str]
    rows: tuple[Any, ...]
    columns: tuple[Any, ...]
    cells: tuple[tuple[WinnerCell | None, ...], ...]


def winner_matrices(results: Results, verdict: Verdict | None) -> tuple[WinnerMatrix, ...]:
    """Return a matrix for each combination of values on the axes after the second.

    Parameters
    ----------
    results
        Results of a sweep.
    verdict
        Their verdict; None for no matrices.

    Returns
    -------
    tuple of WinnerMatrix
        Empty if fewer than two points or fewer than two variants are compared.
    """
    if verdict is None or len(verdict.points) < 2 or all(point.compared < 2 for point in verdict.points):
        return ()
    places = {variant.point: {at.axis: at for at in variant.at} for variant in results.variants}
    axes = list(dict.fromkeys(axis for place in places.values() for axis in place))
    values = {axis: _distinct([place[axis] for place in places.values() if axis in place]) for axis in axes}
    swept = [axis for axis in axes if len(values[axis]) > 1]
    if not swept:
        return ()
    cells = {_key(places[point.point], swept): _cell(verdict, point) for point in verdict.points}
    first, second = swept[0], swept[1] if len(swept) > 1 else ""
    columns = values[second] if second else [At("", "")]
    found = []
    for others in itertools.product(*(values[axis] for axis in swept[2:])):
        keys = [
            [
                tuple(
                    map(repr, (row.value, *([column.value] if second else []), *(at.value for at in others)))
                )
                for column in columns
            ]
            for row in values[first]
        ]
        if any(key in cells for row in keys for key in row):
            found.append(
                WinnerMatrix(
                    verdict.metric,
                    verdict.better,
                    ", ".join(at.label for at in others),
                    (first, second),
                    tuple(at.value for at in values[first]),
                    tuple(at.value for at in columns),
                    tuple(tuple(cells.get(key) for key in row) for row in keys),
                )
            )
    return tuple(found)


def _distinct(values: list[At]) -> list[At]:
    # Values such as 1 and True are equal, but different on an axis.
    return list({repr(at.value): at for at in values}.values())


def _key(place: dict[str, At], swept: list[str]) -> tuple[str, ...]:
    return tuple(repr(place[axis].value) if axis in place else "" for axis in swept)


def _cell(verdict: Verdict, point: PointVerdict) -> WinnerCell | None:
    comparison, best = point.comparison, point.comparison.best
    if best is None:
        return None
    mean = comparison.means[best]
    rivals = [
        row
        for row, value in enumerate(comparison.means)
        if row != best and row not in point.out | point.unable and not math.isnan(value)
    ]
    if not rivals:
        return WinnerCell(point.point, point.names[best], mean, None, math.nan, False)
    second = max(rivals, key=lambda row: verdict.better * comparison.means[row])
    other = comparison.means[second]
    lead = verdict.better * (mean - other)
    margin = 0.0 if lead == 0 else lead / abs(other) if other else math.inf
    return WinnerCell(
        point.point, point.names[best], mean, point.names[second], margin, point.winner is not None
    )
