"""Chains of a video pipeline against the profiler: both compute the same results for a clip."""

import pytest

pytest.importorskip("cv2", reason="OpenCV is not installed: pip install '.[vision]'")

from windlass.engines.streams.executor import Frame
from windlass.engines.streams.part import Passing
from windlass.engines.streams.video import Videos
from windlass.model import InputError
from windlass.model.queries import Component, Query, QueryPlan
from windlass.plan.files import QueryRecording
from windlass.plan.profile.clip import about
from windlass.plan.profile.pipeline import read_pipeline
from windlass.plan.profile.running import profile
from windlass.plan.profile.tracks import read_truth
from windlass.plan.profile.traffic.making import make_clip
from windlass.plan.profile.traffic.scene import Traffic

PIPELINE = """
name: cars
decode: {scale: [1.0, 0.5], every: [1, 3]}
detect: [mog2, knn, difference]
associate: [overlap, histogram]
"""


@pytest.fixture(scope="module")
def street(tmp_path_factory):
    """A feed, its videos and its files."""
    folder = tmp_path_factory.mktemp("street")
    files = QueryRecording(folder / "clip.mp4", folder / "truth.csv", folder / "pipeline.yaml")
    make_clip(Traffic(seed=2, seconds=4.0, width=320, height=192, rate=10.0), files.clip, files.truth)
    files.pipeline.write_text(PIPELINE)
    clip = about(files.clip)
    measured = profile(read_pipeline(files.pipeline).plans, clip, read_truth(files.truth, clip), 1e8)
    query = Query("cars", "camera", tuple(one.plan for one in measured.plans))
    videos = Videos()
    (feed,) = videos.feeds([query], [files])
    return feed, videos, files


def played(feed, videos, plan, cut):
    """Return the frames of a playing by a chain of two segments, and the sent bytes."""
    parts = [one for one in (videos.stages(feed, plan, 0, cut), videos.stages(feed, plan, cut, 3))]
    runs, sent, found = [one.start() for one in parts], 0, {}
    for place in range(0, feed.frames, parts[0].every):
        value = runs[0](place, None)
        sent += parts[0].sent(value)
        covers = min(parts[0].every, feed.frames - place)
        found[place] = Frame(place, 0.0, runs[1](place, value), covers)
    return found, sent


@pytest.mark.parametrize("cut", [0, 1, 2])
def test_a_playing_has_the_accuracy_and_output_of_its_profile(street, cut):
    feed, videos, _ = street
    for plan, profiled in enumerate(feed.query.plans):
        found, sent = played(feed, videos, plan, cut)
        assert videos.score(feed, found) == pytest.approx(profiled.accuracy, abs=1e-12)
        rate = profiled.components[cut - 1].output if cut else feed.query.source
        assert sent / feed.seconds == pytest.approx(rate, rel=0.1 if cut == 0 else 1e-9)


def test_missing_frames_lower_the_accuracy(street):
    feed, videos, _ = street
    best = max(range(len(feed.query.plans)), key=lambda at: feed.query.plans[at].accuracy)
    found, _ = played(feed, videos, best, 1)
    half = {place: frame for place, frame in found.items() if place < feed.frames // 2}
    assert videos.score(feed, half) < feed.query.plans[best].accuracy
    assert videos.score(feed, {}) == 0.0


def test_a_camera_without_components_sends_the_clip_s_own_stream(street):
    feed, videos, files = street
    assert feed.query.source == pytest.approx(files.clip.stat().st_size / feed.seconds)
    sparse = next(at for at, plan in enumerate(feed.query.plans) if "every=3" in plan.components[0].name)
    assert videos.stages(feed, sparse, 0, 0) == Passing(3, round(feed.query.source / feed.rate * 3))


def test_a_given_stream_rate_is_kept(street):
    feed, _, files = street
    videos = Videos()
    given = Query("given", "camera", feed.query.plans, source=12345.0)
    found = videos.feeds([given, Query("cars", "camera", feed.query.plans)], [files, files])
    assert [each.query.source for each in found] == [12345.0, feed.query.source]
    assert [each.query.name for each in found] == ["given", "cars"]
    assert found[0].query.plans == feed.query.plans
    assert {(each.rate, each.frames, each.clip) for each in found} == {(10.0, 40, str(files.clip))}
    every = next(part.every for part in [videos.stages(found[0], 0, 0, 1)])
    assert videos.stages(found[0], 0, 0, 0) == Passing(every, round(12345.0 / 10.0 * every))


def test_a_plan_that_is_not_in_the_pipeline_is_named(street):
    feed, _, files = street
    other = Query("mine", "camera", (*feed.query.plans, QueryPlan(0.5, (Component("other", 1.0, 1.0),))))
    with pytest.raises(
        InputError, match=r"^query mine: .*pipeline\.yaml has no plan 'other', which its profile has$"
    ):
        Videos().feeds([other], [files])


def test_only_the_first_part_reads_the_clip(street):
    feed, videos, _ = street
    first, rest = videos.stages(feed, 0, 0, 2), videos.stages(feed, 0, 2, 3)
    assert (first.reads, rest.reads) == (True, False)
    assert (len(first.parts), len(rest.parts)) == (2, 1)
    assert first.every == rest.every
