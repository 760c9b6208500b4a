"""Synthetic traffic: equal seeds give equal clips, and the true boxes match the pixels."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from windlass.model import InputError
from windlass.plan.profile.tracks import read_truth
from windlass.plan.profile.traffic.scene import WEATHERS, Traffic, movers, truth

cv2 = pytest.importorskip("cv2", reason="the extra `vision` is not installed")

from windlass.plan.profile.clip import about, frames, write_clip  # noqa: E402
from windlass.plan.profile.traffic.drawing import street, thing  # noqa: E402
from windlass.plan.profile.traffic.making import make_clip, pictures  # noqa: E402

SMALL = {"seconds": 0.3, "width": 160, "height": 96, "density": 2.0}


@pytest.mark.parametrize("weather", WEATHERS)
def test_equal_seeds_draw_equal_pictures(weather):
    one, again, other = (
        np.array(list(pictures(Traffic(seed, weather=weather, **SMALL)))) for seed in (1, 1, 2)
    )
    assert (one == again).all()
    assert (one != other).any()


def test_weather_changes_the_picture_and_not_the_road_users():
    seen = [next(iter(pictures(Traffic(1, weather=weather, **SMALL)))) for weather in WEATHERS]
    assert all((seen[0] != each).any() for each in seen[1:])
    assert len({movers(Traffic(1, weather=weather, **SMALL)) for weather in WEATHERS}) == 1


@pytest.mark.parametrize("seed", range(4))
def test_a_road_user_fills_exactly_its_box(seed):
    traffic = Traffic(seed, seconds=1.0, width=320, height=180)
    true, still = truth(traffic), street(traffic)
    shown = 0
    for mover in movers(traffic):
        for row in np.flatnonzero(true.track == mover.track)[:: traffic.frames // 3]:
            at = int(true.frame[row]) / traffic.rate
            picture = np.full_like(still, 1)
            thing(picture, mover, mover.box(at, traffic.width, traffic.height), at, night=False)
            there = np.argwhere((picture != 1).any(axis=2))
            left, top, right, bottom = true.boxes[row]
            low, high = there.min(axis=0), there.max(axis=0) + 1
            assert (low >= (top, left)).all()
            assert (high <= (bottom, right)).all()
            shown += 1
            # A car is as long as its box, whole in the picture; a person may hold the legs together.
            if right - left == mover.long and not (high[1] - low[1] < 0.4 * mover.long):
                assert high[0] - low[0] >= 0.85 * mover.high
    assert shown > 5


def test_road_users_of_a_lane_do_not_overlap():
    traffic = Traffic(5, seconds=3.0, density=8.0)
    for at in np.arange(0, 3, 0.25):
        for lane in range(6):
            spans = sorted(mover.box(at, 1280, 720)[::2] for mover in movers(traffic) if mover.lane == lane)
            assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_more_density_means_more_road_users():
    counts = [len(movers(Traffic(1, seconds=60.0, density=density))) for density in (0.0, 0.5, 2.0)]
    assert counts[0] == 0 < counts[1] < counts[2]


def test_a_clip_on_disk_equals_the_drawn_clip(tmp_path):
    traffic = Traffic(1, **SMALL)
    clip = make_clip(traffic, tmp_path / "a.mp4", tmp_path / "a.csv")
    assert (clip.width, clip.height, clip.rate, clip.frames) == (160, 96, 30.0, traffic.frames)
    back = read_truth(tmp_path / "a.csv", clip)
    assert (back.boxes == truth(traffic).boxes).all()
    read = list(frames(clip, lambda index: index % 2 == 0, lambda: 0.0))
    assert [taken.index for taken in read if taken.image is not None] == list(range(0, clip.frames, 2))
    drawn = list(pictures(traffic))
    assert np.abs(read[0].image.astype(int) - drawn[0]).mean() < 12


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"seed": -1}, "seed is -1, expected a whole number of at least 0"),
        ({"seconds": 0.0}, "seconds is 0.0"),
        ({"density": float("nan")}, "density is nan"),
        ({"width": 161}, "width is 161, expected an even number"),
        ({"height": 10}, "height is 10, expected a whole number of at least 96"),
        ({"weather": "fog"}, "weather is 'fog', expected clear, rain, snow, night"),
    ],
)
def test_invalid_traffic_is_named_in_the_error(wrong, message):
    with pytest.raises(InputError) as error:
        Traffic(**{"seed": 1} | wrong)
    assert message in str(error.value)


def test_a_file_that_is_not_a_clip_is_an_error(tmp_path, capfd):
    (tmp_path / "a.mp4").write_text("no video at all")
    with pytest.raises(InputError, match=r"a.mp4: OpenCV cannot read it as video"):
        about(tmp_path / "a.mp4")
    with pytest.raises(InputError, match=r"none.mp4: no such file"):
        about(tmp_path / "none.mp4")


def test_a_truncated_clip_is_an_error(drawn, tmp_path, capfd):
    clip = about(drawn.clip)
    longer = replace(clip, frames=clip.frames + 1)
    with pytest.raises(InputError, match=r"clip.mp4: frame 15 cannot be read, expected 16 frames"):
        list(frames(longer, lambda index: True, lambda: 0.0))
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(drawn.clip.read_bytes()[:-400])
    with pytest.raises(InputError, match=r"cut.mp4: OpenCV cannot read it as video"):
        about(cut)


def test_a_missing_codec_is_an_error(tmp_path, capfd):
    image = np.zeros((96, 160, 3), np.uint8)
    with pytest.raises(InputError, match=r"a.mp4: OpenCV cannot write it with the codec 'zzzz'"):
        write_clip(tmp_path / "a.mp4", iter([image]), 30.0, (160, 96), codec="zzzz")
    with pytest.raises(InputError, match=r"does not exist"):
        write_clip(tmp_path / "no" / "a.mp4", iter([image]), 30.0, (160, 96))
