"""Which jobs and sites gain: Figures 4.16–4.19 by class, 4.20 by error of estimates, Section 4.6.4 by skew."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable

import numpy as np

from windlass.papers.reproduction import Row
from windlass.papers.tetrium.rows import UNEXPLAINED, Found
from windlass.papers.tetrium.runs import JOBS, SITES, Bench, job_columns, reduction, told
from windlass.results import summarise
from windlass.workloads.sites import SiteModel


def distribution(bench: Bench, quick: bool) -> Found:
    """Figures 4.16–4.19: gains of classes of jobs, and 4.20: errors of estimated task times."""
    rows = []
    classes: tuple[tuple[str, str, str, tuple[float, ...], str, Callable[[list[float]], bool]], ...] = (
        (
            "4.16",
            "ratio",
            "intermediate/input",
            (0.2, 0.5, 1.0),
            "rises with the ratio, 31 to 50",
            lambda v: v[-1] >= v[0],
        ),
        ("4.17", "tasks", "tasks", (50, 250, 1000), "rises with size, 36 to 50", lambda v: v[-1] >= v[0]),
        (
            "4.18",
            "input skew",
            "input CV",
            (0.5, 1.0, 2.0),
            "rises up to CV 2, falls beyond",
            lambda v: v[2] >= v[0],
        ),
        (
            "4.19",
            "intermediate skew",
            "intermediate CV",
            (0.5, 1.0, 2.0),
            "highest at the most skewed, 56",
            lambda v: v[-1] >= max(v) - 5,
        ),
    )
    for figure, key, label, edges, paper, holds in classes:
        gains: list[list[float]] = [[] for _ in range(len(edges) + 1)]
        for seed in bench.seeds:
            ours, theirs = bench.run("tetrium", seed), bench.run("in-place", seed)
            kind = np.searchsorted(edges, job_columns(theirs)[key])
            for own in range(len(edges) + 1):
                if (kind == own).sum() >= 3:
                    gains[own].append(
                        reduction(ours.response[kind == own].mean(), theirs.response[kind == own].mean())
                    )
        names = [
            f"< {edges[0]:g}",
            *(f"{a:g}–{b:g}" for a, b in itertools.pairwise(edges)),
            f"> {edges[-1]:g}",
        ]
        means = [summarise("gain", own) if own else None for own in gains]
        text = "; ".join(
            f"{name}: {told(own) if own else 'no jobs'}" for name, own in zip(names, means, strict=True)
        )
        values = [own.mean if own else -np.inf for own in means]
        known = [value for value in values if np.isfinite(value)]
        verdict = bool(holds(values)) if len(known) == len(values) else bool(known[-1] >= known[0])
        rows.append(
            Row(
                f"Fig. {figure}, against in-place by {label}, %",
                paper,
                text,
                verdict,
                "" if verdict else UNEXPLAINED,
            )
        )
    errors = (0.0, 1.0) if quick else (0.0, 0.25, 0.5, 1.0)
    found = [
        bench.gain("tetrium", "in-place", jobs=dataclasses.replace(JOBS, estimate_error=error))
        for error in errors
    ]
    text = "; ".join(f"≤ {error:.0%}: {told(own)}" for error, own in zip(errors, found, strict=True))
    rows.append(
        Row(
            "Fig. 4.20, against in-place by estimation error, %",
            "highest where exact",
            text,
            found[0].mean >= found[-1].mean,
            "" if found[0].mean >= found[-1].mean else UNEXPLAINED,
        )
    )
    return rows, []


def skewed(bench: Bench, quick: bool) -> Found:
    """Section 4.6.4: sites with Zipf capacities."""
    rows = []
    for label, paper in (("slots", 51.0), ("links", 37.0)):
        found = [bench.gain("tetrium", "in-place", sites=_zipf(label, exponent)) for exponent in (0.0, 1.6)]
        rise = found[1].mean - found[0].mean
        ours = f"{told(found[0])} at e = 0, {told(found[1])} at e = 1.6"
        rows.append(
            Row(
                f"Section 4.6.4, skew of {label}: gain rises by, points",
                paper,
                ours,
                bool(rise > 0),
                "the thesis' increase may be relative",
            )
        )
    return rows, []


def _zipf(capacity: str, exponent: float) -> SiteModel:
    if capacity == "slots":
        return dataclasses.replace(SITES, slot_zipf=exponent)
    return dataclasses.replace(SITES, link_zipf=exponent)
