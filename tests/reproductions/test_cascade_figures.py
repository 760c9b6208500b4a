"""Each row of Cascade's gains compares the plans that it names, on the cases that it names."""

import numpy as np
import pytest

from tests.reproductions.cascade_cases import (
    PLANNERS,
    SEEDS,
    Case,
    bound,
    case,
    drawn_case,
    mean_text,
    means,
    run,
)
from tests.reproductions.keyed import axes, mean_and_half, number_for
from windlass_reproductions.cascade import gains, heuristic, paper
from windlass_reproductions.cascade.setting import Deployment
from windlass_reproductions.cascade.verdicts import between


@pytest.fixture(autouse=True)
def fakes(monkeypatch):
    for module in (gains, heuristic):
        monkeypatch.setattr(module, "run", run)
        monkeypatch.setattr(module, "bound", bound)
    monkeypatch.setattr(heuristic, "drawn_case", drawn_case)
    monkeypatch.setattr(gains, "cheapest", lambda of: number_for(of.key, "cheapest"))


@pytest.mark.parametrize("counts", [(1, 2, 5), (1, 2, 3, 4, 5)])
def test_all_planners_are_measured_on_the_same_draws(counts):
    progress = []
    found = gains.measure("these", SEEDS, lambda rng: Case("own", rng.random()), progress.append, counts)
    whole = [Case("own", np.random.default_rng([seed, 5]).random()) for seed in SEEDS]
    for count in counts:
        some = [each.first(20 * count) for each in whole]
        for planner in PLANNERS:
            assert found.of(planner, count).tolist() == means(some, planner, SEEDS).tolist()
        assert found.of("cascade, own free", count).tolist() == means(some, "cascade", release=True).tolist()
        assert found.of("fair, 1/n", count).tolist() == means(some, "fair", among="queries").tolist()
        storm = means(some, "videostorm", SEEDS, otherwise="cheaper")
        assert found.of("videostorm, cheaper plans", count).tolist() == storm.tolist()
        assert found.of("LP bound", count).tolist() == [bound(each) for each in some]
        known = [found.of(name, count) for name in ("fair", "videostorm", "cascade", "refined")]
        known.append(found.of("cascade, own free", count))
        assert found.nearest(count).tolist() == np.max(known, axis=0).tolist()
    assert progress == pytest.approx(np.linspace(0, 1, 3 * len(counts) + 1)[1:])
    # A camera has 3 cores, and the fair share of each of the 100 queries is a hundredth of them.
    assert (found.name, found.counts, found.part) == ("these", counts, 0.03)
    assert found.least == number_for(whole[-1].key, "cheapest")


def test_rows_of_gains_report_the_measured_accuracies():
    found = gains.measure("these", SEEDS, lambda rng: Case("own", rng.random()), lambda done: None)
    rows = {row.what: row for row in gains.rows_of(found)}
    of = found.of
    for count in (1, 2, 5):
        row = rows[f"Fig. 5.15, these, {count} queries a camera: Cascade over the optimum"]
        low, high = of("cascade", count) / of("LP bound", count), of("cascade", count) / found.nearest(count)
        assert row.ours == f"{low.mean():.3f} to {high.mean():.3f}"
        assert row.judged.parts[0].found == between(low, high)
        assert row.judged.parts[0].low == pytest.approx(0.935)
        free = (of("cascade, own free", count) / of("LP bound", count)).mean()
        assert f"best plan found, whose mean accuracy is {found.nearest(count).mean():.3f}" in row.note
        assert f"may reuse its query's resources, {free:.3f} of the bound" in row.note
    for planner, what, paper_ in (
        ("cascade", "Fig. 5.15, gain over fair at 5 queries a camera, these", 15.7),
        ("merged", "Fig. 5.24, gain over fair with merging at 5 queries a camera, these", 27.2),
    ):
        row = rows[what]
        by_users, by_all = (mean_text(of(planner) / of(name)) for name in ("fair", "fair, 1/n"))
        assert (row.paper, row.ours) == (paper_, f"{by_users}; {by_all} over 1/n of every resource")
        assert row.judged.parts[0].low == pytest.approx(paper_ - 0.05)
        assert (
            f"fair has {of('fair').mean():.3f} here, the published gain needs {of(planner).mean() / paper_:.3f}"
            in row.note
        )
        assert f"cheapest plan needs {found.least:.3g} cores, and 1/n of a camera is 0.03" in row.note
    storm = rows["Abstract, these: gain over VideoStorm, up to"]
    each = {count: of("cascade", count) / of("videostorm", count) for count in (1, 2, 3, 4, 5)}
    best = max(each, key=lambda count: each[count].mean())
    listed = ", ".join(f"{values.mean():.2f}" for values in each.values())
    assert storm.ours == f"{mean_text(each[best])} at {best} a camera; {listed}"
    assert (storm.paper, storm.judged.parts[0].low) == (2.3, 2.25)
    parts = [(of("videostorm", count) / of("LP bound", count)).mean() for count in (1, 5)]
    assert f"VideoStorm has {parts[0]:.0%} of the bound at 1 a camera, {parts[1]:.0%} at 5" in storm.note
    each = [(of("cascade", n) / of("videostorm, cheaper plans", n)).mean() for n in (1, 2, 3, 4, 5)]
    assert f"give way to cheaper ones, {', '.join(f'{gain:.2f}' for gain in each)}" in storm.note
    gain = of("merged") / of("cascade")
    merging = rows["Fig. 5.24, these, 5 a camera: merging over no merging"]
    assert (merging.paper, merging.ours, merging.judged.parts[0].low) == (1.8, mean_text(gain), 1.75)
    room = (1 / of("cascade")).mean()
    assert f"Cascade has {of('cascade').mean():.3f} alone, so no gain can be above {room:.2f}" in merging.note
    blind = rows["Fig. 5.24, these, 5 a camera: merging everything is worse than merging with care"]
    assert blind.ours == f"{mean_text(of('merge-everything'))} against {mean_text(of('merged'))}"
    lost = (of("merge-everything") / of("cascade")).mean() - 1
    if not blind.holds:
        assert f"merging gains {gain.mean() - 1:.1%}, and blind merging {lost:.1%}" in blind.note
    last = rows["Fig. 5.24, these: gains over fair at 1, 2, 3, 4, 5 queries a camera"]
    assert last.ours == "; ".join(
        f"{planner} " + ", ".join(f"{(of(planner, n) / of('fair', n)).mean():.2f}" for n in (1, 2, 3, 4, 5))
        for planner in ("cascade", "merged", "merge-everything")
    )
    for planner, word in (
        ("fair", "fair"),
        ("cascade", "Cascade"),
        ("fair, 1/n", "1/n of every resource"),
    ):
        assert f"{word} " + ", ".join(f"{of(planner, n).mean():.3f}" for n in (1, 2, 3, 4, 5)) in last.note


def test_the_picture_shows_accuracy_relative_to_the_bound():
    found = gains.measure("these two", SEEDS, lambda rng: Case("own", rng.random()), lambda done: None)
    drawn = gains.picture(found)
    assert [line.name for line in drawn.lines] == [*PLANNERS, "cascade, own free"]
    for line in drawn.lines:
        each = [found.of(line.name, count) / found.of("LP bound", count) for count in found.counts]
        assert tuple(line.x) == (1, 2, 3, 4, 5)
        assert list(line.y) == pytest.approx([own.mean() for own in each])
        assert list(line.half_width) == pytest.approx([mean_and_half(own)[1] for own in each])
    assert axes(drawn) == ("fig-5-15-these-two", "queries a camera", "mean accuracy over the bound")
    lone = gains.measure("one", (1,), lambda rng: Case("own"), lambda done: None, (1, 2, 5))
    assert list(gains.picture(lone).lines[0].half_width) == [0.0] * 3


def test_no_ratio_is_reported_where_fair_runs_no_query():
    found = gains.measure("these", SEEDS, lambda rng: Case("own", rng.random()), lambda done: None)
    found.means["fair", 5][1:] = 0.0
    row = gains._over_fair(found, "cascade", "what", 15.7)
    assert row.ours == f"fair runs no query in 2 of 3 draws, Cascade has {found.of('cascade').mean():.3f}"
    assert gains._listed(found, "cascade", "fair").endswith(", no ratio")
    found.means["fair, 1/n", 5][2:] = 0.0
    found.means["fair", 5][:] = 0.5
    row = gains._over_fair(found, "merged", "what", 15.7)
    assert row.ours.endswith("; 1/n of every resource runs no query in 1 of 3 draws")


@pytest.mark.parametrize("bands", [(1.0, 2.0, 4.0), (1.0, 2.0)])
def test_bands_are_compared_with_all_configurations(monkeypatch, bands):
    """Each plan takes a second more of the processor than the one before it."""
    clock = iter(np.cumsum(np.repeat(np.arange(0.0, 50.0), 2) % 2 + np.arange(100) * 0.01))
    spent = []

    def process_time():
        spent.append(float(next(clock)))
        return spent[-1]

    monkeypatch.setattr(heuristic.time, "process_time", process_time)
    rows, picture = heuristic.band_rows(SEEDS, bands)
    cases = [case(5, seed, 5) for seed in SEEDS]
    whole = means(cases, "cascade", band=1e9)
    accuracy = {band: means(cases, "cascade", band=band) / whole for band in bands}
    taken = np.diff(np.array(spent).reshape(3, len(bands) + 1, 2), axis=2)[:, :, 0]
    times = {band: taken[:, place] / taken[:, -1] for place, band in enumerate(bands)}
    expected = heuristic.judge_bands(accuracy, times)
    assert [(row.ours, row.note) for row in rows] == [(row.ours, row.note) for row in expected]
    one, two = picture.lines
    assert list(one.x) == list(two.x) == list(bands)
    assert list(one.y) == pytest.approx([accuracy[band].mean() for band in bands])
    assert list(two.y) == pytest.approx([times[band].mean() for band in bands])
    assert axes(picture) == ("fig-5-25", "width of the band", "share")
    assert rows[0].note.startswith(
        f"all configurations together gain {1 / accuracy[1.0].mean() - 1:.1%} over it"
    )
    assert [row.judged.parts[0].low for row in rows[:2]] == pytest.approx([0.75, 0.9])
    assert rows[0].judged.parts[0].high == pytest.approx(0.85)
    assert rows[2].judged.parts[0].high == 0.2


def test_time_rows_compare_cascade_with_the_integer_program(monkeypatch):
    clock = iter([0.0, 2.0, 10.0, 60.0, 100.0, 101.0, 110.0, 310.0])
    monkeypatch.setattr(heuristic.time, "process_time", lambda: next(clock))
    rows = heuristic.time_rows((40, 50), 5.0)
    for row, count, per_camera, greedy, program in zip(
        rows, (40, 50), (2, 3), (2.0, 1.0), (50.0, 200.0), strict=True
    ):
        of = case(per_camera, count, 6).first(count)
        assert row.what == f"Fig. 5.26: {count} queries, Cascade's time over the BIP's, %"
        assert row.ours == round(100 * greedy / program, 2)
        assert row.note.startswith(f"{greedy:.2f} s and {program:.1f} s of CPU")
        best = run(of, "optimal", seconds=5.0).mean
        assert "HiGHS may take 5 s" in row.note
        assert f"accuracies {run(of, 'cascade').mean:.4f} and {best:.4f}, at most {bound(of):.4f}" in row.note


def test_other_metrics_are_compared_with_those_of_the_thesis():
    rows = heuristic.metric_rows(SEEDS)
    cases = [case(5, seed, 5) for seed in SEEDS]
    base = means(cases, "cascade")
    summed, plain = means(cases, "cascade", cost="sum"), means(cases, "cascade", efficiency="plain")
    assert [row.ours for row in rows] == [
        mean_text(100 * (summed / base - 1)),
        mean_text(100 * (plain - base)),
    ]
    assert [row.paper for row in rows] == [-11.0, "nearly -10"]
    assert [row.judged.parts[0].high for row in rows] == [-10.5, -9.0]
    assert all(row.note.startswith(f"it is {base.mean():.3f} as printed") for row in rows)


def test_each_capacity_is_multiplied_alone():
    rows = heuristic.sensitivity_rows(SEEDS, (2.0, 16.0))
    fields = {
        "camera CPU": ("camera_cores",),
        "camera links": ("link",),
        "private CPU": ("private_cores",),
        "private link": ("uplink",),
        "cloud CPU": ("cloud_cores",),
        "all": ("camera_cores", "link", "private_cores", "uplink", "cloud_cores"),
    }
    for row, (name, multiplied) in zip(rows, fields.items(), strict=True):
        text, known, lowest = [], [], []
        for factor in (2.0, 16.0):
            base = Deployment()
            wide = Deployment(**{field: factor * getattr(base, field) for field in multiplied})
            cases = [case(2, seed, 5).on(wide) for seed in SEEDS]
            ours = means(cases, "cascade", ties="cloud")
            low = ours / [bound(of) for of in cases]
            high = ours / np.maximum(ours, means(cases, "refined"))
            known.append(between(low, high))
            text.append(f"{np.mean(low):.3f}–{np.mean(high):.3f} at {factor:g}x")
            lowest.append(f"{np.mean(means(cases, 'cascade') / [bound(of) for of in cases]):.3f}")
        assert row.what == f"Fig. 5.27: Cascade over the optimum with more {name}"
        assert row.ours == ", ".join(text)
        assert [part.found for part in row.judged.parts] == known
        assert f"; {', '.join(lowest)} of the bound if ties go to the cameras" in row.note


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("there", [True, False])
def test_all_parts_run_on_their_draws(monkeypatch, quick, there):
    calls, progress = [], []
    monkeypatch.setattr(paper, "example_rows", lambda: ["example"])
    monkeypatch.setattr(paper, "tables", lambda: "tables" if there else None)
    monkeypatch.setattr(paper, "measured", lambda: ["profile"] if there else [])
    for name in ("drawn_case", "recorded_case", "measured_case"):
        monkeypatch.setattr(paper, name, lambda *given, name=name: (name, *given))

    def measure(name, seeds, make, notify, counts):
        notify(0.5)
        calls.append((name, list(seeds), make("rng"), counts))
        return name

    monkeypatch.setattr(paper.gains, "measure", measure)
    monkeypatch.setattr(paper.gains, "rows_of", lambda found: [f"rows {found}"])
    monkeypatch.setattr(paper.gains, "picture", lambda found: f"picture {found}")
    for name in ("placement_rows", "type_rows", "metric_rows", "sensitivity_rows", "time_rows"):

        def made(*given, name=name):
            calls.append((name, *(list(each) if isinstance(each, range) else each for each in given)))
            return [name]

        monkeypatch.setattr(paper, name, made)
    monkeypatch.setattr(paper, "band_rows", lambda seeds, bands: (["band", list(seeds), bands], "bands"))
    monkeypatch.setattr(
        paper, "demand_rows", lambda seeds, factors: (["demand", list(seeds), factors], "curve")
    )
    found = paper.CascadePaper().reproduce(quick=quick, notify=lambda *step: progress.append(step))
    seeds = [1, 2, 3] if quick else list(range(1, 11))
    counts = (1, 2, 5) if quick else (1, 2, 3, 4, 5)
    sources = {"drawn profiles": ("drawn_case", 5, "rng")}
    if there:
        sources["recorded models"] = ("recorded_case", 5, "rng", "tables")
        sources["measured profiles"] = ("measured_case", 5, "rng", ["profile"])
    assert calls == [
        *((name, seeds, made, counts) for name, made in sources.items()),
        ("placement_rows", seeds),
        ("type_rows", seeds),
        ("metric_rows", seeds),
        ("sensitivity_rows", seeds[:3], (16.0,) if quick else (2.0, 4.0, 8.0, 16.0)),
        ("time_rows", (40,) if quick else (40, 80, 160, 320, 640), 5.0 if quick else 120.0),
    ]
    rows = list(found.rows)
    assert rows[:2] == ["example", "rows drawn profiles"]
    absent = [row.what for row in rows if hasattr(row, "what")]
    assert absent == (
        []
        if there
        else [f"Figures 5.15 and 5.24, {name}" for name in ("measured profiles", "recorded models")]
    )
    assert rows[-3:] == ["band", seeds, (1.0, 2.0, 4.0) if quick else (1.0, 1.5, 2.0, 3.0, 4.0, 6.0)]
    assert rows[-6:-3] == ["demand", seeds, (1.0, 4.0) if quick else (1.0, 1.5, 2.0, 3.0, 4.0)]
    assert found.pictures == (*(f"picture {name}" for name in sources), "curve", "bands")
    shares = [share for _, share in progress]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert shares[1 : 1 + len(sources)] == pytest.approx(
        [0.02 + 0.2 * place + 0.095 for place in range(len(sources))]
    )
