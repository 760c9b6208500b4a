"""Reader of Alibaba's GPU trace of 2020: tasks (``pai_task_table``) or instances (``pai_instance_table``) as jobs.

The published CSV files have no names of columns; those are in the files ``.header``, which must precede them. Tasks
have the resources of all of their instances: a processor is a CPU core, rounded up. The table of instances has no
requests, so that each instance counts as one processor. Times have no submissions, so these are the starts.

Source: Weng et al., "MLaaS in the wild: workload analysis and scheduling in large-scale heterogeneous GPU clusters",
NSDI 2022.
"""

from __future__ import annotations

import polars as pl

from windlass.io.traces.logs.published import PublishedTable

_GIB = 2.0**30
_STARTS = "submissions are the starts of jobs, as the table has no others"


def _tasks(records: pl.DataFrame) -> pl.DataFrame:
    """Return the records with the resources of all instances of a task."""
    number = {
        name: pl.col(name).cast(pl.Float64, strict=False)
        if name in records.columns
        else pl.lit(None, pl.Float64)
        for name in ("inst_num", "plan_cpu", "plan_gpu", "plan_mem")
    }
    count = number["inst_num"].fill_null(1.0)
    unread = pl.col("plan_cpu").is_not_null() & (pl.col("plan_cpu") != "") & number["plan_cpu"].is_null()
    cores = (number["plan_cpu"] * count / 100.0).ceil().clip(1.0).fill_null(1.0)
    return records.with_columns(
        pl.concat_str("job_name", "task_name", separator="/").alias("task"),
        pl.when(unread).then("plan_cpu").otherwise(cores.cast(pl.Int64).cast(pl.String)).alias("plan_cpu"),
        (number["plan_gpu"] * count / 100.0).alias("plan_gpu"),
        (number["plan_mem"] * count * _GIB).alias("plan_mem"),
    )


def _instances(records: pl.DataFrame) -> pl.DataFrame:
    return records.with_columns(
        pl.concat_str("job_name", "task_name", "inst_name", separator="/").alias("instance"),
        pl.lit(1).alias("processors"),
    )


PAI_TASKS = PublishedTable(
    needed=("job_name", "task_name", "inst_num", "start_time", "end_time", "plan_cpu", "plan_gpu"),
    fields={
        "job": ("task",),
        "submit": ("start_time",),
        "start": ("start_time",),
        "end": ("end_time",),
        "procs_requested": ("plan_cpu",),
        "gpus": ("plan_gpu",),
        "memory": ("plan_mem",),
    },
    others=("status", "gpu_type", "inst_num"),
    notes=(_STARTS, "CPU cores of a task's instances are rounded up to whole processors, at least 1"),
    derive=_tasks,
)
PAI_INSTANCES = PublishedTable(
    needed=("job_name", "task_name", "inst_name", "worker_name", "start_time", "end_time", "machine"),
    fields={
        "job": ("instance",),
        "submit": ("start_time",),
        "start": ("start_time",),
        "end": ("end_time",),
        "procs_requested": ("processors",),
    },
    others=("status", "machine"),
    notes=(_STARTS, "the table has no requests of instances: each counts as 1 processor"),
    derive=_instances,
)
