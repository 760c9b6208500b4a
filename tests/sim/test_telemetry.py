"""Telemetry of nodes: unequal nodes, bursts, models at their bounds, and counts per step."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import astuple, replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from tests.sim.test_admission import small_model
from windlass.dispatch.compiled import REFUSE
from windlass.experiment.dispatching import make_policy
from windlass.model import InputError
from windlass.sim.ledger import Ledger
from windlass.sim.telemetry.answers import Counts, counts, limits_of, set_answers
from windlass.sim.telemetry.cores import StepCores
from windlass.sim.telemetry.gate import gate
from windlass.sim.telemetry.metrics import Metrics, _short, read_model, write_model
from windlass.sim.telemetry.neighbours import CoreChanges, Neighbours, draw_bursts
from windlass.sim.telemetry.pressure import CHANNELS
from windlass.sim.telemetry.result import Observed
from windlass.sim.telemetry.unfinished import UnfinishedTasks
from windlass.sim.workers.state import REFUSED_END


def plain_pressure(cores, speed, begin, until, tasks, held):
    """Return the pressure of each node, by sums over all tasks (arrival, start, end, node)."""
    rows, lasts = [], until - begin
    for node in range(len(cores)):
        mine = [task for task in tasks if task[3] == node]
        waits = sum(max(0.0, min(began, until) - max(came, begin)) for came, began, _, _ in mine) / lasts
        runs = sum(max(0.0, min(ended, until) - max(began, begin)) for _, began, ended, _ in mine) / lasts
        news = sum(begin <= came < until for came, _, _, _ in mine)
        rows.append(
            [
                min(1.0, held[node] + (1 - held[node]) * runs),
                (waits + runs) / cores[node],
                (waits + runs * held[node]) / cores[node],
                min(1.0, (waits + runs) / 32 + held[node] / 2),
                news / (lasts * speed[node]),
            ]
        )
    return rows


@pytest.mark.parametrize("seed", range(4))
def test_pressure_of_unequal_nodes_is_summed_over_all_tasks(seed):
    rng = np.random.default_rng(seed)
    cores, speed = np.array([1, 4, 16]), np.array([0.5, 2.0, 3.0])
    came = np.sort(rng.uniform(0, 50, 60))
    began = came + rng.exponential(8, 60)
    ended = began + rng.exponential(9, 60)
    node = rng.integers(0, 3, 60)
    watched, times = UnfinishedTasks(cores, speed), [0.0, 3.0, 10.0, 11.0, 30.0, 48.0, 90.0]
    for begin, until in pairwise(times):
        held = rng.uniform(0, 1, 3)
        arrived = int((came < until).sum())
        start, end = (np.where(each <= until, each, np.nan) for each in (began, ended))
        # For a waiting or running task only the current state is known.
        worker = np.where(np.isnan(start), -1, node)
        there = StepCores.whole(held, cores)
        found = watched.step(begin, until, came, start, end, worker, arrived, node, there)
        tasks = [*zip(came[:arrived], began[:arrived], ended[:arrived], node[:arrived], strict=True)]
        wanted = plain_pressure(cores, speed, begin, until, tasks, held)
        np.testing.assert_allclose(found.channels(), wanted, atol=1e-12)
        for place, name in enumerate(CHANNELS):
            assert found.channels()[:, place].tolist() == getattr(found, name).tolist()
        for at in range(3):
            assert astuple(found.tasks.of(at)) == plain_tasks(at, begin, until, tasks)


def plain_tasks(node, begin, until, tasks):
    """Return the tasks of a node in a step, by sums over all tasks (arrival, start, end, node)."""
    mine = [task for task in tasks if task[3] == node]
    shared = sum(max(0.0, min(ended, until) - max(came, begin)) for came, _, ended, _ in mine) / (
        until - begin
    )
    waits = [began - came for came, began, _, _ in mine if begin < began <= until]
    lasts = [ended - came for came, _, ended, _ in mine if begin < ended <= until]
    queue = [until - came for came, began, _, _ in mine if began > until]
    near = partial(pytest.approx, rel=1e-9, abs=1e-12, nan_ok=True)
    return (
        near(shared), len(queue), len(lasts), near(np.mean(lasts) if lasts else np.nan),
        near(min(lasts, default=np.nan)), near(np.mean(waits) if waits else np.nan), near(min(waits, default=np.nan)),
        near(max(queue, default=0.0)),
    )  # fmt: skip


def bursts_of(drawn, nodes):
    """Return the bursts of each node, each with the times at which it takes and returns cores."""
    found = defaultdict(list)
    for node in range(nodes):
        mine = drawn.node == node
        ups, downs, held = [], [], 0
        for time, step in zip(drawn.time[mine].tolist(), drawn.cores[mine].tolist(), strict=True):
            (ups if step > 0 else downs).append(time)
            held += step
            if held == 0:
                found[node].append((ups, downs))
                ups, downs = [], []
        assert held == 0
    return found


@pytest.mark.matrix(0)
def test_bursts_have_the_given_gaps_durations_and_ramps():
    nodes, cores, every, last, ramp, until = 60, 5, 50.0, 20.0, 2.0, 4000.0
    drawn = draw_bursts(nodes, cores, every, last, ramp, until, np.random.default_rng(1))
    assert set(drawn.cores.tolist()) == {1, -1}
    assert (np.diff(drawn.time) >= 0).all()
    gaps, lengths, slopes, heights = [], [], [], []
    for node, bursts in bursts_of(drawn, nodes).items():
        before = 0.0
        for ups, downs in bursts:
            # Up in even steps, and down in the same.
            steps = [*np.diff(ups), *np.diff(downs)]
            assert steps == pytest.approx([steps[0]] * len(steps) if steps else [], abs=1e-6)
            assert before <= ups[0] < until, node
            gaps.append(ups[0] - before)
            lengths.append(downs[0] - ups[-1])
            slopes += steps[:1]
            heights.append(len(ups))
            before = downs[-1]
    assert len(gaps) > 2000
    assert np.mean(gaps) == pytest.approx(every, rel=0.06)
    assert np.mean(lengths) == pytest.approx(last, rel=0.06)
    assert np.mean(slopes) == pytest.approx(ramp, rel=0.06)
    # All are exponential: as wide as their means.
    assert [np.std(each) / np.mean(each) for each in (gaps, lengths, slopes)] == pytest.approx(
        [1.0] * 3, abs=0.1
    )
    shares = np.bincount(heights, minlength=cores + 1) / len(heights)
    assert shares.tolist() == pytest.approx([0.0] + [1.0 / cores] * cores, abs=0.03)


def test_without_a_ramp_bursts_are_steps_and_none_begins_after_the_end():
    drawn = draw_bursts(3, 4, 5.0, 2.0, 0.0, 100.0, np.random.default_rng(2))
    for bursts in bursts_of(drawn, 3).values():
        assert all(len(set(ups)) == len(set(downs)) == 1 for ups, downs in bursts)
    assert len(draw_bursts(3, 4, 5.0, 2.0, 0.0, 0.0, np.random.default_rng(2)).time) == 0


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (0, 0, "nodes is 0"),
        (1, 0, "cores is 0"),
        (2, 0.0, "every is 0"),
        (3, 0.0, "last is 0"),
        (4, -0.1, "ramp is -0.1"),
    ],
)
def test_invalid_burst_parameters_are_named(place, value, message):
    given = [1, 1, 1.0, 1.0, 0.0]
    assert len(draw_bursts(*given, 10.0, np.random.default_rng(1)).time) > 0
    given[place] = value
    with pytest.raises(InputError, match=message):
        draw_bursts(*given, 10.0, np.random.default_rng(1))


def test_neighbours_hold_cores_of_their_own_site_and_part():
    ledger = Ledger([[2, 2], [4, 4, 4]], parts=2)
    changes = CoreChanges(np.array([1.0, 1.0, 4.0]), np.array([2, 0, 2]), np.array([3, 1, -2]))
    part = Neighbours(changes, ledger, site=1, number=1)
    assert part.horizon() == 1.0
    part.decide(0.5)
    assert ledger.nodes.idle.tolist() == [2, 2, 4, 4, 4]
    part.decide(1.0)
    assert ledger.nodes.idle.tolist() == [2, 2, 3, 4, 1]
    assert ledger.nodes.held.T[1].tolist() == [0, 0, 1, 0, 3]
    part.decide(9.0)
    assert (ledger.nodes.idle.tolist(), part.horizon()) == ([2, 2, 3, 4, 3], np.inf)


def test_nodes_that_left_are_not_chosen():
    gated = gate(make_policy("jsq", np.ones(3), np.random.default_rng(1)))
    gated.left(2)
    set_answers(gated.ints[None], limits_of(np.array([True, True, False])))
    lengths = np.array([3, 1, 0])
    # The present nodes reject, and the accepting node has left, so the first choice is kept.
    assert gated.choose(lengths) == 1
    assert counts(gated.ints[None]) == Counts(accepted=0, diverted=0, forced=1)
    gated.joined(2)
    assert gated.choose(lengths) == 2
    set_answers(gated.ints[None], limits_of(np.array([False, True, True])))
    assert gated.choose(lengths) == 0
    assert counts(gated.ints[None]) == Counts(accepted=1, diverted=1, forced=1)
    assert Counts(1, 2, 4).rejected == 6


def test_without_nodes_there_is_no_choice_to_reject():
    gated = gate(make_policy("jsq", np.ones(2), np.random.default_rng(1)))
    set_answers(gated.ints[None], limits_of(np.array([True, True])))
    lengths = np.zeros(2, np.int64)
    for _ in range(3):
        assert gated.choose(lengths) >= 0
    assert counts(gated.ints[None]) == Counts(accepted=0, diverted=0, forced=3)
    gated.left(0)
    gated.left(1)
    # No node is chosen, so none is rejected either.
    assert type(gated).choosing.ready()(lengths, gated.ints, gated.floats) == -1
    found = counts(gated.ints[None])
    assert (found.diverted, found.forced) == (0, 3)
    # Nor is a task refused: it waits for a node.
    refusing = gate(make_policy("jsq", np.ones(1), np.random.default_rng(1)), "refuse")
    set_answers(refusing.ints[None], limits_of(np.array([True])))
    choose = type(refusing).choosing.ready()
    assert choose(np.zeros(1, np.int64), refusing.ints, refusing.floats) == REFUSE
    refusing.left(0)
    assert choose(np.zeros(1, np.int64), refusing.ints, refusing.floats) == -1


def test_gates_are_copies_and_their_counts_add_up():
    plain = make_policy("jsq", np.ones(2), np.random.default_rng(1))
    before = plain.ints.copy()
    gated, other = gate(plain), gate(plain)
    both = np.stack([gated.ints, other.ints])
    set_answers(both, limits_of(np.array([True, False])))
    gated.ints[:], other.ints[:] = both
    assert [
        gated.choose(np.array([0, 5])),
        other.choose(np.array([9, 5])),
        other.choose(np.array([9, 5])),
    ] == [1] * 3
    assert counts(np.stack([gated.ints, other.ints])) == Counts(accepted=2, diverted=1, forced=0)
    assert plain.ints.tolist() == before.tolist()


def observed(**changed):
    before = (Counts(4, 1, 0), Counts(6, 2, 1), Counts(9, 4, 2))
    rejects = np.array([[True, True], [False, True], [False, False]])
    known = {"tasks": Counts(12, 7, 5), "every": 10.0, "before": before, **changed}
    return Observed(np.arange(30.0).reshape(3, 2, 5), rejects, **known)


@pytest.mark.parametrize(
    ("warm", "steps", "tasks"),
    [
        (0.0, 3, Counts(12, 7, 5)),
        (0.5, 2, Counts(8, 6, 5)),
        (10.0, 2, Counts(8, 6, 5)),
        (10.5, 1, Counts(6, 5, 4)),
        (20.0, 1, Counts(6, 5, 4)),
        (30.0, 0, Counts(3, 3, 3)),
        (95.0, 0, Counts(3, 3, 3)),
    ],
)
def test_since_keeps_the_steps_and_task_counts_after_the_warm_up(warm, steps, tasks):
    found = observed().since(warm)
    assert (len(found.channels), len(found.rejects), found.tasks, found.every) == (steps, steps, tasks, 10.0)
    assert found.channels.tolist() == observed().channels[3 - steps :].tolist()
    assert found.rejects.tolist() == observed().rejects[3 - steps :].tolist()


def test_channels_are_found_by_name_and_downtime_is_a_fraction():
    found = observed()
    for place, name in enumerate(("busy", "queue", "ready", "memory", "network")):
        assert found.of(name).tolist() == found.channels[:, :, place].tolist()
    assert found.downtime == 0.5
    assert np.isnan(found.since(95.0).downtime)
    # Without counts per step, the counts after the warm-up are unknown.
    assert observed(before=()).since(10.0).tasks == Counts(0, 0, 0)


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("pole", 2, 1.0, "pole is .* to 1.0, expected 0 to below 1"),
        ("pole", 0, -0.1, "pole is -0.1 to "),
        ("fade", 1, 1.0, "fade is .* to 1.0, expected 0 to below 1"),
        ("delay", 0, -1, "delay is -1, expected at least 0"),
        ("channel_scale", 3, 0.0, "channel_scale is 0.0, expected above 0"),
        ("mean", 0, np.nan, r"mean has shape \(6,\), expected \(6,\) with finite numbers"),
        ("own", 0, np.inf, "own has shape"),
    ],
)
def test_a_model_out_of_bounds_is_rejected(name, place, value, message):
    model = small_model()
    values = getattr(model, name).copy()
    values[place] = value
    with pytest.raises(InputError, match=message):
        replace(model, **{name: values})


def test_models_at_their_bounds_are_accepted():
    model, none = small_model(), np.zeros(6)
    bounds = replace(model, pole=none, fade=none, delay=none.astype(np.int64), factors=np.zeros((6, 0)))
    assert bounds.dim == 6
    empty = np.zeros(0)
    without = replace(
        model, names=(), mean=empty, scale=empty, along=np.zeros((0, 5)), delay=empty.astype(np.int64),
        pole=empty, fade=empty, factors=np.zeros((0, 2)), own=empty,
    )  # fmt: skip
    assert Metrics(without, 3, np.random.default_rng(1)).step(np.zeros((3, 5))).shape == (3, 0)


def test_a_written_model_keeps_four_digits(tmp_path):
    model = small_model()
    write_model(model, tmp_path / "model.json")
    again = read_model(tmp_path / "model.json")
    for name in ("channel_mean", "channel_scale", "mean", "scale", "along", "pole", "fade", "factors", "own"):
        np.testing.assert_allclose(getattr(again, name), getattr(model, name), rtol=5.1e-4)
        digits = [f"{each:.4g}" for each in np.ravel(getattr(model, name))]
        assert [float(each) for each in digits] == np.ravel(getattr(again, name)).tolist()


def test_metrics_are_delayed_smoothed_and_noisy_per_node():
    quiet = replace(small_model(), factors=np.zeros((6, 1)), own=np.zeros(6), pole=np.full(6, 0.5))
    metrics, rng = Metrics(quiet, 2, np.random.default_rng(1)), np.random.default_rng(2)
    channels = rng.random((7, 2, 5))
    found = [metrics.step(each) for each in channels]
    for node in range(2):
        for metric in range(6):
            smooth = 0.0
            for step in range(7):
                late = step - int(quiet.delay[metric])
                unit = (
                    (channels[late, node] - quiet.channel_mean) / quiet.channel_scale
                    if late >= 0
                    else np.zeros(5)
                )
                smooth = 0.5 * smooth + 0.5 * float(unit @ quiet.along[metric])
                wanted = quiet.mean[metric] + quiet.scale[metric] * smooth
                assert found[step][node, metric] == pytest.approx(wanted)
    loud = Metrics(small_model(), 2, np.random.default_rng(1)).step(np.zeros((2, 5)))
    assert not np.isclose(loud[0], loud[1]).any()


def idle(nodes):
    """Return nodes of one core that no other part holds."""
    return StepCores.whole(np.zeros(nodes), np.ones(nodes, np.int64))


def test_a_task_counts_once_as_received():
    """With late binding, nodes take tasks as others end, which may be at the end of a step; the third task waits."""
    watched, nan = UnfinishedTasks(np.ones(2, np.int64), np.ones(2)), np.nan
    nowhere = np.full(3, -1)
    start, end, worker = np.array([2.0, 5.0, nan]), np.array([5.0, nan, nan]), np.array([1, 1, -1])
    first = watched.step(0.0, 5.0, start, start, end, worker, 3, nowhere, idle(2))
    start, end, worker = np.array([2.0, 5.0, 7.0]), np.array([5.0, nan, 9.0]), np.array([1, 1, 0])
    second = watched.step(5.0, 10.0, start, start, end, worker, 3, nowhere, idle(2))
    assert [first.network.tolist(), second.network.tolist()] == [[0.0, 0.2], [0.2, 0.2]]
    assert [first.queue.tolist(), second.queue.tolist()] == [[0.0, 0.6], [0.4, 1.0]]
    assert [first.ready.tolist(), second.ready.tolist()] == [[0.0, 0.0], [0.0, 0.0]]


def test_a_task_counts_only_in_the_step_in_which_it_ends():
    watched, at = UnfinishedTasks(np.ones(1, np.int64), np.ones(1)), np.zeros(1, np.int64)
    instant = np.full(1, 5.0)
    steps = [
        watched.step(begin, begin + 5.0, instant, instant, instant, at, 1, at, idle(1))
        for begin in (0.0, 5.0)
    ]
    assert [each.network.tolist() for each in steps] == [[0.2], [0.0]]


def test_a_refused_task_is_never_unfinished():
    watched, nowhere = UnfinishedTasks(np.ones(1, np.int64), np.ones(1)), np.full(1, -1)
    nan, refused = np.full(1, np.nan), np.full(1, REFUSED_END)
    found = watched.step(0.0, 5.0, np.ones(1), nan, refused, nowhere, 1, nowhere, idle(1))
    assert watched.unfinished.tolist() == []
    assert found.queue.tolist() == found.network.tolist() == [0.0]


@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_empty_arrays_keep_their_shape_and_numbers_four_digits(shape):
    assert _short(np.empty(shape)) == np.empty(shape).tolist()
    assert _short(np.array([[1.23456, 20.0], [-0.000123456, 7.0]])) == [[1.235, 20.0], [-0.0001235, 7.0]]
    assert _short(np.array([[123456]])) == [[123456]]
