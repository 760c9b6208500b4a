"""Jobs whose speed changes while they run."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.workloads import CHECK, busy
from windlass.model import InputError, JobTable
from windlass.order.site import POLICIES
from windlass.sim.coupled import Coupled, SinglePart
from windlass.sim.ledger import Ledger
from windlass.sim.part import Quiet
from windlass.sim.site.part import SitePart
from windlass.sim.site.rated import RatedSite
from windlass.sim.site.result import Replay


class Rates(Quiet):
    """Changes speeds of one job at given times, as a co-scheduler would."""

    def __init__(self, site: SitePart, row: int, changes: list[tuple[float, float]]) -> None:
        self._site, self._row, self._changes = site, row, [*changes, (np.inf, 1.0)]

    def horizon(self) -> float:
        return self._changes[0][0]

    def decide(self, now: float) -> tuple[()]:
        while self._changes[0][0] <= now:
            _, rate = self._changes.pop(0)
            if not self._site.ended():
                self._site.set_rate(self._row, rate, now)
        return ()


def run_rated(run: float, request: float, changes: list[tuple[float, float]], *, kill: bool = True) -> Replay:
    """Run a job that starts at 0 under these changes of its speed."""
    ledger = Ledger([[2]], parts=1)
    jobs = JobTable.of(submit=[0], run=[run], procs=[2], request=[request])
    # Watched, so that the site stops at the end of the job, and no change comes behind it.
    ledger.watch(0)
    site = RatedSite(jobs, POLICIES.find("fcfs")(), ledger, kill=kill)
    cluster = Coupled([site, Rates(site, 0, changes)], ledger)
    assert cluster.wait() is None
    replay: Replay = cluster.result()[0]
    return replay


def expected(run: float, changes: list[tuple[float, float]]) -> Fraction | None:
    """Return the exact end of a job that starts at 0 with a speed of 1; None for never."""
    left, now, rate = Fraction(run), Fraction(0), Fraction(1)
    for time, faster in changes:
        step = Fraction(time) - now
        if rate and left <= step * rate:
            break
        left, now, rate = left - step * rate, Fraction(time), Fraction(faster)
    return now + left / rate if rate else None


def test_an_end_moves_with_the_speed() -> None:
    assert run_rated(10, 1000, [(4.0, 0.5)]).end.tolist() == [16.0]
    assert run_rated(10, 1000, [(4.0, 0.0), (20.0, 2.0)]).end.tolist() == [23.0]


def test_a_slow_job_is_stopped_at_its_request() -> None:
    assert run_rated(10, 12, [(4.0, 0.1)]).end.tolist() == [12.0]
    assert run_rated(10, 12, [(4.0, 0.0)]).end.tolist() == [12.0]
    assert run_rated(10, 12, [(4.0, 0.1)], kill=False).end.tolist() == [64.0]


_TIMES = st.lists(st.floats(0.001, 50.0), min_size=1, max_size=40, unique=True).map(sorted)


@CHECK
@given(st.floats(0.5, 100.0), _TIMES, st.data())
def test_work_is_conserved_under_any_changes(run: float, times: list[float], data: st.DataObject) -> None:
    rates = data.draw(st.lists(st.sampled_from([0.0, 0.1, 1 / 3, 0.9, 1.0, 1.7]), min_size=len(times)))
    changes = [*zip(times, rates, strict=False), (60.0, 1.0)]
    exact = expected(run, changes)
    assert exact is not None
    assert run_rated(run, 1e9, changes).end[0] == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.matrix(0)
def test_work_is_conserved_over_a_thousand_changes() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        times = np.sort(rng.uniform(0, 1000, 1500)).tolist()
        changes = [
            *zip(times, rng.choice([0.0, 0.2, 0.7, 1.0, 1.3], 1500).tolist(), strict=True),
            (1001.0, 1.0),
        ]
        exact = expected(600.0, changes)
        assert exact is not None
        assert run_rated(600.0, 1e9, changes).end[0] == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("name", ["easy", "conservative"])
def test_without_changes_a_rated_site_equals_a_plain_one(name: str) -> None:
    case = busy(3)
    found = []
    for kind in (SitePart, RatedSite):
        ledger = Ledger([[case.processors]], parts=1)
        engine = SinglePart(kind(case.jobs, POLICIES.find(name)(), ledger), ledger)
        assert engine.wait() is None
        found.append(engine.result().end.tobytes())
    assert found[0] == found[1]


def test_invalid_rates_are_named() -> None:
    jobs = JobTable.of(submit=[5], run=[1], procs=[1], job=[7])
    site = RatedSite(jobs, POLICIES.find("fcfs")(), Ledger([[1]], parts=1))
    with pytest.raises(InputError, match="job 7 does not run"):
        site.set_rate(0, 0.5, 0.0)
    for rate in (-1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="rate is"):
            site.set_rate(0, rate, 0.0)
