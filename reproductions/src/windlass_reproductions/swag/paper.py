"""Chapter 3 of the geo-distributed thesis: SWAG and Reordering."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from windlass_reproductions.reproduction import Notify, Reproduction
from windlass_reproductions.swag.bounds import offline_row, small_rows
from windlass_reproductions.swag.causes import published_row, ranking_rows, setting_rows
from windlass_reproductions.swag.exact import example_rows, overhead_rows, static_rows
from windlass_reproductions.swag.laws import FIGURES, law_figures
from windlass_reproductions.swag.runs import Size
from windlass_reproductions.swag.settings import accuracy_figure, sites_figure, skew_figure, state_figure

_UTILISATIONS = (0.39, 0.46, 0.58, 0.68, 0.78)
_FULL = Size(
    {"facebook": 3000, "google": 6000, "exponential": 1000},
    _UTILISATIONS,
    6,
    12,
    {"facebook": 4000, "exponential": 1000},
)
_QUICK = Size(
    {"facebook": 600, "google": 1000, "exponential": 200},
    (0.39, 0.58, 0.78),
    3,
    5,
    {"facebook": 600, "exponential": 400},
)


class Swag:
    """Hung, "Resource scheduling in geo-distributed computing" (thesis, 2017), chapter 3."""

    name: ClassVar[str] = "swag"
    title: ClassVar[str] = (
        "Hung, Resource scheduling in geo-distributed computing, 2017, ch. 3: SWAG and Reordering"
    )

    def reproduce(self, *, quick: bool, notify: Notify) -> Reproduction:
        """Compute all rows and pictures."""
        size = _QUICK if quick else _FULL
        rows, pictures = example_rows(), []
        notify("optimum", 0.0)
        rows += small_rows(200 if quick else 1000)
        rows += [*static_rows(size.instances), offline_row(3 if quick else 20)]
        for number, law in enumerate(FIGURES):
            share = 0.05 + 0.2 * number
            found, drawn = law_figures(
                law, size, partial(notify, f"Figures {', '.join(FIGURES[law][:2])}", share)
            )
            rows += found
            pictures += drawn
        notify("what the gain depends on", 0.65)
        rows.append(published_row())
        rows += setting_rows(
            size.probes, quick=quick, notify=partial(notify, "what the gain depends on", 0.65)
        )
        rows += ranking_rows(
            size.probes, quick=quick, notify=partial(notify, "what the gain depends on", 0.7)
        )
        notify("Figures 3.12 and 3.13", 0.75)
        rows += overhead_rows(size.jobs["exponential"])
        for step, share in (
            (state_figure, 0.8),
            (skew_figure, 0.84),
            (sites_figure, 0.9),
            (accuracy_figure, 0.95),
        ):
            notify("Figures 3.13–3.16", share)
            found, picture = step(size)
            rows += found
            pictures.append(picture)
        notify("done", 1.0)
        return Reproduction(tuple(rows), tuple(pictures))
