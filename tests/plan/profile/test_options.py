"""Options of a pipeline: their steps, defaults and bounds."""

from __future__ import annotations

import pytest

cv2 = pytest.importorskip("cv2", reason="the extra `vision` is not installed")

from windlass.plan.profile.options import (  # noqa: E402
    ASSOCIATORS,
    DETECTORS,
    Centroid,
    Decode,
    Difference,
    Histogram,
    Hog,
    Knn,
    Mog2,
    Orb,
    Overlap,
    sending,
)
from windlass.plan.profile.steps.appearance import Colours, Corners  # noqa: E402
from windlass.plan.profile.steps.decode import Scale  # noqa: E402
from windlass.plan.profile.steps.detections import Choose, Send  # noqa: E402
from windlass.plan.profile.steps.match import Match  # noqa: E402
from windlass.plan.profile.steps.motion import Motion  # noqa: E402
from windlass.plan.profile.steps.people import People  # noqa: E402


def test_options_make_their_steps_with_their_parameters():
    assert Decode(scale=0.5, every=3).steps() == (Scale(0.5),)
    assert Mog2(threshold=2.0, history=3, least=0.1).steps() == (Motion("mog2", 2.0, 3), Choose(0.1))
    assert Knn(threshold=2.0, history=3, least=0.1).steps() == (Motion("knn", 2.0, 3), Choose(0.1))
    assert Difference(threshold=2.0, least=0.1).steps() == (Motion("difference", 2.0), Choose(0.1))
    assert Hog(stride=16, growth=1.5, confidence=0.5).steps() == (People(16, 1.5), Choose(0.5))
    for kind, way, before in (
        (Overlap, "overlap", ()), (Centroid, "centroid", ()), (Histogram, "histogram", (Colours(16),)),
        (Orb, "orb", (Corners(30),)),
    ):  # fmt: skip
        option = kind(alike=0.7, patience=2.0, confirm=3)
        assert option.steps() == (*before, Match(way, 0.7, 2.0, 3))
    assert Histogram(bins=4).steps()[0] == Colours(4)
    assert Orb(corners=9).steps()[0] == Corners(9)
    assert [each.model_fields["threshold"].default for each in (Mog2, Knn, Difference)] == [16.0, 400.0, 20.0]
    assert [each().alike for each in ASSOCIATORS] == [0.2, 0.3, 0.5, 0.1]
    assert {(each().patience, each().confirm) for each in ASSOCIATORS} == {(0.5, 2)}
    assert (Mog2().history, Knn().history, Mog2().least, Knn().least, Difference().least) == (
        200,
        200,
        0.001,
        0.001,
        0.001,
    )
    assert (Hog().stride, Hog().growth, Hog().confidence, Decode().scale, Decode().every) == (
        8,
        1.05,
        0.0,
        1.0,
        1,
    )
    assert [each.pixels for each in ASSOCIATORS] == [False, False, True, True]
    assert [each.title for each in DETECTORS] == [
        "detect mog2",
        "detect knn",
        "detect difference",
        "detect hog",
    ]
    for detector in (Mog2(), Hog()):
        assert sending(detector, Overlap()) == (detector.name, (*detector.steps(), Send(False)))
        assert sending(detector, Orb()) == (f"{detector.name} with crops", (*detector.steps(), Send(True)))
    assert Decode(scale=0.5, every=2).name == "decode scale=0.5 every=2"


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (Decode, {"scale": (0.05, 1.0), "every": (1,)}, {"scale": (0.04, 1.01), "every": (0,)}),
        (Mog2, {"threshold": (0.1,), "history": (1,)}, {"threshold": (0.0,), "history": (0,)}),
        (Knn, {"threshold": (0.1,), "history": (1,)}, {"threshold": (0.0,), "history": (0,)}),
        (Difference, {"threshold": (0.1,), "least": (0.0, 0.5)}, {"threshold": (0.0,), "least": (-0.1, 0.6)}),
        (Hog, {"stride": (8, 16), "growth": (1.01, 2.0)}, {"stride": (0, 12), "growth": (1.0, 2.1)}),
        (Hog, {"confidence": (0.0,)}, {"confidence": (-0.1,)}),
        (Histogram, {"bins": (2, 256), "alike": (1.0, 0.1)}, {"bins": (1, 257), "alike": (0.0, 1.1)}),
        (Overlap, {"confirm": (1,), "patience": (0.0,)}, {"confirm": (0,), "patience": (-0.1,)}),
        (Orb, {"corners": (4,)}, {"corners": (3,)}),
    ],
)  # fmt: skip
def test_parameters_have_their_bounds(kind, good, bad):
    for name, values in good.items():
        for value in values:
            assert getattr(kind(**{name: value}), name) == value
    for name, values in bad.items():
        for value in values:
            with pytest.raises(ValueError, match=name):
                kind(**{name: value})
