"""Costs and gains of learning, and the growth of queues: each number is that of the runs that it names."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.reproductions.keyed import axes, number_for
from windlass_reproductions.rosella import grid, growth, learning
from windlass_reproductions.rosella.table import Contender, SpeedSet

FOUR = np.repeat([0.5, 1.0, 2.0, 4.0], 8) / 1.875


@pytest.mark.parametrize("quick", [True, False])
def test_a_shock_reverses_all_speeds_once(monkeypatch, quick):
    """A policy that is slow for two bins of 15 s after the shock has a recovery time of 30 s."""
    calls = []
    slow = {"rosella": 2, "eps-greedy": 5, "ucb": 0, "halo": 40, "sparrow": 1, "ppot": 3}

    def simulate(policy, speeds, load, tasks, *, seed, timetable, **given):
        np.testing.assert_array_equal(speeds, FOUR)
        np.testing.assert_array_equal(timetable.time, np.full(32, 300.0))
        np.testing.assert_array_equal(timetable.value, FOUR[::-1])
        calls.append((policy, load, tasks, seed, given))
        submit = np.arange(0.0, 900.0, 5.0)
        until = 300.0 + 15.0 * slow[policy]
        # Queues fill up before 100 s. A response of 1.4 times that before the shock counts as recovered.
        response = np.where(submit < 90.0, 80.0, np.where(submit < 300.0, 10.0, 14.0)) + seed
        response = np.where((submit >= 300.0) & (submit < until), 40.0 + seed, response)
        return SimpleNamespace(submit=submit, response=response)

    kept = []
    monkeypatch.setattr(learning, "simulate", simulate)
    monkeypatch.setattr(learning, "shock_rows", lambda *given: kept.append(given) or ("row",))
    found = learning.shock(quick)
    runs = 5 if quick else 40
    tasks = int(0.8 * FOUR.sum() * 900.0)
    given = {"samples": 0, "sizes_known": True}
    assert calls == [(policy, 0.8, tasks, seed, given) for policy in slow for seed in range(runs)]
    ((recovery, rosella, halo, count),) = kept
    assert count == runs
    assert recovery == {name: 15.0 * bins for name, bins in slow.items()}
    seeds = np.arange(runs)
    # 120 tasks arrive after the shock. 6 of them take 40 s under rosella, and all under halo.
    np.testing.assert_allclose(rosella, (6 * 40 + 114 * 14) / 120 + seeds)
    np.testing.assert_allclose(halo, 40.0 + seeds)
    (picture,) = found.pictures
    line = picture.lines[0]
    assert list(line.x) == [15.0 * place for place in range(60)]
    assert line.y[19:23] == pytest.approx(
        [10.0 + seeds.mean(), *[40.0 + seeds.mean()] * 2, 14.0 + seeds.mean()]
    )
    assert f"mean of {runs} runs" in picture.caption
    assert axes(picture) == ("shock", "time of arrival, s", "mean response, s")
    assert picture.log_y


def test_rows_of_a_shock_report_the_measured_values():
    time, adapts = learning.shock_rows(
        {"rosella": 30.0, "halo": 600.0, "ppot": 0.0}, np.array([2.0, 4.0]), np.array([5.0, 7.0]), 7
    )
    assert time.ours == 30.0
    assert (
        "other policies: halo 600; ppot 0 (halo never learns; ppot receives the new rates); mean of 7 runs"
        in time.note
    )
    assert adapts.ours == 0.5


@pytest.mark.parametrize("quick", [True, False])
def test_the_share_of_benchmark_tasks_is_varied_from_0_to_1(monkeypatch, quick):
    tasks, seeds = (50_000, (1, 2, 3)) if quick else (400_000, (1, 2, 3, 4, 5))

    class Response:
        def __init__(self, level):
            self.level = level

        def __getitem__(self, part):
            assert part.start == tasks // 10
            return np.full(2, self.level)

    def value(load, share, seed):
        return number_for(load, share, seed)

    def simulate(policy, speeds, load, count, *, seed, timetable, samples, sizes_known):
        name, share, drawn = policy
        assert (name, drawn, count, samples, sizes_known) == (
            "rosella",
            np.random.default_rng(seed).random(),
            tasks,
            0,
            True,
        )
        assert timetable == (500.0, tasks / (load * 32), np.random.default_rng([seed, 9]).random())
        return SimpleNamespace(response=Response(value(load, share, seed)))

    monkeypatch.setattr(learning, "simulate", simulate)
    monkeypatch.setattr(learning, "shocks", lambda speeds, every, last, rng: (every, last, rng.random()))
    monkeypatch.setattr(
        learning, "make_policy", lambda name, speeds, rng, probe_share: (name, probe_share, rng.random())
    )
    found = learning.benchmark_tasks(quick)
    shares = (0.0, 0.03, 0.1, 0.3, 1.0)
    assert axes(found.pictures[0])[2] == "mean response, s"
    assert found.pictures[0].categories == ("0", "0.03", "0.1", "0.3", "1")
    for row, line, load in zip(found.rows, found.pictures[0].lines, (0.3, 0.8), strict=True):
        means = {share: np.array([value(load, share, seed) for seed in seeds]) for share in shares}
        assert row.what.startswith(f"benchmark tasks, c0 = 0.1, load {load}, shocks every 500 s")
        assert row.ours == pytest.approx(means[0.1].mean() / means[0.0].mean())
        assert row.judged.parts[0].found.mean == pytest.approx((means[0.1] - means[0.0]).mean())
        assert ", ".join(f"c0 = {share:g}: {own.mean():.3f}" for share, own in means.items()) in row.note
        assert (line.name, list(line.x)) == (f"load {load}", [0, 1, 2, 3, 4])
        assert list(line.y) == pytest.approx([own.mean() for own in means.values()])


def test_the_error_of_estimates_is_half_the_sum_of_share_differences():
    estimates = np.array([[2.0, 2.0], [3.0, 1.0], [0.0, 5.0]])
    assert learning._error(estimates, np.array([3.0, 1.0])).tolist() == [0.25, 0.0, 0.75]
    # Without estimates the error is one half.
    assert learning._error(np.zeros((1, 2)), np.array([3.0, 1.0])).tolist() == [0.5]


@pytest.mark.parametrize(("wrong", "time"), [([], 0.0), ([0], 10.0), ([0, 2], 30.0), ([3], 40.0)])
def test_learning_ends_with_the_last_wrong_sample(monkeypatch, wrong, time):
    calls = []

    def simulate(policy, speeds, load, tasks, *, seed, samples, sizes_known):
        calls.append((policy, load, tasks, seed, samples, sizes_known))
        np.testing.assert_allclose(
            speeds, np.random.default_rng(3).permutation(np.resize(FOUR, 12)) / np.resize(FOUR, 12).mean()
        )
        estimates = np.tile(speeds, (4, 1))
        for place in wrong:
            # A little more than a tenth of all capacity is attributed to the wrong worker.
            estimates[place, np.argmin(speeds)] += 0.101 * speeds.sum()
            estimates[place, np.argmax(speeds)] -= 0.101 * speeds.sum()
        estimates[1, np.argmin(speeds)] += 0.099 * speeds.sum()
        estimates[1, np.argmax(speeds)] -= 0.099 * speeds.sum()
        return SimpleNamespace(estimates=estimates, sample_time=np.array([10.0, 20.0, 30.0, 40.0]))

    monkeypatch.setattr(learning, "simulate", simulate)
    assert learning._learning_time(12, 0.5, 3) == time
    assert calls == [("rosella", 0.5, int(0.5 * 12 * 400.0), 3, 400, True)]


@pytest.mark.parametrize("quick", [True, False])
def test_learning_times_are_reported_by_workers_and_by_load(monkeypatch, quick):
    monkeypatch.setattr(learning, "_learning_time", lambda *given: number_for(*given))
    found = learning.learning_time(quick)
    sizes = [8, 32, 128, 512] if quick else [8, 32, 128, 512, 2048]
    loads, seeds = [0.3, 0.5, 0.7, 0.8, 0.9], range(3 if quick else 6)
    by_size = np.array([[number_for(n, 0.8, seed) for n in sizes] for seed in seeds])
    by_load = np.array([[number_for(32, load, seed) for load in loads] for seed in seeds])
    size, load = found.rows
    a, b, explained = growth.fit(np.log(sizes), by_size.mean(axis=0))
    times = ", ".join(f"{time:.0f}" for time in by_size.mean(axis=0))
    assert size.ours == f"{a:.1f} + {b:.2f} log n (R² {explained:.2f}): {times}"
    assert f"n = 8 … {sizes[-1]}" in size.what
    assert load.ours == ", ".join(f"{time:.0f}" for time in by_load.mean(axis=0))
    assert load.what == "learning time against load 0.3, 0.5, 0.7, 0.8, 0.9, 32 workers, s"
    slopes = [np.polyfit(loads, own, 1)[0] for own in by_load]
    assert load.judged.parts[0].found.mean == pytest.approx(np.mean(slopes))
    more = [growth.fit(np.log(sizes), own)[2] - growth.fit(np.array(sizes, float), own)[2] for own in by_size]
    assert size.judged.parts[0].found.mean == pytest.approx(np.mean(more))
    workers, loaded = found.pictures
    assert (list(workers.lines[0].x), list(loaded.lines[0].x)) == (sizes, loads)
    assert list(workers.lines[0].y) == pytest.approx(by_size.mean(axis=0).tolist())
    assert list(loaded.lines[0].y) == pytest.approx(by_load.mean(axis=0).tolist())
    assert (workers.log_x, loaded.log_x) == (True, False)
    assert axes(workers) == ("learning-n", "workers", "s")
    assert axes(loaded) == ("learning-load", "load", "s")


def test_a_straight_line_is_fitted_by_least_squares():
    law, longest = np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 6.0])
    a, b, explained = growth.fit(law, longest)
    # The means are 1 and 3, the slope is 5 / 2, and the residuals are 0.5, -1, 0.5.
    assert (a, b) == (pytest.approx(0.5), pytest.approx(2.5))
    assert explained == pytest.approx(1 - (1.5 / 3) / (14 / 3))
    assert growth.fit(law, np.ones(3))[2] == 1.0


@pytest.mark.parametrize("quick", [True, False])
def test_queue_growth_is_measured_from_ten_workers_upwards(monkeypatch, quick):
    monkeypatch.setattr(growth, "_longest", lambda *given: number_for(*given))
    found = growth.growth(quick)
    sizes = [10, 30, 100, 300, 1000, 3000] + ([] if quick else [10_000, 30_000, 100_000])
    seeds = range(1, 9) if quick else range(1, 7)
    pss, ppot = (
        np.array([[number_for(policy, n, seed) for n in sizes] for seed in seeds])
        for policy in ("pss", "ppot")
    )
    rows = growth.growth_rows(np.array(sizes), pss, ppot)
    assert [(row.what, row.ours, row.note) for row in found.rows] == [
        (row.what, row.ours, row.note) for row in rows
    ]
    (picture,) = found.pictures
    for line, longest in zip(picture.lines, (pss, ppot), strict=True):
        assert list(line.x) == sizes
        assert list(line.y) == pytest.approx(longest.mean(axis=0).tolist())
    assert picture.log_x
    assert axes(picture) == ("growth", "workers", "tasks at the longest queue")


def test_growth_is_limited_by_the_published_laws():
    sizes = np.array([10, 100, 1000])
    pss = np.array([[3.0, 5.0, 9.0], [3.2, 5.0, 9.4]])
    ppot = np.array([[2.0, 2.5, 3.0], [2.0, 2.5, 3.4]])
    one, two, faster = growth.growth_rows(sizes, pss, ppot)
    # log(100) / log(1 / 0.9), and log(log 1000 / log 10) / log 2, each plus one task.
    assert one.judged.parts[0].high == pytest.approx(np.log(100) / np.log(1 / 0.9) + 1.0)
    assert two.judged.parts[0].high == pytest.approx(np.log(3) / np.log(2) + 1.0)
    assert one.judged.parts[0].found.mean == pytest.approx(6.1)
    for row, means in ((one, pss.mean(axis=0)), (two, ppot.mean(axis=0))):
        log, twice = growth.fit(np.log(sizes), means), growth.fit(np.log(np.log(sizes)), means)
        assert row.ours == (
            f"{log[0]:.2f} + {log[1]:.2f} log n (R² {log[2]:.3f}); "
            f"{twice[0]:.2f} + {twice[1]:.2f} log log n (R² {twice[2]:.3f})"
        )
        assert f"over 2 seeds: {', '.join(f'{mean:.1f}' for mean in means)}" in row.note
    slopes = [np.mean([np.polyfit(np.log(sizes), own, 1)[0] for own in each]) for each in (pss, ppot)]
    assert faster.ours == f"{slopes[0]:.2f}, {slopes[1]:.2f}"


@pytest.mark.parametrize(("workers", "fast"), [(10, 1), (9, 1), (25, 2)])
def test_the_longest_queue_is_averaged_over_the_second_half(monkeypatch, workers, fast):
    calls = []

    def simulate(*given, **more):
        calls.append((*given, more))
        return SimpleNamespace(longest=np.array([90, 90, 2, 4]))

    monkeypatch.setattr(growth, "simulate", simulate)
    assert growth._longest("pss", workers, 5) == 3.0
    ((policy, speeds, load, tasks, more),) = calls
    assert speeds.tolist() == [1.0] * (workers - fast) + [6.0] * fast
    assert (policy, load, more) == ("pss", 0.9, {"seed": 5, "samples": 200})
    assert tasks == int(0.9 * (workers + 5 * fast) * 300.0)


def test_a_grid_cell_is_simulated_with_its_settings(monkeypatch):
    calls = []

    def simulate(policy, speeds, load, tasks, **given):
        calls.append((policy, load, tasks, given))
        return SimpleNamespace(job_response=np.where(np.arange(30) < 3, 99.0, 2.0))

    monkeypatch.setattr(grid, "simulate", simulate)
    monkeypatch.setattr(grid, "shocks", lambda speeds, every, last, rng: (every, last, rng.random()))
    monkeypatch.setattr(
        grid, "make_policy", lambda name, speeds, rng, **given: (name, rng.random(), sorted(given.items()))
    )
    speeds = SpeedSet("some", np.array([1.0, 3.0]))
    contender = Contender("a", "rosella", (("probes", 2),))
    for place in (grid.Place(speeds, 0.5, 16, 8, 0.25, 50.0), grid.Place(speeds, 0.8, 4, 1, 0.0, 0.0)):
        assert grid.response(contender, place, 100.0, 7) == 2.0
    policy = "rosella", np.random.default_rng([7, 8]).random(), [("probes", 2)]
    (one, other) = calls
    # 200 tasks arrive in 100 s, which make 12 whole jobs of 16; 320 tasks make 80 jobs of 4.
    assert one[:3] == (policy, 0.5, 192)
    assert other[:3] == (policy, 0.8, 320)
    assert one[3] == {
        "seed": 7,
        "timetable": (50.0, 100.0, np.random.default_rng([7, 9]).random()),
        "samples": 0,
        "schedulers": 8,
        "probe_delay": 0.25,
        "tasks_per_job": 16,
        "sizes_known": False,
    }
    assert len(other[3]["timetable"].time) == 0
    assert (other[3]["schedulers"], other[3]["probe_delay"], other[3]["tasks_per_job"]) == (1, 0.0, 4)
    # A short run has at least ten jobs.
    grid.response(contender, grid.Place(speeds, 0.5, 16, 1, 0.0, 0.0), 1.0, 7)
    assert calls[-1][2] == 160


def test_runs_last_for_several_shocks():
    speeds = SpeedSet("some", np.ones(2))
    assert [
        grid.Place(speeds, 0.5, 1, 1, 0.0, every).seconds(quick=False)
        for every in (0.0, 200.0, 500.0, 2000.0)
    ] == [600.0, 600.0, 1250.0, 5000.0]
    assert grid.Place(speeds, 0.5, 1, 1, 0.0, 500.0).seconds(quick=True) == 200.0


def test_a_grid_cell_has_the_results_of_the_best_rival(monkeypatch):
    monkeypatch.setattr(
        grid, "response", lambda contender, place, seconds, seed: number_for(contender.label, seconds, seed)
    )
    place = grid.Place(SpeedSet("some", np.ones(2)), 0.5, 1, 1, 0.0, 500.0)
    found = grid.cell(place, quick=False)

    def of(label):
        return [number_for(label, 1250.0, seed) for seed in (1, 2, 3)]

    labels = [rival.label for rival in grid.RIVALS]
    best = min(labels, key=lambda label: sum(of(label)))
    assert (found.best_policy, found.best.tolist(), found.ours.tolist()) == (best, of(best), of("pull"))
    assert (found.rosella.tolist(), found.sparrow.tolist()) == (of("rosella"), of("sparrow"))
    assert found.ratio == pytest.approx(sum(of("pull")) / sum(of(best)))
    assert (
        f"{np.mean(of('pull')):.3g} s, {best} {np.mean(of(best)):.3g} s, {found.ratio:.2f}" in found.words()
    )
