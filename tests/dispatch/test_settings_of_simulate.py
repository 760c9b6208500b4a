"""A simulation of small tasks from one call: each argument is passed to the workers, and defaults are as documented."""

import inspect

import numpy as np
import pytest

from windlass.experiment import dispatching as simulating
from windlass.experiment.dispatching import make_policy, simulate
from windlass.model import InputError
from windlass.model.timetable import WorkerTimetable
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.setup import Setup

DOCUMENTED = dict(
    load=None, tasks=100_000, seed=0, arrivals="poisson", service="exponential", tasks_per_job=1, timetable=None,
    schedulers=1, probe_delay=0.0, fetch_delay=0.0, probe_trip=0.0, count_sent=False, sizes_known=False, lane=8,
    samples=100, record=False, progress=None,
)  # fmt: skip


def defaults(function):
    given = inspect.signature(function).parameters.items()
    return {name: each.default for name, each in given if each.default is not each.empty}


def test_defaults_are_as_documented():
    assert defaults(simulate) == DOCUMENTED
    assert {name: value for name, value in defaults(WorkersPart.__init__).items() if name != "self"} == dict(
        ledger=None, site=0, floor=0.05, keep=0.0, progress=None
    )


@pytest.mark.parametrize("given", [True, False])
def test_each_argument_is_passed_to_the_workers(given, monkeypatch):
    seen, parts, reports = [], [], []

    def setup(**more):
        seen.append(more)
        return Setup(**more)

    def part(*arguments, **more):
        parts.append((arguments, more))
        return WorkersPart(*arguments, **more)

    monkeypatch.setattr(simulating, "Setup", setup)
    monkeypatch.setattr(simulating, "WorkersPart", part)
    more = dict(
        timetable=WorkerTimetable.none(), schedulers=2, probe_delay=0.25, fetch_delay=0.5, count_sent=True,
        sizes_known=True, lane=3, samples=7, record=True, tasks_per_job=4,
    ) if given else {}  # fmt: skip
    run = simulate("ppot", [1.0, 2.0], 0.5, 40, 3, progress=reports.append, **more)
    expected = {name: DOCUMENTED[name] for name in Setup.__dataclass_fields__ if name != "speeds"} | more
    found = dict(seen[0])
    assert found.pop("speeds").tolist() == [1.0, 2.0]
    timetable = found.pop("timetable")
    assert len(timetable.time) == 0
    del expected["timetable"]
    assert found == expected
    assert parts[0][1] == {"progress": reports.append}
    assert reports[-1] == 40
    assert len(run.job_response) == 40 // (4 if given else 1)
    assert len(run.sample_time) == (7 if given else 100)
    assert len(run.start) == len(run.worker) == (40 if given else 0)
    assert run.policy == "ppot"


def test_an_argument_out_of_bounds_is_named():
    bounds = dict(
        schedulers=0, probe_delay=-0.1, probe_trip=-0.1, lane=0, samples=-1, tasks_per_job=0, tasks=0, seed=-1
    )
    for name, value in bounds.items():
        with pytest.raises(InputError, match=name):
            simulate("ppot", [1.0, 2.0], 0.5, **{"tasks": 4, name: value})
    for least in (dict(lane=1), dict(samples=0), dict(probe_delay=0.0), dict(seed=0), dict(schedulers=1)):
        assert len(simulate("ppot", [1.0, 2.0], 0.5, **{"tasks": 4, **least}).response) == 4
    with pytest.raises(InputError, match=r"^speeds"):
        simulate("ppot", [0.0, -1.0], 0.5, 4)


def test_a_policy_receives_the_worker_parameters_that_it_accepts():
    rng, speeds = np.random.default_rng(1), np.array([1.0, 3.0])
    assert make_policy("rosella", speeds, rng).workers == 2
    assert make_policy("ppot", speeds, rng).workers == 2
    with pytest.raises(InputError, match="speeds has 2 workers, but the policy was made for 3"):
        simulate(make_policy("ppot", np.ones(3), rng), speeds, 0.5, 4)


def test_the_workload_depends_only_on_the_seed():
    one, other, third = (
        simulate(name, [1.0, 2.0], 0.5, 30, seed) for name, seed in (("ppot", 1), ("jsq", 1), ("ppot", 2))
    )
    assert one.submit.tolist() == other.submit.tolist()
    assert one.submit.tolist() != third.submit.tolist()
    assert one.response.tolist() == simulate("ppot", [1.0, 2.0], 0.5, 30, 1).response.tolist()
