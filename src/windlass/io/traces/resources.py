"""Requests of jobs other than processors, if a log has them: GPUs and memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

_Floats = NDArray[np.float64]

#: Columns with requests. SWF has ``memory_requested`` in KiB per processor, other logs ``memory`` in bytes per job.
COLUMNS = ("gpus", "memory", "memory_requested")
_KIB = 1024.0


@dataclass(frozen=True, slots=True, eq=False)
class ResourceRequest:
    """Amount of a resource that each job requests.

    Parameters
    ----------
    amount
        (n,) amount that each job requests; NaN if the log has no value.
    most
        Largest amount that jobs of the log held at once, at least the largest request; NaN if the log has no start
        times.

    Examples
    --------
    >>> ResourceRequest(np.array([0.0, 2.0, np.nan, 4.0]), most=6.0).jobs
    2
    """

    amount: _Floats
    most: float

    @property
    def jobs(self) -> int:
        """Number of jobs that request the resource."""
        return int((self.amount > 0).sum())

    def take(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> ResourceRequest:
        """Return the requests of the selected jobs; ``most`` is still that of the whole log."""
        return ResourceRequest(np.ascontiguousarray(self.amount[rows]), self.most)


def resource_columns(records: pl.DataFrame) -> list[pl.Series]:
    """Return those of :data:`COLUMNS` that a log has, as numbers; null for invalid, negative and infinite values.

    >>> resource_columns(pl.DataFrame({"gpus": ["2", "a100"], "memory": [-1.0, 8.0], "nodes": [1, 1]}))[0].to_list()
    [2.0, None]
    """
    found = []
    for name in COLUMNS:
        kind = records.schema.get(name)
        if kind is not None and (kind.is_numeric() or kind == pl.String):
            number = pl.col(name).cast(pl.Float64, strict=False)
            found.append(records.select(pl.when(number.is_finite() & (number >= 0)).then(number))[name])
    return found


def gpus_of(records: pl.DataFrame) -> ResourceRequest | None:
    """Return the number of GPUs that each job requests; None if no job does.

    Parameters
    ----------
    records
        Records of the jobs, with ``submit``, ``run`` and ``procs``, the columns of :func:`resource_columns`, and
        ``wait`` if the log has it.

    Examples
    --------
    >>> jobs = pl.DataFrame({"submit": [0.0, 5.0], "run": [9.0, 9.0], "procs": [1, 1], "gpus": [2.0, 4.0]})
    >>> gpus_of(jobs.with_columns(wait=pl.lit(0.0))).most, gpus_of(jobs).most, gpus_of(jobs.drop("gpus"))
    (6.0, nan, None)
    """
    return _request(records, records["gpus"]) if "gpus" in records.columns else None


def memory_of(records: pl.DataFrame) -> ResourceRequest | None:
    """Return the memory that each job requests, bytes; None if no job does.

    Parameters
    ----------
    records
        See :func:`gpus_of`.

    Examples
    --------
    >>> jobs = pl.DataFrame({"submit": [0.0], "run": [9.0], "procs": [4], "memory_requested": [512.0]})
    >>> memory_of(jobs).amount.tolist()
    [2097152.0]
    """
    if "memory" in records.columns:
        return _request(records, records["memory"])
    if "memory_requested" in records.columns:
        return _request(records, records["memory_requested"] * _KIB * records["procs"])
    return None


def _request(records: pl.DataFrame, column: pl.Series) -> ResourceRequest | None:
    amount = column.fill_null(np.nan).to_numpy(writable=True)
    if not (amount > 0).any():
        return None
    if "wait" not in records.columns:
        return ResourceRequest(amount, np.nan)
    wait = records["wait"].fill_null(np.nan).to_numpy()
    known = np.isfinite(wait) & (wait >= 0) & (amount > 0)
    start, run = records["submit"].to_numpy() + wait, records["run"].to_numpy()
    most = most_at_once(start[known], run[known], amount[known])
    return ResourceRequest(amount, max(most, float(np.nanmax(amount))) if known.any() else np.nan)


def most_at_once(start: _Floats, run: _Floats, amount: _Floats | NDArray[np.int64]) -> float:
    """Return the largest amount that jobs held at once; at one instant, ends precede starts.

    Parameters
    ----------
    start, run
        (n,) start time and run time of each job, s.
    amount
        (n,) amount that it held.

    Examples
    --------
    >>> most_at_once(np.array([0.0, 5.0, 9.0]), np.array([9.0, 9.0, 1.0]), np.array([2, 3, 1]))
    5.0
    """
    at = np.concatenate([start, start + run])
    change = np.concatenate([amount, -amount])
    return float(change[np.lexsort((change, at))].cumsum().max(initial=0))
