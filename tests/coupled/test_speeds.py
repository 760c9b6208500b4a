"""Tasks on a worker with a thousand changes of speed receive exactly their work."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.coupled.cases import Case, Tasks, jobs_of, run
from tests.oracles import ledger, service
from windlass.model.timetable import NodeTimetable

_CORES = 4


def shares(seed: int, changes: int, last: float) -> NodeTimetable:
    """A node of which two cores are held has 4, 3, 2 or 1: 1/2, 1/4 or nothing is idle, or one too many is held."""
    rng = np.random.default_rng(seed)
    times = np.sort(rng.uniform(0, last, changes))
    nothing = np.zeros(changes, np.int64)
    return NodeTimetable(times, nothing, rng.integers(1, _CORES + 1, changes), nothing.astype(bool))


@pytest.mark.matrix
@pytest.mark.parametrize("floor", [0.0, 0.05, 0.6])
@pytest.mark.parametrize("seed", range(4))
def test_work_is_conserved_over_a_thousand_changes_of_speed(seed: int, floor: float) -> None:
    changes = shares(seed, 1500, 1000.0)
    rng = np.random.default_rng(seed + 100)
    work = [*rng.uniform(200, 300, 3).tolist(), *rng.exponential(0.3, 30).tolist()]
    rng.shuffle(work)
    tasks = Tasks(np.sort(rng.uniform(0, 900, len(work))).tolist(), work, [1.3], floor)
    case = Case(jobs_of((0, 3000, 2)), [_CORES], changes, tasks)
    ran = run(case)
    assert ran.tasks is not None
    assert ledger.violations(ran.replay, case.cores, case.outages) == []
    nodes = service.nodes_of(ran.replay, case.cores, case.outages, floor)
    assert service.unserved(ran.tasks, work, tasks.speeds, nodes) == []
    most = 0
    for task, (start, end) in enumerate(zip(ran.tasks.start.tolist(), ran.tasks.end.tolist(), strict=True)):
        first, last = Fraction(start), Fraction(end)
        most = max(most, nodes[0].changes(first, last))
        if work[task] > 20:
            done = Fraction(1.3) * (nodes[0].until(last) - nodes[0].until(first))
            assert abs(done / Fraction(work[task]) - 1) < 1e-12
    assert most > 200


def end_at_full_outage(seed: int, changes: int) -> tuple[float, float]:
    """Return the end of a task that finishes just when its whole node is taken, and the time of that."""
    rng = np.random.default_rng(seed)
    unit = float(rng.choice([1.0, 0.1, 1 / 3, 1e-3, 86400.0]))
    times = np.cumsum(rng.integers(1, 5, changes + 1)) * unit
    cores = rng.integers(2, _CORES + 1, changes)
    begin = float(times[0]) * float(rng.uniform(0, 1))
    # Until the first change the node has 4 cores; at the last instant nothing is idle.
    done, since, share = Fraction(0), Fraction(begin), Fraction(3, 4)
    for time, has in zip(times.tolist(), [*cores.tolist(), 1], strict=True):
        done, since = done + (Fraction(time) - since) * share, Fraction(time)
        share = Fraction(int(has) - 1, _CORES)
    nothing = np.zeros(changes + 1, np.int64)
    table = NodeTimetable(times, nothing, np.append(cores, 1), nothing.astype(bool))
    last = float(times[-1])
    tasks = Tasks([begin], [float(done)], [1.0], floor=0.0)
    ran = run(Case(jobs_of((0, last * 100, 1)), [_CORES], table, tasks)).tasks
    assert ran is not None
    return float(ran.end[0]), last


@pytest.mark.matrix
@pytest.mark.parametrize("changes", [1, 3, 10, 30])
def test_work_left_by_rounding_ends_before_its_worker_stalls(changes: int) -> None:
    for seed in range(100):
        end, last = end_at_full_outage(seed, changes)
        assert end == pytest.approx(last, rel=1e-13)
