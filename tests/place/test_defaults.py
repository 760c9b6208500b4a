"""Parameters of placement policies: their documented defaults, and bounds that are themselves allowed."""

from __future__ import annotations

import inspect
import math

import pytest

from tests.executed_again import executed_again
from windlass.model import InputError
from windlass.place import POLICIES

DEFAULTS = {
    "centralised": {},
    "delay-scheduling": {"wait": 3.0, "restarts": True},
    "gather": {"ahead": True, "slots_back": 0.3, "links_left": 0.2, "patience": 0.0},
    "gather-or-leave": {"ahead": True, "slots_back": 0.3, "links_left": 0.7, "patience": 0.2},
    "in-place": {"delay": 0.0},
    "iridium": {"ties": "data"},
    "tetris": {"penalty": 0.1, "srtf": 1.0, "network": True, "local_reads": False},
    "tetrium": {
        "epsilon": 1.0,
        "rho": 1.0,
        "local_share": 0.1,
        "direction": "forward",
        "map_order": "remote-spread",
        "reduce_order": "largest",
        "update_sites": 0,
    },
    "tetrium-fs": {"rho": 1.0, "local_share": 0.1, "direction": "forward"},
    "tetrium-i-data": {},
    "tetrium-i-task": {},
}


def test_policies_have_the_documented_defaults():
    found = {}
    for name in POLICIES.names():
        parameters = inspect.signature(executed_again(POLICIES.find(name))).parameters.values()
        found[name] = {each.name: each.default for each in parameters}
    assert found == DEFAULTS


@pytest.mark.parametrize(
    ("name", "field", "allowed", "beyond"),
    [
        *(("tetrium", field, (0.0, 1.0), (-0.01, 1.01)) for field in ("epsilon", "rho", "local_share")),
        ("tetrium", "update_sites", (0, 2), (1, -1)),
        ("gather", "ahead", (0, 1), (-1, 2)),
        ("gather", "slots_back", (0.0, 1.0), (-0.01, 1.01)),
        ("gather", "links_left", (0.0, 1.0), (-0.01, 1.01)),
        ("gather", "patience", (0.0, 1e9), (-0.01,)),
        ("delay-scheduling", "wait", (0.0, 1e9), (-0.01, math.inf, math.nan)),
        ("in-place", "delay", (0.0, 1e9), (-0.01, math.inf, math.nan)),
    ],
)
def test_bounds_are_accepted_and_values_beyond_rejected(name, field, allowed, beyond):
    policy = POLICIES.find(name)
    for value in allowed:
        assert float(value) in policy(**{field: value}).parameters.tolist()
    for value in beyond:
        with pytest.raises(InputError, match=f"{field} is"):
            policy(**{field: value})
