"""By how much one forecaster is better than another, with the evidence, in words."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from windlass.report.phrases import no_interval
from windlass.report.units import percentage
from windlass.results.verdict.blocks import LEAST_JOBS, BlockedLog
from windlass.results.verdict.measures import measure_of

_Floats = NDArray[np.float64]


def lead_words(least: _Floats, other: _Floats, name: str) -> str:
    """Return how much smaller the mean of one forecaster's errors is than that of another, with an interval.

    The rows of the test part are cut into blocks, in which both forecasters are compared, as policies are on a log.

    Parameters
    ----------
    least, other
        (n,) squared errors of both forecasters for the same rows, NaN for gaps.
    name
        Name of the other forecaster.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> one = rng.exponential(1.0, 5000)
    >>> print(lead_words(one, one * rng.uniform(1.2, 1.4, 5000), "naive"))
    23 % less than naive; 95 % confidence interval 23 to 24 %, n = 10 blocks
    >>> print(lead_words(one[:50], 2 * one[:50], "naive"))
    50 % less than naive; 50 rows are too few for a confidence interval
    """
    known = np.isfinite(least) & np.isfinite(other)
    count, first, second = int(known.sum()), least[known], other[known]
    mean = float(second.mean()) if count else math.nan
    if not mean > 0:
        return f"as good as {name}"
    lead = mean - float(first.mean())
    # 1 if the first one has less error, which is the rule.
    sign = 1 if lead >= 0 else -1
    words = f"{percentage(abs(lead) / mean)} {'less' if sign > 0 else 'more'} than {name}"
    measure = measure_of("mean_response_s")
    if count < LEAST_JOBS or measure is None:
        return f"{words}; {count:,} rows are too few for a confidence interval"
    found = BlockedLog(measure, (second[None, :], first[None, :])).evidence(0, 1, lead)
    if found.interval is not None:
        low, high = map(
            _percent, sorted(sign * each / mean for each in (found.interval.low, found.interval.high))
        )
        chance = "" if sign * found.direction > 0 else ", which does not rule out chance"
        return (
            f"{words}; 95 % confidence interval {low} to {high} %, n = {found.interval.count} blocks{chance}"
        )
    signs = found.signs
    worse = f"{name} is {'worse' if sign > 0 else 'better'} in {signs.above if sign > 0 else signs.below}"
    worse += f" of {signs.pairs} blocks"
    chance = "rules out chance" if sign * found.direction > 0 else "does not rule out chance"
    # Without a refusal there is an interval.
    why = "" if found.refusal is None else f"; {no_interval(found.refusal, count, 'row')}"
    return f"{words}; {worse}, which {chance}{why}"


def _percent(part: float) -> str:
    """Return a part in percent with two digits, or all digits before the point."""
    percent = 100 * part
    return (f"{percent:.0f}" if abs(percent) >= 99.5 else f"{percent:.2g}").replace("-", "−")
