"""Steps of a tracker alone: boxes, descriptors and tracks by hand or in a plain form, and how each is sent."""

from __future__ import annotations

import numpy as np
import pytest

from windlass.model import InputError
from windlass.plan.profile.clipinfo import ClipInfo
from windlass.plan.profile.steps.step import BOX_BYTES, TRACK_BYTES, Detections, FrameTracks

cv2 = pytest.importorskip("cv2", reason="the extra `vision` is not installed")

from windlass.plan.profile.steps.appearance import Colours, Corners  # noqa: E402
from windlass.plan.profile.steps.decode import QUALITY, Scale, jpeg_bytes  # noqa: E402
from windlass.plan.profile.steps.detections import Choose, Send, checked_least, detections_in  # noqa: E402
from windlass.plan.profile.steps.match import Match  # noqa: E402
from windlass.plan.profile.steps.motion import Motion, _things  # noqa: E402
from windlass.plan.profile.steps.people import People  # noqa: E402

CLIP = ClipInfo("a.mp4", 300, 400, 10.0, 9)


def test_detections_are_whole_pixels_inside_the_frame_from_left_to_right():
    image = np.arange(60 * 40 * 3, dtype=np.uint8).reshape(40, 60, 3)
    clip = ClipInfo("a.mp4", 120, 120, 10.0, 1)
    boxes = np.array(
        [[30.4, 5.0, 50.6, 20.0], [-5.0, 2.0, 7.0, 90.0], [59.6, 0.0, 70.0, 9.0], [30.0, 1.0, 40.0, 3.0]]
    )
    found = detections_in(image, boxes, np.array([1.0, 2.0, 3.0, 4.0]), clip)
    assert found.boxes.tolist() == [[0, 6, 14, 120], [60, 3, 80, 9], [60, 15, 102, 60]]
    assert found.score.tolist() == [2.0, 4.0, 1.0]
    assert (found.crops[2] == image[5:20, 30:51]).all()
    assert found.crops[2].base is None
    assert found.crops[0].shape == (38, 7, 3)
    chosen = Choose(2.0).start(clip)(0, found)
    assert chosen.score.tolist() == [2.0, 4.0]
    assert (chosen.crops[1] == found.crops[1]).all()
    assert Choose(2.0).sent(found) == 3 * BOX_BYTES
    with_crops, without = Send(True).start(clip)(0, found), Send().start(clip)(0, found)
    assert len(with_crops.crops) == 3
    assert without.crops == ()
    assert Send(True).sent(found) == 3 * BOX_BYTES + sum(jpeg_bytes(crop) for crop in found.crops)
    assert Send().sent(without) == 3 * BOX_BYTES
    # Four corners and a score of eight bytes each; pixels; 150 for each object, three of which always are.
    assert without.size() == Choose().size(without) == Send().size(without) == 3 * 40 + 450
    assert with_crops.size() == 3 * 40 + 450 + sum(crop.size + 150 for crop in found.crops)
    seen = FrameTracks(np.zeros(2, np.int64), np.zeros((2, 4)))
    assert (Match("orb", 0.5).sent(seen), Match("orb", 0.5).size(seen)) == (2 * TRACK_BYTES, 2 * 40 + 450)
    assert (BOX_BYTES, TRACK_BYTES) == (20, 24)
    checked_least("least", 0.5)
    with pytest.raises(InputError, match=r"least is 0\.6"):
        checked_least("least", 0.6)


def test_frames_are_scaled_by_area_and_sent_as_jpeg():
    image = np.random.default_rng(1).integers(0, 255, (40, 60, 3), np.uint8)
    clip = ClipInfo("a.mp4", 60, 40, 10.0, 1)
    half = Scale(0.5).start(clip)(0, image)
    means = image.reshape(20, 2, 30, 2, 3).mean(axis=(1, 3))
    assert np.abs(half - means).max() <= 0.5
    assert Scale(1.0).start(clip)(0, image) is image
    assert (Scale(1.0).same, Scale(0.5).same) == (True, False)
    assert Scale(0.07).start(ClipInfo("a", 60, 4, 1.0, 1))(0, image).shape == (1, 4, 3)
    assert Scale(0.5).size(half) == half.size + 150
    assert QUALITY == 85
    assert Scale(1.0).sent(image) == len(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 85])[1])
    for bad in (0.04, 1.01):
        with pytest.raises(InputError, match="scale is"):
            Scale(bad)


def test_regions_of_a_mask_become_boxes_without_specks_and_nearby_ones_merge():
    image = np.zeros((300, 400, 3), np.uint8)
    clip = ClipInfo("a.mp4", 800, 300, 10.0, 1)

    def boxes(*rectangles):
        mask = np.zeros((300, 400), np.uint8)
        for left, top, right, bottom in rectangles:
            mask[top:bottom, left:right] = 255
        return _things(image, mask, clip)

    found = boxes((100, 50, 140, 80), (10, 200, 13, 204), (300, 100, 302, 150))
    # The third is thinner than three pixels: noise. Of 120000 pixels a ten-thousandth is 12.
    assert found.boxes.tolist() == [[20, 200, 26, 204], [200, 50, 280, 80]]
    assert found.score.tolist() == [12 / 120_000, 1200 / 120_000]
    assert len(boxes((10, 200, 13, 203)).boxes) == 0
    # A gap of up to a sixtieth of the height is closed, and a wider one is not.
    assert boxes((100, 50, 120, 80), (124, 50, 140, 80)).boxes.tolist() == [[200, 50, 280, 80]]
    assert len(boxes((100, 50, 120, 80), (125, 50, 140, 80)).boxes) == 2
    # Things that touch at a corner are one.
    assert len(boxes((100, 50, 120, 80), (120, 80, 140, 100)).boxes) == 1
    # Half of the picture means an untrained background model; exactly this size may still be an object.
    assert len(boxes((0, 0, 200, 300)).boxes) == 1
    assert len(boxes((0, 0, 201, 300)).boxes) == 0
    small = np.zeros((90, 90), np.uint8)
    small[10:20, 10:20] = small[10:20, 22:30] = 255
    assert len(_things(image[:90, :90], small, ClipInfo("a", 90, 90, 1.0, 1)).boxes) == 1
    small[10:20, 20:23] = 0
    small[10:20, 23:30] = 255
    assert len(_things(image[:90, :90], small, ClipInfo("a", 90, 90, 1.0, 1)).boxes) == 2


def test_a_difference_is_from_the_frame_before():
    run = Motion("difference", 20.0).start(CLIP)
    dark, light = np.zeros((400, 300, 3), np.uint8), np.zeros((400, 300, 3), np.uint8)
    light[100:140, 50:90] = 200
    assert len(run(0, light).boxes) == 0
    assert len(run(1, light).boxes) == 0
    assert len(run(2, dark).boxes) == 1
    assert len(run(3, dark).boxes) == 0
    faint = dark.copy()
    faint[100:140, 50:90] = 20
    assert len(run(4, faint).boxes) == 0
    faint[100:140, 50:90] = 41
    assert len(run(5, faint).boxes) == 1


@pytest.mark.parametrize("background", ["mog2", "knn"])
def test_a_background_equals_opencv_s_without_shadows(background):
    rng = np.random.default_rng(1)
    still = rng.integers(60, 200, (120, 160, 3)).astype(np.uint8)
    frames = []
    for at in range(12):
        image = np.clip(still + rng.normal(0, 3, still.shape), 0, 255).astype(np.uint8)
        image[40:70, 10 * at : 10 * at + 30] = 255
        # A shadow darkens what is there.
        image[70:90, 10 * at : 10 * at + 30] = (0.6 * image[70:90, 10 * at : 10 * at + 30]).astype(np.uint8)
        frames.append(image)
    clip = ClipInfo("a.mp4", 160, 120, 10.0, 12)
    run = Motion(background, 30.0, 6).start(clip)
    cv2.setRNGSeed(1)
    if background == "mog2":
        model = cv2.createBackgroundSubtractorMOG2(history=6, varThreshold=30.0, detectShadows=True)
    else:
        model = cv2.createBackgroundSubtractorKNN(history=6, dist2Threshold=30.0, detectShadows=True)
    for at, image in enumerate(frames):
        mask = np.where(model.apply(image) == 255, 255, 0).astype(np.uint8)
        expected = _things(image, mask, clip)
        found = run(at, image)
        assert found.boxes.tolist() == expected.boxes.tolist()
    again = Motion(background, 30.0, 6).start(clip)
    assert [again(at, image).boxes.tolist() for at, image in enumerate(frames)][-1] == found.boxes.tolist()


def test_invalid_parameters_of_steps_are_named_in_the_error():
    for make, message in (
        (lambda: Motion("flow", 1.0), "background is 'flow'"), (lambda: Motion("mog2", 0.0), "threshold is 0.0"),
        (lambda: Motion("mog2", 1.0, 0), "history is 0"), (lambda: People(12), "expected a multiple of 8"),
        (lambda: People(4), "stride is 4"), (lambda: People(8, 1.0), "growth is 1.0"),
        (lambda: People(8, 2.1), "growth is 2.1"), (lambda: Colours(1), "bins is 1"),
        (lambda: Corners(3), "corners is 3"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            make()
    assert (Motion("mog2", 1.0).history, People().stride, People().growth) == (200, 8, 1.05)
    assert (Colours().bins, Corners().corners, Choose().least, Send().crops, Scale().scale) == (
        16,
        30,
        0.0,
        False,
        1.0,
    )
    steps = (Scale(), Choose(), Send(), Colours(), Corners(), People())
    assert all(step.alone for step in steps)
    assert not any(step.same for step in steps[1:])
    for step in (Motion("mog2", 1.0), Match("orb", 1.0)):
        assert (step.alone, step.same) == (False, False)


def test_boxes_of_people_exclude_the_margin_of_the_classifier_window(monkeypatch):
    class Outline:
        arguments = None

        def setSVMDetector(self, detector):  # noqa: N802
            self.detector = detector

        def detectMultiScale(self, image, winStride, scale):  # noqa: N802, N803
            Outline.arguments = (image.shape, winStride, scale)
            return np.array([[100, 50, 60, 100], [10, 20, 40, 80]]), np.array([[0.5], [0.75]])

        getDefaultPeopleDetector = staticmethod(lambda: None)  # noqa: N815

    monkeypatch.setattr(cv2, "HOGDescriptor", Outline)
    run = People(16, 1.2).start(CLIP)
    found = run(0, np.zeros((400, 300, 3), np.uint8))
    assert Outline.arguments == ((400, 300, 3), (16, 16), 1.2)
    # 15 % of the width and 5 % of the height, on each side.
    assert found.boxes.tolist() == [[16, 24, 44, 96], [109, 55, 151, 145]]
    assert found.score.tolist() == [0.75, 0.5]
    run(0, np.zeros((128, 64, 3), np.uint8))
    for shape in ((127, 64, 3), (128, 63, 3)):
        with pytest.raises(InputError, match=rf"frames are {shape[1]} x {shape[0]}, expected 64 x 128"):
            run(0, np.zeros(shape, np.uint8))


def test_colours_are_a_histogram_of_the_centre():
    rng = np.random.default_rng(1)
    crops = [rng.integers(0, 255, (16, 24, 3), np.uint8), rng.integers(0, 255, (3, 3, 3), np.uint8)]
    found = Detections(np.zeros((2, 4)), np.ones(2), tuple(crops))
    looked = Colours(4).start(CLIP)(0, found)
    assert looked.crops == ()
    for crop, look, part in zip(crops, looked.descriptors, ((2, 3), (0, 0)), strict=True):
        high, wide = crop.shape[:2]
        hsv = cv2.cvtColor(crop, cv2.COLOR_BGR2HSV)[part[0] : high - part[0], part[1] : wide - part[1]]
        counts = np.zeros((4, 4))
        for hue, saturation, _ in hsv.reshape(-1, 3):
            counts[int(hue) * 4 // 180, int(saturation) * 4 // 256] += 1
        assert look == pytest.approx(np.sqrt(counts / counts.sum()).ravel(), abs=1e-6)
    assert looked.descriptors[0] @ looked.descriptors[0] == pytest.approx(1.0)
    assert looked.size() == 2 * 40 + 450 + 2 * (16 * 4 + 150)


def test_corners_equal_orb_s_on_a_square_of_64_pixels():
    rng = np.random.default_rng(1)
    crop = cv2.GaussianBlur(rng.integers(0, 255, (50, 90, 3), np.uint8), (0, 0), 1.5)
    flat = np.full((20, 20, 3), 9, np.uint8)
    looked = Corners(12).start(CLIP)(0, Detections(np.zeros((2, 4)), np.ones(2), (crop, flat)))
    grey = cv2.resize(cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY), (64, 64))
    orb = cv2.ORB_create(12, nlevels=3, edgeThreshold=8, fastThreshold=8)
    assert (looked.descriptors[0] == orb.detectAndCompute(grey, None)[1]).all()
    assert looked.descriptors[0].shape[0] > 3
    assert looked.descriptors[1].shape == (0, 32)
    assert looked.crops == ()
