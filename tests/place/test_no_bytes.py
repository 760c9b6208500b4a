"""Maps that read nothing start as others do under every policy; only their tasks give their sites."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.place import POLICIES
from windlass.place.policies.tetrium import Tetrium
from windlass.place.policies.tetrium_i_task import TetriumITask
from windlass.place.view import PlaceView, Ready, Sites
from windlass.sim.fleet import run_placed

TASKS = st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any)


def ends(policy, here, up=(1e8, 1e8, 1e8), ratio=1.0):
    """When a job of maps without bytes, and a shuffle behind them, ends on sites of few slots."""
    fleet = Fleet.of([3, 2, 1], list(up), [1e8, 1e8, 1e8])
    stages = [StageSpec(2.0, here=tuple(here), ratio=ratio), StageSpec(1.0, tasks=2, parents=(0,))]
    done = run_placed(FleetCase(fleet, FleetJobs.of([0.0], [stages])), policy)
    return done.end[0]


@pytest.mark.matrix
@pytest.mark.parametrize("name", POLICIES.names())
@settings(max_examples=15, deadline=None)
@given(here=TASKS)
def test_maps_without_bytes_end_under_every_policy(name, here):
    assert np.isfinite(ends(POLICIES.make(name, np.random.default_rng(1)), here))


def test_in_place_they_run_at_their_sites():
    sites = Sites.of(slots=[3, 2, 1], up=[1e8] * 3, down=[1e8] * 3)
    ready = Ready.of(shuffles=[0], task_s=1.0, here=[[1, 3, 1]], task_bytes=0.0)
    answer = TetriumITask().decide(PlaceView(0.0, sites, ready))
    assert answer.starts.tolist() == [[0, 0, 0, 1], [0, 1, 1, 2], [0, 2, 2, 1]]


@pytest.mark.parametrize("policy", [Tetrium(), Tetrium(rho=0.0), Tetrium(update_sites=2), TetriumITask()])
@settings(max_examples=15, deadline=None)
@given(here=TASKS, open_links=st.lists(st.booleans(), min_size=3, max_size=3))
def test_without_uplinks_they_run_at_their_sites(policy, here, open_links):
    """A site with many slots would have them all, and none could go there."""
    assert np.isfinite(ends(policy, here, up=np.where(open_links, 1e8, 0.0)))


def test_with_uplinks_they_follow_the_slots():
    sites = Sites.of(slots=[1, 9], up=[1e8] * 2, down=[1e8] * 2)
    ready = Ready.of(shuffles=[0], task_s=1.0, here=[[10, 0]], task_bytes=0.0)
    starts = Tetrium().decide(PlaceView(0.0, sites, ready)).starts
    assert np.bincount(starts[:, 2], starts[:, 3]).tolist() == [1.0, 9.0]


def test_they_move_under_any_budget():
    """Of the second site's tasks most start where slots are, and no reason speaks of bytes."""
    sites = Sites.of(slots=[3, 1, 9], up=[0.0, 1e8, 1e8], down=[1e8] * 3)
    ready = Ready.of(shuffles=[0], task_s=1.0, here=[[3, 6, 0]], task_bytes=0.0)
    answer = Tetrium(rho=0.0).decide(PlaceView(0.0, sites, ready))
    at = np.bincount(answer.starts[:, 2], answer.starts[:, 3], 3)
    assert at[0] == 3
    assert at[2] > at[1] > 0
    assert not [code for code in answer.why.tolist() if "budget" in answer.reasons[code]]
