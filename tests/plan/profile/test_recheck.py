"""Labels of a golden plan, and the check of a profile on another clip, compared with the full profile of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from windlass.model import InputError

pytest.importorskip("cv2", reason="the extra `vision` is not installed")

from windlass.plan.profile.clip import about
from windlass.plan.profile.comparison import front
from windlass.plan.profile.golden import golden_tracks
from windlass.plan.profile.pipeline import read_tree
from windlass.plan.profile.recheck import recheck
from windlass.plan.profile.running import profile
from windlass.plan.profile.tracks import f1, read_truth

PLANS = {
    "decode": {"scale": [1, 0.5], "every": [1, 3]},
    "detect": [{"mog2": {"least": [0.001, 0.004]}}, "difference"],
    "associate": ["overlap", "centroid"],
}


@pytest.fixture(scope="module")
def setting(drawn):
    clip = about(drawn.clip)
    return read_tree(PLANS, "plans").plans, clip, read_truth(drawn.truth, clip)


def test_labels_are_the_golden_plan_s_tracks_held_over_skipped_frames(setting):
    plans, clip, truth = setting
    together = profile(plans, clip, truth, 1e9).plans
    for plan, found in zip(plans, together, strict=True):
        if not len(found.tracks):
            continue
        labels = golden_tracks(plan, clip)
        assert labels.boxes.tolist() == found.tracks.held(plan.every, clip.frames).boxes.tolist()
        # Accuracy is then agreement: that of the plan itself is 1.
        own = profile([plan], clip, labels, 0.0).plans[0]
        assert own.plan.accuracy == pytest.approx(1.0)
        assert f1(labels, truth) == pytest.approx(found.plan.accuracy)


def test_a_golden_plan_that_finds_nothing_gives_no_labels(setting):
    _, clip, _ = setting
    blind = {"detect": [{"mog2": {"least": 0.5}}], "associate": ["overlap"]}
    with pytest.raises(InputError, match=r"the golden plan \(decode, detect mog2 least=0.5.*finds no object"):
        golden_tracks(read_tree(blind, "blind").plans[0], clip)


def test_the_check_has_the_accuracies_of_the_whole_profile(setting):
    plans, clip, truth = setting
    now = [each.plan for each in profile(plans, clip, truth, 1e9).plans]
    # In the profile of another scene, accuracies were 0.02 higher, and the same plans are best.
    before = [replace(plan, accuracy=plan.accuracy + 0.02) for plan in now]
    found = recheck(before, plans, clip, truth, 1e9)
    best = front(before)
    assert found.labels == tuple(", ".join(part.name for part in now[at].components) for at in best)
    assert found.now == pytest.approx([now[at].accuracy for at in best])
    assert found.before == pytest.approx([now[at].accuracy + 0.02 for at in best])
    assert found.largest == pytest.approx(0.02)
    with pytest.raises(InputError, match="of the profile is not a plan of the pipeline"):
        recheck(before, plans[:1], clip, truth, 1e9)
