"""Synthetic streaming queries: the clusters of the thesis, the kinds, and the distribution of accuracies."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from windlass.experiment.workloads.queries import KINDS, drawn_queries, three_tiers
from windlass.model import InputError


def rng(seed=1):
    return np.random.default_rng(seed)


def follows(sample, law):
    return stats.kstest(sample, law.cdf).pvalue > 1e-3


def test_the_clusters_match_the_thesis():
    tiers = three_tiers()
    assert len(tiers.clusters) == 22
    *cameras, private, cloud = tiers.clusters
    # 20 cameras on ten nodes of 4 cores, 600 kb/s each; 2 private nodes, 5 Mb/s; 12 cloud nodes.
    assert {(each.cores, each.up, each.parent) for each in cameras} == {(2.0, 600e3 / 8, "private")}
    assert [each.name for each in cameras] == [f"camera-{at}" for at in range(1, 21)]
    assert (private.name, private.cores, private.up, private.parent) == ("private", 2 * 4, 5e6 / 8, "cloud")
    assert (cloud.name, cloud.cores, cloud.up, cloud.parent) == ("cloud", 12 * 4, math.inf, None)
    with pytest.raises(InputError, match="cameras is 0, expected a whole number of at least 1"):
        three_tiers(cameras=0)


STEPS = {
    "tracker": "1080 720 480 360 240 | 30 15 10 5 2 | detect hog 1 3 .4, detect knn .94 1.5 .4, detect mog .9 1 .4, "
    "detect difference .72 .3 .4 | associate features 1 1.5 0, associate colours .93 .6 0, "
    "associate distance .82 .05 0",
    "classifier": "1080 720 480 360 240 | 2 | find objects 1 1 .3 | large 1 3 0, medium .96 1.6 0, small .88 .7 0, "
    "tiny .72 .25 0",
    "counter": "1080 720 480 360 240 | 15 | detect mog .95 1 .1, detect difference .7 .3 .1 | count 1 .05 0",
    "plates": "1080 720 480 360 240 | 15 5 2 | find plates 1 1.2 .2 | read well 1 2 0, read fast .85 .5 0",
}


def test_each_kind_of_query_has_its_plans_and_steps():
    assert [(kind.name, kind.plans) for kind in KINDS] == [
        ("tracker", 300),
        ("classifier", 20),
        ("counter", 10),
        ("plates", 30),
    ]
    for kind in KINDS:
        lines, frames, *steps = (part.strip() for part in STEPS[kind.name].split("|"))
        assert kind.lines == tuple(map(int, lines.split()))
        assert kind.frames == tuple(map(int, frames.split()))
        for implementations, text in zip((kind.first, kind.second), steps, strict=True):
            found = [(each.name, each.worth, each.cores, each.output) for each in implementations]
            words = [each.split() for each in text.split(", ")]
            assert found == [(" ".join(word[:-3]), *map(float, word[-3:])) for word in words]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_work_and_accuracy_of_plans_follow_lines_and_frames(kind):
    queries = drawn_queries(rng(), ["a", "b", "c"], 7, (kind.name,), spread=0.0)
    assert [query.camera for query in queries] == ["a", "b", "c"] * 2 + ["a"]
    assert [query.name for query in queries] == [f"{kind.name}-{at}" for at in range(1, 8)]
    combined = list(itertools.product(kind.lines, kind.frames, kind.first, kind.second))
    busy = {}
    for query in queries:
        assert query.source == 90e6
        assert len(query.plans) == kind.plans
        for plan, (lines, frames, first, second) in zip(query.plans, combined, strict=True):
            encode, one, other = plan.components
            assert encode.name == f"encode {lines}p {frames}fps"
            assert (one.name, other.name) == (first.name, second.name)
            stream = 375e3 * (lines / 1080) ** 1.3 * (frames / 30) ** 0.7
            assert (encode.cores, encode.output) == (0.0, pytest.approx(stream))
            assert (one.output, other.output) == (pytest.approx(first.output * stream), 0.0)
            work = (lines / 1080) ** 1.5 * frames / 30
            # The work of a stream depends on its camera.
            factor = busy.setdefault(query.camera, one.cores / (first.cores * work))
            assert one.cores == pytest.approx(first.cores * work * factor)
            assert other.cores == pytest.approx(second.cores * work * factor)
        best = {
            (each.worth, other.worth): plan.accuracy
            for plan, (lines, frames, each, other) in zip(query.plans, combined, strict=True)
            if (lines, frames) == (kind.lines[0], kind.frames[0])
        }
        top = max(best.values())
        most = max(each.worth * other.worth for each, other in itertools.product(kind.first, kind.second))
        for (one, other), accuracy in best.items():
            assert accuracy == pytest.approx(top * one * other / most)
    assert len(set(busy.values())) == 3


def test_accuracies_saturate_exponentially_with_lines_and_frames():
    """Over many queries, the needed lines and frames and the best accuracy are uniform between their bounds."""
    queries = drawn_queries(rng(), ["a"], 500, ("counter",), spread=0.0)
    lines = np.array(KINDS[2].lines)
    needs, seen = [], []
    for query in queries:
        curve = np.array([plan.accuracy for plan in query.plans[::2]])
        # Of 1 - exp(-x / n) at 1080, 720 and 360 lines, the ratio fixes n.
        grid = np.linspace(140, 510, 186)
        shapes = 1 - np.exp(-lines[None] / grid[:, None])
        off = ((shapes / shapes[:, :1] - curve / curve[0]) ** 2).sum(axis=1)
        needs.append(grid[off.argmin()])
        seen.append(curve[0] / (0.95 * (1 - math.exp(-1080 / needs[-1]))))
    assert follows(needs, stats.uniform(150, 350))
    # The top of 0.8 to 1, times what 15 frames of 1 to 6 needed show.
    random = rng(9)
    tops = random.uniform(0.8, 1.0, 20_000) * (1 - np.exp(-15 / random.uniform(1, 6, 20_000)))
    assert stats.ks_2samp(seen, tops).pvalue > 1e-3


def test_accuracies_vary_by_the_spread_and_work_varies_by_camera():
    queries = drawn_queries(rng(), [f"c{at}" for at in range(200)], 200, ("counter",), spread=0.2)
    # With few lines no accuracy is near 1, at which they are cut off.
    ratios = [math.log(query.plans[9].accuracy / query.plans[8].accuracy) for query in queries]
    assert np.mean(ratios) == pytest.approx(math.log(0.7 / 0.95), abs=0.09)
    assert np.std(ratios) == pytest.approx(0.2 * math.sqrt(2), rel=0.15)
    busy = [query.plans[0].components[1].cores / 0.5 for query in queries]
    assert follows(np.log(busy), stats.norm(0.0, 0.3))
    assert max(plan.accuracy for query in queries for plan in query.plans) <= 1.0
    mixed = drawn_queries(rng(), ["a"], 300, ("counter", "plates"))
    share = np.mean([query.name.startswith("plates") for query in mixed])
    assert share == pytest.approx(0.5, abs=0.12)
    assert {query.name.split("-")[0] for query in drawn_queries(rng(), ["a"], 20)} == {"tracker"}
    default, explicit = (
        drawn_queries(rng(), ["a"], 3, ("counter",), **each) for each in ({}, {"spread": 0.1})
    )
    assert default == explicit
    assert drawn_queries(rng(), ["a"], 0) == ()
    with pytest.raises(InputError, match="unknown kind of query 'cars', expected one of tracker, classifier"):
        drawn_queries(rng(), ["a"], 1, ("counter", "cars"))
    with pytest.raises(InputError, match="spread is -1"):
        drawn_queries(rng(), ["a"], 1, spread=-1.0)
    with pytest.raises(InputError, match="count is -1"):
        drawn_queries(rng(), ["a"], -1)
