"""Default parameters of dispatch policies are those of their papers or pages."""

from __future__ import annotations

import pytest

from tests.executed_again import defaults, executed_again
from windlass.dispatch import POLICIES

#: The estimator of arrivals, the probes and the window are as in Rosella.
LEARNER = {"guaranteed": None, "gaps": 1000, "probe_share": 0.1, "window_scale": 0.02, "most_load": 0.95}
PARAMETERS = {
    "eps-greedy": {"epsilon": 0.05, "memory": 50.0},
    "fastest-idle": {"memory": 50.0},
    "ll": {"probes": 2, "memory": 50.0},
    "pull": LEARNER | {"late": True},
    "prequal": {"probes": 3, "hot": 2.0**-0.25, "max_age": 1.0, "memory": 50.0},
    "rosella": LEARNER | {"by": "queue", "probes": 2},
    "sparrow": {"probes": 2},
    "ucb": {"confidence": 0.1, "memory": 50.0},
    "weighted-least-request": {"memory": 50.0},
    "peak-ewma": {"decay": 10.0},
}


@pytest.mark.parametrize("name", POLICIES.names())
def test_default_parameters_are_those_of_the_documentation(name):
    assert defaults(executed_again(POLICIES.find(name))) == PARAMETERS.get(name, {})
