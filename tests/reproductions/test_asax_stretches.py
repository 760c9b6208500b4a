"""Sharing on stretches of logs: which settings are judged, the verdict, and the slowdown of hosts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.model import JobTable
from windlass.sim.shares.result import Shared
from windlass.sim.site.result import Replay
from windlass_reproductions.asax import stretches
from windlass_reproductions.asax.stretches import BUDGET, Found, Stretch, chosen, run, verdict
from windlass_reproductions.public import traces

_TIMES = st.floats(1.0, 1e5)


def found(wait: float, slower: float) -> Found:
    return Found(wait, wait, wait, wait, slower, slower, 1.0)


@given(st.lists(st.tuples(_TIMES, st.sampled_from([0.0, 0.03, BUDGET, 0.06, 0.2])), min_size=1, max_size=6))
def test_the_setting_with_the_least_wait_within_the_budget_is_judged(
    tried: list[tuple[float, float]],
) -> None:
    at = chosen([[found(*each)] for each in tried])
    able = [wait for wait, slower in tried if slower <= BUDGET]
    if able:
        assert tried[at][1] <= BUDGET
        assert tried[at][0] == min(able)
    else:
        assert tried[at][1] == min(slower for _, slower in tried)


@given(st.lists(st.tuples(_TIMES, _TIMES), min_size=2, max_size=6))
def test_a_policy_is_ahead_where_the_other_is_behind_up_to_the_margin(
    pairs: list[tuple[float, float]],
) -> None:
    ours, other = np.array(pairs).T
    one, back = verdict(ours, other), verdict(other, ours)
    assert (one, back) not in {("ahead", "ahead"), ("behind", "behind")}
    # Savings are a share of the other's wait, so that a loss is at least as large a share as the gain.
    assert one != "ahead" or back == "behind"


@pytest.mark.parametrize(
    ("saved", "expected"),
    [(0.06, "ahead"), (0.04, "open"), (0.0, "open"), (-0.04, "open"), (-0.06, "behind")],
)
def test_the_verdict_turns_at_the_margin(saved: float, expected: str) -> None:
    other = np.array([100.0, 110.0, 90.0])
    assert verdict(other * (1.0 - saved) + np.array([0.1, -0.1, 0.0]), other) == expected


def test_a_large_difference_that_seeds_do_not_confirm_is_open() -> None:
    assert verdict(np.array([60.0, 150.0, 30.0]), np.array([100.0, 100.0, 100.0])) == "open"


def test_the_slowdown_of_hosts_is_relative_to_the_run_time_that_their_walltime_allows() -> None:
    # Job 1 is a guest and later a host, and does not count. Job 3 takes no time. Job 4 loses its time as a guest.
    jobs = JobTable.of([0.0] * 5, [10.0, 10.0, 10.0, 0.0, 40.0], [1] * 5, [20.0, 20.0, 20.0, 20.0, 20.0])
    start, end = np.array([0.0, 5.0, 6.0, 7.0, 30.0]), np.array([15.0, 25.0, 30.0, 7.0, 55.0])
    done = Replay(jobs, 8, start, end, np.zeros(5, np.int64), ("",))
    host, guest, since = np.array([0, 1, 3, 4]), np.array([1, 2, 4, 2]), np.array([5.0, 6.0, 7.0, 31.0])
    shared = Shared(host, guest, np.full(4, 20), since, since + 2.0, ("",) * 4, 0, 9)
    assert stretches._slowdowns(done, shared).tolist() == [0.5, 0.25]


@pytest.mark.matrix(0)
def test_a_stretch_runs_with_and_without_sharing() -> None:
    if not (traces() / "swf").is_dir():
        pytest.skip("the logs are not here")
    few = Stretch("few", "swf/KTH-SP2-1996-2.1-cln.swf.gz", "job >= 401 and job <= 460")
    alone, shared = (run(few, share, 1) for share in ("none", "static"))
    assert (alone.slower, alone.within) == (0.0, 1.0)
    assert alone == run(few, "none", 1)
    assert shared.wait <= alone.wait or shared.slower > 0.0
