"""The jobs of an elastic scenario, read or generated."""

from __future__ import annotations

import numpy as np

from windlass.experiment.workloads.bins import jobs_of_bins
from windlass.experiment.workloads.seasons import seasonal
from windlass.experiment.worlds.elastic.spec import ElasticWorkloadSpec
from windlass.io.traces.bins import read_bins
from windlass.io.traces.demands import DemandLog, read_demands

#: The note on jobs that are generated from counts.
_OF_BINS = ("jobs are generated from counts by time: the end of each job is random",)


def vector_jobs(spec: ElasticWorkloadSpec, seed: int) -> DemandLog:
    """Read the log or generate the jobs.

    Parameters
    ----------
    spec
        The log, or the parameters for generating jobs.
    seed
        The random seed.

    Raises
    ------
    InputError
        The log cannot be read, or there are no jobs.

    Examples
    --------
    >>> spec = ElasticWorkloadSpec.model_validate({"drawn": {"days": 1, "per_hour": 5}})
    >>> vector_jobs(spec, seed=1).jobs.submit.max() < 86_400
    np.True_
    """
    rng = np.random.default_rng([seed, 0])
    besides = spec.cores_per_gpu, spec.memory_per_gpu
    if spec.trace is not None:
        return read_demands(spec.trace, *besides)
    if spec.bins is not None:
        return DemandLog(jobs_of_bins(read_bins(spec.bins), rng, *besides), _OF_BINS)
    assert spec.drawn is not None  # Validated: exactly one of the three is given.
    return DemandLog(seasonal(spec.drawn.season(), spec.drawn.drawn_shapes(), rng))
