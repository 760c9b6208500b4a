"""Sites from one call: each setting is passed to the part, and defaults are as documented."""

import inspect

import numpy as np
import pytest

from windlass.model import InputError, JobTable, Owners
from windlass.model.pools import Pools
from windlass.order.site.policies.fcfs import Fcfs
from windlass.sim.ledger import Ledger
from windlass.sim.site import replay as replaying
from windlass.sim.site.part import SitePart
from windlass.sim.site.rated import RatedSite
from windlass.sim.site.replay import replay
from windlass.sim.site.result import Replay

JOBS = JobTable.of(submit=[0, 0, 1], run=[10, 4, 2], procs=[2, 2, 1], request=[6, 6, 6])
DOCUMENTED = dict(kill=True, owners=None, pools=None, progress=None)


def defaults(function):
    given = inspect.signature(function).parameters.items()
    return {name: each.default for name, each in given if each.default is not each.empty}


def test_each_setting_of_a_replay_is_passed_to_its_part(monkeypatch):
    seen = []

    def create(*arguments, **more):
        seen.append((arguments, more))
        return SitePart(*arguments, **more)

    monkeypatch.setattr(replaying, "SitePart", create)
    reports = []
    given = dict(
        kill=False, owners=Owners.of(3, user=[0, 1, 0]), pools=Pools.none(3), progress=reports.append
    )
    policy = Fcfs()
    found = replay(JOBS, 3, policy, **given)
    (jobs, used, ledger), more = seen[0]
    assert (jobs, used, more, ledger.nodes.whole.tolist()) == (JOBS, policy, given, [3])
    assert (found.jobs, found.processors) == (JOBS, 3)
    assert found.start.tolist() == [0.0, 10.0, 10.0]
    assert found.end.tolist() == [10.0, 14.0, 12.0]
    assert reports[-1] == 3
    bare = replay(JOBS, 3, policy)
    assert seen[1][1] == defaults(replay) == DOCUMENTED
    # The first job is stopped at the 6 s of its request.
    assert bare.end.tolist() == [6.0, 10.0, 8.0]


@pytest.mark.parametrize("processors", [0, -1, 2.5, float("nan")])
def test_a_site_has_a_whole_number_of_processors(processors):
    with pytest.raises(InputError, match=r"^processors is .*, expected a whole number of at least 1$"):
        replay(JOBS, processors, Fcfs())
    assert replay(JOBS, 2.0, Fcfs()).processors == 2


def test_a_rated_site_accepts_settings_and_changes_of_speed():
    reports = []
    ledger = Ledger([[5], [3]], parts=4)
    site = RatedSite(JOBS, Fcfs(), ledger, site=1, number=2, kill=False, progress=reports.append)
    site.advance(0.0)
    site.decide(0.0)
    assert ledger.nodes.held.tolist() == [[0, 0, 0, 0], [0, 0, 2, 0]]
    site.set_rate(0, 0.5, 0.0)
    site.advance(99.0)
    assert site.result().end[0] == 20.0
    site.advance(np.inf)
    assert reports
    assert defaults(RatedSite) == dict(site=0, number=None, kill=True, progress=None)
    bare = RatedSite(JOBS, Fcfs(), Ledger([[3], [5]], parts=4))
    bare.advance(0.0)
    bare.decide(0.0)
    assert bare._ledger.nodes.held.tolist() == [[2, 0, 0, 0], [0, 0, 0, 0]]
    bare.set_rate(0, 0.5, 0.0)
    bare.advance(99.0)
    assert bare.result().end[0] == 6.0


def test_speeds_and_paces_are_finite_and_not_negative():
    site = RatedSite(JOBS, Fcfs(), Ledger([[3]], parts=1))
    site.advance(0.0)
    site.decide(0.0)
    for bad in (-0.1, np.inf, np.nan):
        with pytest.raises(InputError, match=f"^rate is {bad}, expected a finite number"):
            site.set_rate(0, bad, 0.0)
        with pytest.raises(InputError, match=f"^pace is {bad}, expected a finite number"):
            site.set_rate(0, 1.0, 0.0, pace=bad)
    with pytest.raises(InputError, match=r"^job 3 does not run$"):
        site.set_rate(2, 1.0, 0.0)
    # At no speed and no pace it neither ends nor is stopped.
    site.set_rate(0, 0.0, 1.0, pace=0.0)
    site.advance(50.0)
    assert np.isnan(site.result().end[0])
    site.set_rate(0, 2.0, 50.0)
    site.advance(99.0)
    # Of its 10 s it has done 1; at twice the speed the rest takes 4.5 s, and of the 6 s of its request 5 are left.
    assert site.result().end[0] == 54.5


def test_a_replay_has_no_lost_jobs_by_default():
    bare = Replay(JOBS, 3, np.zeros(3), np.ones(3), np.zeros(3, np.int64), ("x",))
    assert [len(column) for column in (bare.lost, bare.lost_start, bare.lost_end)] == [0, 0, 0]
    assert bare.held.shape == (0, 4)
