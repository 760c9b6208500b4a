"""The error of a replay with respect to the log: under the recorded system's policy, both should have equal waits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.results import Results, VariantResult


@dataclass(frozen=True, slots=True)
class Fidelity:
    """The error of a replay with respect to the log.

    Parameters
    ----------
    name
        Name of the replayed variant, without its point.
    policy_known
        True if the scenario names the policy of the recorded system. If False, the variant is the one closest to the
        log.
    mean, logged
        Mean waits of the replay and of the log, s.
    half, most
        Median and 90th percentile of the absolute error of the jobs' start times, s.
    """

    name: str
    policy_known: bool
    mean: float
    logged: float
    half: float
    most: float


def fidelity(results: Results) -> Fidelity | None:
    """Compare a replay on the log's own site, with its own arrivals, with the log; of the first seed.

    Parameters
    ----------
    results
        Results of any world.

    Returns
    -------
    Fidelity or None
        Of the variant with the policy of the recorded system. If the scenario does not name that policy, of the variant
        with the smallest mean absolute error of start times. None if the log has no start times, if no variant has
        the log's site, arrivals and jobs, or if the recorded system's policy is not among the variants.
    """
    for logged in results.variants:
        if not (logged.recorded and logged.own):
            continue
        ran = logged.choices[0].label if logged.choices else None
        candidates = [
            each
            for each in results.variants
            if each.point == logged.point and not each.recorded and ran in (None, each.own_name)
        ]
        found = [(each, errors) for each in candidates if (errors := _errors(each, logged)) is not None]
        if found:
            nearest, errors = min(found, key=lambda pair: float(pair[1].mean()))
            half, most = np.percentile(errors, [50, 90])
            means = [float(_starts(each).mean() - _submits(each).mean()) for each in (nearest, logged)]
            return Fidelity(nearest.own_name, ran is not None, means[0], means[1], float(half), float(most))
    return None


def _starts(variant: VariantResult) -> NDArray[np.float64]:
    return variant.outcomes[0].jobs["start_s"].to_numpy()


def _submits(variant: VariantResult) -> NDArray[np.float64]:
    return variant.outcomes[0].jobs["submit_s"].to_numpy()


def _errors(variant: VariantResult, logged: VariantResult) -> NDArray[np.float64] | None:
    """Return (n,) absolute errors of the jobs' start times, s; None if the variant has other jobs."""
    first, second = (each.outcomes[0].jobs for each in (variant, logged))
    if len(first) != len(second) or not len(first) or not first["job"].equals(second["job"]):
        return None
    return np.abs(_starts(variant) - _starts(logged))
