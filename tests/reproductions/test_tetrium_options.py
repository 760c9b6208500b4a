"""Each row of Tetrium's options and classes compares the runs that it names."""

import dataclasses

import numpy as np
import pytest

from tests.reproductions.keyed import axes, rounded_text
from tests.reproductions.tetrium_bench import DELAY, SEEDS, FakeBench, gain_text, percents, text_by_wait
from windlass.experiment.workloads.sites import SiteModel
from windlass.experiment.workloads.stages import JobModel
from windlass_reproductions.tetrium import classes, options, verdicts
from windlass_reproductions.tetrium.runs import JOBS, SITES
from windlass_reproductions.tetrium.varied import sensitivity


@pytest.fixture
def bench():
    return FakeBench(SEEDS, 4)


def test_the_order_of_tasks_is_compared_with_the_three_others(bench):
    ((row,), _) = options.ordering(bench, quick=True)

    def of(maps, reduces):
        return percents(bench, "tetrium", "in-place", {"map_order": maps, "reduce_order": reduces})

    others = [of("remote-spread", "given"), of("local", "largest"), of("local", "given")]
    own = of("remote-spread", "largest")
    names = ("remote-spread / given", "local / largest", "local / given")
    text = ", ".join(f"{name} {rounded_text(each)}" for name, each in zip(names, others, strict=True))
    assert row.ours == f"{rounded_text(own)}; {text}"
    assert row.judged == verdicts.is_highest(own, others)
    assert text_by_wait(bench, "tetrium") in row.note


#: Figure 4.12 by drop, at 3, 5, 7, 10, 20 and 50 sites updated, %; copied from the thesis independently.
DYNAMICS = {
    0.1: [22, 35, 37, 38, 39, 39],
    0.2: [18, 29, 33, 34, 35, 35],
    0.3: [16, 25, 26, 26, 32, 34],
    0.4: [9, 19, 23, 25, 26, 30],
    0.5: [6, 15, 18, 20, 21, 24],
}


@pytest.mark.parametrize("quick", [True, False])
def test_gains_at_each_drop_are_compared_with_the_printed_ones(bench, quick):
    rows, (picture,) = options.dynamics(bench, quick=quick)
    drops = [0.3] if quick else list(DYNAMICS)
    sites = [3, 50] if quick else [3, 5, 7, 10, 20, 50]
    assert len(rows) == len(picture.lines) == len(drops)
    for row, line, drop in zip(rows, picture.lines, drops, strict=True):
        printed = [DYNAMICS[drop][0], DYNAMICS[drop][-1]] if quick else DYNAMICS[drop]
        values = [percents(bench, "tetrium", "in-place", {"update_sites": k}, drop=drop) for k in sites]
        assert row.what == f"Fig. 4.12, drop of {drop:.0%}, %"
        assert row.paper == ", ".join(f"k={k}: {value}" for k, value in zip(sites, printed, strict=True))
        assert row.ours == ", ".join(
            f"k={k}: {rounded_text(own)}" for k, own in zip(sites, values, strict=True)
        )
        assert row.judged == verdicts.rises_by(values[0], values[-1], printed[-1] - printed[0])
        assert f"at each instant: {gain_text(bench, 'tetrium', 'in-place', drop=drop)};" in row.note
        assert text_by_wait(bench, "tetrium", {"update_sites": 50}, drop=drop) in row.note
        assert list(line.x) == sites
        assert list(line.y) == pytest.approx([own.mean() for own in values])
        assert len(line.half_width) == len(sites)
    assert picture.log_x
    assert axes(picture) == ("fig-4-12", "k", "%")


@pytest.mark.parametrize("quick", [True, False])
def test_the_wan_budget_trades_time_for_traffic(bench, quick):
    rows, pictures = options.knobs(bench, quick=quick)
    rhos = [0.0, 1.0] if quick else [0.0, 0.25, 0.5, 0.75, 1.0]
    for row, picture, (against, figure) in zip(
        rows[:2], pictures[:2], (("in-place", "4.13"), ("centralised", "4.14")), strict=True
    ):
        times = [percents(bench, "tetrium", against, {"rho": rho}) for rho in rhos]
        wans = [percents(bench, "tetrium", against, {"rho": rho}, measure="sent") for rho in rhos]
        assert row.what == f"Fig. {figure}, reductions against {against}, %"
        assert row.ours == "; ".join(
            f"ρ={rho:g}: time {rounded_text(t)}, WAN {rounded_text(w)}"
            for rho, t, w in zip(rhos, times, wans, strict=True)
        )
        first, second = row.judged.parts
        assert first.found.mean == pytest.approx((times[-1] - times[0]).mean())
        assert second.found.mean == pytest.approx((wans[0] - wans[-1]).mean())
        assert f"{text_by_wait(bench, 'tetrium', {'rho': 0.0})} at ρ = 0" in row.note
        key = f"fig-{figure.replace('.', '-')}"
        assert axes(picture) == (key, "reduction of WAN usage, %", "reduction of response time, %")
        assert list(picture.lines[0].x) == pytest.approx([w.mean() for w in wans])
        assert list(picture.lines[0].y) == pytest.approx([t.mean() for t in times])


@pytest.mark.parametrize("quick", [True, False])
def test_fairness_is_varied_from_0_to_1(bench, quick):
    rows, pictures = options.knobs(bench, quick=quick)
    epsilons = [0.0, 1.0] if quick else [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    values = [percents(bench, "tetrium", "in-place", {"epsilon": value}) for value in epsilons]
    row, (line,) = rows[2], pictures[2].lines
    assert axes(pictures[2]) == ("fig-4-15", "ε", "%")
    assert row.ours == "; ".join(
        f"ε={e:g}: {rounded_text(own)}" for e, own in zip(epsilons, values, strict=True)
    )
    assert row.judged.parts[0].found.mean == pytest.approx((values[-1] - values[0]).mean())
    assert row.judged.parts[0].low == 42.0 - 1.0
    assert f"{text_by_wait(bench, 'tetrium', {'epsilon': 0.0})} at ε = 0" in row.note
    assert list(line.x) == epsilons
    assert list(line.y) == pytest.approx([own.mean() for own in values])
    assert len(line.half_width) == len(epsilons)


@pytest.mark.parametrize("quick", [True, False])
def test_estimate_errors_are_varied_in_steps(bench, quick):
    rows, _ = classes.distribution(bench, quick=quick)
    errors = [0.0, 1.0] if quick else [0.0, 0.25, 0.5, 1.0]
    settings = [{"jobs": dataclasses.replace(JOBS, estimate_error=e), "estimates": "true"} for e in errors]
    values = [percents(bench, "tetrium", "in-place", **setting) for setting in settings]
    row = rows[4]
    assert row.ours == "; ".join(
        f"≤ {e:.0%}: {rounded_text(own)}" for e, own in zip(errors, values, strict=True)
    )
    assert row.judged == verdicts.is_highest(values[0], values[1:])
    assert f"finished tasks: {gain_text(bench, 'tetrium', 'in-place')};" in row.note
    assert f"{text_by_wait(bench, 'tetrium', **settings[0])} with exact times" in row.note


def test_skewed_sites_are_compared_with_even_ones(bench):
    rows, _ = classes.skewed(bench, quick=True)
    for row, (label, field, paper) in zip(
        rows, (("slots", "slot_zipf", 51.0), ("links", "link_zipf", 37.0)), strict=True
    ):
        sites = [dataclasses.replace(SITES, **{field: exponent}) for exponent in (0.0, 1.6)]
        even, skewed = (percents(bench, "tetrium", "in-place", sites=own) for own in sites)
        assert row.what == f"Section 4.6.4, skew of {label}: gain rises by, points"
        assert (row.paper, row.ours) == (
            paper,
            f"{rounded_text(even)} at e = 0, {rounded_text(skewed)} at e = 1.6",
        )
        assert row.judged == verdicts.rises_by(even, skewed, paper)
        assert all(text_by_wait(bench, "tetrium", sites=own) in row.note for own in sites)


def test_gains_by_class_use_the_jobs_of_each_class(bench, monkeypatch):
    """Classes have the edges of the thesis's axes; a class of fewer than three jobs has no result."""
    edges = {
        "ratio": ([0.1, 0.2, 0.21, 0.3], "< 0.2", "0.2–0.5"),
        "tasks": ([50.0, 40.0, 51.0, 10.0], "< 50", "50–250"),
        "input skew": ([2.1, 3.0, 4.0, 0.1], "> 2", "< 0.5"),
        "intermediate skew": ([1.0, 0.6, 0.7, 9.0], "0.5–1", "> 2"),
    }
    monkeypatch.setattr(
        classes, "job_columns", lambda _: {key: np.array(own[0]) for key, own in edges.items()}
    )
    rows, _ = classes.distribution(bench, quick=True)
    for row, (values, many, few) in zip(rows, edges.values(), strict=False):
        columns = np.array(values)
        mine = {"< 0.2": columns <= 0.2, "< 50": columns <= 50, "> 2": columns > 2, "0.5–1": columns <= 1}[
            many
        ]
        if mine.sum() < 3:
            assert f"{many}: no jobs" in row.ours
            continue

        def over(against, other, mine=mine):
            runs = [
                (bench.run("tetrium", s).response, bench.run(against, s, **other).response) for s in SEEDS
            ]
            return [100.0 * (1.0 - ours[mine].mean() / theirs[mine].mean()) for ours, theirs in runs]

        assert f"{many}: {rounded_text(over('in-place', {}))}" in row.ours
        assert f"{many}: {rounded_text(over(DELAY, {'wait': 3.0}))}" in row.note
        assert f"{few}: no jobs" in row.ours
        assert "against delay scheduling at 3 s" in row.note


@pytest.mark.parametrize("quick", [True, False])
def test_gains_are_reported_by_load_and_task_size(bench, quick):
    rows, (picture,) = sensitivity(bench, quick=quick)
    loads = [1.0] if quick else [0.3, 1.0, 3.0]
    sizes = [0.5, 10.0] if quick else [0.5, 2.0, 10.0]
    expected = []
    for load, line in zip(loads, picture.lines, strict=True):
        points = []
        for size in sizes:
            own = {"jobs": dataclasses.replace(JOBS, load=load, task_bytes=size * 1e6)}
            each = ", ".join(
                f"{other} {gain_text(bench, 'tetrium', other, **own)}"
                for other in ("in-place", "centralised", "iridium", "tetris")
            )
            expected.append(
                (
                    f"Varied: load {load:g}, {size:g} MB a task, gain against, %",
                    f"{each}; {text_by_wait(bench, 'tetrium', **own)}",
                )
            )
            points.append(percents(bench, "tetrium", "in-place", **own).mean())
        assert (line.name, list(line.x)) == (f"load {load:g}", sizes)
        assert list(line.y) == pytest.approx(points)
        assert len(line.half_width) == len(sizes)
    assert [(row.what, row.ours) for row in rows[: len(expected)]] == expected
    assert len(rows) == len(expected) + (not quick)
    assert picture.log_x
    assert axes(picture) == ("varied", "MB a task", "%")
    if not quick:
        scarce = {
            "sites": SiteModel(sites=50, slots=(25, 500), mbit=(100.0, 2000.0)),
            "jobs": JobModel(load=20.0, tasks=500.0, task_bytes=0.2e6),
        }
        each = {
            "default": {},
            "ε = 0": {"epsilon": 0.0},
            "local maps first": {"map_order": "local"},
            "shuffles in the given order": {"reduce_order": "given"},
        }
        text = ", ".join(
            f"{name} {gain_text(bench, 'tetrium', 'in-place', of, **scarce)}" for name, of in each.items()
        )
        assert rows[-1].ours == f"{text}; {text_by_wait(bench, 'tetrium', **scarce)}"
