"""Each row and picture of Rosella's figures compares the runs that it names, in the settings that it states."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.reproductions.keyed import axes, mean_and_half, number_for
from windlass_reproductions.rosella import examples, growth, learning, paper, table
from windlass_reproductions.rosella.table import Cell, Contender

FOUR = np.repeat([0.5, 1.0, 2.0, 4.0], 8) / 1.875


def fake_policy(policy, speeds, rng, **parameters):
    """Return a tuple that identifies a policy with its parameters and its generator."""
    return policy, np.asarray(speeds).tolist(), rng.random(), sorted(parameters.items())


class LateResponses:
    """Responses of five million tasks that may only be read without the first tenth."""

    def __init__(self, level):
        self._level = level

    def __getitem__(self, part):
        assert (part.start, part.stop, part.step) == (500_000, None, None)
        return np.full(3, self._level)


class Simulated:
    """Fake runs, computed from their arguments; ``calls`` records these."""

    def __init__(self, tasks=None):
        self.calls = []
        self._tasks = tasks

    def __call__(self, policy, speeds, load, tasks, *, seed, timetable=None, **given):
        speeds = np.asarray(speeds, dtype=float)
        last = None if timetable is None else (timetable.time.tolist(), timetable.speed.tolist())
        key = policy, speeds.tolist(), load, tasks, seed, sorted(given.items()), last
        self.calls.append(SimpleNamespace(policy=policy, load=load, tasks=tasks, seed=seed, given=given))
        count = self._tasks or tasks
        steps = np.arange(1, 21)
        level = number_for(key)
        return SimpleNamespace(
            response=LateResponses(2.0 * level) if tasks == 5_000_000 else self._response(count, level),
            submit=np.linspace(0.0, count / (load * speeds.sum()), count),
            waiting=(number_for(key, "waiting") * steps).astype(np.int64),
            sample_time=steps * 2.0,
            longest=np.where(steps <= 10, 500.0, number_for(key, "longest")),
            longest_queue=int(number_for(key, "queue")),
            mean=level,
            worker=np.arange(count) % len(speeds),
            estimates=None,
        )

    @staticmethod
    def _response(count, level):
        return np.where(np.arange(count) < count // 10, 900.0, level)


@pytest.fixture
def simulated(monkeypatch):
    runs = Simulated()
    for module in (examples, growth, learning, table):
        monkeypatch.setattr(module, "simulate", runs)
    for module in (learning, table):
        monkeypatch.setattr(module, "make_policy", fake_policy)
    return runs


def test_speeds_average_one():
    sets = table.speed_sets()
    assert [each.name for each in sets] == [
        "two classes, 28 of 1 and 4 of 6",
        "four classes, 0.5, 1, 2, 4",
        "1/k, k = 1 … 32",
    ]
    plain = (
        [1.0] * 28 + [6.0] * 4,
        [0.5] * 8 + [1.0] * 8 + [2.0] * 8 + [4.0] * 8,
        [1 / k for k in range(1, 33)],
    )
    for each, speeds in zip(sets, plain, strict=True):
        np.testing.assert_allclose(each.speeds, np.array(speeds) * 32 / sum(speeds))


def test_contenders_have_these_labels_and_parameters():
    found = {each.label: (each.policy, dict(each.parameters)) for each in table.CONTENDERS}
    alike = ("rosella", "eps-greedy", "ucb", "sparrow", "pot", "uniform", "round-robin", "least-outstanding")
    alike += ("jsq", "halo", "pss", "ppot", "sed")
    assert found == {name: (name, {}) for name in alike} | {
        "rosella, all queues": ("rosella", {"probes": 32, "by": "wait"})
    }


@pytest.mark.parametrize(
    ("under", "schedulers", "delay", "shocked"),
    [("_STILL", 1, 0.0, False), ("_SHOCKS", 1, 0.0, True), ("_STALE", 8, 0.5, False)],
)
def test_the_mean_response_excludes_the_first_tenth(
    simulated, monkeypatch, under, schedulers, delay, shocked
):
    monkeypatch.setattr(
        table,
        "shocks",
        lambda speeds, every, last, rng: SimpleNamespace(
            time=np.array([every, last, rng.random()]), speed=np.asarray(speeds)
        ),
    )
    speeds = np.array([1.0, 3.0])
    contender = Contender("a", "ppot", (("probes", 2),))
    found = table._response(contender, speeds, 0.5, 100, 7, getattr(table, under))
    (call,) = simulated.calls
    assert call.given == {"samples": 0, "schedulers": schedulers, "probe_delay": delay, "sizes_known": True}
    assert call.policy == fake_policy("ppot", speeds, np.random.default_rng([7, 8]), probes=2)
    assert (call.load, call.tasks, call.seed) == (0.5, 100, 7)
    timetable = None
    if shocked:
        timetable = [500.0, 100 / (0.5 * 4.0), np.random.default_rng([7, 9]).random()], [1.0, 3.0]
    key = call.policy, [1.0, 3.0], 0.5, 100, 7, sorted(call.given.items()), timetable
    assert found == pytest.approx(number_for(key))


@pytest.mark.parametrize("quick", [True, False])
def test_tables_cover_all_loads_and_speed_sets(monkeypatch, quick):
    tasks, seeds = (50_000, (1, 2, 3)) if quick else (400_000, (1, 2, 3, 4, 5))
    loads = (0.5, 0.8, 0.85, 0.9) if quick else (0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95)

    def response(contender, speeds, load, count, seed, under):
        assert count == tasks
        return number_for(contender.label, float(speeds[0]), load, seed, under.key, low=10.0, high=30.0)

    monkeypatch.setattr(table, "_response", response)
    for make, key, words in (
        (table.against_all, "still", "speeds fixed"),
        (table.volatile, "shocks", "speeds permuted every 500 s"),
        (table.stale, "stale", "8 schedulers, queue lengths 0.5 s old"),
    )[: None if quick else 1]:
        found = make(quick)
        rows, pairs = [], []
        for speed_set, picture in zip(table.speed_sets(), found.pictures, strict=True):

            def values(contender, load, speeds=speed_set.speeds, key=key):
                under = SimpleNamespace(key=key)
                return np.array([response(contender, speeds, load, tasks, seed, under) for seed in seeds])

            cells = [
                Cell(each.label, load, values(each, load)) for load in loads for each in table.CONTENDERS
            ]
            for load in loads:
                setting = f"{speed_set.name}, load {load}"
                ours, theirs = (values(each, load) for each in (table.ROSELLA, table.SPARROW))
                pairs.append(table.AgainstSparrow(setting, ours, theirs))
                rows += [row.what for row in table.learner_rows(cells, load, f"{setting}, {words}")]
            assert picture.title == f"{speed_set.name}; {words}"
            for line, contender in zip(picture.lines, table.CONTENDERS, strict=True):
                each = [values(contender, load) for load in loads]
                assert (line.name, tuple(line.x)) == (contender.label, loads)
                assert list(line.y) == pytest.approx([own.mean() for own in each])
                assert list(line.half_width) == pytest.approx([mean_and_half(own)[1] for own in each])
            assert picture.log_y
            scale = "mean response, s (mean service at mean speed: 1 s)"
            assert axes(picture)[1:] == ("load", scale)
        assert [picture.key for picture in found.pictures] == [f"{key}-{number}" for number in range(3)]
        assert [row.what for row in found.rows[:-1]] == rows
        last = table.sparrow_row(pairs, f"jobs of one task, {words}")
        assert (found.rows[-1].what, found.rows[-1].ours, found.rows[-1].note) == (
            last.what,
            last.ours,
            last.note,
        )


def cells(**means):
    """Return responses of two seeds at load 0.8, and others at load 0.9 that must not be used."""
    each = {name.replace("_", " "): mean for name, mean in means.items()}
    found = [Cell(name, 0.9, np.array([77.0, 77.0])) for name in each]
    return [*found, *(Cell(name, 0.8, np.array([mean, mean + 0.001])) for name, mean in each.items())]


def test_rosella_is_compared_with_the_better_learner():
    found = [
        *cells(rosella=3.0, eps=0.0, ucb=1.5, ppot=2.0),
        Cell("rosella, all queues", 0.8, np.array([1.2, 1.201])),
        Cell("eps-greedy", 0.8, np.array([1.0, 1.001])),
    ]
    every, two = table.learner_rows(found, 0.8, "here")
    assert every.ours == pytest.approx(1.2005 / 1.0005)
    assert two.ours == pytest.approx(3.0005 / 1.0005)
    assert "mean responses, s: rosella 3, eps 0.0005, ucb 1.5, ppot 2" in every.note
    assert "32 probes drawn by rate miss some" in every.note
    assert "eps-greedy compares all 32 queues for each task" in two.note
    assert f"give {2.0005 / 1.0005:.2f} times the mean of eps-greedy" in two.note
    assert "in addition, it learns slowly" in two.note
    assert "learns slowly" not in table._why_not(1.14, found[-1], 1.0)
    assert "learns slowly" in table._why_not(1.16, found[-1], 1.0)
    assert every.judged.parts[0].found.mean == pytest.approx(1.2005 - 1.05 * 1.0005)


def test_settings_compared_with_sparrow_are_listed_by_decreasing_share():
    found = [
        table.AgainstSparrow("near", np.array([5.0, 5.0]), np.array([10.0, 10.0])),
        table.AgainstSparrow("far", np.array([2.0, 2.0]), np.array([10.0, 10.0])),
        table.AgainstSparrow("growing", np.array([2.0, 2.0]), np.array([10.0, 40.0])),
    ]
    row = table.sparrow_row(found, "words")
    assert row.ours == "1 of 2 settings, 50% to 80%"
    assert (
        row.note.startswith("far 80%; near 50%; 1 settings are left out") or "far 80%; near 50%" in row.note
    )
    assert "1 settings are left out" in row.note
    assert [part.low for part in row.judged.parts] == pytest.approx([0.645, 0.645])
    # The paper does not state the setting, so a single setting with a smaller share does not refute it.
    assert row.judged.unanimous


@pytest.mark.parametrize("quick", [True, False])
def test_examples_have_ten_workers(simulated, quick):
    simulated._tasks = 100
    found = examples.examples(quick)
    calls = iter(simulated.calls)
    for row, line, (policy, words) in zip(
        found.rows,
        found.pictures[0].lines,
        (("uniform", "unstable"), ("pot", "unstable"), ("pss", "stable"), ("ppot", "stable")),
        strict=True,
    ):
        runs = []
        for seed in (1, 2, 3):
            own = next(calls)
            assert (own.policy, own.load, own.seed, own.given) == (policy, 14 / 15, seed, {"samples": 200})
            assert own.tasks == (200_000 if quick else 2_000_000)
            key = policy, [1.0] * 9 + [6.0], 14 / 15, own.tasks, seed, [("samples", 200)], None
            runs.append((number_for(key, "waiting") * np.arange(1, 21)).astype(np.int64))
        # Samples are 2 s apart; the second half of twenty begins at the eleventh.
        growths = [(waiting[-1] - waiting[10]) / 18.0 for waiting in runs]
        assert row.paper == words
        assert row.ours == f"waiting tasks grow by {np.mean(growths):.3f}/s, {runs[0][-1]:,} at the end"
        assert (line.name, list(line.x)) == (policy, list(np.arange(1, 21) * 2.0))
        assert list(line.y) == (runs[0] + 1).tolist()
    assert axes(found.pictures[0]) == ("examples", "time, s", "1 + tasks waiting or running")
    assert found.pictures[0].log_y
    assert found.rows[0].judged.parts[0].low == pytest.approx(3.6 / 2)
    assert found.rows[1].judged.parts[0].low == pytest.approx(2.34 / 2)
    assert found.rows[2].judged.parts[0].high == pytest.approx(2.34 / 2)


@pytest.mark.parametrize("quick", [True, False])
def test_the_fast_worker_is_measured_under_both_policies(monkeypatch, quick):
    monkeypatch.setattr(examples, "_fast", lambda *given: given)
    monkeypatch.setattr(examples, "fast_rows", lambda *given: given)
    tasks = 300_000 if quick else 3_000_000
    assert examples.fast_worker(quick).rows == (("ppot", 100, tasks), ("ppot-ll", 100, tasks), 100)


def test_the_fast_worker_s_mean_excludes_other_workers_and_the_first_fifth(monkeypatch):
    tasks = 100
    place = np.arange(tasks)
    # Worker 0 has every fourth task; the first fifth of all are slow.
    worker = np.where(place % 4 == 0, 0, 1)
    response = np.where(place <= 20, 50.0, np.where(worker == 0, 2.0, 7.0))
    done = SimpleNamespace(response=response, worker=worker, mean=3.0, longest_queue=9)
    calls = []

    def simulate(policy, speeds, load, count, *, seed, record):
        calls.append((policy, speeds.tolist(), load, count, seed, record))
        return done

    monkeypatch.setattr(examples, "simulate", simulate)
    found = examples._fast("ppot", 5, tasks)
    # One worker is as fast as all others together, which are three quarters busy.
    assert calls == [("ppot", [5.0] + [1.0] * 5, 0.75, tasks, seed, True) for seed in (1, 2, 3)]
    assert found.there.tolist() == [2.0] * 3
    assert found.of_all.tolist() == [3.0] * 3
    assert found.longest.tolist() == [9.0] * 3


def test_rows_of_the_fast_worker_report_the_measured_values():
    sq, ll = (
        examples.Fast(np.array([a, 2 * a]), np.array([b, b + 1.0]), np.array([c, c + 2.0]))
        for a, b, c in ((0.2, 1.5, 30.0), (0.8, 2.5, 80.0))
    )
    slow, longest, less, of_all = examples.fast_rows(sq, ll, 100)
    assert (slow.paper, slow.ours) == (1.0, pytest.approx(1.2))
    assert (longest.paper, longest.ours) == (99.0, 81.0)
    assert less.ours == pytest.approx(0.25)
    assert of_all.ours == "SQ 2.000, LL 3.000"
    assert slow.judged.parts[0].low == 0.5
    assert slow.judged.parts[0].high == 1.5


def test_a_thousand_workers_are_compared_with_theory(simulated):
    simulated._tasks = 1000
    found = examples.large_cluster(True)
    speeds = [1.0] * 900 + [6.0] * 100
    rows = iter(found.rows)
    for policy, words in (
        ("ppot", "stable"),
        ("pss", "stable"),
        ("uniform", "unstable"),
        ("pot", "unstable"),
    ):
        keys = [(policy, speeds, 0.9, 5_000_000, seed, [("samples", 200)], None) for seed in (1, 2, 3)]
        levels = np.array([number_for(key) for key in keys])
        waiting = [(number_for(key, "waiting") * np.arange(1, 21)).astype(np.int64) for key in keys]
        growths = np.array([(own[-1] - own[10]) / 18.0 for own in waiting])
        row = next(rows)
        assert row.paper == words
        assert row.ours.startswith(f"{levels.mean():.4g}, without the first tenth {2 * levels.mean():.4g}; ")
        assert row.ours.endswith(f"waiting tasks grow by {growths.mean():.3g}/s")
        rate = 0.9 * 1500
        slowest = rate * 0.9**2 - 900
        part = row.judged.parts[0]
        if words == "stable":
            assert part.high == pytest.approx(slowest / 2)
        else:
            assert part.low == pytest.approx((rate * 0.9 - 900) / 2 if policy == "uniform" else slowest / 2)
        if policy == "pss":
            exact = next(rows)
            assert f"{1000 / (0.1 * 1500):.3f} s" in exact.note
            assert exact.ours == pytest.approx(2 * levels.mean() / (1000 / (0.1 * 1500)))
        if words == "stable":
            row = next(rows)
            assert row.ours == pytest.approx(np.mean([int(number_for(key, "queue")) for key in keys]))
    assert next(rows, None) is None


def test_all_parts_run_in_order(monkeypatch):
    steps = tuple(
        (str(n), lambda quick, n=n: SimpleNamespace(rows=(n, quick), pictures=(-n,))) for n in range(1, 12)
    )
    assert len(paper._STEPS) == 11
    monkeypatch.setattr(paper, "_STEPS", steps)
    progress = []
    found = paper.Rosella().reproduce(quick=True, notify=lambda *step: progress.append(step))
    assert found.rows == tuple(each for n in range(1, 12) for each in (n, True))
    assert found.pictures == tuple(-n for n in range(1, 12))
    assert progress == [*((str(n + 1), pytest.approx(n / 11)) for n in range(11)), ("done", 1.0)]
