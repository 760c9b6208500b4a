"""A small coupled case, run where every index is checked: ``NUMBA_BOUNDSCHECK=1 python -m tests.coupled.bounds``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from tests.coupled.cases import Case, Tasks, run
from tests.oracles import ledger
from tests.oracles.plain import Plain
from windlass.jit import Kernel
from windlass.model import JobTable
from windlass.model.timetable import NodeTimetable
from windlass.order.site import SitePolicy
from windlass.order.site.policies.conservative import Conservative
from windlass.order.site.policies.easy import Easy
from windlass.order.site.policies.sjf import Sjf


def _read(values, place):
    return values[place]


def bounds_are_checked() -> bool:
    """Return whether an index out of bounds raises: the array is a view of three of four entries."""
    read = Kernel(_read, types.int64(types.int64[::1], types.int64), allocates=False).ready()
    try:
        read(np.arange(4)[:3], 3)
    except IndexError:
        return True
    return False


def case(seed: int, nodes: int, jobs: int, tasks: int) -> Case:
    """Jobs at twice the load that the nodes can take, outages of most nodes, and tasks."""
    rng = np.random.default_rng(seed)
    cores = rng.integers(1, 5, nodes)
    submit = np.sort(np.floor(rng.uniform(0, 300, jobs)))
    run_time = np.floor(rng.exponential(20, jobs))
    procs = np.minimum(rng.integers(1, 12, jobs), cores.sum())
    table = JobTable.of(submit, run_time, procs, run_time + rng.integers(0, 3, jobs))
    changes = NodeTimetable.none()
    for _ in range(nodes):
        node, down = int(rng.integers(nodes)), float(rng.integers(300))
        up = down + float(rng.integers(1, 60))
        left = int(rng.integers(0, cores[node] + 1))
        kill = bool(rng.integers(2))
        changes += NodeTimetable.outage(node, down, up, cores=int(cores[node]), left=left, kill=kill)
    times, work = np.sort(rng.uniform(0, 400, tasks)), rng.exponential(1.0, tasks)
    return Case(table, cores.tolist(), changes, Tasks(times.tolist(), work.tolist(), [1.0] * nodes, 0.0))


#: The order policy, whether it is called through Python, the dispatch policy, and options of the workers.
RUNS: tuple[tuple[type[SitePolicy], bool, str, dict[str, Any]], ...] = (
    (Easy, False, "ppot", {}),
    (Easy, True, "ppot", {"probe_delay": 0.7}),
    (Conservative, False, "rosella", {"samples": 20}),
    (Sjf, False, "sparrow", {"tasks_per_job": 4}),
    (Conservative, True, "rosella", {"schedulers": 3, "probe_delay": 0.3, "samples": 20}),
    (Sjf, True, "sparrow", {"tasks_per_job": 4, "schedulers": 2, "probe_delay": 0.2}),
)


def main() -> None:
    """Run the case, compiled and called through Python, with more nodes than bits in a word."""
    print("indices checked:", bounds_are_checked())
    small = case(1, 70, 500, 2000)
    for order, hidden, dispatch, changed in RUNS:
        ran = run(small, Plain(order()) if hidden else order(), dispatch=dispatch, **changed)
        assert ran.tasks is not None
        assert ledger.violations(ran.replay, small.cores, small.outages) == []
        print("killed and moved:", len(ran.replay.lost) > 0, ran.tasks.moved > 0)


if __name__ == "__main__":
    main()
