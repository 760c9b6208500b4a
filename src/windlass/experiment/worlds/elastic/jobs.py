"""The jobs of an elastic scenario, read or generated."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from windlass.experiment.workloads.bins import jobs_of_bins
from windlass.experiment.workloads.seasons import seasonal
from windlass.experiment.worlds.elastic.spec import ElasticWorkloadSpec
from windlass.io.traces.bins import read_bins
from windlass.io.traces.demands import DemandLog, demands_of, is_demand_table, read_demands
from windlass.io.traces.formats import format_of, read_trace
from windlass.io.traces.workload import to_workload

#: Formats of tables in which a job has a column for each resource; an unknown suffix is read as such a table, too.
_TABLES = ("csv", "openb", None)
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
        return _of_log(spec.trace, spec, besides)
    if spec.bins is not None:
        return DemandLog(jobs_of_bins(read_bins(spec.bins), rng, *besides), _OF_BINS)
    assert spec.drawn is not None  # Validated: exactly one of the three is given.
    return DemandLog(seasonal(spec.drawn.season(), spec.drawn.drawn_shapes(), rng))


def _of_log(trace: Path, spec: ElasticWorkloadSpec, besides: tuple[float, float]) -> DemandLog:
    """Read a table of requests, or otherwise a scheduler's log as the world ``batch`` does."""
    given = spec.format is not None or spec.skip_bad_lines or spec.columns
    own = not given and format_of(trace) in _TABLES
    if own and is_demand_table(trace):
        return read_demands(trace, *besides, where=spec.where)
    records = read_trace(trace, spec.format, spec.skip_bad_lines, dict(spec.columns))
    return demands_of(to_workload(records, where=spec.where), *besides)
