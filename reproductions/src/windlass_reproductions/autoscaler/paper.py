"""The reproduction of *A Predictive Autoscaler for Elastic Batch Jobs*."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from windlass.engines.worker_pool import Crews
from windlass.report.pictures import Picture
from windlass_reproductions.autoscaler import examples, figures, sizes, tables
from windlass_reproductions.autoscaler.compare import ForecastComparison, compare
from windlass_reproductions.autoscaler.curve import cost_and_wait
from windlass_reproductions.autoscaler.data import absent, cases
from windlass_reproductions.autoscaler.models import FULL, QUICK
from windlass_reproductions.reproduction import Notify, Reproduction, Row

#: Begin and end of the comparisons of forecasters, as shares of the progress.
_BEGIN, _END = 0.05, 0.5


class AutoscalerPaper:
    """Tables 2 and 4, Figures 5 and 7 to 9, and the cost–wait curve."""

    name: ClassVar[str] = "autoscaler"
    title: ClassVar[str] = "A Predictive Autoscaler for Elastic Batch Jobs"

    def __init__(self, crews: Crews | None = None) -> None:
        self._crews = crews

    def spread(self, crews: Crews) -> AutoscalerPaper:
        """Return the paper with the points of the curve run by crews; forecasters are trained in this process."""
        return AutoscalerPaper(crews)

    def reproduce(self, *, quick: bool, notify: Notify) -> Reproduction:
        """Run eleven forecasters on four series, and the curve; ``quick`` runs four, and a part of the curve."""
        notify("Table 2", 0.0)
        rows: list[Row] = examples.rows_of()
        notify("Figure 7", 0.01)
        sized = sizes.find_bases(quick)
        rows += sizes.rows_of(sized)
        pictures: list[Picture] = sizes.pictures(sized)
        compared = _compared(quick, notify)
        rows += [_missing_row(name) for name in absent()] + tables.rows_of(compared)
        pictures += figures.pictures(compared)
        cost, drawn = cost_and_wait(quick, within(notify, _END, 1.0), crews=self._crews)
        rows += cost
        pictures += drawn
        notify("done", 1.0)
        return Reproduction(tuple(rows), tuple(pictures))


def within(notify: Notify, begin: float, end: float) -> Notify:
    """Return a callback that maps the progress of one part, 0 to 1, to ``begin`` to ``end`` of the whole.

    >>> steps = []
    >>> within(lambda step, share: steps.append((step, share)), 0.5, 0.7)("half of it", 0.5)
    >>> steps
    [('half of it', 0.6)]
    """

    def notify_part(step: str, share: float) -> None:
        notify(step, begin + (end - begin) * share)

    return notify_part


def _compared(quick: bool, notify: Notify) -> list[ForecastComparison]:
    all_cases = list(cases())
    bounds = np.linspace(_BEGIN, _END, len(all_cases) + 1).tolist()
    return [
        compare(case, QUICK if quick else FULL, within(notify, *bounds[place : place + 2]))
        for place, case in enumerate(all_cases)
    ]


def _missing_row(name: str) -> Row:
    return Row(f"Table 4, {name}", None, "not run", None, f"no file {name} in the folder of public traces")
