"""A priority and a backfill without a policy name mean `queue`; their files are relative to the scenario."""

import numpy as np
import pytest

from windlass.experiment.scenario import load_scenario, make_scenario
from windlass.model import InputError
from windlass.order.site import POLICIES

NARROWEST = '''
class Narrowest:
    """The narrowest goes first."""

    name = "narrowest"

    @staticmethod
    def score(view, row):
        return view.procs[row]
'''


def orders(order: object):
    scenario = make_scenario({"workload": {"lublin": {"jobs": 5}}, "policies": {"order": order}})
    return [variant.setting.policies.order for variant in scenario.variants]


@pytest.mark.parametrize(
    "bare",
    [{"priority": "sjf", "backfill": "conservative"}, {"priority": "sjf"}, {"backfill": "none"}],
)
def test_a_bare_priority_or_backfill_means_the_queue_policy(bare):
    assert orders(bare) == orders({"queue": bare})
    policy = orders(bare)[0].make(POLICIES, np.random.default_rng(1))
    assert {name: getattr(policy, name) for name in bare} == bare


def test_a_bare_queue_is_swept_alongside_other_policies():
    found = orders(["easy", {"priority": ["sjf", "saf"], "backfill": ["none", "easy"]}])
    assert [each.name for each in found] == ["easy", *["queue"] * 4]
    assert [each.parameters for each in found[1:]] == [
        {"priority": priority, "backfill": backfill}
        for priority in ("sjf", "saf")
        for backfill in ("none", "easy")
    ]


def test_an_invalid_bare_queue_is_an_error():
    with pytest.raises(InputError, match="backfill is 'eazy'"):
        orders({"backfill": "eazy"})[0].make(POLICIES, np.random.default_rng(1))
    with pytest.raises(InputError, match=r"policies\.order"):
        orders({"priority": "sjf", "backfil": "easy"})


@pytest.mark.parametrize("order", ["{priority: ./own.py}", "{queue: {priority: [./own.py, sjf]}}"])
def test_a_priority_file_is_relative_to_the_scenario(tmp_path, order):
    (tmp_path / "own.py").write_text(NARROWEST)
    path = tmp_path / "s.yaml"
    path.write_text(f"workload: {{lublin: {{jobs: 5}}}}\npolicies: {{order: {order}}}\n")
    spec = load_scenario(path).variants[0].setting.policies.order
    assert spec.parameters["priority"] == str(tmp_path / "own.py")
    spec.make(POLICIES, np.random.default_rng(1))
