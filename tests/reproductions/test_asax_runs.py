"""ASAx in the simulator: which runs are made, and what each table and picture shows."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.reproductions.keyed import axes, mean_and_half, number_for
from windlass.results.metrics.sharing import SharingMetrics
from windlass_reproductions.asax import paper, runs, tables
from windlass_reproductions.asax.mix import PROGRAMS, draw_mix
from windlass_reproductions.asax.runs import CONTENDERS, Found

SIZES = (64, 128, 256)


def mean_text(values):
    mean, half = mean_and_half(values)
    return f"{mean:.3g} ± {half:.2g}"


def fake_results(name, size, seeds=3):
    metrics, programs = [], []
    for seed in range(seeds):
        fields = {field: number_for(name, size, seed, field) for field in SharingMetrics.__dataclass_fields__}
        metrics.append(SharingMetrics(**fields))
        programs.append({each.name: number_for(name, size, seed, each.name) for each in PROGRAMS})
    return Found(
        tuple(metrics),
        tuple(programs),
        np.array([number_for(name, size, seed, "quota") for seed in range(seeds)]),
    )


@pytest.fixture
def all_results():
    return {size: {each.shown: fake_results(each.shown, size) for each in CONTENDERS} for size in SIZES}


def test_table_3_is_compared_with_the_printed_one(all_results):
    printed = {
        "EASY": [(3.5, 53, 4.4), (1.5, 45, 2.4), (0.5, 32, 1.4)],
        "static": [(1.7, 90, 4.8), (0.8, 92, 2.8), (0.3, 89, 2.0)],
        "ASAx": [(1.8, 82, 3.5), (1.0, 84, 2.0), (0.3, 83, 0.9)],
    }
    rows = iter(tables.table_3(all_results))
    for place, size in enumerate(SIZES):
        for name, of in all_results[size].items():
            row = next(rows)
            theirs = printed.get(name)
            published = theirs and "wait {} h, CPU {} %, response {} h".format(*theirs[place])
            assert (row.what, row.paper) == (f"Table 3, {size} cores, {name}", published)
            hours = {
                metric: mean_text(of.of(metric) / 3600)
                for metric in ("mean_wait_s", "mean_response_s", "makespan_s")
            }
            assert row.ours == (
                f"wait {hours['mean_wait_s']} h; CPU {mean_text(100 * of.of('cpu_utilisation'))} %; "
                f"response {hours['mean_response_s']} h; makespan {hours['makespan_s']} h; "
                f"stretch {mean_text(of.of('mean_stretch'))}, of hosts {mean_text(of.of('mean_host_stretch'))}; "
                f"cut {of.of('cut_by_sharing').mean():.1f}, requeued {of.of('evicted').mean():.1f} of 45 jobs"
            )


def test_table_2_has_run_times_relative_to_easy(all_results):
    hours = {
        "montage": (0.35, 0.32, 0.29),
        "blast": (0.71, 0.72, 0.70),
        "statistics": (0.69, 0.70, 0.72),
        "synthetic": (0.49, 0.50, 0.48),
    }
    printed = {
        "static": [(0.38, 0.82, 0.77, 0.57), (0.35, 0.79, 0.76, 0.57), (0.32, 0.80, 0.76, 0.53)],
        "ASAx": [(0.35, 0.75, 0.73, 0.56), (0.33, 0.73, 0.72, 0.55), (0.30, 0.76, 0.73, 0.52)],
    }
    rows = iter(tables.table_2(all_results))
    for place, size in enumerate(SIZES):
        for name in ("static", "ASAx", "pairs"):
            row = next(rows)
            ratios = [
                (all_results[size][name].run_of(each) / all_results[size]["EASY"].run_of(each)).mean()
                for each in hours
            ]
            assert row.what == f"Table 2, {size} cores, {name}: run times relative to EASY"
            assert row.ours == ", ".join(
                f"{each} {ratio:.2f}" for each, ratio in zip(hours, ratios, strict=True)
            )
            theirs = printed.get(name)
            assert row.paper == (
                theirs
                and ", ".join(
                    f"{each} {run / hours[each][place]:.2f}"
                    for each, run in zip(hours, theirs[place], strict=True)
                )
            )


def test_utilisation_rows_have_makespan_ratios_and_quota_use(all_results):
    rows = tables.utilisation(all_results)
    for size, (work, quota) in zip(SIZES, zip(rows[::2], rows[1::2], strict=True), strict=True):
        easy, static = all_results[size]["EASY"], all_results[size]["static"]
        ratio = (easy.of("makespan_s") / static.of("makespan_s")).mean()
        assert work.ours == f"{ratio:.2f} times"
        assert (work.paper is None) == (size != 256)
        assert quota.ours == ", ".join(
            f"{all_results[size][name].quota_use.mean():.0f}" for name in ("EASY", "static", "ASAx")
        )
    assert [row.paper for row in rows[1::2]] == ["53, 90, 82", "45, 92, 84", "32, 89, 83"]


def test_sizes_with_less_slowdown_than_static_are_counted(all_results):
    row = tables.verdicts(all_results)[9]
    counts = [
        sum(
            mean + half < 0
            for size in SIZES
            for mean, half in [
                mean_and_half(all_results[size]["ASAx"].of(metric) - all_results[size]["static"].of(metric))
            ]
        )
        for metric in ("mean_stretch", "mean_host_stretch")
    ]
    assert row.ours == f"of all jobs at {counts[0]} of 3 sizes, of hosts at {counts[1]}"


@pytest.mark.parametrize("quick", [True, False])
def test_all_contenders_are_run_on_all_sizes(monkeypatch, all_results, quick):
    calls, progress = [], []
    monkeypatch.setattr(
        runs,
        "_run",
        lambda size, contender, seeds: (
            calls.append((size, contender, seeds)) or all_results[size][contender.shown]
        ),
    )
    monkeypatch.setattr(paper, "theorem", lambda *given: ([given], "curve"))
    result = paper.AsaxPaper().reproduce(quick=quick, notify=lambda *step: progress.append(step))
    chosen = [
        each
        for each in CONTENDERS
        if not quick or each.shown in ("EASY", "static", "ASAx", "pairs", "oracle")
    ]
    if quick:
        chosen.sort(key=lambda each: ["EASY", "static", "ASAx", "pairs", "oracle"].index(each.shown))
    assert calls == [
        (size, each, range(20, 23) if quick else range(20, 40)) for size in SIZES for each in chosen
    ]
    assert result.rows[-1] == ((20, 2000) if quick else (200, 10_000))
    total = 3 * len(chosen)
    assert [share for _, share in progress[:total]] == pytest.approx(
        [0.9 * place / total for place in range(total)]
    )
    assert progress[total:] == [("Theorem 1", 0.9), ("done", 1.0)]
    for picture, (metric, unit, axis) in zip(
        result.pictures,
        (
            ("mean_wait_s", 3600.0, "Mean wait, h"),
            ("mean_response_s", 3600.0, "Mean response, h"),
            ("mean_host_stretch", 1.0, "Mean run time of hosts relative to alone"),
        ),
        strict=False,
    ):
        assert axes(picture) == (metric, "", axis)
        assert picture.categories == ("64 cores", "128 cores", "256 cores")
        for line, contender in zip(picture.lines, chosen, strict=True):
            each = [mean_and_half(all_results[size][contender.shown].of(metric) / unit) for size in SIZES]
            assert (line.name, list(line.x)) == (contender.shown, [0, 1, 2])
            np.testing.assert_allclose(np.array([line.y, line.half_width]).T, each)
    assert result.pictures[3:] == ("curve",)


def test_contenders_have_these_policies_and_parameters():
    assert [(each.shown, each.order, each.share, dict(each.parameters)) for each in CONTENDERS] == [
        ("FCFS", "fcfs", "none", {}),
        ("conservative", "conservative", "none", {}),
        ("EASY", "easy", "none", {}),
        ("static", "easy", "static", {}),
        ("always 30 %", "easy", "always", {}),
        ("ASAx", "easy", "asax", {}),
        ("ASAx, progress", "easy", "asax", {"loss": "progress"}),
        ("ASAx, EXP4-IX", "easy", "asax", {"loss": "progress", "update": "exp4-ix"}),
        ("ASAx, frozen", "easy", "asax", {"learn": False}),
        ("ASAx, progress, frozen", "easy", "asax", {"loss": "progress", "learn": False}),
        ("pairs", "easy", "pairs", {}),
        ("oracle", "easy", "oracle", {}),
    ]


def test_a_contender_is_run_on_the_draws_of_each_seed(monkeypatch):
    use = SimpleNamespace(job_class=["b", "a", "b"])
    monkeypatch.setattr(
        runs, "draw_mix", lambda size, rng: SimpleNamespace(key=(size, rng.random()), use=use, kill=True)
    )
    monkeypatch.setattr(
        runs, "share_policy", lambda name, parameters, case, rng: (name, parameters, case.key, rng.random())
    )
    monkeypatch.setattr(runs, "ORDER", SimpleNamespace(make=lambda name, rng: (name, rng.random())))
    seen = []

    def run_sharing(case, order, share, rng):
        seen.append((case.key, order, share, rng.random()))
        jobs = SimpleNamespace(start=np.array([0.0, 1.0, 2.0]), end=np.array([4.0, 3.0, 10.0]))
        return SimpleNamespace(jobs=jobs, shared="shared", left="left")

    monkeypatch.setattr(runs, "run_sharing", run_sharing)
    monkeypatch.setattr(runs, "sharing_metrics", lambda *given, kill: (*given[1:], kill))
    monkeypatch.setattr(runs, "_use_of_quotas", lambda case, done: case.key[1])
    result = runs._run(128, CONTENDERS[6], range(5, 7))

    def draw(*seed):
        return np.random.default_rng(seed).random()

    for seed, own in zip((5, 6), seen, strict=True):
        case = 128, draw(seed, 7)
        share = "asax", {"loss": "progress"}, case, draw(seed, 1)
        assert own == (case, ("easy", draw(seed, 2)), share, draw(seed, 3))
    assert result.metrics == (("shared", use, "left", True),) * 2
    assert result.by_program == ({"a": 2.0, "b": 6.0},) * 2
    assert result.quota_use.tolist() == [draw(5, 7), draw(6, 7)]


def test_the_printed_update_finishes_no_round_in_the_papers_45_jobs():
    """The reason why frozen weights change nothing: a round ends when a risk exceeds 1."""
    case = draw_mix(256, np.random.default_rng([20, 7]))
    known = {}
    for update in ("printed", "exp4-ix"):
        given = {"loss": "progress", "update": update}
        policy = runs.share_policy("asax", given, case, np.random.default_rng([20, 1]))
        runs.run_sharing(
            case, runs.ORDER.make("easy", np.random.default_rng(2)), policy, np.random.default_rng(3)
        )
        known[update] = list(policy.learned.values())
    assert len(known["printed"]) == 4
    assert [each.rounds for each in known["printed"]] == [0] * 4
    assert 0.0 < max(each.risk.max() for each in known["printed"]) <= 1.0
    assert min(each.rounds for each in known["exp4-ix"]) > 0


def test_the_use_of_quotas_matches_a_hand_calculation():
    """Job 0 needs 40 % for 10 s and has 50 % for 2 s and 90 % for 2 s; its guest, job 1, needs 90 %."""
    use = SimpleNamespace(core_seconds=lambda ones: np.array([4.0, 9.0]), run=lambda: np.array([10.0, 10.0]))
    jobs = SimpleNamespace(start=np.array([0.0, 2.0]), end=np.array([10.0, 7.0]))
    shared = SimpleNamespace(
        host=[0, 0, 0],
        guest=[1, 1, 1],
        quota=[50, 10, 0],
        start=[2.0, 4.0, 6.0],
        end=[4.0, 6.0, 7.0],
    )
    found_use = runs._use_of_quotas(SimpleNamespace(use=use), SimpleNamespace(jobs=jobs, shared=shared))
    host = (10 - 4) * 40.0 + 2 * 80.0 + 2 * 40.0 / 0.9
    guest = 1 * 90.0 + 2 * 100.0 + 2 * 100.0
    assert found_use == pytest.approx((host / 10 + guest / 5) / 2)
