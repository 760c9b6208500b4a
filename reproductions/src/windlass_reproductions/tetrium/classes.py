"""Gains by class of jobs (Figures 4.16–4.19), by estimation error (4.20) and by skew of sites (Section 4.6.4)."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from windlass.experiment.workloads.sites import SiteModel
from windlass_reproductions.criteria import Judged
from windlass_reproductions.reproduction import Row
from windlass_reproductions.tetrium.rows import DELAY, WAITS, FigureRows, against_delay, join_notes, why
from windlass_reproductions.tetrium.runs import (
    JOBS,
    SITES,
    Bench,
    job_columns,
    reduction,
    summary_text,
    values_text,
)
from windlass_reproductions.tetrium.verdicts import is_highest, rises, rises_by
from windlass_reproductions.verdicts import Floats

#: Minimum number of jobs of a class for its gain in a run to count.
FEWEST = 3


def climbs(gains: Floats, *steps: tuple[int, int]) -> Judged:
    """Claim that gains (classes, s) of the last class of each step are above those of the first, over common seeds.

    The claim is undecided if fewer than two seeds have both classes.

    >>> some = np.array([[1.0, 2.0, 3.0], [5.0, 6.5, 7.0], [np.nan, np.nan, 9.0]])
    >>> [climbs(some, step).holds for step in ((0, 1), (1, 0), (0, 2))]
    [True, False, None]
    """
    return rises(*((gains[first], gains[last]) for first, last in steps))


#: Figure, column, label, edges of classes, published claim, and its criterion on gains (classes, s).
_CLASSES: tuple[tuple[str, str, str, tuple[float, ...], str, Callable[[Floats], Judged]], ...] = (
    (
        "4.16",
        "ratio",
        "intermediate/input",
        (0.2, 0.5, 1.0),
        "rises with the ratio, 31 to 50",
        lambda gains: climbs(gains, (0, -1)),
    ),
    (
        "4.17",
        "tasks",
        "tasks",
        (50, 250, 1000),
        "rises with size, 36 to 50",
        lambda gains: climbs(gains, (0, -1)),
    ),
    (
        "4.18",
        "input skew",
        "input CV",
        (0.5, 1.0, 2.0),
        "rises up to CV 2, falls beyond",
        lambda gains: climbs(gains, (0, 2), (3, 2)),
    ),
    (
        "4.19",
        "intermediate skew",
        "intermediate CV",
        (0.5, 1.0, 2.0),
        "highest at the most skewed, 56",
        lambda gains: climbs(gains, *((other, -1) for other in range(len(gains) - 1))),
    ),
)


def distribution(bench: Bench, quick: bool) -> FigureRows:
    """Compute Figures 4.16–4.19, gains by class of jobs, and 4.20, errors of estimated task times."""
    rows = []
    for figure, key, label, edges, paper, claim in _CLASSES:
        # (classes, seeds); NaN if a seed has too few jobs of a class.
        gains = np.full((len(edges) + 1, len(bench.seeds)), np.nan)
        late = np.full_like(gains, np.nan)
        for at, seed in enumerate(bench.seeds):
            ours, theirs = bench.run("tetrium", seed), bench.run("in-place", seed)
            spark = bench.run(DELAY, seed, wait=WAITS[1])
            kind = np.searchsorted(edges, job_columns(theirs)[key])
            for own in range(len(edges) + 1):
                mine = kind == own
                if mine.sum() >= FEWEST:
                    mean = ours.response[mine].mean()
                    gains[own, at] = reduction(mean, theirs.response[mine].mean())
                    late[own, at] = reduction(mean, spark.response[mine].mean())
        names = [
            f"< {edges[0]:g}",
            *(f"{a:g}–{b:g}" for a, b in itertools.pairwise(edges)),
            f"> {edges[-1]:g}",
        ]
        judged = claim(gains)
        note = join_notes(
            f"against delay scheduling at {WAITS[1]:g} s: {_by_class(names, late)}", why(judged)
        )
        rows.append(
            Row.by(
                f"Fig. {figure}, against in-place by {label}, %",
                paper,
                _by_class(names, gains),
                judged,
                note,
            )
        )
    errors = (0.0, 1.0) if quick else (0.0, 0.25, 0.5, 1.0)
    settings: list[dict[str, Any]] = [
        {"jobs": dataclasses.replace(JOBS, estimate_error=error), "estimates": "true"} for error in errors
    ]
    found = [bench.values("tetrium", "in-place", **setting) for setting in settings]
    text = "; ".join(f"≤ {error:.0%}: {values_text(own)}" for error, own in zip(errors, found, strict=True))
    judged = is_highest(found[0], found[1:])
    note = (
        "here jobs state their task times; with times estimated from finished tasks: "
        f"{summary_text(bench.gain('tetrium', 'in-place'))}; "
        f"{against_delay(bench, 'tetrium', {}, **settings[0])} with exact times"
    )
    rows.append(
        Row.by(
            "Fig. 4.20, against in-place by estimation error, %",
            "highest with exact times",
            text,
            judged,
            join_notes(note, why(judged)),
        )
    )
    return rows, []


def _by_class(names: list[str], gains: Floats) -> str:
    """Return the gain of each class over the seeds that have enough jobs of it, as text."""
    known = [own[~np.isnan(own)] for own in gains]
    return "; ".join(
        f"{name}: {values_text(own) if len(own) else 'no jobs'}"
        for name, own in zip(names, known, strict=True)
    )


def skewed(bench: Bench, quick: bool) -> FigureRows:
    """Compute Section 4.6.4: sites with Zipf capacities."""
    rows = []
    for label, paper in (("slots", 51.0), ("links", 37.0)):
        sites = [_zipf(label, exponent) for exponent in (0.0, 1.6)]
        found = [bench.values("tetrium", "in-place", sites=own) for own in sites]
        ours = f"{values_text(found[0])} at e = 0, {values_text(found[1])} at e = 1.6"
        judged = rises_by(found[0], found[1], paper)
        late = "; ".join(against_delay(bench, "tetrium", {}, sites=own) for own in sites)
        note = join_notes("the thesis' increase may be relative", late, why(judged))
        rows.append(
            Row.by(f"Section 4.6.4, skew of {label}: gain rises by, points", paper, ours, judged, note)
        )
    return rows, []


def _zipf(capacity: str, exponent: float) -> SiteModel:
    if capacity == "slots":
        return dataclasses.replace(SITES, slot_zipf=exponent)
    return dataclasses.replace(SITES, link_zipf=exponent)
