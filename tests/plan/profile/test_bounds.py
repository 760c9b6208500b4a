"""The cache, clips on disk and true tracks: values at their bounds."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from windlass.model import InputError
from windlass.plan.profile.cache import Cache
from windlass.plan.profile.clipinfo import ClipInfo
from windlass.plan.profile.tracks import Tracks, f1, read_truth, write_truth

cv2 = pytest.importorskip("cv2", reason="the extra `vision` is not installed")

from windlass.plan.profile import clip as clips  # noqa: E402
from windlass.plan.profile.clip import about, frames, write_clip  # noqa: E402
from windlass.plan.profile.pipeline import read_tree  # noqa: E402


def test_an_output_with_more_remaining_uses_is_worth_more():
    uses = {"a": 1, "b": 2, "c": 1}
    cache = Cache(100, uses.__getitem__)
    for key, size, seconds in (("a", 50, 3.0), ("b", 50, 2.0)):
        cache.begin(key)
        assert cache.add(key, key, size, seconds)
        cache.end(key)
    cache.begin("c")
    # Worth 0.06, 0.08 and 0.07 a byte: the first goes.
    assert cache.add("c", "c", 50, 3.5)
    assert [cache.has(key) for key in "abc"] == [False, True, False]
    assert (cache.held, cache.most_held) == (100, 100)
    assert not cache.add("c", "c", 50, 0.1)
    assert (cache.keeps("c"), cache.held) == (False, 50)
    # An entry that is being read is kept.
    cache.read("b")
    cache.begin("a")
    assert not cache.add("a", "a", 60, 1e9)
    cache.release("b")
    cache.begin("a")
    assert cache.add("a", "a", 60, 1e9)
    assert not cache.keeps("b")
    # Entries of equal worth are kept.
    equal = Cache(10, lambda key: 1)
    for key in "xy":
        equal.begin(key)
        equal.add(key, key, 10, 1.0)
    assert (equal.keeps("x"), equal.keeps("y")) == (True, False)
    # An entry of zero bytes is never worth less than others.
    free = Cache(0, lambda key: 1)
    free.begin("z")
    assert free.add("z", "z", 0, 1.0)


def test_a_clip_has_its_properties_and_is_read_by_its_own_thread(tmp_path, monkeypatch):
    images = [np.full((96, 128, 3), 20 * at, np.uint8) for at in range(5)]
    path = tmp_path / "a.mp4"
    write_clip(path, iter(images), 12.5, (128, 96))
    clip = about(path)
    assert (clip.width, clip.height, clip.rate, clip.frames, clip.path) == (128, 96, 12.5, 5, str(path))
    assert len(clip.digest) == 12
    times = iter(np.cumsum([0.0, 1.0, 0.25] * 5).tolist())
    taken = list(frames(clip, lambda index: index in (1, 4), lambda: next(times)))
    assert [each.index for each in taken] == list(range(5))
    assert [each.image is not None for each in taken] == [False, True, False, False, True]
    assert {(each.unpacking, each.converting) for each in taken} == {(1.0, 0.25)}
    assert abs(float(taken[4].image.mean()) - 80) < 6
    with pytest.raises(InputError, match="is a directory, expected a clip"):
        about(tmp_path)
    for codec in ("mp4", "mp4vv"):
        with pytest.raises(InputError, match="expected four characters"):
            write_clip(path, iter(images), 12.5, (128, 96), codec)
    monkeypatch.setattr(clips, "_frames", lambda file: 4)
    with pytest.raises(InputError, match="4 of 5 frames were written"):
        write_clip(tmp_path / "b.mp4", iter(images), 12.5, (128, 96))
    assert not (tmp_path / "b.mp4").exists()
    assert about(path).frames == 5


@pytest.mark.parametrize("wrong", range(4))
def test_a_clip_with_an_invalid_property_is_rejected(tmp_path, monkeypatch, wrong):
    (tmp_path / "a.mp4").write_bytes(b"x")
    for bad in (0.0, -1.0, float("nan"), float("inf")):
        numbers = [64.0, 48.0, 30.0, 9.0]
        numbers[wrong] = bad
        order = (
            cv2.CAP_PROP_FRAME_WIDTH,
            cv2.CAP_PROP_FRAME_HEIGHT,
            cv2.CAP_PROP_FPS,
            cv2.CAP_PROP_FRAME_COUNT,
        )
        known = dict(zip(order, numbers, strict=True))
        capture = SimpleNamespace(get=known.__getitem__, release=lambda: None)
        monkeypatch.setattr(clips, "_opened", lambda file, capture=capture: capture)
        with pytest.raises(InputError, match=r"header has .* frames of .* x .* at .* frames/s"):
            about(tmp_path / "a.mp4")


HEAD = "frame,object,left,top,right,bottom"


@pytest.mark.parametrize(
    ("row", "fine"),
    [
        ("0,0,0,0,1,1", True), ("4,-7,63,47,64,48", True), ("5,0,0,0,1,1", False), ("-1,0,0,0,1,1", False),
        ("0,0,-1,0,1,1", False), ("0,0,0,-1,1,1", False), ("0,0,0,0,65,1", False), ("0,0,0,0,1,49", False),
        ("0,0,5,0,5,1", False), ("0,0,0,5,1,5", False), ("0,1.5,0,0,1,1", False), ("0,0,0,0,inf,1", False),
        ("0,0,0.5,0.25,1,1", True), ("0,0,9,0,5,1", False),
    ],
)  # fmt: skip
def test_true_boxes_must_overlap_their_clip(tmp_path, row, fine):
    clip, path = ClipInfo("a.mp4", 64, 48, 30.0, 5, "abc"), tmp_path / "t.csv"
    path.write_text(f"{HEAD}\n0,0,0,0,9,9\n{row}\n")
    if fine:
        assert read_truth(path, clip).boxes[1].tolist() == [float(each) for each in row.split(",")[2:]]
    else:
        with pytest.raises(InputError, match="row 2"):
            read_truth(path, clip)


def test_digests_are_compared_if_both_are_known(tmp_path):
    truth = Tracks.of([(0, 7, (1.0, 2.0, 3.0, 4.0))])
    known, unknown = (ClipInfo("a.mp4", 64, 48, 30.0, 5, digest) for digest in ("abc", ""))
    write_truth(truth, tmp_path / "with.csv", "xyz")
    write_truth(truth, tmp_path / "without.csv")
    assert "clip" not in (tmp_path / "without.csv").read_text()
    assert (
        len(read_truth(tmp_path / "with.csv", unknown))
        == len(read_truth(tmp_path / "without.csv", known))
        == 1
    )
    with pytest.raises(InputError, match="clip is 'xyz', expected 'abc'"):
        read_truth(tmp_path / "with.csv", known)


def test_f1_ignores_empty_boxes_and_counts_false_ones():
    flat = Tracks.of([(0, 1, (5, 5, 5, 5))])
    assert f1(flat, flat) == 0.0
    truth = Tracks.of([(0, 1, (0, 0, 10, 10)), (1, 1, (0, 0, 10, 10))])
    found = Tracks.of([(0, 4, (0, 0, 10, 10)), (1, 4, (0, 0, 10, 10)), (1, 5, (50, 50, 60, 60))])
    assert f1(found, truth) == pytest.approx(4 / 5)
    assert f1(Tracks.of([]), Tracks.of([])) == 1.0
    assert f1(Tracks.of([]), truth) == f1(truth, Tracks.of([])) == 0.0
    assert truth.held(1, 9) is truth


def test_a_pipeline_is_named_by_its_name_or_its_file():
    tree = {"detect": ["mog2"], "associate": ["overlap"]}
    assert read_tree(tree, "folder/cars.yaml").name == "cars"
    assert read_tree(tree | {"name": "mine"}, "cars.yaml").name == "mine"
    (plan,) = read_tree(tree | {"decode": {"every": 3}}, "cars.yaml").plans
    assert plan.every == 3
