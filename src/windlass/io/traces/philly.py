"""Reader of Philly: jobs of a GPU cluster, with their virtual clusters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from windlass.io.traces.gpu_table import numbers, read_gpu_table


@dataclass(frozen=True, slots=True, eq=False)
class PhillyJobs:
    """n jobs in order of arrival.

    Parameters
    ----------
    cluster
        (n,) name of the virtual cluster in the log.
    arrival, duration
        (n,) time of arrival and duration, s. The unit of durations in the log has not been verified.
    gpus
        (n,) number of GPUs.
    """

    cluster: NDArray[np.str_]
    arrival: NDArray[np.float64]
    duration: NDArray[np.float64]
    gpus: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.arrival)


def read_philly(path: Path) -> PhillyJobs:
    """Read jobs of Microsoft's Philly, one per line: vc, arrival_s, gpus, duration_s.

    Source: Jeon et al., "Analysis of large-scale multi-tenant GPU clusters for DNN training workloads", USENIX ATC
    2019, in the table by virtual cluster published with Gavel (Narayanan et al., OSDI 2020).

    Raises
    ------
    InputError
        The file cannot be read, a column is missing, or a value is not a number of 0 or more (GPUs and durations: above
        0); names file, line, field and value.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "philly.csv"
    >>> _ = path.write_text("vc,arrival_s,gpus,duration_s\\nb,60,8,1200\\na,0,1,3600.5\\n")
    >>> jobs = read_philly(path)
    >>> jobs.cluster.tolist(), jobs.gpus.tolist()
    (['a', 'b'], [1.0, 8.0])
    """
    table = read_gpu_table(path, ("vc", "arrival_s", "gpus", "duration_s"))
    arrival = numbers(path, table, "arrival_s")
    gpus = numbers(path, table, "gpus", above=0.0)
    duration = numbers(path, table, "duration_s", above=0.0)
    order = np.argsort(arrival, kind="stable")
    cluster = table["vc"].fill_null("").to_numpy().astype(np.str_)
    return PhillyJobs(cluster[order], arrival[order], duration[order], gpus[order])
