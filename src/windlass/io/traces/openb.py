"""Reader of openb: nodes and pods of a GPU cluster whose pods share GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.io.traces.gpu_table import check_columns, numbers, read_gpu_table
from windlass.model import InputError

#: Columns of a pod's requests and of its times of creation, deletion and scheduling.
POD_COLUMNS = (
    "cpu_milli",
    "memory_mib",
    "num_gpu",
    "gpu_milli",
    "creation_time",
    "deletion_time",
    "scheduled_time",
)
#: Unit of memory, bytes.
MIB = 2.0**20


@dataclass(frozen=True, slots=True, eq=False)
class OpenbPods:
    """n pods in order of creation.

    Parameters
    ----------
    resources
        (n, 3) requested GPUs (fractions are multiples of 1/1000), cores, and bytes of memory.
    created, deleted
        (n,) time of creation and deletion, s. In the log, pods that were still running are deleted at its last instant.
    scheduled
        (n,) time of scheduling, s; NaN if the pod never was scheduled.
    service
        (n,) class of service, such as LS (latency-sensitive) or BE (best effort); empty if the file has none.
    number
        (n,) position of the pod in the file, from 1.
    """

    resources: NDArray[np.float64]
    created: NDArray[np.float64]
    deleted: NDArray[np.float64]
    scheduled: NDArray[np.float64]
    service: NDArray[np.str_]
    number: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.created)

    @property
    def was_scheduled(self) -> NDArray[np.bool_]:
        """(n,) whether each pod was ever scheduled."""
        return ~np.isnan(self.scheduled)


@dataclass(frozen=True, slots=True, eq=False)
class OpenbNodes:
    """Nodes: (n, 3) GPUs, cores and bytes of memory, and (n,) GPU model, empty for nodes without GPUs."""

    resources: NDArray[np.float64]
    model: NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.model)


def read_openb_pods(path: Path) -> OpenbPods:
    """Read pods, one per line: name, cpu_milli, memory_mib, num_gpu, gpu_milli, …, qos, …, and three times.

    Source: Weng et al., "Beware of fragmentation: scheduling GPU-sharing workloads with fragmentation gradient
    descent", USENIX ATC 2023; alibaba/clusterdata, cluster-trace-gpu-v2023.

    Raises
    ------
    InputError
        The file cannot be read, a column is missing, a value is not a number of 0 or more, or a pod was deleted before
        it was created; names file, line, field and value.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "pods.csv"
    >>> _ = path.write_text(
    ...     "name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,creation_time,deletion_time,scheduled_time\\n"
    ...     "p0,6000,1024,1,460,LS,5,90,7\\np1,500,1,0,0,BE,3,8,\\n")
    >>> pods = read_openb_pods(path)
    >>> pods.resources.tolist(), pods.scheduled.tolist()
    ([[0.0, 0.5, 1048576.0], [0.46, 6.0, 1073741824.0]], [nan, 7.0])
    """
    return openb_pods(path, read_gpu_table(path, POD_COLUMNS))


def openb_pods(path: Path, table: pl.DataFrame) -> OpenbPods:
    """Return the pods of a table that has already been read.

    Parameters
    ----------
    path
        The file, for messages.
    table
        Cells as text, with the columns :data:`POD_COLUMNS` and optionally ``qos``.

    Raises
    ------
    InputError
        See :func:`read_openb_pods`.
    """
    check_columns(path, table, POD_COLUMNS)
    gpus = numbers(path, table, "num_gpu") * numbers(path, table, "gpu_milli") / 1000.0
    cores = numbers(path, table, "cpu_milli") / 1000.0
    memory = numbers(path, table, "memory_mib") * MIB
    created = numbers(path, table, "creation_time")
    deleted = numbers(path, table, "deletion_time")
    scheduled = numbers(path, table, "scheduled_time", missing=True)
    if (deleted < created).any():
        row = int((deleted < created).argmax())
        raise InputError(
            f"{path}, line {row + 2}: deletion_time is {deleted[row]:g}, expected at least {created[row]:g},"
            " its creation_time"
        )
    order = np.argsort(created, kind="stable")
    service = _words(table, "qos") if "qos" in table.columns else np.full(len(table), "")
    resources = np.stack([gpus, cores, memory], axis=1)
    return OpenbPods(
        resources[order], created[order], deleted[order], scheduled[order], service[order], order + 1
    )


def read_openb_nodes(path: Path) -> OpenbNodes:
    """Read nodes, one per line: sn, cpu_milli, memory_mib, gpu, model.

    Raises
    ------
    InputError
        The file cannot be read, a column is missing, or a value is not a number of 0 or more.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "nodes.csv"
    >>> _ = path.write_text("sn,cpu_milli,memory_mib,gpu,model\\nn0,32000,1,0,\\nn1,96000,1,8,G2\\n")
    >>> read_openb_nodes(path).resources[:, :2].tolist()
    [[0.0, 32.0], [8.0, 96.0]]
    """
    table = read_gpu_table(path, ("cpu_milli", "memory_mib", "gpu", "model"))
    gpus = numbers(path, table, "gpu")
    cores = numbers(path, table, "cpu_milli") / 1000.0
    memory = numbers(path, table, "memory_mib") * MIB
    return OpenbNodes(np.stack([gpus, cores, memory], axis=1), _words(table, "model"))


def _words(table: pl.DataFrame, column: str) -> NDArray[np.str_]:
    return np.asarray(table[column].fill_null("").to_numpy().astype(np.str_))
