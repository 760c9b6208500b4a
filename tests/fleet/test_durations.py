"""Estimated compute times that placements see: means of finished tasks, or the jobs' own values."""

import numpy as np
import pytest

from windlass.experiment.scenario import make_scenario
from windlass.model import InputError
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.place.policies.in_place import InPlace
from windlass.sim.fleet import run_placed

SITES = [{"name": name, "slots": 2, "up": 1e6, "down": 1e6} for name in "ab"]


class Notes:
    """In-place placement that records the estimates that it sees."""

    name = "notes"

    def __init__(self):
        self.told = []

    def decide(self, view):
        ready = view.ready
        self.told += [
            (view.now, int(job), int(kind), float(each), float(after))
            for job, kind, each, after in zip(
                ready.job, ready.shuffles, ready.task_s, ready.next_work, strict=True
            )
        ]
        return InPlace().decide(view)


def run_recorded(estimates):
    rng = np.random.default_rng(5)
    stages = [
        [
            StageSpec(4.0, (5, 3), 0.0, estimate_s=9.0),
            StageSpec(2.0, tasks=6, parents=(0,), estimate_s=7.0),
        ]
        for _ in range(4)
    ]
    factor = rng.uniform(0.5, 2.0, 4 * 14)
    case = FleetCase(
        Fleet.of([2, 1], [1e9, 1e9], [1e9, 1e9]), FleetJobs.of([0.0, 3.0, 11.0, 30.0], stages, factor)
    )
    notes = Notes()
    return run_placed(case, notes, estimates=estimates), notes.told


def test_finished_estimates_use_the_stage_the_job_or_all_jobs():
    run, recorded = run_recorded("finished")
    job, kind = run.jobs.job[run.jobs.stage], run.jobs.shuffles[run.jobs.stage]
    took = run.computed - run.read
    levels = set()
    for now, one, shuffles, each, after in recorded:
        ended = run.computed <= now
        own = ended & (job == one)
        by_stage = {k: own & (kind == k) for k in (0, 1)}
        expected = {}
        for k, stage in by_stage.items():
            known = [(0, stage), (1, own), (2, ended)]
            level, found = next(((at, mask) for at, mask in known if mask.any()), (3, None))
            expected[k] = 1.0 if found is None else float(took[found].mean())
            levels.add((k, level))
        assert each == pytest.approx(expected[shuffles])
        assert after == pytest.approx(0.0 if shuffles else 6 * expected[1])
    assert levels >= {(0, 0), (0, 2), (0, 3), (1, 0), (1, 1)}


def test_true_estimates_are_those_of_the_jobs():
    _, recorded = run_recorded("true")
    assert {(kind, each, after) for _, _, kind, each, after in recorded} == {(0, 9.0, 42.0), (1, 7.0, 0.0)}


def tree(**more):
    drawn = {"jobs": 2, "tasks": 5, **more.pop("drawn", {})}
    return {
        "world": "fleet",
        "cluster": {"sites": SITES},
        "workload": {"drawn": drawn},
        "policies": {"place": "in-place"},
        **more,
    }


@pytest.mark.parametrize(
    ("given", "durations"),
    [
        ({}, "finished"),
        ({"estimates": "finished"}, "finished"),
        ({"estimates": True}, "true"),
        ({"estimates": "true"}, "true"),
        ({"estimates": {"durations": True}}, "true"),
        ({"estimates": {"durations": "finished"}}, "finished"),
    ],
)
def test_the_field_selects_the_estimates(given, durations):
    assert make_scenario(tree(**given)).variants[0].setting.estimates.durations == durations


def test_a_list_of_estimates_is_swept():
    variants = make_scenario(tree(estimates=["finished", True])).variants
    assert [one.setting.estimates.durations for one in variants] == ["finished", "true"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"estimates": "guessed"}, "estimates"),
        ({"estimates": {"durations": "guessed"}}, "estimates.durations"),
        ({"drawn": {"estimate_error": 0.5}}, "estimate_error: has no effect on policies"),
    ],
)
def test_wrong_estimates_are_rejected(given, message):
    with pytest.raises(InputError, match=message):
        make_scenario(tree(**given))
