"""The history of queries of a cluster: calls of the planner and demands equal plain computations on its log."""

import json

import numpy as np
import pytest

from tests.worlds.explained_cluster import explained, result_of, run
from windlass.experiment.worlds.cluster.layout import tiers_of
from windlass.experiment.worlds.cluster.sites import TierSpec
from windlass.plan import configurations

CHANGES = json.dumps(
    {
        "seconds": 3600,
        "sites": {
            "iowa": {"nodes": [{"count": 2, "cores": 4}], "cameras": {"count": 2, "cores": 1}},
            "oslo": {"nodes": [{"count": 2, "cores": 4}]},
        },
        "cloud": {"cores": 2},
        "loads": {
            "batch": {"rigid": {"lublin": {"jobs": 900, "load": 9.0}}},
            "cameras": {"queries": {"per_hour": 30, "last": 900}},
        },
        "policies": {"plan": "cascade"},
        "telemetry": {},
    }
)


def test_calls_of_the_planner_and_demands_equal_plain_computations():
    setting, arrivals, done, _ = run(1, CHANGES)
    result, schedule = result_of(done.queries, "cameras", ""), arrivals.queries[0].drawn
    tiers = tiers_of(setting.sites, setting.cloud or TierSpec(), tuple(setting.sites))
    options = [configurations(query, tiers.hierarchy) for query in schedule.queries]
    resources = tiers.hierarchy.resources
    numbers = tuple(range(1, len(result.stays) + 1))
    changed = kept = 0
    histories = explained(tuple(("cameras", "", number) for number in numbers), 1, CHANGES)
    for number, history in zip(numbers, histories, strict=True):
        row = number - 1
        calls = [step for step in history.steps if step.decision == "plan"]
        answers = [each for each in result.answers if row in each.query]
        assert [step.at for step in calls] == [each.time for each in answers]
        before = -1
        for place, (step, answer) in enumerate(zip(calls, answers, strict=True)):
            at = answer.query.tolist().index(row)
            choice = int(answer.choice[at])
            assert (step.figures["before"], step.figures["choice"]) == (before, choice)
            assert step.why.startswith(answer.why[at])
            assert step.minor == (choice == before and place > 0)
            changed, kept = changed + (choice != before), kept + (choice == before)
            before = choice
            assert step.figures["other_queries"] == len(answer.query) - 1
            own = np.zeros(len(resources)) if choice < 0 else options[row].demand[choice]
            assert step.figures["needs"] == {
                name: need for name, need in zip(resources, own.tolist(), strict=True) if need
            }
            for name, total in step.figures["all_need"].items():
                assert total == pytest.approx(
                    sum(
                        options[query].demand[chosen, resources.index(name)]
                        for query, chosen in zip(answer.query.tolist(), answer.choice.tolist(), strict=True)
                        if chosen >= 0
                    )
                )
                assert total <= step.figures["available"][name] * (1 + 1e-6)
        last = history.steps[-1].figures
        assert last["switches"] == result.switches[row]
        length = result.stays.leave[row] - result.stays.arrive[row]
        assert last["served_s"] + last["lost_s"] == pytest.approx(length, abs=20.0)
        assert last["late_s"] <= last["served_s"] <= length + 1e-6
    assert changed > len(numbers)
    assert kept > 0
