"""Reader of measured pairs: two jobs that shared a device, and the speed of each relative to its speed alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.io import read_csv
from windlass.io.traces.files import check_is_file
from windlass.model import InputError

#: Columns that identify a job: the same model trained on the same data in another way is another job.
_JOB = ("model", "dataset", "batchsize", "amp")
_PAIRS = "colocate_info.csv"
_ALONE = "single_data.csv"


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredPairs:
    """k pairs of jobs that shared a device; the two columns of each array are the two jobs.

    Parameters
    ----------
    jobs, models
        (k, 2) names of the job and of the model that it trains; several jobs may train the same model.
    use
        (k, 2) utilisation of the device by the job alone, percent.
    memory
        (k, 2) device memory that the job alone holds, bytes.
    speed
        (k, 2) speed in the pair divided by the speed alone. Because of measurement errors, a few are above 1.
    """

    jobs: NDArray[np.str_]
    models: NDArray[np.str_]
    use: NDArray[np.float64]
    memory: NDArray[np.float64]
    speed: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.speed)


def read_interference(folder: Path) -> MeasuredPairs:
    """Read pairs of training jobs that shared a GPU, and the use of the GPU by each job alone.

    Source: the measurements published with Lucid (Hu et al., "Lucid: a non-intrusive, scalable and interpretable
    scheduler for deep learning training jobs", ASPLOS 2023). The GPU's own scheduler shared it, without a quota.

    Parameters
    ----------
    folder
        Folder with ``colocate_info.csv`` (one pair per line: model, dataset, batchsize, amp and speed, each with suffix
        1 and 2) and ``single_data.csv`` (one job per line: model, dataset, batchsize, amp, gpu_util in %, gmem in MB).

    Returns
    -------
    MeasuredPairs
        The pairs, in the order of the file.

    Raises
    ------
    InputError
        A file cannot be read, a column is missing, a value is out of bounds, or a job of a pair was never measured
        alone; names file, line, field and value.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "single_data.csv").write_text(
    ...     "model,dataset,batchsize,amp,gpu_util,gmem\\nVGG,CIFAR-10,64,0,80,3000\\nPPO,Lunar,64,0,10,2000\\n")
    >>> _ = (folder / "colocate_info.csv").write_text(
    ...     "model1,dataset1,batchsize1,amp1,speed1,model2,dataset2,batchsize2,amp2,speed2\\n"
    ...     "VGG,CIFAR-10,64,0,0.95,PPO,Lunar,64,0,0.9\\n")
    >>> pairs = read_interference(folder)
    >>> pairs.use.tolist(), pairs.speed.tolist(), pairs.models.tolist()
    ([[80.0, 10.0]], [[0.95, 0.9]], [['VGG', 'PPO']])
    """
    alone_file, pairs_file = folder / _ALONE, folder / _PAIRS
    alone = _table(alone_file, [*_JOB, "gpu_util", "gmem"])
    pairs = _table(pairs_file, [f"{name}{side}" for side in "12" for name in (*_JOB, "speed")])
    use = _numbers(alone_file, alone, "gpu_util", above=0.0, most=100.0)
    memory = _numbers(alone_file, alone, "gmem", above=0.0, most=np.inf) * 1e6
    row_of: dict[str, int] = {}
    for row, job in enumerate(_names(alone, "")):
        if job in row_of:
            raise InputError(
                f"{alone_file}, line {row + 2}: {job!r} appears twice, expected one line per job"
            )
        row_of[job] = row
    sides = [_names(pairs, side) for side in "12"]
    for side, names in zip("12", sides, strict=True):
        for row, job in enumerate(names):
            if job not in row_of:
                raise InputError(
                    f"{pairs_file}, line {row + 2}: job {side} is {job!r}, expected one of those in {_ALONE}"
                )
    rows = np.array([[row_of[job] for job in names] for names in sides], dtype=np.int64).T
    speed = [_numbers(pairs_file, pairs, f"speed{side}", above=0.0, most=10.0) for side in "12"]
    models = [pairs[f"model{side}"].to_numpy().astype(np.str_) for side in "12"]
    return MeasuredPairs(
        np.array(sides, dtype=np.str_).T, np.array(models).T, use[rows], memory[rows], np.array(speed).T
    )


def _table(path: Path, columns: list[str]) -> pl.DataFrame:
    check_is_file(path)
    table = read_csv(path)
    for column in columns:
        if column not in table.columns:
            raise InputError(f"{path}: column {column} is missing, found {', '.join(table.columns)}")
    if table.is_empty():
        raise InputError(f"{path}: no lines below the names, expected measurements")
    return table


def _names(table: pl.DataFrame, side: str) -> list[str]:
    return [
        " ".join(str(part) for part in row)
        for row in table.select(f"{name}{side}" for name in _JOB).iter_rows()
    ]


def _numbers(path: Path, table: pl.DataFrame, column: str, above: float, most: float) -> NDArray[np.float64]:
    values = table[column].cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    bad = ~((values > above) & (values <= most) & np.isfinite(values))
    if bad.any():
        row = int(bad.argmax())
        limit = f" and at most {most:g}" if np.isfinite(most) else ""
        raise InputError(
            f"{path}, line {row + 2}: {column} is {table[column][row]!r}, expected a number above {above:g}{limit}"
        )
    return np.asarray(values, dtype=np.float64)
