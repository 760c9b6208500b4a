"""The simulator beside real runs: how they are compared, and that they agree on who wins."""

import numpy as np
import pytest

from windlass.engines.live_run import LiveRun
from windlass.engines.run import run_live
from windlass.engines.targets import Target, executors
from windlass.papers._live_cases import Remote, calibrate, calibration_case, cases
from windlass.papers.sim_vs_live import _Compared, _ranked_alike
from windlass.sim.geo_place import simulate


def compared(name, live, simulated):
    return _Compared(name, np.array([live]), np.array([simulated]), np.array([simulated]))


def test_policies_that_differ_must_rank_alike_and_those_that_do_not_are_named():
    results = [compared("a", 4.0, 4.1), compared("b", 2.71, 2.73), compared("c", 2.73, 2.72)]
    assert _ranked_alike(results) == (True, "not told apart: b and c (0.7%)")
    assert _ranked_alike([compared("a", 4.0, 3.0), compared("b", 2.0, 5.0)]) == (False, "")


def test_a_run_without_overhead_calibrates_to_none():
    area, jobs = calibration_case()
    run = simulate(area, jobs, Remote())
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
    area, jobs = calibration_case()
    run = simulate(area, jobs, Remote(), decide_every=3.0)
    remote = run.site != run.source
    assert remote.sum() == 3
    begun, read = np.sort(run.begun[remote]), np.sort(run.read[remote])
    assert (begun[1:] >= read[:-1]).all()
    assert (begun[0] >= run.computed[~remote]).all()


@pytest.mark.slow
def test_the_same_policy_wins_on_ray():
    pytest.importorskip("ray", reason="Ray is not installed: pip install '.[ray]'")
    case = cases()[0].quick
    jobs = case.draw(np.random.default_rng([1, 6]))
    simulated = [simulate(case.area, jobs, policy).response.mean() for policy in case.policies]
    on = executors(Target("ray"))
    try:
        live = [run_live(case.area, jobs, policy, on).response.mean() for policy in case.policies]
    finally:
        on.close()
    assert simulated[1] < simulated[0]
    assert live[1] < live[0]
