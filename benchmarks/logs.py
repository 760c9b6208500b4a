"""A month of 1.3 million jobs: reading its SWF file and replaying it under EASY, compared with AccaSim.

AccaSim takes milliseconds for a job, so it reads and replays the first jobs of the same log, and rates are
compared. Its rate includes the start of its process. HPCOpt is not on PyPI and is not compared.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks import peers_accasim
from benchmarks.measure import Row, compare_rates
from windlass.experiment.workloads import lublin
from windlass.io.traces import SwfLog, Trace, read_swf, to_workload, write_swf
from windlass.jit import prepare
from windlass.order.site.policies.easy import Easy
from windlass.sim.site.part import kernels
from windlass.sim.site.replay import replay

_JOBS, _PROCESSORS = 1_300_000, 158_976
_OTHERS_JOBS = 5_000


def rows(repeats: int) -> list[Row]:
    """Return the comparison, of one repetition: each takes seconds."""
    jobs = lublin(_JOBS, _PROCESSORS, np.random.default_rng(7), load=0.7)
    some = peers_accasim.whole_seconds(jobs.take(np.arange(_OTHERS_JOBS)))
    policy = Easy()
    prepare(kernels(policy))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "month.swf"
        write_swf(SwfLog.of(Trace.of_jobs(jobs, "month", _PROCESSORS)), file)

        def ours() -> None:
            workload = to_workload(read_swf(file))
            replay(workload.jobs, workload.processors, policy)

        if message := peers_accasim.missing():
            began = time.perf_counter()
            ours()
            rate = _JOBS / (time.perf_counter() - began)
            print(f"{message}; read and replay easy: {rate:,.0f} jobs/s", file=sys.stderr)
            return []
        try:
            found = compare_rates(
                f"read and replay easy, Lublin, {_JOBS:,} jobs",
                ours,
                lambda: peers_accasim.starts(some, _PROCESSORS, "easy"),
                f"AccaSim, the first {_OTHERS_JOBS:,}",
                amount=_JOBS,
                unit="jobs/s",
                repeats=1,
            )
        except peers_accasim.PeerError as error:
            print(f"AccaSim failed: {error}", file=sys.stderr)
            return []
    return [found.with_peer_of_part(_JOBS / _OTHERS_JOBS)]
