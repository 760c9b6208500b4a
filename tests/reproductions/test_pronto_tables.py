"""Pronto's tables: each cell has the error of the forecasts that it names and the printed value."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from tests.reproductions.keyed import number_for
from windlass_reproductions.pronto import data, paper, trackers, values
from windlass_reproductions.pronto.data import Machine
from windlass_reproductions.pronto.values import DAY, Errors

METHODS = ("naive", "ExpSmo", "ARIMA", "SVM")
STRETCHES = ("1 day", "12 hours", "6 hours", "3 hours", "1 hour", "30 min", "15 min")
#: Copied from the paper independently: same machine and same cluster, 14 and 21 days.
TABLE_1 = {
    "naive": (127.61, 128.79, 145.61, 145.60),
    "ExpSmo": (127.04, 129.71, 145.59, 148.77),
    "ARIMA": (128.14, 125.69, 131.74, 114.87),
    "SVM": (121.92, 118.01, 103.66, 100.23),
}
TABLE_2 = {
    "Ordered": (102.62, 98.88),
    "KM Euclidean": (106.33, 102.42),
    "KM Corr": (109.91, 106.71),
    "KM Sts": (112.13, 105.59),
    "KM Cort": (113.03, 107.10),
    "KM Acf": (104.31, 102.02),
}
TABLE_3 = {
    "naive": (122.39, 219.55, 335.22, 236.8, 1052.41, 837.71, 876.16),
    "ExpSmo": (123.42, 183.78, 273.81, 269.08, 899.66, 798.21, 933.69),
    "ARIMA": (109.64, 161.22, 217.46, 255.63, 1154.43, 1205.33, 1515.90),
    "SVM": (96.15, 130.01, 173.15, 155.58, 912.85, 899.01, 1155.12),
}


def errors(*key):
    return np.array([number_for(*key, machine) for machine in range(4)])


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.setattr(values, "has_svm", lambda: True)
    one = {}
    for method, kind, days in itertools.product(METHODS, ("same", "cluster"), (14, 21)):
        one[method, f"{kind} {days}"] = errors(1, method, kind, days)
    one |= {(name, str(days)): errors(2, name, days) for name in TABLE_2 for days in (14, 21)}
    three = {(method, name): errors(3, method, name) for method in METHODS for name in STRETCHES}
    return Errors(one), Errors(three)


def test_each_cell_has_the_printed_value_and_its_ratio_to_naive(tables):
    expected = []
    columns = (
        ("same VM, 14", "same", 14),
        ("same VM, 21", "same", 21),
        ("same cluster, 14", "cluster", 14),
        ("same cluster, 21", "cluster", 21),
    )
    for method in METHODS:
        for place, (words, kind, days) in enumerate(columns):
            ours, base = errors(1, method, kind, days).mean(), errors(1, "naive", kind, days).mean()
            theirs = TABLE_1[method][place], TABLE_1["naive"][place]
            expected.append((f"Table 1, {method}, {words} days", theirs, ours, base))
    for name, printed in TABLE_2.items():
        for place, days in enumerate((14, 21)):
            base = errors(1, "naive", "cluster", days).mean()
            theirs = printed[place], TABLE_1["naive"][2 + place]
            expected.append((f"Table 2, {name}, {days} days", theirs, errors(2, name, days).mean(), base))
    for method in METHODS:
        for place, name in enumerate(STRETCHES):
            ours, base = errors(3, method, name).mean(), errors(3, "naive", name).mean()
            theirs = TABLE_3[method][place], TABLE_3["naive"][place]
            expected.append((f"Table 3, {method}, {name}", theirs, ours, base))
    rows = values.rows_of(*tables)
    for row, (what, (theirs, naive), ours, base) in zip(rows, expected, strict=False):
        assert row.what == f"{what}: RMSE (ratio to naive)"
        assert row.paper == f"{theirs:.4g} ({theirs / naive:.2f})"
        assert row.ours == f"{ours:.3g} ({ours / base:.2f})"
    assert len(rows) == len(expected) + 5
    still = values.cell("what", 2.0, 4.0, np.zeros(3), 0.0)
    assert (still.paper, still.ours) == ("2 (0.50)", "0 (naive has no error)")


def test_conclusions_compare_the_cells_that_they_name(tables):
    longer, shorter, lower, wins, loses = values.rows_of(*tables)[-5:]
    first, second = (errors(1, "ExpSmo", "same", days).mean() for days in (14, 21))
    assert longer.ours == f"{first:.3g} and {second:.3g}"
    assert (
        shorter.ours
        == f"{errors(3, 'naive', '1 day').mean():.3g} to {errors(3, 'naive', '15 min').mean():.3g}"
    )
    pairs = [(errors(1, "SVM", "cluster", d), errors(1, "naive", "cluster", d)) for d in (14, 21)]
    assert lower.judged == values.less_everywhere(pairs)
    long = [(errors(3, "SVM", name), errors(3, "naive", name)) for name in STRETCHES[:4]]
    assert wins.judged == values.less_everywhere(long)
    short = [(errors(3, "SVM", name), errors(3, "naive", name)) for name in ("15 min", "30 min", "1 hour")]
    assert loses.judged == values.not_less_in(short, 2)
    outcomes = [values.less(*pair).holds for pair in short]
    assert loses.ours == f"at {outcomes.count(False)} of 3, and less at {outcomes.count(True)}"


def test_forecasts_cover_the_last_values_or_are_spread_evenly():
    series = np.arange(20.0)[None, :] ** 2

    def ahead(windows):
        assert windows.shape == (1, 5)
        return windows[:, -1]

    def steps(*places):
        return [[(place - 1) ** 2 - place**2] for place in places]

    assert values.residuals(series, 5, 3, ahead).tolist() == steps(17, 18, 19)
    assert values.residuals(series, 5, 3, ahead, 9).tolist() == steps(11, 15, 19)
    assert values.residuals(series, 5, 99, ahead, 4).tolist() == steps(16, 17, 18, 19)
    assert values.errors(series, 5, 2, ahead).tolist() == [pytest.approx(np.sqrt((35**2 + 37**2) / 2))]
    # A window has the preceding values, oldest first.
    seen = []
    values.residuals(series, 2, 1, lambda windows: seen.append(windows.tolist()) or windows[:, 0])
    assert seen == [[[17.0**2, 18.0**2]]]


def test_stretches_without_a_value_repeat_the_last_one():
    medians = {1: [1.0, np.nan, 3.0, 4.0], 2: [np.nan, np.nan, 6.0]}
    found = [SimpleNamespace(medians=lambda lasts, own=own: np.array(own)) for own in medians.values()]
    assert values.series_of(found, DAY).tolist() == [[1.0, 1.0, 3.0], [0.0, 0.0, 6.0]]


def test_medians_cover_whole_stretches_only():
    time = np.array([50.0, 150.0, 250.0, 350.0, 450.0, 650.0, 750.0])
    usage = np.array([9.0, 9.0, 4.0, 8.0, 1.0, 5.0, 2.0])
    # From 200 s on: two values, then one, none before 600 s, and two; the step is 100 s, so 800 s is whole.
    assert Machine(1, time, usage).medians(200.0).tolist() == [6.0, 1.0, 3.5]
    found = Machine(1, np.delete(time, 4), np.delete(usage, 4)).medians(200.0)
    assert found[[0, 2]].tolist() == [6.0, 3.5]
    assert np.isnan(found[1])


def test_tables_are_computed_by_cluster_of_machines(monkeypatch):
    found = tuple(range(7))
    calls = []
    monkeypatch.setattr(values, "has_svm", lambda: True)
    monkeypatch.setattr(values, "clusters", lambda machines: [machines[:4], machines[4:]])
    monkeypatch.setattr(values, "series_of", lambda machines, lasts: (machines, lasts))
    for name in ("alone", "together", "grouped"):
        monkeypatch.setattr(values, name, lambda method, name=name: (name, method))

    def errors_of(series, window, most, way, over=None):
        calls.append((series, window, most, way, over))
        return np.array(
            [number_for(series, window, most, way if isinstance(way, tuple) else "nearest", over)]
            * len(series[0])
        )

    monkeypatch.setattr(values, "errors", errors_of)
    daily = values.daily(found, 5)

    def expected(machines, lasts, window, most, way, over=None):
        return [number_for((machines, lasts), window, most, way, over)] * len(machines)

    for days in (14, 21):
        for method in METHODS:
            for kind, way in (("same", "alone"), ("cluster", "together")):
                both = [expected(part, DAY, days, 5, (way, method)) for part in (found[:4], found[4:])]
                assert daily.of(method, f"{kind} {days}").tolist() == [*both[0], *both[1]]
        assert daily.of("Ordered", str(days)).tolist() == expected(found, DAY, days, 5, "nearest")
        for name in values.DISTANCES:
            assert daily.of(name, str(days)).tolist() == expected(found, DAY, days, 5, ("grouped", name))
    stretch = values.by_stretch(found, 6)
    seconds = (DAY, DAY / 2, DAY / 4, DAY / 8, 3600.0, 1800.0, 900.0)
    for name, lasts, window, over in zip(
        STRETCHES, seconds, (14, 28, 56, 112, 168, 168, 168), (14, 28, 56, 112, 336, 672, 1344), strict=True
    ):
        for method in METHODS:
            way = ("together" if method == "SVM" else "alone", method)
            both = [expected(part, lasts, window, 6, way, over) for part in (found[:4], found[4:])]
            assert stretch.of(method, name).tolist() == [*both[0], *both[1]]


def test_the_time_per_vector_excludes_the_first_block(monkeypatch):
    seen = []

    class Node:
        def __init__(self, dim, rank, block, tracker, rng):
            seen.append((dim, rank, block, tracker, rng.random()))

        def observe(self, row):
            seen.append(len(row))

        def save(self):
            return b"x" * 2_500_000

    monkeypatch.setattr(trackers, "Pronto", Node)
    clock = iter([1.0, 3.0])
    assert trackers.ms_a_vector("power", 50, lambda: next(clock)) == 40.0
    assert seen[0] == (134, 4, 20, "power", np.random.default_rng(2).random())
    assert seen[1:] == [134] * 70
    monkeypatch.setattr(
        trackers, "ms_a_vector", lambda tracker, steps, clock: number_for(tracker, steps, low=1.0, high=9.0)
    )
    rows = trackers.rows_of(30)
    printed = {
        "fpca": ("Pronto", 15.0, 148.0),
        "spirit": ("SPIRIT", 9.0, 123.0),
        "directions": ("FD", 25.0, 151.0),
        "power": ("PM", 22.0, 155.0),
    }
    for place, tracker in enumerate(trackers.TRACKERS):
        name, ms, memory = printed[tracker]
        assert [(row.what, row.paper, row.ours) for row in rows[2 * place : 2 * place + 2]] == [
            (f"{name}: ms per vector", ms, round(number_for(tracker, 30, low=1.0, high=9.0), 4)),
            (f"{name}: MB", memory, 2.5),
        ]
    assert rows[-1].paper == "SPIRIT, Pronto, PM, FD"


def test_a_stream_has_directions_of_decreasing_weight():
    rows = trackers.stream(4000, 10, 3, 0.01, np.random.default_rng(1))
    assert rows.shape == (4000, 10)
    size = np.linalg.svd(rows, compute_uv=False) / np.sqrt(4000)
    np.testing.assert_allclose(size[:3], [1.0, 0.7, 0.49], rtol=0.05)
    np.testing.assert_allclose(size[3:], 0.01, rtol=0.1)


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("there", [True, False])
def test_all_parts_run_at_their_sizes(monkeypatch, quick, there):
    calls, progress = [], []

    def recorder(name, answer):
        def take(*given, **more):
            calls.append((name, *given, *more.items()))
            return answer

        return take

    monkeypatch.setattr(paper, "tracker_rows", recorder("trackers", ["trackers"]))
    monkeypatch.setattr(paper, "merging_rows", recorder("merging", ["merging"]))
    monkeypatch.setattr(paper, "machines", recorder("machines", ("m",) if there else ()))
    monkeypatch.setattr(paper, "recorded", lambda: "recorded" if there else None)
    monkeypatch.setattr(paper, "recorded_rows", recorder("recorded", ["recorded"]))
    monkeypatch.setattr(paper.values, "daily", recorder("daily", "one"))
    monkeypatch.setattr(paper.values, "by_stretch", recorder("stretch", "three"))
    monkeypatch.setattr(paper.values, "rows_of", lambda one, three: [one, three])
    monkeypatch.setattr(paper.spikes, "all_accuracies", recorder("spikes", "found"))
    monkeypatch.setattr(paper.spikes, "rows_of", lambda found: [found])
    for name in ("recorded_nodes", "bitbrains_nodes", "smd_nodes"):
        monkeypatch.setattr(paper, name, recorder(name, ["node"] if there else []))
    monkeypatch.setattr(paper, "drawn_node", lambda seed, steps, warns: (seed, steps, warns))

    def judged(kind, notify, downtimes, tune):
        notify("half", 0.5)
        calls.append((kind.name, kind.nodes, kind.real, downtimes, tune))
        return kind.name

    monkeypatch.setattr(paper, "judge_all", judged)
    monkeypatch.setattr(paper, "recall_rows", lambda kind, found: [f"rows {found}"])
    monkeypatch.setattr(paper, "pictures", lambda kind, found, key: [(found, key)])
    found = paper.ProntoPaper().reproduce(quick=quick, notify=lambda *step: progress.append(step))
    downtimes = (0.05,) if quick else (0.05, 0.10)
    steps, seeds = (1500, [100]) if quick else (12_000, [100, 101, 102, 103])
    sets = [(name, ["node"], True) for name in ("our recordings", "Bitbrains", "SMD") if there]
    for name, warns in (("drawn nodes that warn", True), ("drawn nodes that do not", False)):
        sets.append((name, [(seed, steps, warns) for seed in seeds], False))
    expected = [
        ("trackers", 100 if quick else 4000),
        ("merging", *((8, range(1, 3), paper.SETTINGS[:1]) if quick else (64, range(1, 11), paper.SETTINGS))),
        ("machines", 9 if quick else None),
    ]
    if there:
        most, short = (2, 2) if quick else (14, 56)
        expected += [("daily", ("m",), most), ("stretch", ("m",), short), ("spikes", ("m",), most)]
        expected.append(("recorded", "recorded", 4 if quick else 200))
    expected += [
        ("recorded_nodes", 600 if quick else None),
        ("bitbrains_nodes", 1, 800, 300) if quick else ("bitbrains_nodes", 8, None),
        ("smd_nodes", 1, 800, 300) if quick else ("smd_nodes", 4, None),
        *((*own, downtimes, not quick) for own in sets),
    ]
    assert calls == expected
    assert found.pictures == tuple((own[0], f"set{place}") for place, own in enumerate(sets))
    assert list(found.rows)[-len(sets) :] == [f"rows {own[0]}" for own in sets]
    assert sum(row == "not run" for row in (getattr(row, "ours", "") for row in found.rows)) == (
        0 if there else 2
    )
    shares = [share for _, share in progress]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert shares[4:-1] == pytest.approx(
        [0.4 + 0.6 * (place + 0.5) / len(sets) for place in range(len(sets))]
    )


def test_recordings_and_traces_have_their_default_folders(monkeypatch, tmp_path):
    monkeypatch.setenv(data.RECORDINGS, str(tmp_path))
    assert data.recordings() == tmp_path
    assert data.recorded() is None
    assert data.recorded_nodes() == []
    monkeypatch.delenv(data.RECORDINGS)
    assert data.recordings().parts[-2:] == ("examples", "telemetry")
    assert data.traces().name == "telemetry"


def test_bitbrains_nodes_warm_up_on_their_first_week(monkeypatch, tmp_path):
    files = [SimpleNamespace(name=f"{number}.csv.gz") for number in range(5)]
    monkeypatch.setattr(data, "_bitbrains", lambda: files)

    def read(path):
        number = int(path.name.split(".")[0])
        usage = np.full(2500, 50.0) if number == 1 else np.arange(2500.0) % 160 + number
        return SimpleNamespace(
            time=np.arange(2500.0), values=np.arange(2500.0)[:, None] + number, of=lambda name: usage
        )

    monkeypatch.setattr(data, "read_bitbrains", read)
    assert [each.number for each in data.machines()] == [0, 2, 3, 4]
    assert [each.number for each in data.machines(2)] == [0, 3]
    assert [each.number for each in data.machines(3)] == [0, 2, 4]
    nodes = data.bitbrains_nodes(2, 100, 300)
    assert len(nodes) == 2
    for node, number in zip(nodes, (0, 2), strict=True):
        usage = (np.arange(2500.0) % 160 + number) / 100
        assert node.metrics[:, 0].tolist() == (np.arange(2016 - 300, 2016 + 100) + number).tolist()
        np.testing.assert_allclose(node.ready, usage[1716:2116])
        np.testing.assert_allclose(node.busy, np.minimum(usage, 1.0)[1716:2116])
    assert len(data.bitbrains_nodes(9, None)) == 4
    assert len(data.bitbrains_nodes(1, None)[0].metrics) == 2500
