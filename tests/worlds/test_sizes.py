"""Task policies learn task sizes only if the scenario sets `sizes`, in every world with tasks."""

import pytest

from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.model import InputError

TASKS = {"tasks": 2000, "load": 0.7}
#: A world's scenario with few tasks, and the metric of their response times.
WORLDS = {
    "dispatch": (
        {
            "cluster": {"groups": [{"workers": 3, "speed": 1.0}, {"workers": 1, "speed": 4.0}]},
            "workload": TASKS,
        },
        "mean_response_s",
    ),
    "colocated": (
        {
            "cluster": {"nodes": 4, "cores": 4},
            "workload": {"batch": {"lublin": {"jobs": 30}}, "tasks": {**TASKS, "load": 0.04}},
        },
        "mean_task_response_s",
    ),
    "admission": ({"cluster": {"nodes": 4}, "workload": TASKS}, "mean_response_s"),
}


def scenario(world, dispatch, **fields):
    others = {"dispatch": {}, "colocated": {"order": "easy"}, "admission": {"admit": "always"}}[world]
    return make_scenario(
        {"world": world, **WORLDS[world][0], "policies": {"dispatch": dispatch, **others}, **fields}
    )


def response(world, dispatch, **fields):
    (variant,) = run(scenario(world, dispatch, **fields)).variants
    return getattr(variant.outcomes[0].metrics, WORLDS[world][1])


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("dispatch", "learns"), [("rosella", True), ("jsq", False)])
def test_task_sizes_are_hidden_by_default(world, dispatch, learns):
    hidden = response(world, dispatch, sizes="hidden")
    assert response(world, dispatch) == hidden
    assert (response(world, dispatch, sizes="known") != hidden) == learns


@pytest.mark.parametrize("world", WORLDS)
def test_other_values_of_sizes_are_rejected(world):
    with pytest.raises(InputError, match="sizes"):
        scenario(world, "jsq", sizes="guessed")


@pytest.mark.parametrize("world", WORLDS)
def test_the_old_spelling_of_known_is_read(world):
    assert response(world, "rosella", sizes="told") == response(world, "rosella", sizes="known")
