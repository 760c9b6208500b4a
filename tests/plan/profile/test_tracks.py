"""The score of tracks against brute force; true tracks on disk, and one-line errors."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.model import InputError
from windlass.plan.profile.clipinfo import ClipInfo
from windlass.plan.profile.tracks import Tracks, f1, read_truth, write_truth

CLIP = ClipInfo("a.mp4", 64, 48, 30.0, 5, "abc")


@st.composite
def some_tracks(draw):
    rows = []
    for frame in range(draw(st.integers(1, 4))):
        for track in draw(st.sets(st.integers(0, 2))):
            left, top = draw(st.integers(0, 20)), draw(st.integers(0, 20))
            rows.append(
                (frame, track, (left, top, left + draw(st.integers(1, 20)), top + draw(st.integers(1, 20))))
            )
    return Tracks.of(rows)


def dice(first, second):
    """Return the Dice coefficient by counting pixels."""
    cells = [
        {(x, y) for x in range(int(left), int(right)) for y in range(int(top), int(bottom))}
        for left, top, right, bottom in (first, second)
    ]
    return 2 * len(cells[0] & cells[1]) / (len(cells[0]) + len(cells[1]))


def naive_f1(found, truth):
    """Return the best score over every assignment of found tracks to true ones."""
    if not len(found) or not len(truth):
        return float(len(found) == len(truth))
    right = Counter()
    for own, row in product(range(len(found)), range(len(truth))):
        if found.frame[own] == truth.frame[row]:
            right[found.track[own], truth.track[row]] += dice(found.boxes[own], truth.boxes[row])
    theirs = sorted(set(truth.track))
    ours = [*sorted(set(found.track)), *([None] * len(theirs))]
    best = max(
        sum(right[pair] for pair in zip(chosen, theirs, strict=True))
        for chosen in permutations(ours, len(theirs))
    )
    return 2 * best / (len(found) + len(truth))


@settings(deadline=None)
@given(some_tracks(), some_tracks())
def test_f1_is_the_best_of_all_assignments(found, truth):
    assert f1(found, truth) == pytest.approx(naive_f1(found, truth))
    assert f1(found, truth) == pytest.approx(f1(truth, found))
    assert f1(found, found) == pytest.approx(1.0)


@given(some_tracks(), st.integers(1, 4))
def test_a_box_is_held_until_the_next_sampled_frame(tracks, every):
    looked = tracks.frame % every == 0
    sampled = Tracks(tracks.frame[looked], tracks.track[looked], tracks.boxes[looked])
    held = sampled.held(every, 5)
    for frame in range(5):
        rows = sampled.frame == frame - frame % every
        now = held.frame == frame
        assert sorted(held.track[now]) == sorted(sampled.track[rows])
        assert (held.boxes[now] == sampled.boxes[rows]).all()


def test_true_tracks_survive_writing_and_reading(tmp_path):
    truth = Tracks.of([(0, 7, (1.0, 2.5, 30.0, 20.0)), (4, 9, (0.0, 0.0, 64.0, 48.0))])
    write_truth(truth, tmp_path / "t.csv", "abc")
    back = read_truth(tmp_path / "t.csv", CLIP)
    assert (back.frame == truth.frame).all()
    assert (back.track == truth.track).all()
    assert (back.boxes == truth.boxes).all()


HEAD = "frame,object,left,top,right,bottom"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        (HEAD + "\n", "no rows, expected true tracks to measure accuracy"),
        ("frame,object,left,top,right\n0,1,2,3,4\n", "missing column 'bottom'"),
        (HEAD + "\n0,1,2,3,4,5\nx,1,2,3,4,5\n", "row 2: frame is 'x', expected a number"),
        (HEAD + "\n0.5,1,2,3,4,5\n", "row 1: frame is '0.5', expected a whole number"),
        (HEAD + "\n0,1,,3,4,5\n", "row 1: left is None, expected a number"),
        (
            HEAD + "\n5,1,2,3,4,5\n",
            "row 1: frame is 5, expected 0 to 4 as in a.mp4; is the clip right?",
        ),
        (
            HEAD + "\n0,1,2,3,65,5\n",
            "row 1: right is 65, expected 0 to 64 as in a.mp4; is the clip right?",
        ),
        (HEAD + "\n0,1,2,3,2,5\n", "row 1: the box [2.0, 3.0, 2.0, 5.0] has no area"),
        (HEAD + ",clip\n0,1,2,3,4,5,xyz\n", "row 1: clip is 'xyz', expected 'abc', the digest of a.mp4"),
    ],
)
def test_the_error_of_invalid_true_tracks_is_one_line(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_truth(path, CLIP)
    assert str(error.value).startswith(f"{path}")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_of_true_tracks_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"none.csv: no such file"):
        read_truth(tmp_path / "none.csv", CLIP)
    with pytest.raises(InputError, match="is a directory"):
        read_truth(tmp_path, CLIP)
