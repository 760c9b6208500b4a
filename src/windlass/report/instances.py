"""The sentence on how many instances each variant pays for."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

import numpy as np

from windlass.report.phrases import listed, quoted
from windlass.report.units import number
from windlass.results import Outcome, Results

_HOURS: Final = "instance_hours"
#: Maximum number of variants that the sentence names.
_NAMED: Final = 4


def instances_sentence(results: Results) -> str:
    """Return the mean number of instances that are paid for under each variant; empty for other worlds and for sweeps.

    It is the paid time of all instances over the time from the first submission to the last end.

    Parameters
    ----------
    results
        Results of any world.

    Examples
    --------
    >>> instances_sentence(Results("", "", ()))
    ''
    """
    variants = [each for each in results.variants if not each.recorded]
    if not variants or len({each.point for each in variants}) > 1:
        return ""
    if _HOURS not in {field.name for field in fields(variants[0].outcomes[0].metrics)}:
        return ""
    means = [float(np.mean([mean_instances(outcome) for outcome in each.outcomes])) for each in variants]
    if not np.isfinite(means).all():
        return ""
    ranked = sorted(zip(means, (quoted(each.own_name) for each in variants), strict=True))
    if len(ranked) > _NAMED:
        (least, first), (most, last) = ranked[0], ranked[-1]
        return f"Mean number of instances: from {number(least)} under {first} to {number(most)} under {last}."
    return f"Mean number of instances: {listed([f'{number(mean)} under {name}' for mean, name in ranked])}."


def mean_instances(outcome: Outcome) -> float:
    """Return the mean number of instances that are paid for, from the first submission to the last end of a job."""
    times = outcome.jobs.select("submit_s", "end_s").drop_nulls()
    if times.is_empty():
        return float("nan")
    span = float(np.nanmax(times["end_s"].to_numpy()) - times["submit_s"].to_numpy().min()) / 3600
    hours: float = getattr(outcome.metrics, _HOURS)
    return hours / span if span > 0 else float("nan")
