"""The simulator beside real runs: how they are compared, and that they agree on who wins."""

import numpy as np
import pytest

from windlass.engines.live.result import LiveRun
from windlass.model.fleet import FleetCase
from windlass.papers.sim_vs_live.cases import Remote, calibrate, calibration_case
from windlass.papers.sim_vs_live.paper import SimVsLive, _Compared, _ranked_alike
from windlass.sim.fleet import run_placed


def compared(name, live, simulated):
    return _Compared(name, np.array([live]), np.array([simulated]), np.array([simulated]))


def test_policies_that_differ_must_rank_alike_and_those_that_do_not_are_named():
    results = [compared("a", 4.0, 4.1), compared("b", 2.71, 2.73), compared("c", 2.73, 2.72)]
    assert _ranked_alike(results) == (True, "not told apart: b and c (0.7%)")
    assert _ranked_alike([compared("a", 4.0, 3.0), compared("b", 2.0, 5.0)]) == (False, "")


def test_a_run_without_overhead_calibrates_to_none():
    fleet, jobs = calibration_case()
    run = run_placed(FleetCase(fleet, jobs), Remote())
    tasks = len(run.begun)
    same = {name: getattr(run, name) for name in run.__dataclass_fields__}
    live = LiveRun(
        **same,
        launched=run.begun,
        reported=run.computed,
        worker=np.zeros(tasks, int),
        tries=np.ones(tasks, int),
        results=(),
    )
    found = calibrate(live)
    assert found.task_s == pytest.approx(0.0, abs=1e-9)
    assert found.read_s == pytest.approx(0.0, abs=1e-9)
    assert found.compute == pytest.approx(1.0)
    assert found.link == pytest.approx(1.0)


def test_lone_reads_are_alone_however_late_the_first_tasks_are():
    fleet, jobs = calibration_case()
    run = run_placed(FleetCase(fleet, jobs), Remote(), decide_every=3.0)
    remote = run.site != run.source
    assert remote.sum() == 3
    begun, read = np.sort(run.begun[remote]), np.sort(run.read[remote])
    assert (begun[1:] >= read[:-1]).all()
    assert (begun[0] >= run.computed[~remote]).all()


@pytest.mark.slow
def test_the_same_policies_win_on_ray():
    pytest.importorskip("ray", reason="Ray is not installed: pip install '.[ray]'")
    found = SimVsLive().reproduce(quick=True, tell=lambda step, share: None)
    verdicts = {row.what: row.holds for row in found.rows}
    assert verdicts["order: mean response of swag over that of fcfs"]
    assert verdicts["place: mean response of tetrium over that of in-place"]
