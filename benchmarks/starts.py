"""Predicted starts: the time to predict all jobs of a long queue, compared with the rule of ``squeue --start``.

The peer plans the same queue once, each job for its whole request. Ours replays it with drawn run times and arrivals,
and returns an interval for each job.
"""

from __future__ import annotations

import numpy as np

from benchmarks.measure import Row, compare_rates
from windlass.experiment.start_times.question import StartPredictor, history_of
from windlass.experiment.start_times.replays import planned_starts
from windlass.experiment.workloads import lublin
from windlass.experiment.worlds.policy import PolicySpec
from windlass.io.traces import Workload

_PROCESSORS, _WAITING = 256, 10_000


def rows(repeats: int) -> list[Row]:
    """Return all comparisons of the suite."""
    return [_long_queue(repeats)]


def _long_queue(repeats: int) -> Row:
    """Compare the prediction of a queue of ten thousand jobs, on a site with far more work than it can do."""
    jobs = lublin(25_000, _PROCESSORS, np.random.default_rng(1), load=50.0)
    policy = PolicySpec(name="easy")
    history = history_of(Workload(jobs, _PROCESSORS), policy, recorded=False)
    at = next(float(at) for at in jobs.submit[_WAITING:] if len(history.at(float(at)).waiting) >= _WAITING)
    state, predictor = history.at(at), StartPredictor(history, policy)
    checked = predictor.check(100, before=at)
    row = compare_rates(
        f"predicted starts of {len(state.waiting):,} waiting jobs, with calibrated intervals",
        lambda: predictor.waiting(at, checked),
        lambda: planned_starts(history, state),
        "the rule of squeue --start, one replay",
        amount=1e-3,
        unit="1/ms",
        repeats=repeats,
    )
    return row.as_time("ms")
