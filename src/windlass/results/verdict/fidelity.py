"""How far a replay is from the log: under the policy that the log's system ran, waits should be the log's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.results import Results, VariantResult


@dataclass(frozen=True, slots=True)
class Fidelity:
    """How far a replay is from the log that it replays.

    Parameters
    ----------
    name
        Of the variant.
    said
        True if the scenario names the policy that the log's system ran; else this is the nearest of those compared.
    mean, logged
        Mean waits of the replay and of the log, s.
    half, most
        Absolute error of the start time that half, and nine in ten, of the jobs do not exceed, s.
    """

    name: str
    said: bool
    mean: float
    logged: float
    half: float
    most: float


def fidelity(results: Results) -> Fidelity | None:
    """How far replays on the log's own site, with its own arrivals, are from the log.

    Parameters
    ----------
    results
        Of any world.

    Returns
    -------
    Fidelity or None
        The policy that the log's system ran or, if the scenario does not name it, the one with the smallest mean
        difference from the log's waits. None if the log has no start times, no variant has its site and
        arrivals, or the policy that it ran is none of the variants.
    """
    for logged in results.variants:
        if not (logged.recorded and logged.own):
            continue
        ran = logged.choices[0].label if logged.choices else None
        beside = [
            each
            for each in results.variants
            if each.point == logged.point and not each.recorded and ran in (None, each.own_name)
        ]
        found = [(each, off) for each in beside if (off := _off(each, logged)) is not None]
        if found:
            nearest, off = min(found, key=lambda pair: float(pair[1].mean()))
            half, most = np.percentile(off, [50, 90])
            means = [float(_starts(each).mean() - _submits(each).mean()) for each in (nearest, logged)]
            return Fidelity(nearest.own_name, ran is not None, means[0], means[1], float(half), float(most))
    return None


def _starts(variant: VariantResult) -> NDArray[np.float64]:
    return variant.outcomes[0].jobs["start_s"].to_numpy()


def _submits(variant: VariantResult) -> NDArray[np.float64]:
    return variant.outcomes[0].jobs["submit_s"].to_numpy()


def _off(variant: VariantResult, logged: VariantResult) -> NDArray[np.float64] | None:
    """(n,) by how many seconds each job starts at another time; None where the jobs are others."""
    first, second = (each.outcomes[0].jobs for each in (variant, logged))
    if len(first) != len(second) or not len(first) or not first["job"].equals(second["job"]):
        return None
    return np.abs(_starts(variant) - _starts(logged))
