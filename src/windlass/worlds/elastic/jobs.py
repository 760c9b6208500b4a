"""The jobs of an elastic scenario, read or drawn."""

from __future__ import annotations

import numpy as np

from windlass.model.vectors import VectorJobs
from windlass.workloads.seasons import seasonal
from windlass.worlds.elastic.spec import WorkloadSpec


def vector_jobs(spec: WorkloadSpec, seed: int) -> VectorJobs:
    """Read the log or draw the jobs.

    Parameters
    ----------
    spec
        Which log, or how to draw them.
    seed
        What is drawn follows from it.

    Raises
    ------
    InputError
        The log cannot be read, or nobody comes.

    Examples
    --------
    >>> spec = WorkloadSpec.model_validate({"drawn": {"days": 1, "per_hour": 5}})
    >>> vector_jobs(spec, seed=1).submit.max() < 86_400
    np.True_
    """
    rng = np.random.default_rng([seed, 0])
    assert spec.drawn is not None
    return seasonal(spec.drawn.season(), spec.drawn.drawn_shapes(), rng)
