"""The admission world: tasks on nodes that may reject them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.worlds.admission_cases import draw_case, with_admission
from windlass.experiment.runner import run
from windlass.experiment.scenario import load_scenario, make_scenario
from windlass.experiment.worlds.admission.spec import Bursts
from windlass.experiment.worlds.admission.world import AdmissionWorld
from windlass.model import InputError, PolicyError
from windlass.sim.ledger import Ledger
from windlass.sim.telemetry.metrics import read_model, write_model
from windlass.sim.telemetry.neighbours import Neighbours, draw_bursts


def tree(**changes):
    found = {
        "world": "admission",
        "cluster": {"nodes": 4, "bursts": {"every": 30, "last": 10, "ramp": 1}},
        "workload": {"tasks": 1000, "load": 0.7},
        "policies": {"dispatch": "pot", "admit": {"utilisation": {"threshold": 0.9}}},
    }
    for key, value in changes.items():
        found[key] = {**found[key], **value} if isinstance(found.get(key), dict) else value
    return found


def test_loads_and_policies_are_swept():
    made = make_scenario(
        tree(workload={"load": [0.6, 0.9]}, policies={"admit": ["always", {"random": {"downtime": 0.1}}]})
    )
    assert [variant.name for variant in made.variants] == [
        "pot, always, load=0.6",
        "pot, random(downtime=0.1), load=0.6",
        "pot, always, load=0.9",
        "pot, random(downtime=0.1), load=0.9",
    ]


def test_dispatch_is_pull_by_default():
    without = tree(policies={"admit": "ready"})
    del without["policies"]["dispatch"]
    (variant,) = run(make_scenario(without)).variants
    (named,) = run(make_scenario(tree(policies={"dispatch": "pull", "admit": "ready"}))).variants
    assert variant.outcomes[0].metrics == named.outcomes[0].metrics
    assert variant.outcomes[0].metrics.diverted_tasks == 0
    assert variant.outcomes[0].metrics.downtime > 0


def test_metrics_match_the_simulated_run():
    (variant,) = run(make_scenario(tree(keep_tasks=300))).variants
    (outcome,) = variant.outcomes
    metrics, table = outcome.metrics, outcome.jobs
    setting = make_scenario(tree(keep_tasks=300)).variants[0].setting
    case = draw_case(setting, 1)
    done, observed = with_admission(case)
    assert metrics.p99_response_s == np.percentile(done.response, 99)
    assert metrics.mean_cpu_ready == observed.of("ready").mean()
    assert metrics.downtime == observed.rejects.mean() > 0
    assert metrics.rejected_tasks == observed.tasks.rejected > 0
    assert len(table) == 250
    assert table["end_s"].to_list() == done.end[::4].tolist()
    # The report scales what it shows over time by this.
    assert table["stands_for"].unique().to_list() == [4]
    assert outcome.notes == ("one in 4 tasks is in the table; metrics cover all tasks",)


def test_a_task_that_all_nodes_reject_is_refused_if_the_scenario_says_so():
    made = make_scenario(
        tree(policies={"admit": {"random": {"downtime": 0.8}}}, admission={"full": ["force", "refuse"]})
    )
    force, refuse = (variant.outcomes[0] for variant in run(made).variants)
    assert [variant.name for variant in made.variants] == [
        "pot, random(downtime=0.8), full=force",
        "pot, random(downtime=0.8), full=refuse",
    ]
    assert force.metrics.refused_tasks == 0 < refuse.metrics.refused_tasks
    assert force.metrics.mean_response_s > refuse.metrics.mean_response_s
    assert force.jobs["end_s"].is_not_nan().all()
    never_ran = refuse.jobs.filter(refuse.jobs["end_s"].is_nan())
    assert len(never_ran) == refuse.metrics.refused_tasks
    assert never_ran["start_s"].is_nan().all()
    assert never_ran["worker"].unique().to_list() == [-1]


def test_the_warm_up_is_not_measured():
    setting = (
        make_scenario(tree(policies={"admit": {"random": {"downtime": 0.4}}}, warm=55.0)).variants[0].setting
    )
    case = draw_case(setting, 1)
    done, observed = with_admission(case)
    metrics = (
        AdmissionWorld().run(setting, 1, AdmissionWorld().workload(setting, 1), lambda share: None).metrics
    )
    late = done.submit >= 55.0
    assert metrics.tasks == late.sum() < 1000
    assert metrics.p99_response_s == np.percentile(done.response[late], 99)
    assert metrics.downtime == observed.rejects[55:].mean()
    later = observed.since(55.0).tasks
    # The gate decides when tasks arrive, and those of the first 55 steps arrive before the 55th decision.
    assert later.accepted + later.rejected == late.sum()
    assert 0 < later.rejected < observed.tasks.rejected
    with pytest.raises(InputError, match=r"warm is 1e.06 s, but the last task arrives at"):
        run(make_scenario(tree(warm=1e6)))


def test_the_seed_determines_the_run_and_policies_share_its_tasks():
    def drawn(admit, seed):
        setting = make_scenario(tree(policies={"admit": admit})).variants[0].setting
        return draw_case(setting, seed)

    one, other, third = drawn("always", 1), drawn("random", 1), drawn("always", 2)
    assert one.tasks.submit.tobytes() == other.tasks.submit.tobytes() != third.tasks.submit.tobytes()
    assert one.bursts.time.tobytes() == other.bursts.time.tobytes()
    first, second = (with_admission(drawn("random", 1))[0].response.tobytes() for _ in range(2))
    assert first == second


def test_bursts_hold_the_expected_cores():
    law = Bursts(every=40, last=12, ramp=2)
    until = 400_000.0
    drawn = draw_bursts(3, 5, law.every, law.last, law.ramp, until, np.random.default_rng(4))
    # Core-seconds of all bursts: the sum of time × cores, where taken cores are negative.
    held = -(drawn.time * drawn.cores).sum()
    assert held / (3 * 5 * until) == pytest.approx(law.held(5), rel=0.03)


def test_neighbours_return_all_cores():
    drawn = draw_bursts(4, 3, 20.0, 5.0, 1.0, 500.0, np.random.default_rng(5))
    ledger = Ledger([[3] * 4], parts=1)
    part = Neighbours(drawn, ledger)
    least = 3
    while part.horizon() < np.inf:
        part.decide(part.horizon())
        assert ledger.nodes.idle.min() >= 0
        least = min(least, int(ledger.nodes.idle.min()))
    assert ledger.nodes.idle.tolist() == [3] * 4
    assert least == 0


def test_a_telemetry_model_is_relative_to_the_scenario(tmp_path):
    write_model(read_model(), tmp_path / "mine.json")
    path = tmp_path / "a.yaml"
    text = "world: admission\ncluster: {nodes: 2}\nworkload: {tasks: 50}\ntelemetry: {model: MODEL}\n"
    text += "policies: {dispatch: jsq, admit: ready}\n"
    path.write_text(text.replace("MODEL", "mine.json"))
    assert run(load_scenario(path)).variants[0].outcomes[0].metrics.tasks == 50
    path.write_text(text.replace("MODEL", "none.json"))
    with pytest.raises(InputError, match=r"none\.json"):
        run(load_scenario(path))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cluster": {"nodes": 1}}, "cluster.nodes"),
        ({"cluster": {"bursts": {"every": 0}}}, "cluster.bursts.every"),
        ({"cluster": {"bursts": {"height": 2}}}, "cluster.bursts.height"),
        ({"telemetry": {"every": -1}}, "telemetry.every"),
        ({"admission": {"full": "drop"}}, "admission.full"),
        ({"policies": {"admit": "sometimes"}}, "policies.admit: unknown policy 'sometimes'"),
        ({"policies": {"admit": {"ready": {"limit": 1}}}}, "policies.admit: ready has no parameter 'limit'"),
    ],
)
def test_bad_scenarios_are_a_one_line_error(changes, message):
    with pytest.raises(InputError) as error:
        run(make_scenario(tree(**changes)))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_an_invalid_decision_is_rejected_with_the_policy_name(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from windlass.admit import Admission\n\n\nclass Mine:\n    name = 'mine'\n\n"
        "    def decide(self, view):\n        return Admission('perhaps', 'who knows')\n"
    )
    with pytest.raises(
        PolicyError, match=r"'mine' \(.*mine\.py, line 7\) reject is 'perhaps', expected True or"
    ):
        run(make_scenario(tree(policies={"admit": str(path)})))
