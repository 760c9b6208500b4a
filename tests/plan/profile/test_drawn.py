"""The synthetic street, its weather and its traffic, against pixels computed by slices and formulas."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from windlass.model import InputError
from windlass.plan.profile.traffic.scene import LANES, RoadUser, Traffic, movers, truth

cv2 = pytest.importorskip("cv2", reason="the extra `vision` is not installed")

from windlass.plan.profile.traffic import weather as weathers  # noqa: E402
from windlass.plan.profile.traffic.drawing import shadow, street, thing  # noqa: E402
from windlass.plan.profile.traffic.making import make_clip, pictures  # noqa: E402

HIGH, WIDE = 360, 640


def plain_street(traffic, high, wide):
    """The street without the grain of its surface, by slices."""
    rng = np.random.default_rng([traffic.seed, 100])
    picture = np.empty((high, wide, 3))
    picture[:] = (190, 180, 170)
    at = 0
    while at < wide:
        width = int(rng.uniform(0.08, 0.2) * wide) + 4
        picture[: int(0.33 * high) + 1, at : at + width + 1] = rng.integers(90, 170, 3)
        step = max(6, width // 5)
        for left in range(at + step // 2, at + width - step // 2, step):
            for top in range(int(0.03 * high), int(0.29 * high), max(8, int(0.09 * high))):
                picture[top : top + int(0.05 * high) + 1, left : left + step // 2 + 1] = (70, 60, 55)
        at += width
    for first, last, grey in ((0.33, 0.42, 150), (0.42, 0.85, 95), (0.85, 1.0, 150)):
        picture[int(first * high) : int(last * high)] = grey
    for share in (0.51, 0.60, 0.71):
        for left in range(0, wide, max(12, wide // 16)):
            picture[int(share * high), left : left + wide // 32 + 1] = 215
    return picture


@pytest.mark.parametrize(("high", "wide", "seed"), [(HIGH, WIDE, 1), (96, 130, 2), (200, 160, 3)])
def test_a_street_has_houses_pavements_and_a_marked_road_with_grain(high, wide, seed):
    traffic = Traffic(seed, width=wide, height=high)
    found, expected = street(traffic).astype(float), plain_street(traffic, high, wide)
    off = found - expected
    # The grain has a deviation of 14 before a blur of 1.2 pixels, which leaves 14 / (2 √π 1.2) of it.
    assert np.abs(off).max() < 6 * 14 / (2 * math.sqrt(math.pi) * 1.2)
    assert off.std() == pytest.approx(14 / (2 * math.sqrt(math.pi) * 1.2), rel=0.06)
    assert abs(off.mean() + 0.5) < (0.1 if high == HIGH else 0.3)
    assert np.corrcoef(off[:, 1:, 0].ravel(), off[:, :-1, 0].ravel())[0, 1] == pytest.approx(
        math.exp(-1 / (4 * 1.2**2)), abs=0.05
    )
    # All three colours have the same grain.
    assert np.abs(off[..., 0] - off[..., 1]).max() <= 1


def drawn(lane, long=200, high=100, at=0.0, night=False, colour=(20, 235, 180), phase=0.0, left=100, top=50):
    picture = np.zeros((HIGH, WIDE, 3), np.uint8)
    mover = RoadUser(1, lane, 0.0, long, high, 50.0, colour, phase)
    thing(picture, mover, (left, top, left + long, top + high), at, night)
    return picture[top : top + high, left : left + long]


RIGHT, LEFT, PERSON = 3, 1, 0


def test_a_car_has_a_body_a_roof_with_glass_wheels_and_a_stripe():
    tile = drawn(RIGHT)
    painted = tile.any(axis=2)
    # The body from 40 to 85 % of its height, as long as the box.
    assert painted[40:86].all()
    for row in (45, 55, 70):
        assert (tile[row, [0, 100, 199]] == (20, 235, 180)).all()
    # A stripe of 70 % of its colour at 62 %, a twenty-fourth of the height thick.
    stripe = (tile[:, 100] == (14, 164, 125)).all(axis=1)
    assert np.flatnonzero(stripe).tolist() == [60, 61, 62, 63, 64]
    assert (tile[62, 5] == (14, 164, 125)).all()
    # The roof between straight lines from 15 and 88 % at its foot to 28 and 70 % at its top.
    for row in (5, 15, 25, 35):
        share = 1 - row / 42
        columns = np.flatnonzero(painted[row])
        assert columns[0] == pytest.approx(199 * (0.15 + 0.13 * share), abs=2.0)
        assert columns[-1] == pytest.approx(199 * (0.88 - 0.18 * share), abs=2.0)
        glass = np.flatnonzero((tile[row] == (90, 75, 60)).all(axis=1))
        if row > 8:
            share = 1 - (row - 8) / 32
            assert glass[0] == pytest.approx(199 * (0.22 + 0.10 * share), abs=2.0)
            assert glass[-1] == pytest.approx(199 * (0.80 - 0.14 * share), abs=2.0)
        else:
            assert not len(glass)
    # Wheels with a radius of 16 %, that touch the ground at a fifth and four fifths.
    dark = (tile == 25).all(axis=2)
    rows, columns = np.nonzero(dark)
    assert (rows.min(), rows.max()) == (99 - 32, 99)
    for share in (0.2, 0.8):
        own = columns[np.abs(columns - share * 200) < 40]
        assert (own.min(), own.max()) == (share * 200 - 16, share * 200 + 16)
    assert not painted[95:, 100].any()


def test_a_car_to_the_left_mirrors_one_to_the_right():
    one, other = drawn(RIGHT), drawn(LEFT)[:, ::-1]
    assert (one != other).any(axis=2).mean() < 0.01
    assert (drawn(RIGHT) != drawn(LEFT)).any(axis=2).mean() > 0.012


def test_a_car_has_a_light_at_its_front_at_night():
    lights = []
    for lane in (RIGHT, LEFT):
        light = (drawn(lane, night=True) == (235, 250, 255)).all(axis=2)
        rows, columns = np.nonzero(light)
        assert (rows.min(), rows.max()) == (60 - 8, 60 + 8)
        lights.append((columns.min(), columns.max()))
        assert not (drawn(lane) == (235, 250, 255)).all(axis=2).any()
    # Half a wheel from the end, with a radius of half a wheel.
    assert lights == [(199 - 8 - 8, 199), (0, 16)]


def test_a_person_walks_two_steps_a_second_with_swinging_arms():
    colour, high, long = (20, 60, 180), 200, 84
    legs, skin = (10, 30, 90), (140, 170, 215)
    for at, phase in ((0.0, 0.0), (0.125, 0.0), (0.0, 0.75), (0.3, 0.1)):
        tile = drawn(PERSON, long, high, at, colour=colour, phase=phase)
        swing = 0.5 * math.sin(2 * math.pi * (2.0 * at + phase))
        foot = np.flatnonzero((tile[int(0.97 * high)] == legs).all(axis=1))
        reach = abs(int(swing * 0.8 * long))
        # Legs are 11 % of the height thick.
        assert foot.min() == pytest.approx(max(42 - reach - 11, 0), abs=2.5)
        assert foot.max() == pytest.approx(min(42 + reach + 11, 83), abs=2.5)
        body = (tile == colour).all(axis=2)
        rows, columns = np.nonzero(body)
        # The head is in front of its top.
        assert 68 - 38 <= rows.min() <= 33
        assert rows.max() == 68 + 38
        assert (columns.min(), columns.max()) == (42 - 22, 42 + 22)
        head = (tile[: 2 * 16 - 1] == skin).all(axis=2)
        rows, columns = np.nonzero(head)
        assert (rows.min(), columns.min(), columns.max()) == (0, 42 - 14, 42 + 14)
        # The arm that shows goes the other way than the leg in front.
        hand = (tile[90:104] == skin).all(axis=2).nonzero()[1]
        if abs(swing) > 0.45:
            assert (hand.mean() < 42) == (swing > 0)
    assert not (drawn(PERSON, long, high) == drawn(PERSON, long, high, phase=0.25)).all()


def test_road_users_are_clipped_to_the_picture():
    whole = drawn(RIGHT)
    mover = RoadUser(1, RIGHT, 0.0, 200, 100, 50.0, (20, 235, 180), 0.0)
    for left, top, shown in (
        (-50, 50, whole[:, 50:]), (WIDE - 30, 50, whole[:, :30]), (10, -40, whole[40:]), (10, HIGH - 25, whole[:25]),
        (-200, 50, None), (WIDE, 50, None), (-199, 50, whole[:, 199:]), (WIDE - 1, 50, whole[:, :1]),
    ):  # fmt: skip
        picture = np.full((HIGH, WIDE, 3), 7, np.uint8)
        thing(picture, mover, (left, top, left + 200, top + 100), 0.0, False)
        if shown is None:
            assert (picture == 7).all()
            continue
        rows, columns = slice(max(top, 0), min(top + 100, HIGH)), slice(max(left, 0), min(left + 200, WIDE))
        expected = np.where(shown.any(axis=2)[..., None], shown, 7)
        assert (picture[rows, columns] == expected).all()
        picture[rows, columns] = 7
        assert (picture == 7).all()


@pytest.mark.parametrize("strength", [0.45, 0.1])
@pytest.mark.parametrize("left", [100, -40, 620])
def test_a_shadow_leans_to_the_right_and_darkens_the_ground(strength, left):
    picture = np.full((HIGH, WIDE, 3), 200, np.uint8)
    shadow(picture, (left, 100, left + 80, 180), strength)
    dark = picture[..., 0] == int(200 * (1.0 - strength))
    assert (dark | (picture[..., 0] == 200)).all()
    # From the box's foot, by 45 % of its height to the right and 35 % of that down.
    lean, y, x = 80 * 0.45, *np.mgrid[:HIGH, :WIDE]
    along = (y - 179) / (0.35 * lean + 1)
    inside = (along >= 0) & (along <= 1) & (x >= left + along * lean) & (x <= left + 80 + along * lean)
    well_inside = cv2.erode(inside.astype(np.uint8), np.ones((5, 5), np.uint8), borderValue=0) > 0
    near = cv2.dilate(inside.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    assert dark[well_inside].all()
    assert not dark[~near].any()
    if left == 620:
        assert dark[:, WIDE - 1].any()


def test_a_shadow_outside_of_the_picture_is_not_drawn():
    picture = np.full((HIGH, WIDE, 3), 200, np.uint8)
    for box in ((-400, 100, -320, 180), (700, 100, 780, 180), (100, 400, 180, 480)):
        shadow(picture, box, 0.5)
    assert (picture == 200).all()


@pytest.mark.parametrize(("name", "spread", "dark"), [
    ("clear", 3.0, 0.45), ("rain", 5.0, 0.15), ("snow", 5.0, 0.2), ("night", 9.0, 0.1),
])  # fmt: skip
def test_each_weather_has_its_noise_and_light(name, spread, dark):
    traffic = Traffic(1, weather=name, width=WIDE, height=HIGH)
    assert weathers.SHADOW[name] == dark
    rng = np.random.default_rng([1, 200])
    own = weathers.Weather(traffic)
    flat = np.full((HIGH, WIDE, 3), 120, np.uint8)
    tiles = [rng.normal(0.0, spread, (HIGH, WIDE, 3)).astype(np.int16) for _ in range(4)]
    drops = rng.uniform(0, 1, (int(WIDE * HIGH / 4000), 3))
    for _ in range(3):
        found = own.on(flat).astype(int)
        layer = np.full((HIGH, WIDE, 3), 42 if name == "night" else 120, np.uint8)
        still = layer.copy()
        if name in ("rain", "snow"):
            sideways = rng.uniform(-0.01, 0.01, len(drops))
            fall = (0.35 if name == "snow" else 1.6) / 30.0 * (0.6 + 0.8 * drops[:, 2])
            drops[:, 0] = (drops[:, 0] + (sideways if name == "snow" else 0.1 * fall)) % 1.0
            drops[:, 1] = (drops[:, 1] + fall) % 1.0
            for across, down, near in drops:
                x, y = int(across * WIDE), int(down * HIGH)
                if name == "snow":
                    cv2.circle(layer, (x, y), max(1, int(near * HIGH / 240)), (250, 250, 250), -1)
                else:
                    end = y + int((0.01 + 0.02 * near) * HIGH)
                    cv2.line(layer, (x, y), (x + 1, end), (205, 200, 195), 1)
        part = {"snow": 0.7, "rain": 0.45}.get(name, 0.0)
        mixed = np.rint(part * layer.astype(float) + (1.0 - part) * still)
        noise = np.roll(tiles[int(rng.integers(4))], int(rng.integers(WIDE)), axis=1)
        assert np.abs(found - np.clip(mixed + noise, 0, 255)).max() <= 1
    assert own.on(np.full((HIGH, WIDE, 3), 255, np.uint8)).max() <= 255


def test_lanes_are_the_documented_ones_from_far_to_near():
    assert [lane.person for lane in LANES] == [True, False, False, False, False, True]
    assert [lane.way for lane in LANES] == [1, -1, -1, 1, 1, -1]
    assert [lane.often for lane in LANES] == [0.2, 0.25, 0.25, 0.25, 0.25, 0.2]
    grounds, heights = [lane.ground for lane in LANES], [lane.high for lane in LANES]
    assert grounds == [0.40, 0.49, 0.58, 0.69, 0.81, 0.95]
    assert heights == [0.19, 0.095, 0.115, 0.140, 0.165, 0.30]
    assert [lane.speed for lane in LANES] == [2.0, 2.2, 1.9, 1.8, 1.6, 1.8]
    # Cars are on the road, next to its markings; people are on pavements.
    assert all(0.42 < ground < 0.85 for ground in grounds[1:5])


def plain_movers(traffic):
    found = []
    for place, lane in enumerate(LANES):
        rng = np.random.default_rng([traffic.seed, place])
        high = lane.high * traffic.height
        length = 0.42 * high if lane.person else 2.3 * high
        speed = lane.speed * length * rng.uniform(0.85, 1.15)
        at = -(traffic.width + length) / speed
        while True:
            at += 1.9 * length / speed + rng.exponential(1.0 / (lane.often * traffic.density))
            if at > traffic.seconds:
                break
            size, colour = rng.uniform(0.85, 1.15), [int(each) for each in rng.choice([20, 60, 180, 235], 3)]
            if max(colour) - min(colour) < 60 and 40 < colour[0] < 200:
                colour[1:] = 20, 235
            long, tall = max(4, round(length * size)), max(6, round(high * size))
            found.append(
                RoadUser(len(found) + 1, place, at, long, tall, speed, tuple(colour), rng.uniform(0, 1))
            )
    return tuple(found)


@pytest.mark.parametrize("arguments", [
    {"seed": 4, "seconds": 60.0}, {"seed": 5, "seconds": 5.0, "density": 4.0, "width": 320, "height": 96},
])  # fmt: skip
def test_road_users_equal_a_plain_draw(arguments):
    traffic = Traffic(**arguments)
    assert movers(traffic) == plain_movers(traffic)
    assert movers(replace(traffic, density=0.0)) == ()


def test_grey_cars_are_recoloured():
    colours = {mover.colour for mover in movers(Traffic(1, seconds=400.0, density=3.0))}
    assert len(colours) > 50
    assert not {(60, 60, 60), (180, 180, 180), (60, 60, 20), (60, 20, 20)} & colours
    assert {(20, 20, 20), (235, 235, 235), (60, 20, 235), (180, 20, 235)} <= colours


def test_boxes_move_along_their_lane_and_truth_is_their_visible_part():
    right, left = (
        RoadUser(1, 3, 2.0, 50, 20, 40.0, (1, 2, 3), 0.0),
        RoadUser(2, 1, 2.0, 50, 20, 40.0, (1, 2, 3), 0.0),
    )
    # The front comes in at 2 s, from the left or from the right.
    assert right.box(2.0, 320, 200) == (-50, 118, 0, 138)
    assert right.box(3.5, 320, 200) == (10, 118, 60, 138)
    assert left.box(2.0, 320, 200) == (320, 78, 370, 98)
    assert left.box(3.5, 320, 200) == (260, 78, 310, 98)
    traffic = Traffic(3, seconds=3.0, density=3.0, width=320, height=180, rate=10.0)
    rows = []
    for frame in range(30):
        for mover in movers(traffic):
            a, b, c, d = mover.box(frame / 10.0, 320, 180)
            a, b, c, d = max(a, 0), max(b, 0), min(c, 320), min(d, 180)
            if c - a >= 0.25 * mover.long and d > b:
                rows.append((frame, mover.track, [a, b, c, d]))
    found = truth(traffic)
    assert found.frame.tolist() == [row[0] for row in rows]
    assert found.track.tolist() == [row[1] for row in rows]
    assert found.boxes.tolist() == [row[2] for row in rows]


def test_traffic_has_its_defaults_and_bounds():
    traffic = Traffic(0)
    assert (traffic.seconds, traffic.weather, traffic.density) == (10.0, "clear", 1.0)
    assert (traffic.width, traffic.height, traffic.rate, traffic.frames) == (1280, 720, 30.0, 300)
    assert Traffic(0, seconds=0.001).frames == 1
    assert Traffic(0, seconds=0.26, rate=10.0).frames == 3
    Traffic(0, seconds=3600.0, density=20.0, rate=240.0, width=96, height=96)
    Traffic(0, density=0.0, rate=1.0)
    for bad in (
        {"seconds": 3601.0},
        {"density": 20.1},
        {"density": -0.1},
        {"rate": 0.9},
        {"rate": 241.0},
        {"width": 94},
    ):
        with pytest.raises(InputError, match=next(iter(bad))):
            Traffic(0, **bad)


def test_near_road_users_are_in_front_and_shadows_below_their_lane(monkeypatch, tmp_path):
    from windlass.plan.profile.traffic import making

    done = []
    monkeypatch.setattr(making, "shadow", lambda picture, box, dark: done.append(("shadow", box, dark)))
    monkeypatch.setattr(
        making, "thing", lambda picture, mover, box, at, night: done.append((mover, box, at, night))
    )
    traffic = Traffic(2, seconds=0.2, density=3.0, width=160, height=96, weather="night", rate=10.0)
    shown = list(pictures(traffic))
    assert len(shown) == 2
    expected = []
    for at in (0.0, 0.1):
        for lane in range(6):
            own = [(mover, mover.box(at, 160, 96)) for mover in movers(traffic) if mover.lane == lane]
            expected += [("shadow", box, 0.1) for _, box in own]
            expected += [(mover, box, at, True) for mover, box in own]
    assert done == expected
    done.clear()
    next(iter(pictures(replace(traffic, weather="clear"))))
    assert {each[-1] for each in done} == {0.45, False}
    progress = []
    clip = make_clip(traffic, tmp_path / "a.mp4", tmp_path / "a.csv", lambda *each: progress.append(each))
    assert progress == [(1, 2), (2, 2)]
    assert (clip.rate, clip.seconds) == (10.0, 0.2)
