"""Figures 8 and 9, and Table 4 as bars."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windlass.report.pictures import Line, Picture
from windlass_reproductions.autoscaler.compare import STATIC, ForecastComparison

#: Forecasters whose forecasts are drawn, and the order of preference for the picture of errors.
_DRAWN = ("transformer", "nlinear", "seasonal-naive")
_ERROR_OF = ("transformer", "nlinear", "naive")


def pictures(compared: Sequence[ForecastComparison]) -> list[Picture]:
    """Return pictures of forecasts and their errors on each series, of attention, and of all errors."""
    drawn = [picture for place, each in enumerate(compared) for picture in _course(each, f"series{place}")]
    drawn += _attention(compared)
    return [*drawn, *_bars(compared)]


def _course(each: ForecastComparison, key: str) -> list[Picture]:
    """Return Figure 8: forecasts of the most used column in the last week, and errors in the test part."""
    case = each.case
    truth = each.found[0].truth
    most, least = int(truth.mean(axis=0).argmax()), int(truth.mean(axis=0).argmin())
    week = min(case.seasons[1], len(truth))
    days = (np.arange(len(truth)) * case.period / 86_400.0).tolist()
    lines = [Line("truth", days[-week:], truth[-week:, most].tolist())]
    for name in _DRAWN:
        found = each.of(name)
        if found is not None:
            lines.append(Line(name, days[-week:], found.forecast[-week:, most].tolist()))
    title = f"Figure 8, {case.name}: {case.columns[most]}"
    caption = "The last week of the test part, forecast one row ahead."
    course = Picture(
        f"{key}-course", title, "days of the test part", case.columns[most], tuple(lines), caption
    )
    found = next((found for found in map(each.of, _ERROR_OF) if found is not None), None)
    if found is None:
        return [course]
    errors = found.forecast - found.truth
    columns = dict.fromkeys((most, least))
    wrong = [Line(case.columns[column], days, errors[:, column].tolist()) for column in columns]
    error = Picture(
        f"{key}-error",
        f"Figure 8, {case.name}: error of {found.name}",
        "days of the test part",
        "forecast − truth",
        tuple(wrong),
        "The most used and the least used column.",
    )
    return [course, error]


def _attention(compared: Sequence[ForecastComparison]) -> list[Picture]:
    lines = []
    for each in compared:
        found = each.of("transformer")
        if found is not None and len(found.attention):
            hours = (np.arange(len(found.attention)) * each.case.period / 3600.0).tolist()
            even = (found.attention / found.attention.sum() * len(found.attention)).tolist()
            lines.append(Line(each.case.name, hours, even))
    if not lines:
        return []
    caption = (
        "Attention of the first layer, paid by the newest row of a window; 1 is equal attention to all rows."
    )
    title = "Figure 9, attention of the Transformer"
    return [Picture("attention", title, "age of the row, h", "attention", tuple(lines), caption)]


def _bars(compared: Sequence[ForecastComparison]) -> list[Picture]:
    """Return the picture of errors one row ahead, relative to the naive forecast."""
    kept = [each for each in compared if each.of("naive") is not None and each.mse(0)["naive"] > 0]
    if not kept:
        return []
    names = tuple(found.name for found in kept[0].found if found.name not in ("naive", STATIC))
    lines = []
    for each in kept:
        errors = each.mse(0)
        shown = [place for place, name in enumerate(names) if name in errors]
        lines.append(Line(each.case.name, shown, [errors[names[place]] / errors["naive"] for place in shown]))
    title = "Table 4, MSE one row ahead relative to the naive forecast"
    caption = "Below 1 is better than repeating the last value."
    return [
        Picture("errors", title, "", "MSE / naive MSE", tuple(lines), caption, log_y=True, categories=names)
    ]
