"""The gain over fair shares as a curve over the cores that queries request, at five queries per camera."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from windlass.model.queries import KINDS
from windlass.report.pictures import Line, Picture
from windlass_reproductions.cascade.runs import run
from windlass_reproductions.cascade.setting import Case, drawn_case
from windlass_reproductions.cascade.verdicts import over
from windlass_reproductions.reproduction import Row

_Floats = NDArray[np.float64]
#: Factors of the cores of every plan.
FACTORS = (1.0, 1.5, 2.0, 3.0, 4.0)
#: Fair among the users of a resource, and as the thesis has it, among all queries.
_BASELINES = {"fair": "users", "1/n of every resource": "queries"}


def requesting(case: Case, factor: float) -> Case:
    """Return the case in which every configuration requests ``factor`` times the cores."""
    cores = np.arange(len(case.capacity)) % len(KINDS) == KINDS.index("cores")
    scale = np.where(cores, factor, 1.0)
    return replace(case, options=tuple(replace(each, demand=each.demand * scale) for each in case.options))


def demand_rows(seeds: Sequence[int], factors: Sequence[float] = FACTORS) -> tuple[list[Row], Picture]:
    """Return one row for each factor, and the curves."""
    cases = [drawn_case(5, np.random.default_rng([seed, 5])) for seed in seeds]
    found: dict[float, dict[str, _Floats]] = {}
    for factor in factors:
        some = [requesting(case, factor) for case in cases]
        found[factor] = {
            name: np.array([run(case, "fair", among=among).mean for case in some])
            for name, among in _BASELINES.items()
        }
        found[factor]["cascade"] = np.array([run(case, "cascade").mean for case in some])
    return [_row(factor, means) for factor, means in found.items()], _picture(found)


def _row(factor: float, means: Mapping[str, _Floats]) -> Row:
    texts = [
        f"{over(means['cascade'] / means[name])} over {name}"
        if (means[name] > 0).all()
        else f"{name} runs no query in {int((means[name] <= 0).sum())} of {len(means[name])} draws"
        for name in _BASELINES
    ]
    return Row(
        f"Fig. 5.15: gain over fair if plans request {factor:g} times the cores",
        "15.7 at the cores of the thesis",
        "; ".join(texts),
        None,
        "mean accuracies " + ", ".join(f"{name} {values.mean():.3f}" for name, values in means.items()),
    )


def _picture(found: Mapping[float, Mapping[str, _Floats]]) -> Picture:
    lines = []
    for name in _BASELINES:
        some = [factor for factor, means in found.items() if (means[name] > 0).all()]
        gains = [float((found[factor]["cascade"] / found[factor][name]).mean()) for factor in some]
        lines.append(Line(f"over {name}", some, gains))
    return Picture(
        "fig-5-15-requested-cores",
        "Gain of Cascade over fair by the cores that plans request",
        "times the cores",
        "gain over fair",
        tuple(lines),
    )
