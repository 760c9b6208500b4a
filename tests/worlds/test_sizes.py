"""Whether policies of tasks hear how much work a task was: in every world that has tasks, only where it is said."""

import pytest

from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.model import InputError

TASKS = {"tasks": 2000, "load": 0.7}
#: A world's scenario of few tasks, and the metric that is of their responses.
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


def scenario(world, dispatch, **asked):
    others = {"dispatch": {}, "colocated": {"order": "easy"}, "admission": {"admit": "always"}}[world]
    return make_scenario(
        {"world": world, **WORLDS[world][0], "policies": {"dispatch": dispatch, **others}, **asked}
    )


def response(world, dispatch, **asked):
    (variant,) = run(scenario(world, dispatch, **asked)).variants
    return getattr(variant.outcomes[0].metrics, WORLDS[world][1])


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("dispatch", "learns"), [("rosella", True), ("jsq", False)])
def test_sizes_are_hidden_unless_told(world, dispatch, learns):
    hidden = response(world, dispatch, sizes="hidden")
    assert response(world, dispatch) == hidden
    assert (response(world, dispatch, sizes="known") != hidden) == learns


@pytest.mark.parametrize("world", WORLDS)
def test_nothing_in_between_is_known(world):
    with pytest.raises(InputError, match="sizes"):
        scenario(world, "jsq", sizes="guessed")


@pytest.mark.parametrize("world", WORLDS)
def test_the_old_spelling_of_known_is_read(world):
    assert response(world, "rosella", sizes="told") == response(world, "rosella", sizes="known")
