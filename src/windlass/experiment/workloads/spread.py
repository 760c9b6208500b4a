"""Random distribution of a job's tasks over sites."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def spread(
    sizes: NDArray[np.int64], sites: int, skew: float | str, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return (J, m) tasks of each job at each site.

    Parameters
    ----------
    sizes
        (J,) tasks of each job.
    sites
        Number of sites, m.
    skew
        Exponent of Zipf's law: a task is at the job's k-th site with probability ∝ 1/k^skew, and the order of sites
        is random for each job. ``uniform`` is 0, ``one-site`` puts all tasks at one site.
    rng
        The random generator.

    Examples
    --------
    >>> spread(np.array([5, 3]), 4, "one-site", np.random.default_rng(1)).max(axis=1)
    array([5, 3])
    """
    rank = np.arange(1, sites + 1, dtype=np.float64)
    if skew == "one-site":
        share = (rank == 1).astype(np.float64)
    else:
        share = rank ** -(0.0 if skew == "uniform" else float(skew))
    counts = rng.multinomial(sizes, share / share.sum())
    return rng.permuted(counts, axis=1)
