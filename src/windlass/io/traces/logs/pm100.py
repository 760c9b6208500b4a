"""Reader of PM100: jobs of the supercomputer Marconi100, one Parquet file.

Its first version names cores ``cpus``. The time limit is in minutes.

Source: Antici et al., "PM100: a job power consumption dataset of a large-scale production HPC system", SC-W 2023;
https://doi.org/10.5281/zenodo.10127767.
"""

from __future__ import annotations

import polars as pl

from windlass.io.traces.logs.published import PublishedTable

_CORES = ("num_cores_req", "num_cpus_req")


def _limited(records: pl.DataFrame) -> pl.DataFrame:
    """Return the records without limits that are none: INFINITE, UNLIMITED and 0."""
    if "time_limit" not in records.columns:
        return records
    text = pl.col("time_limit").cast(pl.String)
    none = text.str.to_uppercase().is_in(["INFINITE", "UNLIMITED", "PARTITION_LIMIT", "0"])
    return records.with_columns(pl.when(~none).then(text).alias("time_limit"))


PM100 = PublishedTable(
    needed=("job_id", "submit_time", "start_time", "end_time", "run_time", "num_nodes_alloc", "state_reason"),
    fields={
        "job": ("job_id",),
        "submit": ("submit_time",),
        "start": ("start_time",),
        "end": ("end_time",),
        "run": ("run_time",),
        "procs_requested": _CORES,
        "procs_allocated": ("num_cores_alloc", "num_cpus_alloc"),
        "request": ("time_limit",),
        "user": ("user_id",),
        "group": ("group_id",),
        "queue": ("qos",),
        "partition": ("partition",),
        "gpus": ("num_gpus_alloc", "num_gpus_req"),
    },
    units={"request": 60.0},
    others=("job_state", "num_nodes_req", "priority", "shared", "mem_req", "mem_alloc"),
    derive=_limited,
)
