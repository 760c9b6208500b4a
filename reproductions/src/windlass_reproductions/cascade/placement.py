"""Figures 5.16 to 5.19 and 5.23: the accuracy and cost of queries, and where components run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.plan import POLICIES
from windlass_reproductions.cascade.drawn import RESULTS
from windlass_reproductions.cascade.runs import NEAREST, Outcome, on_level, run
from windlass_reproductions.cascade.setting import CAMERA, CLOUD, PRIVATE, Case, Deployment, drawn_case
from windlass_reproductions.cascade.verdicts import SIGNIFICANT, is_about, largest_gap, over, reaches, stays
from windlass_reproductions.criteria import above
from windlass_reproductions.reproduction import Row

#: CDFs that are less than this apart look the same in a printed figure.
_ALIKE = 0.1
#: The levels at which all of a query's components can run.
_LEVELS = {CAMERA: "the cameras", PRIVATE: "the private cluster", CLOUD: "the cloud"}
_Floats = NDArray[np.float64]


def placement_rows(seeds: Sequence[int]) -> list[Row]:
    """Return the rows of these figures, at two queries per camera unless stated otherwise."""
    cases = [drawn_case(5, np.random.default_rng([seed, 5])) for seed in seeds]
    two = [case.first(40) for case in cases]
    # Section 5.7.4: results go to the cloud, wherever a query runs.
    sent = [drawn_case(5, np.random.default_rng([seed, 5]), results=RESULTS) for seed in seeds]
    return [*_distributions(two, cases, seeds), *_where(two, seeds), *_same_location(two), *_static(sent)]


def _distributions(cases: Sequence[Case], five: Sequence[Case], seeds: Sequence[int]) -> list[Row]:
    names = [name for name in ("cascade", "videostorm", "fair", NEAREST) if name in POLICIES.names()]
    found = {name: [run(case, name, seed) for case, seed in zip(cases, seeds, strict=True)] for name in names}
    best = found.get(NEAREST, found["cascade"])
    rows = []
    gaps = {
        name: over(largest_gap(one.each, other.each) for one, other in zip(found[name], best, strict=True))
        for name in names[:3]
    }
    rows.append(
        Row.by(
            "Fig. 5.16: Cascade's CDF of accuracies matches the optimum's",
            "closely",
            f"{gaps['cascade']} apart at most; VideoStorm's {gaps['videostorm']}, fair's {gaps['fair']}",
            stays(gaps["cascade"], _ALIKE),
            f"{NEAREST} is used as the optimum; CDFs that are {_ALIKE:g} apart are distinguishable in the figure. "
            f"Means differ by {_mean_gap(found['cascade'], best):+.3f}: the plans differ more in which queries are "
            "accurate than in the mean",
        )
    )
    costs = {name: np.array([each.costs.mean() for each in found[name]]) for name in names}
    rows.append(
        Row.by(
            "Fig. 5.17: mean cost of chosen configurations, above those of fair and VideoStorm",
            "significantly higher",
            ", ".join(f"{name} {over(costs[name])}" for name in names),
            above(
                [over(costs["cascade"] - costs[name]) for name in ("fair", "videostorm")],
                rule=f"above both; {SIGNIFICANT}",
            ),
            "cost is the largest share of any capacity; a camera's capacities count like the cloud's",
        )
    )
    use = {kind: over(each.busy(kind) for each in found["cascade"]) for kind in ("cores", "up")}
    full = {kind: over(run(case, "cascade").busy(kind) for case in five) for kind in use}
    rows.append(
        Row.by(
            "Section 5.7.2: utilisation of CPUs and of links under Cascade",
            "above 85 %",
            f"cores {use['cores']}, links {use['up']}",
            reaches(use.values(), 0.85),
            f"over all clusters, at two queries a camera; at five, cores {full['cores']}, links {full['up']}",
        )
    )
    return rows  # fmt: skip


def _mean_gap(ours: Sequence[Outcome], best: Sequence[Outcome]) -> float:
    return float(np.mean([one.mean - other.mean for one, other in zip(ours, best, strict=True)]))


def _where(cases: Sequence[Case], seeds: Sequence[int]) -> list[Row]:
    cascade = over(run(case, "cascade").together for case in cases)
    storm = over(
        1.0 - run(case, "videostorm", seed).together for case, seed in zip(cases, seeds, strict=True)
    )
    return [
        Row.by(
            "Fig. 5.18: queries with both components at one place under Cascade",
            0.93,
            str(cascade),
            is_about(cascade, 0.93, 0.05),
            "a tolerance of 0.05, as profiles are drawn",
        ),
        Row.by(
            "Fig. 5.18: queries with components at two places under VideoStorm",
            0.23,
            str(storm),
            is_about(storm, 0.23, 0.05),
            "of six placements three are at two places: half, if links can carry all of them",
        ),
    ]  # fmt: skip


def _same_location(cases: Sequence[Case]) -> list[Row]:
    rows = []
    for times, paper, share in ((1.0, 0.0, 0.94), (16.0, 20.0, 0.83)):
        wide = [case.on(Deployment().times(link=times, uplink=times)) for case in cases]
        free = [run(case, "cascade") for case in wide]
        tied = [run(case.where(lambda of: of.together), "cascade") for case in wide]
        gain = over(100 * (one.mean / other.mean - 1) for one, other in zip(free, tied, strict=True))
        together = over(each.together for each in free)
        tolerance = 5.0
        rows.append(
            Row.by(
                f"Fig. 5.19: Cascade over Cascade with one place per query, links times {times:g}, %",
                "about the same" if times == 1 else paper,
                str(gain),
                is_about(gain, paper, tolerance),
                f"tolerance {tolerance:g} points; {together} of queries are at one place, {share:g} in the thesis; "
                f"accuracy {np.mean([each.mean for each in free]):.3f}",
            )
        )
    return rows


def _static(cases: Sequence[Case]) -> list[Row]:
    rows = []
    ratios: dict[int, list[_Floats | None]] = {level: [] for level in _LEVELS}
    for level, name in _LEVELS.items():
        for count in range(1, 6):
            some = [case.first(20 * count) for case in cases]
            theirs = np.array([run(on_level(case, level), "cascade").mean for case in some])
            ours = np.array([run(case, "cascade").mean for case in some])
            ratios[level].append(ours / theirs if (theirs > 0).all() else None)
        shown = ", ".join("no ratio" if each is None else f"{each.mean():.2f}" for each in ratios[level])
        note = (
            f"results are sent to the cloud, {RESULTS * 8e-6:.2g} Mb/s of each query at the full frame rate"
        )
        rows.append(
            Row(f"Fig. 5.23: Cascade over {name} alone, 1 to 5 queries a camera", None, shown, None, note)
        )
    return [*rows, *static_rows({level: each[-1] for level, each in ratios.items()})]


def static_rows(most: Mapping[int, _Floats | None]) -> list[Row]:
    """Return the rows of Figure 5.23 at five queries per camera, on Cascade over each level alone.

    Parameters
    ----------
    most
        (s,) Cascade's accuracy over that of a level by draw; None if a level runs no query in some draw.
    """
    cloud, cameras = most[CLOUD], most[CAMERA]
    known = {level: each for level, each in most.items() if each is not None}
    others = [each for level, each in known.items() if level != CAMERA]
    # An unbounded gain is not comparable with the others.
    differences = (
        () if cameras is None or len(known) < len(most) else tuple(over(cameras - each) for each in others)
    )
    largest = max(known, key=lambda level: float(known[level].mean()), default=None)
    return [
        Row.by(
            "Fig. 5.23: Cascade over the cloud alone, up to",
            3.0,
            "no ratio" if cloud is None else str(over(cloud)),
            reaches(() if cloud is None else over(cloud), 2.95),
            "the uplink carries 5 Mb/s for every plan: the size of the smallest useful stream decides",
        ),
        Row.by(
            "Fig. 5.23: of the three, the largest gain at 5 a camera is over",
            "the cameras",
            "no ratio" if largest is None else _LEVELS[largest],
            above(differences, rule=f"above each of the others; {SIGNIFICANT}"),
            f"cores: {Deployment().cameras * Deployment().camera_cores:g} at cameras, "
            f"{Deployment().private_cores:g} private, {Deployment().cloud_cores:g} in the cloud",
        ),
    ]
