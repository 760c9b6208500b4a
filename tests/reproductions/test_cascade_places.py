"""Rows on where Cascade's components run and on kinds of queries compare the plans that they name."""

import numpy as np
import pytest

from tests.reproductions.cascade_cases import SEEDS, Case, Outcome, case, drawn_case, mean_text, means, run
from windlass_reproductions.cascade import placement, types
from windlass_reproductions.cascade.drawn import CLASSIFIER, COUNTER, KINDS, READER, TRACKER
from windlass_reproductions.cascade.setting import CAMERA, CLOUD, PRIVATE, Deployment


@pytest.fixture(autouse=True)
def fakes(monkeypatch):
    for module in (placement, types):
        monkeypatch.setattr(module, "run", run)
        monkeypatch.setattr(module, "drawn_case", drawn_case)
    monkeypatch.setattr(placement, "on_level", lambda of, level: Case(*of.key, "level", level))


def test_accuracy_distributions_are_compared_with_the_optimum():
    rows = placement.placement_rows(SEEDS)
    five = [case(5, seed, 5) for seed in SEEDS]
    two = [of.first(40) for of in five]
    found = {
        name: [run(of, name, seed) for of, seed in zip(two, SEEDS, strict=True)]
        for name in ("cascade", "videostorm", "fair", "refined")
    }
    gaps = {
        name: mean_text(
            [
                placement.largest_gap(one.each, best.each)
                for one, best in zip(found[name], found["refined"], strict=True)
            ]
        )
        for name in ("cascade", "videostorm", "fair")
    }
    assert (
        rows[0].ours
        == f"{gaps['cascade']} apart at most; VideoStorm's {gaps['videostorm']}, fair's {gaps['fair']}"
    )
    apart = np.mean(
        [one.mean - best.mean for one, best in zip(found["cascade"], found["refined"], strict=True)]
    )
    assert f"Means differ by {apart:+.3f}:" in rows[0].note
    assert rows[0].judged.parts[0].high == 0.1
    costs = {name: np.array([own.costs.mean() for own in each]) for name, each in found.items()}
    assert rows[1].ours == ", ".join(f"{name} {mean_text(values)}" for name, values in costs.items())
    assert [part.found.mean for part in rows[1].judged.parts] == pytest.approx(
        [(costs["cascade"] - costs[name]).mean() for name in ("fair", "videostorm")]
    )
    used = {kind: mean_text([own.busy(kind) for own in found["cascade"]]) for kind in ("cores", "up")}
    full = {kind: mean_text([run(of, "cascade").busy(kind) for of in five]) for kind in ("cores", "up")}
    assert rows[2].ours == f"cores {used['cores']}, links {used['up']}"
    assert f"at five, cores {full['cores']}, links {full['up']}" in rows[2].note
    assert [part.low for part in rows[2].judged.parts] == [0.85, 0.85]


def test_placement_rows_are_for_two_queries_per_camera():
    rows = placement.placement_rows(SEEDS)[3:]
    two = [case(5, seed, 5).first(40) for seed in SEEDS]
    storm = [1 - run(of, "videostorm", seed).together for of, seed in zip(two, SEEDS, strict=True)]
    assert [row.ours for row in rows[:2]] == [
        mean_text([run(of, "cascade").together for of in two]),
        mean_text(storm),
    ]
    assert [row.paper for row in rows[:2]] == [0.93, 0.23]
    assert [part.high for row in rows[:2] for part in row.judged.parts] == pytest.approx([0.98, 0.28])
    for row, times, paper_, share in zip(
        rows[2:4], (1.0, 16.0), ("about the same", 20.0), (0.94, 0.83), strict=True
    ):
        base = Deployment()
        wide = [of.on(Deployment(link=times * base.link, uplink=times * base.uplink)) for of in two]
        tied = [Case(*of.key, "where", [True, False]) for of in wide]
        gain = 100 * (means(wide, "cascade") / means(tied, "cascade") - 1)
        together = mean_text([run(of, "cascade").together for of in wide])
        assert (row.paper, row.ours) == (paper_, mean_text(gain))
        assert f"{together} of queries are at one place, {share:g} in the thesis; " in row.note
        assert f"accuracy {means(wide, 'cascade').mean():.3f}" in row.note
        part = row.judged.parts[0]
        assert (part.low, part.high) == ((-5.0, 5.0) if times == 1 else (15.0, 25.0))


def test_single_level_rows_cover_one_to_five_queries_per_camera(monkeypatch):
    real = Outcome

    def outcome_of(*key):
        own = real(*key)
        # At two queries per camera the private cluster runs no query in one draw.
        if key[0][-4:] == ("first", 40, "level", PRIVATE) and key[0][1] == case(5, 2, 5).key[1]:
            own.mean = 0.0
        return own

    monkeypatch.setattr(
        placement,
        "run",
        lambda of, policy, seed=0, **given: outcome_of(of.key, policy, seed, sorted(given.items())),
    )
    rows = placement.placement_rows(SEEDS)[7:]
    five = [case(5, seed, 5, results=7200.0) for seed in SEEDS]
    most = {}
    for row, (level, name) in zip(
        rows,
        {CAMERA: "the cameras", PRIVATE: "the private cluster", CLOUD: "the cloud"}.items(),
        strict=False,
    ):
        text = []
        for count in range(1, 6):
            some = [of.first(20 * count) for of in five]
            alone = [Case(*of.key, "level", level) for of in some]
            most[level] = means(some, "cascade") / means(alone, "cascade")
            text.append("no ratio" if (level, count) == (PRIVATE, 2) else f"{most[level].mean():.2f}")
        assert row.what == f"Fig. 5.23: Cascade over {name} alone, 1 to 5 queries a camera"
        assert row.ours == ", ".join(text)
        assert row.note.startswith("results are sent to the cloud, 0.058 Mb/s of each query")
    assert [(row.what, row.ours) for row in rows[3:]] == [
        (row.what, row.ours) for row in placement.static_rows(most)
    ]
    largest = max(most, key=lambda level: most[level].mean())
    assert (
        rows[4].ours == {CAMERA: "the cameras", PRIVATE: "the private cluster", CLOUD: "the cloud"}[largest]
    )
    assert (rows[3].paper, rows[3].ours, rows[3].judged.parts[0].low) == (3.0, mean_text(most[CLOUD]), 2.95)
    assert "cores: 40 at cameras, 8 private, 48 in the cloud" in rows[4].note


def test_kinds_of_queries_are_compared_at_four_queries_per_camera():
    rows = types.type_rows(SEEDS)
    cases = [case(4, seed, 4, kinds=KINDS) for seed in SEEDS]

    def of(policy, kind):
        return np.array([run(each, policy).of_kind(kind) for each in cases])

    printed = {READER: (0.87, 6.47), CLASSIFIER: (1.02, 5.10), COUNTER: (0.87, 6.53), TRACKER: (1.02, 13.33)}
    kinds = {kind.name: found for kind, found in printed.items()}
    for place, (kind, (near, gain)) in enumerate(kinds.items()):
        best, ours, fair = (of(policy, kind) for policy in ("refined", "cascade", "fair"))
        one, two = rows[2 * place : 2 * place + 2]
        assert (one.paper, one.ours, two.paper, two.ours) == (
            near,
            mean_text(ours / best),
            gain,
            mean_text(ours / fair),
        )
        assert f"{best.mean():.3f}, Cascade {ours.mean():.3f}" in one.note
        even = np.array([run(each, "fair", among="queries").of_kind(kind) for each in cases])
        assert f"this kind {fair.mean():.3f}, and 1/n of every resource {even.mean():.3f}" in two.note
        assert one.judged.parts[0].high == pytest.approx(near + 0.05)
        assert two.judged.parts[0].low == pytest.approx(gain - 0.005)
    far = {kind: of("cascade", kind) / of("refined", kind) for kind in kinds}
    assert rows[8].ours == ", ".join(f"{kind} {mean_text(values)}" for kind, values in far.items())
    pairs = [(low, high) for low in (READER, COUNTER) for high in (CLASSIFIER, TRACKER)]
    assert [part.found.mean for part in rows[8].judged.parts] == pytest.approx(
        [(far[low.name] - far[high.name]).mean() for low, high in pairs]
    )


def test_mixes_have_five_queries_per_camera():
    rows = types.type_rows(SEEDS)[9:]
    found = {}
    for row, (trackers, paper_) in zip(rows, enumerate((0.91, 0.92, 0.93, 0.95, 0.97, 0.98)), strict=False):
        kinds = [TRACKER] * trackers + [READER] * (5 - trackers)
        cases = [case(5, seed, trackers, kinds=kinds) for seed in SEEDS]
        found[trackers] = means(cases, "cascade") / means(cases, "refined")
        assert row.what.startswith(f"Fig. 5.22: {20 * trackers} % trackers")
        assert (row.paper, row.ours) == (paper_, mean_text(found[trackers]))
        assert row.judged.parts[0].low == pytest.approx(paper_ - 0.005)
    assert rows[6].ours == f"{mean_text(found[5])} after {mean_text(found[0])}"
    assert rows[6].judged.parts[0].found.mean == pytest.approx((found[0] - found[5]).mean())
