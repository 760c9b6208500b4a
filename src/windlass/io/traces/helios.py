"""Reader of Helios: GPUs of the jobs that were submitted, started and ended, in periods of ten minutes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from windlass.io.traces.series import TraceSeries, read_series
from windlass.model import InputError

_COLUMNS = ("submit_gpu_num", "start_gpu_num", "end_gpu_num")


def read_helios(path: Path) -> TraceSeries:
    """Read a Helios cluster, such as Venus: GPUs in use at the end of each period, and GPUs submitted in it.

    The file counts starts and ends, not running jobs. The number of GPUs in use at its beginning is unknown: the
    smallest number is assumed with which the count never falls below 0.

    Source: Hu et al., "Characterization and prediction of deep learning workloads in large-scale GPU datacenters",
    SC 2021; the counts are those published with Lucid (ASPLOS 2023).

    Parameters
    ----------
    path
        A CSV file with the columns time, submit_gpu_num, start_gpu_num and end_gpu_num.

    Returns
    -------
    TraceSeries
        Columns ``gpus_in_use`` and ``gpus_submitted``, 600 s a row.

    Raises
    ------
    InputError
        A column or a period is missing, or :func:`~windlass.io.traces.series.read_series` rejects the file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "venus.csv"
    >>> _ = path.write_text("time,submit_gpu_num,start_gpu_num,end_gpu_num\\n2020-04-01 00:00:00,3,3,5\\n"
    ...     "2020-04-01 00:10:00,8,4,1\\n")
    >>> read_helios(path).rows.tolist()
    [[0.0, 3.0], [3.0, 8.0]]
    """
    series = read_series(path, 600.0, _COLUMNS)
    submitted, started, ended = series.rows.T
    if np.isnan(series.rows).any():
        row = int(np.isnan(series.rows).any(axis=1).argmax())
        raise InputError(f"{path}: no counts for the ten minutes of row {row + 1}, expected counts in each")
    running = np.cumsum(started - ended)
    rows = np.stack([running - min(0.0, float(running.min())), submitted], axis=1)
    return TraceSeries(
        series.name, series.begin, 600.0, ("gpus_in_use", "gpus_submitted"), rows, series.notes
    )
