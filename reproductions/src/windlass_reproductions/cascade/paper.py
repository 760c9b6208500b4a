"""Hung, "Resource scheduling in geo-distributed computing" (thesis, 2017), chapter 5: Cascade."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np

from windlass.report.pictures import Picture
from windlass_reproductions.cascade import gains
from windlass_reproductions.cascade.demand import FACTORS, demand_rows
from windlass_reproductions.cascade.example import example_rows
from windlass_reproductions.cascade.heuristic import band_rows, metric_rows, sensitivity_rows, time_rows
from windlass_reproductions.cascade.placement import placement_rows
from windlass_reproductions.cascade.recorded import measured, tables
from windlass_reproductions.cascade.setting import Case, drawn_case, measured_case, recorded_case
from windlass_reproductions.cascade.types import type_rows
from windlass_reproductions.public import traces
from windlass_reproductions.reproduction import Notify, Reproduction, Row


class CascadePaper:
    """The worked example, Figures 5.15 to 5.27 and Section 5.7.7."""

    name: ClassVar[str] = "cascade"
    title: ClassVar[str] = "Hung, Resource scheduling in geo-distributed computing, 2017, ch. 5: Cascade"

    def reproduce(self, *, quick: bool, notify: Notify) -> Reproduction:
        """Run ten draws of each experiment, or three with fewer widths, sizes and capacities if ``quick``."""
        seeds = range(1, 4) if quick else range(1, 11)
        rows: list[Row] = []
        pictures: list[Picture] = []
        notify("worked example", 0.0)
        rows += example_rows()
        for place, (name, make) in enumerate(_sources().items()):

            def report(done: float, share: float = 0.02 + 0.2 * place) -> None:
                notify("Figures 5.15 and 5.24", share + 0.19 * done)

            found = gains.measure(name, seeds, make, report, (1, 2, 5) if quick else gains.COUNTS)
            rows += gains.rows_of(found)
            pictures.append(gains.picture(found))
        if not measured():
            absent = "there is no profile in the folder examples/plan; windlass plan profile writes one"
            rows.append(Row("Figures 5.15 and 5.24, measured profiles", None, "not run", None, absent))
        if tables() is None:
            absent = f"the public traces are missing in the folder {Path(traces()).name}"
            rows.append(Row("Figures 5.15 and 5.24, recorded models", None, "not run", None, absent))
        for step, share, make_rows in (
            ("Figures 5.16 to 5.19 and 5.23", 0.62, partial(placement_rows, seeds)),
            ("Figures 5.20 to 5.22", 0.7, partial(type_rows, seeds)),
            ("Section 5.7.7", 0.78, partial(metric_rows, seeds)),
            (
                "Figure 5.27",
                0.82,
                partial(sensitivity_rows, seeds[:3], (16.0,) if quick else (2.0, 4.0, 8.0, 16.0)),
            ),
            (
                "Figure 5.26",
                0.9,
                partial(time_rows, (40,) if quick else (40, 80, 160, 320, 640), 5.0 if quick else 120.0),
            ),
        ):
            notify(step, share)
            rows += make_rows()
        notify("gain over fair by requested cores", 0.96)
        more_rows, curve = demand_rows(seeds, (1.0, 4.0) if quick else FACTORS)
        rows += more_rows
        notify("Figure 5.25", 0.98)
        found_rows, picture = band_rows(seeds, (1.0, 2.0, 4.0) if quick else (1.0, 1.5, 2.0, 3.0, 4.0, 6.0))
        notify("done", 1.0)
        return Reproduction((*rows, *found_rows), (*pictures, curve, picture))


def _sources() -> dict[str, Callable[[np.random.Generator], Case]]:
    """Return the function that draws a case, by the name of the source of its profiles."""
    sources: dict[str, Callable[[np.random.Generator], Case]] = {
        "drawn profiles": lambda rng: drawn_case(gains.COUNTS[-1], rng)
    }
    known, profiles = tables(), measured()
    if known is not None:
        sources["recorded models"] = lambda rng: recorded_case(gains.COUNTS[-1], rng, known)
    if profiles:
        sources["measured profiles"] = lambda rng: measured_case(gains.COUNTS[-1], rng, profiles)
    return sources
