"""The simulator compared with real runs: the comparison, and agreement on the best policies."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.reproductions.quick import quick
from tests.reproductions.turning import rows_with_fixed_verdicts
from windlass.engines.live.result import LiveRun
from windlass.model.fleet import FleetCase
from windlass.sim.fleet import run_placed
from windlass_reproductions.sim_vs_live.cases import Remote, calibrate, calibration_case
from windlass_reproductions.sim_vs_live.paper import SimVsLive, _Compared, _rows


def compared(name, live, simulated):
    return _Compared(name, np.array([live]), np.array([simulated]), np.array([simulated]))


CASE = SimpleNamespace(name="here")


@pytest.mark.parametrize(
    ("results", "ranked", "won"),
    [
        ([compared("a", 4.0, 4.1), compared("b", 2.71, 2.73), compared("c", 2.73, 2.72)], True, True),
        ([compared("a", 4.0, 3.0), compared("b", 2.0, 5.0)], False, False),
        ([compared("a", 2.71, 2.73), compared("b", 2.73, 2.72)], None, None),
    ],
)
def test_only_clearly_different_policies_must_rank_alike(results, ranked, won):
    rows = _rows(CASE, results)
    assert [row.holds for row in rows[-2:]] == [ranked, won]
    assert rows_with_fixed_verdicts(rows) == {}
    if ranked is not False:
        assert "(0.7%)" in rows[-2].note


@pytest.mark.parametrize(("simulated", "holds"), [(4.3, True), (4.5, False), (3.5, False)])
def test_simulated_means_must_be_within_10_percent(simulated, holds):
    rows = _rows(CASE, [compared("a", 4.0, simulated), compared("b", 2.0, 2.0)])
    assert [row.holds for row in rows[:2]] == [holds, holds]
    assert rows_with_fixed_verdicts(rows) == {}


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


def test_calibration_reads_do_not_overlap_even_with_late_decisions():
    fleet, jobs = calibration_case()
    run = run_placed(FleetCase(fleet, jobs), Remote(), decide_every=3.0)
    remote = run.site != run.source
    assert remote.sum() == 3
    begun, read = np.sort(run.begun[remote]), np.sort(run.read[remote])
    assert (begun[1:] >= read[:-1]).all()
    assert (begun[0] >= run.computed[~remote]).all()


# Takes three minutes.
@pytest.mark.nightly
@pytest.mark.slow
def test_the_same_policies_win_on_ray():
    pytest.importorskip("ray", reason="Ray is not installed: pip install '.[ray]'")
    found = quick(SimVsLive())
    verdicts = {row.what: row.holds for row in found.rows}
    assert verdicts["order: mean response of swag as a ratio of that of fcfs"]
    assert verdicts["place: mean response of tetrium as a ratio of that of in-place"]
