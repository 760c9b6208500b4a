"""Plans profiled together give the results of each alone, for any cache; costs are booked to their component."""

from __future__ import annotations

import pytest

from windlass.model import InputError

cv2 = pytest.importorskip("cv2", reason="the extra `vision` is not installed")

from windlass.plan.profile.clip import about  # noqa: E402
from windlass.plan.profile.pipeline import read_tree  # noqa: E402
from windlass.plan.profile.running import profile  # noqa: E402
from windlass.plan.profile.tracks import read_truth  # noqa: E402

SMALL = {
    "decode": {"scale": [1, 0.75], "every": [1, 3]},
    "detect": [
        {"mog2": {"least": [0.001, 0.004]}},
        "knn",
        {"hog": {"confidence": [0.0, 0.5], "growth": 1.5, "stride": 16}},
    ],
    "associate": ["overlap", {"histogram": {"alike": [0.4, 0.7]}}, "orb"],
}


class Ticks:
    """A clock that advances by one at each call."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> float:
        self.now += 1
        return float(self.now)


def same(one, other):
    """Whether two plans gave the same answers and sent the same bytes."""
    parts = [[(part.name, part.output) for part in each.plan.components] for each in (one, other)]
    return (
        one.plan.accuracy == other.plan.accuracy
        and parts[0] == parts[1]
        and one.tracks.frame.tobytes() == other.tracks.frame.tobytes()
        and one.tracks.track.tobytes() == other.tracks.track.tobytes()
        and one.tracks.boxes.tobytes() == other.tracks.boxes.tobytes()
    )


@pytest.fixture(scope="module")
def setting(drawn):
    clip = about(drawn.clip)
    return read_tree(SMALL, "small").plans, clip, read_truth(drawn.truth, clip)


@pytest.fixture(scope="module")
def together(setting):
    return profile(*setting, cache=1e9, clock=Ticks())


def test_plans_profiled_together_equal_plans_alone(setting, together):
    plans, clip, truth = setting
    alone = [profile([plan], clip, truth, cache=0, clock=Ticks()) for plan in plans]
    assert all(same(one.plans[0], other) for one, other in zip(alone, together.plans, strict=True))
    # Each step takes one tick a frame: the cost of a component is independent of sharing.
    assert [one.plans[0].plan for one in alone] == [each.plan for each in together.plans]
    assert sum(one.outputs for one in alone) == together.outputs_apart
    # The plans find objects, and not all the same, so that equality is a real check.
    assert len({each.plan.accuracy for each in together.plans}) > len(plans) / 4
    assert max(each.plan.accuracy for each in together.plans) > 0.2


@pytest.mark.parametrize("budget", [0, 1_000, 300_000, 4_000_000])
def test_results_are_independent_of_the_budget_which_is_kept(setting, together, budget):
    found = profile(*setting, cache=budget, clock=Ticks())
    assert found.most_held <= budget
    assert all(same(one, other) for one, other in zip(found.plans, together.plans, strict=True))
    assert together.outputs <= found.outputs
    # Without a budget every step is repeated for each plan, and no frame is processed that a plan skips.
    assert (found.outputs == together.outputs_apart) == (budget == 0)


def test_with_a_large_budget_each_step_runs_once(setting, together):
    _, clip, _ = setting
    every_frame, third, scales = clip.frames, -(-clip.frames // 3), 2
    # HOG with two choices of what counts, each sent in two ways, looked at in two; steps alone are for all samplings.
    # Frames as they are need no scaling.
    per_frame = 1 + (scales - 1) + scales * (1 + 2 + 2 * 2 + 2 * 2)
    # MOG2 as HOG, and KNN with one choice; then four ways to match for each of the five.
    per_sampling = scales * ((1 + 2 + 2 * 2 + 2 * 2) + (1 + 1 + 2 + 2) + (2 + 1 + 2) * 4)
    assert together.outputs == per_frame * every_frame + per_sampling * (every_frame + third)


def test_sampling_saves_the_steps_after_unpacking(setting, together):
    plans, clip, _ = setting
    found = {plan.label: each.plan for plan, each in zip(plans, together.plans, strict=True)}
    whole, part = (
        found[f"decode{every}, detect knn, associate overlap"].components for every in ("", " every=3")
    )
    third = -(-clip.frames // 3)
    ticks = [component.cores * clip.seconds for component in (*whole, *part)]
    # Unpacking, converting and scaling; motion, choosing and sending; matching.
    assert ticks == pytest.approx(
        [3 * clip.frames, 3 * clip.frames, clip.frames, clip.frames + 2 * third, 3 * third, third]
    )
    assert part[0].output < whole[0].output


def test_the_detector_sends_crops_to_associators_of_pixels(setting, together):
    plans, _, _ = setting
    found = {plan.label: each.plan for plan, each in zip(plans, together.plans, strict=True)}
    bare = found["decode, detect knn, associate overlap"].components[1]
    with_crops = found["decode, detect knn with crops, associate orb"].components[1]
    assert 0 < bare.output < with_crops.output / 5


def test_the_thread_count_of_opencv_is_restored(setting):
    plans, clip, truth = setting
    before = cv2.getNumThreads()
    notified = []
    profile(plans[:3], clip, truth, 1e6, notify=lambda done, of: notified.append((done, of)))
    assert cv2.getNumThreads() == before
    assert notified == [(1, 3), (2, 3), (3, 3)]


def test_frames_too_small_for_hog_are_an_error(setting):
    _, clip, truth = setting
    tree = {"decode": {"scale": 0.5}, "detect": ["hog"], "associate": ["overlap"]}
    with pytest.raises(
        InputError, match=r"detect hog: frames are 128 x 90, expected 64 x 128 or more: raise scale"
    ):
        profile(read_tree(tree, "t").plans, clip, truth, 1e6)


def test_equal_plans_are_rejected(setting):
    plans, clip, truth = setting
    with pytest.raises(InputError, match=r"plans 0 and 1 are equal: decode, detect mog2"):
        profile([plans[0], plans[0]], clip, truth, 1e6)
    with pytest.raises(InputError, match="no plans given"):
        profile([], clip, truth, 1e6)
