"""Task times, with stragglers as in a Facebook cluster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError

#: The tail of task times in a Facebook cluster, and their mean, s (thesis, section 3.5.1).
PARETO_SHAPE, MEAN_TASK_S = 1.259, 2.0
#: Upper bound of task times, s. The thesis does not mention one, but with this shape the variance is infinite, and
#: without a bound no mean over a run would converge.
LONGEST_TASK_S = 20.0


def draw_seconds(
    tasks: int, rng: np.random.Generator, mean: float = MEAN_TASK_S, longest: float = LONGEST_TASK_S
) -> NDArray[np.float64]:
    """Draw task times, s: Pareto with shape 1.259, truncated at ``longest``, with this mean.

    Parameters
    ----------
    tasks
        Number of tasks.
    rng
        The random generator.
    mean, longest
        Mean and upper bound, s; the lower bound follows from them.

    Examples
    --------
    >>> seconds = draw_seconds(200_000, np.random.default_rng(1))
    >>> bool(1.95 < seconds.mean() < 2.05 and seconds.max() <= 20.0)
    True
    """
    if not longest > mean > 0:
        raise InputError(f"longest task is {longest:g} s, expected more than the mean of {mean:g} s")
    shape = PARETO_SHAPE

    def mean_from(shortest: float) -> float:
        kept = 1.0 - (shortest / longest) ** shape
        body = shape / (shape - 1.0) * (shortest - shortest**shape * longest ** (1.0 - shape))
        return float(body / kept)

    from scipy.optimize import brentq  # loads much, and few runs need it

    shortest = brentq(lambda low: mean_from(low) - mean, 1e-9 * mean, mean)
    kept = 1.0 - (shortest / longest) ** shape
    return np.asarray(shortest * (1.0 - kept * rng.random(tasks)) ** (-1.0 / shape))
