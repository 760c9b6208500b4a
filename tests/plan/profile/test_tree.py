"""Plans as a tree of steps: shared steps, requested frames, cached outputs and booked costs, without a clip."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from windlass.model import InputError
from windlass.model.queries import Component, QueryPlan
from windlass.plan.profile.clipinfo import ClipInfo
from windlass.plan.profile.steps.step import FrameTracks
from windlass.plan.profile.tracks import Tracks

cv2 = pytest.importorskip("cv2", reason="the extra `vision` is not installed")

from windlass.plan.profile import running  # noqa: E402
from windlass.plan.profile.clip import ClipFrame  # noqa: E402
from windlass.plan.profile.pipeline import PlanComponent, TrackerPlan  # noqa: E402
from windlass.plan.profile.running import Profiled, profile  # noqa: E402
from windlass.plan.profile.tree import tree_of  # noqa: E402


class Plain:
    """A step that appends its name to its input; it can be stateful, or return its input unchanged."""

    def __init__(self, name, alone=True, same=False, size=10):
        self.name, self.alone, self.same, self._size, self.done = name, alone, same, size, []

    def start(self, clip):
        self.done.append("start")

        def run(index, value):
            self.done.append(index)
            return value if self.same else Value(f"{value} {self.name}")

        return run

    def size(self, value):
        return self._size

    def sent(self, value):
        return 100 + len(self.name)


class Value(str):
    """The output of a step; at the end of a plan it holds the tracks."""

    track = np.zeros(0, np.int64)
    boxes = np.zeros((0, 4))


class Image(Value):
    """A frame of five bytes."""

    nbytes = 5


class Clock:
    """A clock that advances by one second at each call."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


CLIP = ClipInfo("a.mp4", 64, 48, 2.0, 6)


def trackers():
    """Two decoders, one of which returns its input; a detector, and two stateful associators."""
    same, half = Plain("same", same=True), Plain("half")
    detect, send = Plain("detect"), Plain("send")
    one, two = Plain("one", alone=False), Plain("two", alone=False)
    made = []
    for decode in (same, half):
        for every in (1, 2):
            for match in (one, two):
                parts = (
                    PlanComponent("d", (decode,)),
                    PlanComponent("f", (detect, send)),
                    PlanComponent("m", (match,)),
                )
                made.append(TrackerPlan(every, parts))
    return made, (same, half, detect, send, one, two)


def test_plans_share_steps_until_a_stateful_one():
    plans, _ = trackers()
    tree = tree_of(plans, 6)
    # The root; two scales with a detector and a sender each; then each sampling and each way to match.
    assert len(tree.nodes) == 1 + 2 * 3 + 8
    assert [node.place for node in tree.nodes] == list(range(15))
    root = tree.nodes[0]
    assert (root.step, root.parent, root.left, root.everys) == (None, None, 8, {1, 2})
    for number, plan in enumerate(plans):
        path = tree.path(number)
        assert path[0] is root
        assert [node.step for node in path[1:]] == [step for part in plan.parts for step in part.steps]
        assert [len(part) for part in tree.parts[number]] == [2, 2, 1]
        assert [node.sends for node in path] == [False, True, False, True, True]
        assert all(node.parent is before for before, node in pairwise(path))
        assert (path[3].left, path[3].everys) == (4, {1, 2})
        assert (tree.leaf(number).left, tree.leaf(number).everys) == (1, {plan.every})
    assert [node.same for node in tree.path(0)] == [False, True, False, False, False]
    # Depth first, in the order in which children were added.
    assert tree.order == tuple(range(8))
    shuffled = tree_of([plans[at] for at in (4, 0, 5, 1)], 6)
    assert shuffled.order == (0, 2, 1, 3)
    assert root.known.shape == root.seconds.shape == root.sent.shape == (6,)
    with pytest.raises(InputError, match="plans 0 and 2 are equal: d, f, m"):
        tree_of([plans[0], plans[1], plans[0]], 6)


@pytest.fixture
def requested_frames(monkeypatch):
    """Frames without a clip: unpacking takes a second, and pixels half of one."""
    requested = []

    def six(clip, wanted, clock):
        for index in range(clip.frames):
            is_wanted = wanted(index)
            requested.append((index, is_wanted))
            yield ClipFrame(index, 1.0, 0.5, Image(f"frame {index}") if is_wanted else None)

    monkeypatch.setattr(running, "frames", six)
    monkeypatch.setattr(running, "f1", lambda found, truth: 0.5)
    return requested


def test_with_room_each_output_is_computed_once_and_booked_to_each_plan(requested_frames):
    plans, steps = trackers()
    notified = []
    found = profile(plans, CLIP, Tracks.of([]), 1e9, Clock(), lambda *each: notified.append(each))
    _, half, detect, _, one, two = steps
    assert [index for index, _ in requested_frames] == list(range(6))
    assert [half.done.count(index) for index in range(6)] == [1] * 6
    assert [detect.done.count(index) for index in range(6)] == [2] * 6
    # Each matcher is started for each scale and sampling: every second frame is processed twice as often.
    for step in (one, two):
        assert [step.done.count(index) for index in range(6)] == [4, 2, 4, 2, 4, 2]
        assert step.done.count("start") == 4
    assert found.outputs == 6 + 6 + 2 * (6 + 6) + 2 * 2 * (6 + 3)
    # Plan by plan: unpacking belongs to no step, and a decoder that returns its input is no step either.
    assert found.outputs_apart == 2 * (4 * 6 + 4 * 3) + 2 * (5 * 6 + 5 * 3)
    assert notified == [(done, 8) for done in range(1, 9)]
    for plan, each in zip(plans, found.plans, strict=True):
        looked = 6 // plan.every
        decode, finds, matches = each.plan.components
        scales = plan.parts[0].steps[0].name == "half"
        # Over 3 seconds: six frames unpacked, half a second for each processed frame, and one second for each step.
        assert decode.cores == pytest.approx((6.0 + 0.5 * looked + 1.0 * looked * (scales or 1)) / 3.0)
        assert finds.cores == pytest.approx(2.0 * looked / 3.0)
        assert matches.cores == pytest.approx(1.0 * looked / 3.0)
        assert [part.output for part in each.plan.components] == [
            104 * looked / 3,
            104 * looked / 3,
            103 * looked / 3,
        ]
        assert [part.name for part in each.plan.components] == ["d", "f", "m"]
        assert each.plan.accuracy == 0.5
    assert found.apart == pytest.approx(
        sum(part.cores * 3.0 for each in found.plans for part in each.plan.components)
    )
    assert found.seconds > 50.0


def test_without_room_each_plan_computes_only_its_own_frames(requested_frames):
    plans, (_, half, detect, *_) = trackers()
    found = profile(plans, CLIP, Tracks.of([]), 0, Clock())
    assert found.outputs == found.outputs_apart
    assert found.most_held == 0
    assert len(requested_frames) == 8 * 6
    assert [wanted for _, wanted in requested_frames[:12]] == [True] * 12
    assert [wanted for _, wanted in requested_frames[12:18]] == [True, False] * 3
    assert [half.done.count(index) for index in range(6)] == [4, 2, 4, 2, 4, 2]
    assert [detect.done.count(index) for index in range(6)] == [8, 4, 8, 4, 8, 4]


def test_the_cache_counts_images_with_their_object_and_outputs_by_size(requested_frames):
    plans, _ = trackers()
    first = profile(plans[:2], CLIP, Tracks.of([]), 1e9, Clock())
    # The two plans share the sender's output, of ten bytes a frame.
    assert first.most_held == 6 * 10
    apart = [
        TrackerPlan(1, (PlanComponent("d", (Plain(name),)), PlanComponent("m", (Plain("m", alone=False),))))
        for name in ("x", "y")
    ]
    # Here the plans share the frames.
    assert profile(apart, CLIP, Tracks.of([]), 1e9, Clock()).most_held == 6 * (5 + 150)
    assert profile(apart, CLIP, Tracks.of([]), 6 * 155 - 1, Clock()).outputs == 6 * 6
    assert profile(apart, CLIP, Tracks.of([]), 6 * 155, Clock()).outputs == 5 * 6


def test_same_answers_compares_every_field_except_cores():
    def profiled(accuracy=0.5, name="a", output=1.0, cores=1.0, frame=0, track=1, left=0.0):
        plan = QueryPlan(accuracy, (Component(name, cores, output),))
        return Profiled(plan, Tracks.of([(frame, track, (left, 0.0, 9.0, 9.0))]))

    assert profiled().same_answers(profiled(cores=3.0))
    for changed in (
        {"accuracy": 0.6},
        {"name": "b"},
        {"output": 2.0},
        {"frame": 1},
        {"track": 2},
        {"left": 1e-9},
    ):
        assert not profiled().same_answers(profiled(**changed))


def test_tracks_are_of_the_sampled_frames(requested_frames, monkeypatch):
    class Sees(Plain):
        def start(self, clip):
            return lambda index, value: FrameTracks(np.arange(index), np.full((index, 4), float(index)))

    scored = []
    monkeypatch.setattr(running, "f1", lambda found, truth: scored.append((found, truth)) or 0.25)
    truth = Tracks.of([(0, 0, (0, 0, 1, 1))])
    plan = TrackerPlan(2, (PlanComponent("m", (Sees("m", alone=False),)),))
    (found,) = profile([plan], CLIP, truth, 1e9, Clock()).plans
    assert found.tracks.frame.tolist() == [2, 2, 4, 4, 4, 4]
    assert found.tracks.track.tolist() == [0, 1, 0, 1, 2, 3]
    assert found.tracks.boxes[:, 0].tolist() == [2.0, 2.0, 4.0, 4.0, 4.0, 4.0]
    assert found.plan.accuracy == 0.25
    ((held, given),) = scored
    assert given is truth
    assert sorted(held.frame.tolist()) == [2, 2, 3, 3, *[4] * 4, *[5] * 4]
