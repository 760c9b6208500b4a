"""The measurements of SWAG's reproduction and its search for the best schedule, compared with plain calculations."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from tests.reproductions.swag_runs import SHOWN
from windlass.model.fleet import Fleet
from windlass_reproductions.swag import bounds, exact, runs
from windlass_reproductions.swag.runs import Experiment, Run, SizesAtArrival


def test_slowdowns_are_averaged_by_size_class(monkeypatch):
    """Small jobs have up to 150 tasks and medium ones up to 500."""
    sizes = np.array([150, 151, 500, 501, 10])
    response, service = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([1.0, 1.0, 1.0, 0.5, 0.25])
    done = SimpleNamespace(
        response=response,
        jobs=SimpleNamespace(job_tasks=sizes),
        decisions=4,
        subjobs_reported=20,
        jobs_reported=10,
    )
    monkeypatch.setattr(runs, "service_seconds", lambda _: service)
    found = runs.measured(done)
    assert (found.response, found.reported, found.waiting) == (3.0, 5.0, 2.5)
    assert found.slowdown.tolist() == [(1 + 2 + 3 + 8 + 20) / 5, 10.5, 2.5, 8.0]
    done.decisions, done.jobs.job_tasks = 0, np.full(5, 200)
    none = runs.measured(done)
    assert (none.reported, none.waiting) == (20.0, 10.0)
    assert np.isnan(none.slowdown[[1, 3]]).all()


def run(response, slowdown=(1.0, 1.0, 1.0, 1.0)):
    return Run(response, np.array(slowdown), 0.0, 0.0)


def test_means_over_seeds_match_a_hand_calculation():
    found = Experiment(
        {
            "FCFS": [run(10.0), run(20.0)],
            "one": [run(5.0, (1.0, np.nan, 3.0, np.nan)), run(15.0, (3.0, 7.0, 5.0, np.nan))],
            "two": [run(8.0), run(4.0)],
        }
    )
    assert found.responses("one").tolist() == [5.0, 15.0]
    assert found.response("one") == 10.0
    assert found.by_fcfs("one").tolist() == [0.5, 0.75]
    assert found.normalised("one").mean == 0.625
    assert found.off("one", "two").tolist() == [1 - 5 / 8, 1 - 15 / 4]
    assert (found.better(("one", "two")), found.worse(("one", "two"))) == ("two", "one")
    assert found.slowdowns("one").shape == (2, 4)
    np.testing.assert_array_equal(found.slowdown("one"), [2.0, 7.0, 4.0, np.nan])


def test_all_policies_run_the_same_jobs_of_each_seed(monkeypatch):
    monkeypatch.setattr(runs, "draw_fixed", lambda rng, **setting: (rng.random(), setting))
    monkeypatch.setattr(runs, "run_ordered", lambda work, policy: (work, policy))
    monkeypatch.setattr(runs, "make", lambda name: name)
    monkeypatch.setattr(runs, "measured", lambda done: done)
    progress = []
    found = runs.experiment(2, notify=lambda: progress.append(1), law="google", jobs=7)
    assert tuple(found.runs) == ("FCFS", *SHOWN)
    for name, own in found.runs.items():
        works = [(np.random.default_rng(seed).random(), {"law": "google", "jobs": 7}) for seed in (1, 2)]
        assert own == [(work, name) for work in works]
    assert len(progress) == 12
    assert set(runs.experiment(1, ("SWAG",)).runs) == {"SWAG"}


@pytest.mark.parametrize(
    ("name", "policy", "parameters"),
    [
        ("FCFS", "fcfs", {}),
        ("Global-SRPT", "global-srpt", {}),
        ("Independent-SRPT", "independent-srpt", {}),
        ("Global-SRPT w/Reordering", "reordering", {"base": "global-srpt"}),
        ("Independent-SRPT w/Reordering", "reordering", {"base": "independent-srpt"}),
        ("SWAG", "swag", {}),
        ("Optimal order of 10", "optimal", {"limit": 10}),
    ],
)
def test_contenders_are_the_policies_that_the_thesis_names(monkeypatch, name, policy, parameters):
    made = SimpleNamespace(make=lambda name, rng, **given: (name, rng.random(), given))
    monkeypatch.setattr(runs, "POLICIES", made)
    assert runs.make(name) == (policy, np.random.default_rng(0).random(), parameters)


def view(subjobs, jobs, slots=(1, 1)):
    return SimpleNamespace(job=np.array(jobs), subjobs=np.array(subjobs), slots=np.array(slots))


def test_sizes_at_arrival_do_not_change_as_tasks_end():
    """Jobs of 2 + 7, 5 + 1 and 4 + 3 tasks at two sites, of which only some are left."""
    here = np.array([[2, 7], [5, 1], [4, 3]])
    work = SimpleNamespace(jobs=SimpleNamespace(here=lambda sites: here), fleet=[0, 1])
    left = view([[1, 1], [5, 1]], jobs=[0, 1])
    assert SizesAtArrival(work, each_site=False).decide(left).order.tolist() == [1, 0]
    each = SizesAtArrival(work, each_site=True).decide(left).order
    assert each.tolist() == [[0, 1], [1, 0]]
    assert SizesAtArrival(work, each_site=False).decide(view([[4, 3], [1, 1]], [2, 0])).order.tolist() == [
        0,
        1,
    ]
    put = SizesAtArrival(work, each_site=False, then_reorder=True).decide(left).order
    np.testing.assert_array_equal(put, runs.reordering(left.subjobs, left.slots, np.array([1, 0])))


def ends(subjobs, order):
    """Return (J,) the ends of jobs on one slot per site, all sites in the same order, tasks of 1 s."""
    subjobs = np.asarray(subjobs)
    done = np.zeros(len(subjobs))
    for site in range(subjobs.shape[1]):
        at = 0
        for job in order:
            at += subjobs[job, site]
            if subjobs[job, site]:
                done[job] = max(done[job], at)
    return done


def test_the_optimum_of_few_jobs_matches_all_permutations():
    rng = np.random.default_rng(5)
    above = 0
    for _ in range(12):
        subjobs = rng.integers(0, 8, (rng.integers(2, 6), rng.integers(2, 4)))
        best = min(ends(subjobs, order).sum() for order in itertools.permutations(range(len(subjobs))))
        order = bounds.swag(subjobs, 1)
        alone, put = bounds._gaps(subjobs)
        assert alone == pytest.approx(ends(subjobs, order).sum() / best - 1.0 if best else 0.0)
        assert 0.0 <= put <= alone + 1e-9
        above += alone > 0
    assert above
    assert bounds._gaps(np.zeros((3, 2), np.int64)) == (0.0, 0.0)


def test_rows_of_small_cases_summarise_the_gaps(monkeypatch):
    gaps = iter([(0.0, 0.0), (0.01, 0.0), (0.06, 0.05), (0.05, 0.04)] * 2)
    seen = []
    monkeypatch.setattr(bounds, "_gaps", lambda fleet: seen.append(fleet) or next(gaps))
    rows = bounds.small_rows(4)
    assert [row.ours for row in rows] == [
        f"{0.03:.2%}, {np.percentile([0, 0.01, 0.06, 0.05], 95):.1%}, {0.06:.1%}; {3 / 4:.1%}",
        f"{0.0225:.2%}, {np.percentile([0, 0, 0.05, 0.04], 95):.1%}, {0.05:.1%}; {1:.1%}",
    ] * 2
    assert f"Worst: {seen[2].tolist()}" in rows[0].note
    assert f"Worst: {seen[6].tolist()}" in rows[3].note
    assert all("4 × 2–8 jobs at 2–4 sites" in row.what for row in rows)
    assert rows[0].judged.parts[0].high == pytest.approx(0.025)
    assert all(2 <= len(each) <= 8 and 2 <= each.shape[1] <= 4 for each in seen)


def test_small_cases_cover_their_whole_range():
    drawn = [bounds._anyhow(np.random.default_rng(seed)) for seed in range(150)]
    assert {len(each) for each in drawn} == set(range(2, 9))
    assert {each.shape[1] for each in drawn} == {2, 3, 4}
    assert {int(value) for each in drawn for value in each.ravel()} == set(range(11))
    drawn = [bounds._as_thesis(np.random.default_rng(seed)) for seed in range(150)]
    assert {len(each) for each in drawn} == set(range(2, 9))
    assert {each.shape[1] for each in drawn} == {2, 3, 4}
    tiny = [bounds._tiny(np.random.default_rng(seed)) for seed in range(60)]
    sizes = np.concatenate([each.jobs.job_tasks for each in tiny])
    assert (sizes.min(), sizes.max()) == (5, 59)
    assert all(len(each.jobs) == 6 and each.fleet.slots.tolist() == [3] * 5 for each in tiny)
    assert max(each.jobs.duration.max() for each in tiny) <= 5.0
    # The six jobs arrive over the time that fifteen slots at 90 % utilisation need for their work.
    for each in tiny:
        assert each.jobs.submit[-1] * 15 * 0.9 == pytest.approx(each.jobs.duration.sum())


def test_hindsight_tries_all_priorities(monkeypatch):
    """One of the six orders of three jobs responds in 2 s, the others in 2.5 s."""
    monkeypatch.setattr(bounds, "_tiny", lambda rng: SimpleNamespace(jobs=range(3), key=rng.random()))
    monkeypatch.setattr(bounds, "_Priorities", lambda rank: rank)
    monkeypatch.setattr(bounds, "make", lambda name: name)
    means = {"SWAG": [2.2, 2.06]}
    responses = {(2, 0, 1): 2.0}

    def mean_response(work, policy):
        return means["SWAG"].pop(0) if policy == "SWAG" else responses.get(policy, 2.5)

    monkeypatch.setattr(bounds, "mean_response", mean_response)
    row = bounds.offline_row(2)
    assert row.ours == f"{0.065:.1%}, {0.1:.1%}; {0.5:.0%}"
    assert "2 × 6 arriving jobs" in row.what
    assert row.judged.parts[0].found.mean == pytest.approx(0.065)


def test_priorities_do_not_depend_on_the_remaining_jobs():
    order = bounds._Priorities((2, 0, 1)).decide(SimpleNamespace(job=np.array([0, 2, 1]))).order
    assert order.tolist() == [2, 1, 0]


def test_room_uses_workloads_of_seeds_from_one_upwards(monkeypatch):
    monkeypatch.setattr(bounds, "draw_fixed", lambda rng, **setting: (rng.random(), setting["law"]))
    monkeypatch.setattr(bounds, "make", lambda name: name)
    times = {"SWAG": 6.0, "Global-SRPT": 10.0, "Independent-SRPT": 8.0}
    monkeypatch.setattr(bounds, "mean_response", lambda work, name: times[name] + work[0])
    monkeypatch.setattr(
        bounds, "least_mean_response", lambda work, steps: SimpleNamespace(any_schedule=steps + work[0])
    )
    found = bounds.room(2, law="google")
    draws = np.array([np.random.default_rng(seed).random() for seed in (1, 2)])
    np.testing.assert_allclose(found.swag, 6.0 + draws)
    np.testing.assert_allclose(found.srpt, 8.0 + draws)
    np.testing.assert_allclose(found.least, 150.0 + draws)
    assert len(bounds.room(law="google").swag) == 1


def test_static_rows_compare_swag_with_the_better_srpt(monkeypatch):
    seen = []

    def orders(subjobs, slots):
        seen.append((subjobs, slots))
        better, worse = (10.0, 8.0) if len(seen) > 3 else (8.0, 10.0)
        return {"SWAG": 6.0, "Global-SRPT": better, "Independent-SRPT": worse}

    monkeypatch.setattr(exact, "orders", orders)
    monkeypatch.setattr(exact, "finish_instants", lambda subjobs, slots, order: np.full(2, order) + len(seen))
    rows = exact.static_rows(3)
    assert [row.paper for row in rows] == ["up to 50% (in its runs)", "up to 35% (in its runs)"]
    assert [row.ours for row in rows] == [f"{1 - (6 + n) / (8 + n):.1%}" for n in (2, 5)]
    assert all(subjobs.shape == (200, 30) and slots == 300 for subjobs, slots in seen)
    assert ["facebook" in rows[0].what, "exponential" in rows[1].what] == [True, True]


def test_overheads_are_the_best_of_five_runs(monkeypatch):
    """Of eight views the last six are timed; each try takes a second less than the one before."""
    drawn = {}
    monkeypatch.setattr(exact, "draw_fixed", lambda rng, **setting: drawn.update(setting, rng=rng.random()))
    views = [SimpleNamespace(subjobs=[0] * n, slots=n, backlog=-n) for n in range(8)]
    monkeypatch.setattr(exact, "run_ordered", lambda work, recorder: recorder.views.extend(views))
    monkeypatch.setattr(exact, "make", lambda name: name)
    calls, ticks = [], []
    monkeypatch.setattr(exact, "ordered", lambda *given: calls.append(given))

    def seconds():
        place = len(ticks)
        ticks.append(place)
        return 10.0 * place + (0.0 if place % 2 == 0 else (5 - place // 2 % 5) * 1e-3 - 10.0)

    rows = exact.overhead_rows(77, seconds)
    assert drawn == {"law": "exponential", "jobs": 77, "rng": np.random.default_rng(1).random()}
    assert [row.ours for row in rows] == pytest.approx([1.0, 1.0, 1.0])
    assert [row.paper for row in rows] == ["not significantly different from SWAG"] * 2 + [4.5]
    assert len(calls) == 3 * 6 * 5
    assert calls[0] == ("Global-SRPT w/Reordering", views[2].subjobs, 2, -2)
    assert calls[-1][0] == "SWAG"
    assert "4 waiting jobs per decision on average" in rows[0].note
    assert [row.holds for row in rows] == [None, None, True]


def test_many_views_are_thinned_evenly(monkeypatch):
    monkeypatch.setattr(exact, "draw_fixed", lambda rng, **setting: None)
    views = [SimpleNamespace(subjobs=[], slots=number, backlog=0) for number in range(400)]
    monkeypatch.setattr(exact, "run_ordered", lambda work, recorder: recorder.views.extend(views))
    monkeypatch.setattr(exact, "make", lambda name: name)
    calls = []
    monkeypatch.setattr(exact, "ordered", lambda name, subjobs, slots, backlog: calls.append(slots))
    exact.overhead_rows(77, lambda: 0.0)
    assert calls[: 5 * 150 : 5] == list(range(100, 400, 2))


def test_the_recorder_decides_as_swag_does():
    recorder = runs.Recorder()
    subjobs = np.array([[1, 10, 1], [3, 8, 0], [7, 0, 6]])
    fleet = Fleet.of([1, 1, 1])
    case = bounds.FleetCase(fleet, bounds.fixed_table(np.zeros(3), subjobs, np.ones(36, np.int64)))
    done = runs.run_ordered(case, recorder)
    assert done.response.tolist() == [18.0, 10.0, 7.0]
    assert recorder.views[0].subjobs.tolist() == subjobs.tolist()


def test_the_example_has_the_printed_instants():
    expected = {
        "FCFS": ("(10, 18, 11), 13.00"),
        "Global-SRPT": ("(18, 8, 11), 12.33"),
        "Independent-SRPT": ("(18, 8, 11), 12.33"),
        "Global-SRPT w/Reordering": ("(18, 8, 10), 12.00"),
        "Independent-SRPT w/Reordering": ("(18, 8, 10), 12.00"),
        "SWAG": ("(18, 10, 7), 11.67"),
    }
    rows = exact.example_rows()
    assert [row.paper for row in rows] == list(expected.values()) == [row.ours for row in rows]
    assert all(f"Fig. 3.2, {name}:" in row.what for row, name in zip(rows, expected, strict=True))
