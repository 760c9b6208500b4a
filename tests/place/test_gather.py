"""Gathering: a shuffle goes where it and the shuffles behind it take least, computed independently in plain code."""

import math

import numpy as np
import pytest

from windlass.model import InputError
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.place import reduce_stage
from windlass.place.lib.gather import Shuffle, best_share
from windlass.place.lib.stage import StageResources
from windlass.place.policies.gather import Gather
from windlass.place.policies.gather_or_leave import GatherOrLeave
from windlass.place.policies.tetrium import Tetrium
from windlass.place.view import PlaceView, Ready, Sites
from windlass.sim.fleet import run_placed


def drawn(seed):
    """A shuffle of a job of some stages, over sites with all links idle and all slots free."""
    rng = np.random.default_rng([21, seed])
    n = int(rng.integers(2, 7))
    slots, tasks = rng.integers(1, 40, n), int(rng.integers(1, 60))
    sites = Sites.of(slots, *(10 ** rng.uniform(7, 9, (2, n))))
    data, after = rng.uniform(0.0, 3e9, n), int(rng.integers(0, 6))
    ready = Ready.of(
        1, rng.uniform(0.5, 5.0), np.zeros((1, n)), data=[data], waiting=tasks, left=after + 1, ratio=0.6
    )
    begun = rng.integers(0, 5, (1, n)) * int(rng.integers(0, 2))
    return PlaceView(0.0, sites, ready._replace(started=begun, total=ready.waiting + begun.sum()))


def moving_s(data, share, sites):
    total = sum(data)
    return max(
        max(own * (1 - part) / up, (total - own) * part / down)
        for own, part, up, down in zip(data, share, sites.up, sites.down, strict=True)
    )


def whole_s(view, share):
    """This stage and all behind it, s."""
    sites, ready = view.sites, view.ready
    tasks, data = int(ready.waiting[0]), ready.data[0]
    waves = max(
        math.ceil(part * tasks / own - 1e-9)
        for part, own in zip(share, sites.slots, strict=True)
        if part > 1e-9
    )
    first = moving_s(data, share, sites) + waves * ready.task_s[0]
    all_tasks = int(ready.total[0])
    ran = [(int(b) + part * tasks) / all_tasks for b, part in zip(ready.started[0], share, strict=True)]
    written = data.sum() * all_tasks / tasks * ready.ratio[0]
    return first + (int(ready.left[0]) - 1) * moving_s([part * written for part in ran], ran, sites)


def tried(view):
    """The stage's own optimum, each site, and the 2, 4, … sites with the most slots."""
    sites, ready = view.sites, view.ready
    n = len(sites.slots)
    slots, links = sites.slots.astype(float), (sites.up, sites.down)
    yield reduce_stage(ready.data[0], slots, *links, int(ready.waiting[0]), ready.task_s[0]).share
    yield from np.eye(n)
    order, group = np.argsort(-slots, kind="stable"), 2
    while group <= n:
        share = np.zeros(n)
        share[order[:group]] = slots[order[:group]] / slots[order[:group]].sum()
        yield share
        group *= 2


def test_a_shuffle_minimises_the_time_with_its_successors():
    gathered = 0
    for seed in range(150):
        view = drawn(seed)
        starts = Gather(slots_back=0.0).decide(view).starts
        own, tasks = (
            np.bincount(starts[:, 2], starts[:, 3], len(view.sites.slots)),
            int(view.ready.waiting[0]),
        )
        # What is planned shows where all find a slot.
        if own.sum() == tasks and view.ready.left[0] > 1:
            costs = [whole_s(view, share) for share in tried(view)]
            # Whole tasks over several sites may take a wave more than planned.
            wave = view.ready.task_s[0] if (own > 0).sum() > 1 else 0.0
            assert whole_s(view, own / tasks) <= min(costs) * 1.05 + wave
            gathered += min(costs[1:]) < 0.9 * costs[0]
    assert gathered > 20


@pytest.mark.slow
def test_gathering_at_half_of_the_sites_if_fastest():
    # Two sites take a third wave; all eight save one, and have what comes later cross slow links.
    fast, slow = [1e9] * 4, [1e6] * 4
    sites = StageResources(np.array([10.0] * 4 + [4.0] * 4), np.array(fast + slow), np.array(fast + slow))
    shuffle = Shuffle(np.array([2.5e6] * 4 + [0.0] * 4), np.zeros(8, np.int64), 50, 10.0, 2e8, 5.0)
    share = np.empty(8)
    assert best_share(shuffle, sites, 0.0, share)
    assert share == pytest.approx([0.2] * 4 + [0.05] * 4)
    assert best_share(shuffle, sites, 1.0, share)
    assert share.tolist() == [0.25] * 4 + [0.0] * 4


def test_without_ahead_a_chain_is_shuffled_at_every_stage():
    fleet = Fleet.of([30, 30, 30], [2e8] * 3, [2e8] * 3)
    stages = [StageSpec(1.0, (20, 20, 20), 1e8, ratio=1.0)]
    stages += [StageSpec(1.0, tasks=30, parents=(at,), ratio=1.0) for at in range(4)]
    case = FleetCase(fleet, FleetJobs.of([0.0], [stages]))
    ahead, alone = run_placed(case, Gather()), run_placed(case, Gather(ahead=False))
    # 6 GB lie in thirds: gathering moves 4 GB once, and what is spread moves as much again each time.
    assert ahead.sent[0] == pytest.approx(4e9)
    assert alone.sent[0] > 2.5 * ahead.sent[0]
    assert ahead.end[0] < 0.85 * min(alone.end[0], run_placed(case, Tetrium()).end[0])


def test_held_slots_and_used_links_count_in_part():
    sites = Sites.of(slots=[10, 10], up=[1e8, 1e8], down=[1e8, 1e8], free=[0, 10])
    ready = Ready.of(0, 4.0, [[20, 0]], 5e7)
    away = [
        int(Gather(slots_back=back).decide(PlaceView(0.0, sites, ready)).starts[:, 3].sum())
        for back in (0.0, 0.5, 1.0)
    ]
    assert away == sorted(away, reverse=True)
    assert away[0] > away[2]
    busy = sites._replace(up_free=np.array([1e6, 1e8]))
    few = [
        Gather(links_left=part).decide(PlaceView(0.0, busy, ready)).starts[:, 3].sum() for part in (0.0, 1.0)
    ]
    assert few[0] < few[1]


def test_the_job_with_the_least_remaining_work_goes_first():
    sites = Sites.of(slots=[4], up=[1e9], down=[1e9])
    # 8 s in one stage, against 4 s in each of three.
    ready = Ready.of(0, [1.0, 1.0], [[4], [8]], left=[3, 1])
    assert Gather().decide(PlaceView(0.0, sites, ready)).starts[:, [0, 3]].tolist() == [[1, 4]]


@pytest.mark.parametrize("given", [{"slots_back": 1.1}, {"links_left": -0.1}, {"ahead": 2}])
def test_bad_parameters_are_named(given):
    with pytest.raises(InputError, match=f"{next(iter(given))} is"):
        Gather(**given)


def test_waiting_maps_start_elsewhere_if_reading_is_short():
    sites = Sites.of(slots=[10, 10], up=[1e8, 1e8], down=[1e8, 1e8], free=[0, 10])
    # A task reads for 0.5 s at the whole of the uplink, and computes for 4 s: four can be read in 2 s.
    ready = Ready.of(0, 4.0, [[10, 0]], 5e7)
    whole = {"slots_back": 1.0, "links_left": 1.0}

    def started(patience, one=sites, what=ready):
        answer = Gather(**whole, patience=patience).decide(PlaceView(0.0, one, what))
        assert {answer.reasons[code] for code in answer.why.tolist()} <= {
            "no free slot at its input, and reading is fast"
        }
        return answer.starts.tolist()

    assert started(0.0) == []
    assert started(0.5) == [[0, 0, 1, 4]]
    assert started(5.0) == [[0, 0, 1, 10]]
    # The other site takes no more than its downlink carries.
    assert started(0.5, sites._replace(down_free=np.array([1e8, 0.75e8]))) == [[0, 0, 1, 3]]
    # Half of the link is in use; a job served first takes what is left of it.
    assert started(0.5, sites._replace(up_free=np.array([0.5e8, 1e8]))) == [[0, 0, 1, 2]]
    assert started(0.5, what=Ready.of(0, [4.0, 4.1], [[10, 0], [10, 0]], 5e7)) == [[0, 0, 1, 4]]
    wide = sites._replace(down=np.array([1e8, 1e9]), down_free=np.array([1e8, 1e9]))
    assert started(0.5, wide, Ready.of(0, [4.0, 4.1], [[10, 0], [10, 0]], 5e7)) == [[0, 0, 1, 4]]
    # Where a slot is free at the input nothing has to leave.
    assert started(0.5, what=Ready.of(0, 4.0, [[0, 0]], 5e7)) == []


def test_gather_or_leave_is_gather_with_other_defaults():
    sites = Sites.of(slots=[10, 10], up=[1e8, 1e8], down=[1e8, 1e8], free=[0, 10])
    for seed in range(30):
        view = drawn(seed)
        ours = GatherOrLeave(links_left=0.2, patience=0.0).decide(view)
        assert ours.starts.tolist() == Gather().decide(view).starts.tolist()
    # Its input reads for 0.5 s at the whole of the uplink, and it computes for 4 s: one can be read in 0.8 s.
    view = PlaceView(0.0, sites, Ready.of(0, 4.0, [[10, 0]], 5e7))
    assert GatherOrLeave(slots_back=1.0).decide(view).starts.tolist() == [[0, 0, 1, 1]]
