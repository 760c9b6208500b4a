"""Tables 1 and 3 to 6 on our recordings of CPU Ready.

A recording lasts minutes, the paper's trace four weeks. Time is scaled so that a recording lasts four weeks: a *day* is
a 28th of it. CPU Ready is in the paper's unit, ms of 20 s in which runnable tasks had no core. Both recordings are of
one machine, so methods that learn from other machines (clusters, and Table 2) are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.io.traces.telemetry import Telemetry
from windlass.io.traces.telemetry.recorded import READY
from windlass_reproductions.pronto import spikes
from windlass_reproductions.pronto.data import Machine
from windlass_reproductions.pronto.methods import has_svm
from windlass_reproductions.pronto.values import (
    DAY,
    DAYS,
    STRETCHES,
    TABLE_1,
    TABLE_3,
    alone,
    cell,
    methods,
    residuals,
    rmse,
    series_of,
    window_length,
)
from windlass_reproductions.pronto.verdicts import nearer, rises
from windlass_reproductions.reproduction import Row

Floats = NDArray[np.float64]

#: Days of the paper's trace, and the interval of its CPU Ready, ms.
LASTS, OF_MS = 28, 20_000.0
_NAME = "recorded CPU Ready, "
_UNIT = "ms of 20 s; a day is a 28th of a recording"
#: Values from which on a day is a spike by the paper's fixed rules, ms.
FIXED = {"500": 500.0, "800": 800.0, "1000": 1000.0}


def machine_of(number: int, recording: Telemetry) -> Machine:
    """Return a recording as a machine, with its time scaled to four weeks and CPU Ready in ms of 20 s.

    >>> rows = Telemetry("here", np.arange(4.0), ("cpu_ready",), np.array([[0.0], [0.1], [np.nan], [0.2]]))
    >>> found = machine_of(1, rows)
    >>> (found.time / DAY).tolist(), found.usage.tolist()
    ([0.0, 7.0, 21.0], [0.0, 2000.0, 4000.0])
    """
    ready = recording.of(READY)
    known = np.isfinite(ready)
    since = recording.time - recording.time[0]
    scale = LASTS * DAY / (float(since[-1]) + recording.step)
    return Machine(number, since[known] * scale, ready[known] * OF_MS)


@dataclass(frozen=True, slots=True, eq=False)
class ForecastErrors:
    """Forecast errors by method and column, ms: (k,) ``each`` over both recordings, and RMSE of each recording."""

    each: dict[tuple[str, str], Floats]
    errors: dict[tuple[str, str], Floats]


def forecast_errors(
    found: Sequence[Machine], columns: Mapping[str, tuple[float, int]], most: int
) -> ForecastErrors:
    """Return errors of forecasts of the next stretch by all methods, each machine from its own window.

    Parameters
    ----------
    found
        Machines, forecast independently.
    columns
        For each column of a table, seconds of a stretch and number of stretches of a window.
    most
        Maximum number of forecasts, evenly spaced over the last half.
    """
    each: dict[tuple[str, str], Floats] = {}
    roots: dict[tuple[str, str], Floats] = {}
    for column, (lasts, window) in columns.items():
        groups = [series_of((machine,), lasts) for machine in found]
        for method in methods():
            parts = [residuals(g, window, most, alone(method), round(14 * DAY / lasts)) for g in groups]
            each[method, column] = np.concatenate([part[:, 0] for part in parts])
            roots[method, column] = np.concatenate([rmse(part) for part in parts])
    return ForecastErrors(each, roots)


def stretches(found: Sequence[Machine]) -> dict[str, tuple[float, int]]:
    """Return the columns of Table 3 whose stretches are at least a step long."""
    step = max(float(np.median(np.diff(machine.time))) for machine in found)
    return {name: (lasts, window_length(lasts)) for name, lasts in STRETCHES.items() if lasts >= step}


def rows_of(recordings: Sequence[Telemetry], most: int) -> list[Row]:
    """Return rows of Tables 1 and 3 to 6, with at most ``most`` forecasts of each recording in a cell."""
    found = [machine_of(number, recording) for number, recording in enumerate(recordings)]
    days = forecast_errors(found, {str(count): (DAY, count) for count in DAYS}, most)
    columns = stretches(found)
    ladder = forecast_errors(found, columns, most)
    rows = []
    for method in methods():
        for place, count in enumerate(map(str, DAYS)):
            rows.append(_cell("1", method, f"same VM, {count} days", (TABLE_1, place), days, count))
    rows.append(_left_out())
    for method in methods():
        for name in columns:
            rows.append(_cell("3", method, name, (TABLE_3, list(STRETCHES).index(name)), ladder, name))
    return rows + verdicts(ladder, list(columns)) + _spikes(found, most)


def _cell(
    table: str,
    method: str,
    setting: str,
    of: tuple[Mapping[str, tuple[float, ...]], int],
    ours: ForecastErrors,
    key: str,
) -> Row:
    published, place = of
    count = len(ours.each[method, key])
    return cell(
        f"{_NAME}Table {table}, {method}, {setting}",
        published[method][place],
        published["naive"][place],
        ours.errors[method, key],
        float(ours.errors["naive", key].mean()),
        f"{_UNIT}; {count} forecasts"
        + (
            "; learned from its own window, the paper's from a cluster"
            if (table, method) == ("3", "SVM")
            else ""
        ),
    )


def _left_out() -> Row:
    return Row(
        f"{_NAME}Table 1 (same cluster), Table 2, and SVM on a cluster or on all",
        None,
        "not run",
        None,
        "the recordings are of one machine",
    )


def verdicts(ladder: ForecastErrors, columns: Sequence[str]) -> list[Row]:
    """Return rows that test the paper's conclusions from Table 3."""
    found = [ladder.errors["naive", name] for name in columns]
    rows = [
        Row.by(
            f"{_NAME}Table 3: errors increase as stretches get shorter (naive)",
            "122 to 1052",
            f"{found[0].mean():.4g} to {found[-1].mean():.4g}",
            rises(found),
            "an hour is a 672nd of a recording, two steps here, and bursts last longer",
        )
    ]
    long = [name for name in ("1 day", "12 hours", "6 hours", "3 hours") if name in columns]
    if has_svm() and long:
        judged = nearer([(ladder.each["SVM", name], ladder.each["naive", name]) for name in long])
        verdicts_of = [part.holds for part in judged.parts]
        rows.append(
            Row.by(
                f"{_NAME}Table 3: SVM has less error than naive from 3 hours on",
                "at 4 of 4",
                f"at {verdicts_of.count(True)} of {len(long)}, more at {verdicts_of.count(False)}, otherwise undecided",
                judged,
                "the paper's SVM learns from a cluster",
            )
        )
    return rows


def _spikes(found: Sequence[Machine], most: int) -> list[Row]:
    series = [series_of((machine,), DAY) for machine in found]
    length = min(each.shape[1] for each in series)
    every = np.concatenate([each[:, :length] for each in series])
    kinds = spikes.ALONE if has_svm() else spikes.ALONE[:3]
    ours = spikes.accuracies(every, np.arange(len(every)), most, FIXED, kinds)
    return spikes.rows_of(ours, _NAME)
