"""Tracks from frame to frame, against the best of all pairings of detections with tracks."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.model import InputError
from windlass.plan.profile.clipinfo import ClipInfo
from windlass.plan.profile.steps.step import Detections

cv2 = pytest.importorskip("cv2", reason="the extra `vision` is not installed")

from windlass.plan.profile.steps.match import Match, _keypoint_similarity  # noqa: E402

CLIP = ClipInfo("a.mp4", 300, 400, 10.0, 9)


def found_of(boxes, descriptors=(), score=None):
    boxes = np.array(boxes, float).reshape(-1, 4)
    return Detections(
        boxes, np.ones(len(boxes)) if score is None else np.array(score, float), (), tuple(descriptors)
    )


class PlainMatch:
    """Tracks as a list; all pairings of detections with tracks are tried, and the best is used."""

    def __init__(self, way, alike, patience, confirm):
        self.way, self.alike, self.patience, self.confirm = way, alike, patience, confirm
        self.tracks, self.born = [], 0

    def likeness(self, track, box, look):
        if self.way == "overlap":
            a, b = track["box"], box
            wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
            shared = max(wide, 0.0) * max(high, 0.0)
            whole = sum((each[2] - each[0]) * (each[3] - each[1]) for each in (a, b))
            return shared / (whole - shared)
        centres = [((each[0] + each[2]) / 2, (each[1] + each[3]) / 2) for each in (track["box"], box)]
        near = 1.0 - np.hypot(centres[0][0] - centres[1][0], centres[0][1] - centres[1][1]) / (0.1 * 500.0)
        if self.way == "centroid":
            return near
        return float(track["look"] @ look) if near > 0.0 else 0.0

    def step(self, index, found):
        self.tracks = [each for each in self.tracks if (index - each["seen"]) / 10.0 <= self.patience]
        things = list(zip(found.boxes, found.descriptors or [None] * len(found.boxes), strict=True))
        fit = np.array([[self.likeness(track, *thing) for thing in things] for track in self.tracks])
        fit = np.where(fit >= self.alike, fit, 0.0) if fit.size else np.zeros((len(self.tracks), len(things)))
        slots = [*range(len(self.tracks)), *([None] * len(things))]
        best = max(
            set(permutations(slots, len(things))),
            key=lambda chosen: sum(fit[t, at] for at, t in enumerate(chosen) if t is not None),
        )
        own = []
        for at, (box, look) in enumerate(things):
            place = best[at]
            if place is None or fit[place, at] <= 0.0:
                own.append({"number": self.born, "times": 0})
                self.born += 1
                self.tracks.append(own[-1])
            else:
                own.append(self.tracks[place])
            own[-1].update(box=box, look=look, seen=index, times=own[-1]["times"] + 1)
        sure = [each for each in own if each["times"] >= self.confirm]
        return [each["number"] for each in sure], [each["box"].tolist() for each in sure]


@given(
    st.integers(0, 2**32 - 1), st.sampled_from(["overlap", "centroid", "histogram"]), st.sampled_from([0.05, 0.4]),
    st.sampled_from([0.0, 0.3]), st.integers(1, 3),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_tracks_equal_those_of_the_best_of_all_pairings(seed, way, alike, patience, confirm):
    rng = np.random.default_rng(seed)
    run, plain = Match(way, alike, patience, confirm).start(CLIP), PlainMatch(way, alike, patience, confirm)
    places = rng.uniform(50.0, 120.0, (3, 2))
    for index in range(0, 18, 2):
        places += rng.normal(size=(3, 2)) * 6.0
        kept = places[rng.random(3) < 0.8]
        sizes = rng.uniform(20.0, 40.0, kept.shape)
        descriptors = (
            [each / np.linalg.norm(each) for each in rng.random((len(kept), 4))] if way == "histogram" else []
        )
        found = found_of(np.hstack([kept, kept + sizes]), descriptors)
        seen = run(index, found)
        numbers, boxes = plain.step(index, found)
        assert seen.track.tolist() == numbers
        assert seen.boxes.tolist() == boxes


def test_a_track_is_dropped_after_its_patience_and_confirmed_after_enough_frames():
    run = Match("overlap", 0.2, patience=0.5, confirm=2).start(CLIP)
    one = found_of([[0, 0, 10, 10]])
    assert run(0, one).track.tolist() == []
    assert run(5, one).track.tolist() == [0]
    # At ten frames a second half a second is five frames, and six are too many.
    assert run(10, one).track.tolist() == [0]
    assert run(16, one).track.tolist() == []
    assert run(17, one).track.tolist() == [1]
    none = run(18, found_of([]))
    assert (none.track.dtype, none.boxes.shape) == (np.int64, (0, 4))
    for bad, message in (
        ({"way": "name"}, "way is 'name'"), ({"alike": 0.0}, "alike is 0.0"), ({"alike": 1.1}, "alike is 1.1"),
        ({"patience": -0.1}, "patience is -0.1"), ({"confirm": 0}, "confirm is 0"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            Match(**{"way": "orb", "alike": 1.0} | bad)
    assert (Match("orb", 0.5).patience, Match("orb", 0.5).confirm) == (0.5, 2)


def test_orb_matches_only_within_reach():
    run = Match("orb", 0.5, 1.0, 1).start(CLIP)
    bits = [np.random.default_rng(seed).integers(0, 256, (4, 32), np.uint8) for seed in (1, 2)]
    assert run(0, found_of([[0, 0, 10, 10], [40, 0, 50, 10]], bits)).track.tolist() == [0, 1]
    # They change places, and are recognised by their corners.
    assert run(1, found_of([[0, 0, 10, 10], [40, 0, 50, 10]], bits[::-1])).track.tolist() == [1, 0]
    # A tenth of the diagonal of 500 is 50 pixels: further away it is another one.
    assert run(2, found_of([[89, 0, 99, 10]], bits[:1])).track.tolist() == [0]
    assert run(3, found_of([[140, 0, 150, 10]], bits[:1])).track.tolist() == [2]


def test_corners_match_if_mutually_nearest_within_64_bits():
    first = np.zeros((3, 32), np.uint8)
    first[1], first[2] = 255, 15
    second = first.copy()[[1, 0]]
    assert _keypoint_similarity(first, second) == 1.0
    assert _keypoint_similarity(second, first) == 1.0
    # 64 bits away is near enough, and 65 are not.
    near, far = np.zeros((1, 32), np.uint8), np.zeros((1, 32), np.uint8)
    near[0, :8], far[0, :8], far[0, 8] = 255, 255, 1
    assert (_keypoint_similarity(first[:1], near), _keypoint_similarity(first[:1], far)) == (1.0, 0.0)
    # Of four, two are the same: one has no other left.
    both = np.zeros((2, 32), np.uint8)
    assert _keypoint_similarity(both, np.concatenate([both[:1], far])) == 0.5
    assert (
        _keypoint_similarity(None, first)
        == _keypoint_similarity(first[:0], first)
        == _keypoint_similarity(first, first[:0])
        == 0.0
    )
