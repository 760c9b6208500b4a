"""Allocations and waiting jobs to draw, for the tests of sharing."""

from __future__ import annotations

import math
from pathlib import Path

from hypothesis import strategies as st

from windlass.share import Allocation, Candidate, ShareView

TRACES = Path(__file__).resolve().parents[3] / "shared" / "traces"
CLASSES = ("montage", "blast", "statistics")


def host(job: int = 1, **changed: object) -> Allocation:
    """A job that runs well and idles half of its cores."""
    fields: dict[str, object] = {
        "job_class": "montage", "cores": 8, "memory": 64e9, "walltime": 3600.0, "elapsed": 600.0, "cpu": 45.0,
        "memory_used": 10.0, "parallel": True, "tasks_done": 20.0, "tasks_left": 80.0, "rate": 0.05,
        "rate_alone": 0.05,
    }  # fmt: skip
    return Allocation(job, **{**fields, **changed})  # type: ignore[arg-type]


def candidate(job: int = 2, **changed: object) -> Candidate:
    """A small job that waits."""
    fields: dict[str, object] = {"job_class": "blast", "cores": 4, "memory": 4e9, "request": 1800.0}
    return Candidate(job, **{**fields, **changed})  # type: ignore[arg-type]


percents = st.floats(0, 100)
unknown = st.just(math.nan)


@st.composite
def views(draw: st.DrawFn, most: int = 5) -> ShareView:
    """Some running and some waiting jobs; memory, cores and measurements are at their bounds on purpose."""
    running = draw(st.integers(0, most))
    hosts = tuple(
        host(
            job,
            job_class=draw(st.sampled_from(CLASSES)),
            cores=draw(st.integers(1, 8)),
            memory=draw(st.sampled_from([0.0, 8e9, 64e9])),
            cpu=draw(percents),
            memory_used=draw(st.sampled_from([0.0, 50.0, 100.0])),
            parallel=draw(st.sampled_from([None, False, True])),
            elapsed=draw(st.sampled_from([0.0, 600.0, 3600.0, 9999.0])),
            tasks_left=draw(unknown | st.sampled_from([0.0, 1.0, 100.0])),
            rate=draw(unknown | st.sampled_from([0.0, 0.01, 1.0])),
            rate_alone=draw(unknown | st.sampled_from([0.01, 1.0])),
        )
        for job in range(running)
    )
    waiting = tuple(
        candidate(
            100 + job,
            cores=draw(st.integers(1, 9)),
            memory=draw(st.sampled_from([0.0, 4e9, 32e9])),
            cpu=draw(unknown | percents),
        )
        for job in range(draw(st.integers(0, most)))
    )
    return ShareView(draw(st.floats(0, 1e6)), hosts, waiting)
