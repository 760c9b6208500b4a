"""The sharing world: jobs that share processors."""

from pathlib import Path

import numpy as np
import pytest

from windlass.cli.overrides import Overrides, overridden
from windlass.experiment.runner import run
from windlass.experiment.scenario import load_scenario, make_scenario
from windlass.experiment.workloads.measured import FITTED_TO_HALF, LEFT_OUT_FACTORS
from windlass.experiment.workloads.use import UseLaw, draw_use
from windlass.io.traces.interference import read_interference
from windlass.model import InputError, JobTable
from windlass.share import POLICIES as SHARE
from windlass.share.interference import Interference
from windlass.sim.shares.neighbours import NeighbourSpeeds

ROOT = Path(__file__).parents[2]
TRACES = ROOT.parent / "shared" / "traces"


def scenario(**changes):
    tree = {
        "world": "sharing",
        "cluster": {"processors": 64},
        "workload": {"lublin": {"jobs": 150, "load": 0.9}},
        "policies": {"order": "easy", "share": ["none", "static", "pairs"]},
    }
    return make_scenario(tree | changes)


@pytest.mark.slow
def test_sharing_changes_when_jobs_run_but_not_which():
    none, static, pairs = run(scenario()).variants
    alone, shared = none.outcomes[0], static.outcomes[0]
    assert alone.metrics.guests == 0
    assert alone.metrics.mean_stretch == pytest.approx(1.0)
    assert shared.metrics.guests > 0
    assert alone.jobs["job"].to_list() == shared.jobs["job"].to_list()
    assert alone.jobs["cpu_s"].to_list() == pairs.outcomes[0].jobs["cpu_s"].to_list()
    guests = shared.jobs.filter(shared.jobs["host"].is_not_null())
    assert len(guests) == shared.metrics.guests
    assert set(guests["first_quota_percent"]) == {50}


@pytest.mark.slow
def test_a_smaller_budget_slows_hosts_less():
    shares = [{"pairs": {"budget": budget}} for budget in (0.02, 0.5)]
    small, large = run(scenario(policies={"order": "easy", "share": shares}, seeds=[1, 2, 3])).variants
    slowed = [np.mean([one.metrics.mean_host_stretch for one in each.outcomes]) for each in (small, large)]
    assert 1.0 <= slowed[0] < slowed[1]


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_processes():
    tables = [run(scenario(seeds=[4]), jobs=jobs).variants[2].outcomes[0].jobs for jobs in (1, 2)]
    assert tables[0].equals(tables[1])


@pytest.mark.slow
def test_without_sharing_starts_equal_the_batch_world():
    batch = make_scenario(
        {
            "cluster": {"processors": 64},
            "workload": {"lublin": {"jobs": 150, "load": 0.9}},
            "policies": {"order": "easy"},
        }
    )
    (plain,) = run(batch).variants
    none = run(scenario()).variants[0]
    for column in ("start_s", "end_s", "why"):
        assert none.outcomes[0].jobs[column].equals(plain.outcomes[0].jobs[column])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"checkpoint": 0}, "checkpoint"),
        ({"noise": -1}, "noise"),
        ({"policies": {"order": "easy", "share": "nobody"}}, "nobody"),
        ({"policies": {"order": "easy", "share": {"pairs": {"budget": -1}}}}, "budget"),
        ({"cluster": {"processors": 64, "memory_per_core": 0}}, "memory_per_core"),
    ],
)
def test_wrong_fields_are_named(changes, message):
    with pytest.raises(InputError, match=message):
        run(scenario(**changes))


def test_a_budget_is_settable_in_every_form_of_a_scenario():
    """The Slurm driver reads the same notation: tests/cli/test_slurm.py."""
    in_file = scenario(policies={"order": "easy", "share": {"pairs": {"budget": 0.05}}})
    world = {
        "world": "sharing",
        "workload": {"lublin": {"jobs": 150, "load": 0.9}},
        "cluster": {"processors": 64},
    }
    plain = world | {"policies": {"order": "easy", "share": "pairs"}}
    for overrides in (
        Overrides(policies="share=pairs(budget=0.05)"),
        Overrides(policies="share=pairs(budget=5)"),
        Overrides(fields=("policies.share.pairs.budget=0.05",)),
        Overrides(fields=("policies.share={pairs: {budget: 0.05}}",)),
    ):
        (variant,) = make_scenario(overridden(plain, overrides)).variants
        given = variant.setting.policies.share
        assert given.make(SHARE, np.random.default_rng(1)).budget == 0.05
        assert given.name == "pairs"
    (variant,) = in_file.variants
    assert variant.setting.policies.share.make(SHARE, np.random.default_rng(1)).budget == 0.05


def test_jobs_of_a_class_have_similar_use():
    rng = np.random.default_rng(1)
    jobs = JobTable.of(submit=np.zeros(400), run=np.full(400, 100.0), procs=rng.integers(1, 65, 400))
    classes = rng.integers(0, 8, 400)
    use = draw_use(jobs, classes, UseLaw(sequential=0.0), rng)
    part = use.core_seconds(np.ones(400, np.int64)) / use.run()
    within = np.mean([part[classes == each].std() for each in range(8)])
    assert within < 0.06 < part.std()
    assert use.run() == pytest.approx(jobs.run)
    assert (part <= 1.0).all()


def test_a_sequential_stage_keeps_one_core_busy():
    jobs = JobTable.of(submit=[0.0] * 50, run=[100.0] * 50, procs=[8] * 50)
    use = draw_use(jobs, np.arange(50), UseLaw(), np.random.default_rng(2))
    assert use.cpu[~use.parallel] == pytest.approx(100.0 / 8)


def test_factors_depend_on_classes_and_speeds_are_at_most_1():
    jobs = JobTable.of(submit=[0.0] * 4, run=[10.0] * 4, procs=[1] * 4)
    use = draw_use(jobs, np.array([0, 1, 0, 1]), UseLaw(), np.random.default_rng(3))
    physics = NeighbourSpeeds(
        Interference(*FITTED_TO_HALF), use, LEFT_OUT_FACTORS.draw(99, np.random.default_rng(4)), 5
    )
    assert physics(0, 1, 60.0, 70.0, 30) == physics(2, 3, 60.0, 70.0, 30)
    assert physics(0, 1, 60.0, 70.0, 30) != physics(1, 0, 60.0, 70.0, 30)
    for quota in (0, 10, 90):
        found = physics(0, 1, 10.0, 10.0, quota)
        assert 0.0 <= found.host <= 1.0
        assert 0.0 <= found.guest <= 1.0


def test_the_factor_law_matches_the_measurements():
    if not (TRACES / "interference").is_dir():
        pytest.skip("no measured pairs: ../shared/traces/interference")
    pairs = read_interference(TRACES / "interference")
    left_out = np.arange(len(pairs)) % 2 == 1
    model = Interference(*FITTED_TO_HALF)
    message = np.array(
        [[each.host, each.guest] for each in (model.unlimited(*row) for row in pairs.use[left_out])]
    )
    factors = (pairs.speed[left_out] / message).reshape(-1)
    assert np.quantile(factors, np.linspace(0, 1, 21)) == pytest.approx(LEFT_OUT_FACTORS.values, abs=2e-3)


def test_the_example_loads_with_the_real_log():
    example = ROOT / "examples" / "hpc-sharing.yaml"
    if not (TRACES / "swf").is_dir():
        pytest.skip("no logs: ../shared/traces/swf")
    made = load_scenario(example)
    assert made.name == "sharing on an HPC site"
