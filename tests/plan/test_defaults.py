"""Parameters of planners: their documented defaults, and bounds that are themselves allowed."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from tests.executed_again import defaults, executed_again
from windlass.model import InputError
from windlass.plan import POLICIES, cascade, fair, optimal, refined, videostorm
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.refine import refine

DEFAULTS = {
    "cascade": {
        "band": 2.0,
        "release": False,
        "cost": "dominant",
        "efficiency": "difference",
        "ties": "first",
    },
    "fair": {"among": "users"},
    "merge-everything": {"band": 2.0},
    "merged": {"together": 2, "band": 2.0},
    "optimal": {"seconds": 60.0, "gap": 1e-4, "merge": False},
    "refined": {"keep": 24, "sweeps": 20, "seconds": 2.0, "merge": False},
    "same-location": {"band": 2.0},
    "static": {"tier": -1, "band": 2.0},
    "steady": {"worth": 0.05, "merge": False},
    "videostorm": {"otherwise": "nothing"},
}


def test_policies_have_the_documented_defaults():
    assert {name: defaults(executed_again(POLICIES.find(name))) for name in POLICIES.names()} == DEFAULTS


def test_functions_have_the_defaults_of_the_policies():
    assert defaults(cascade) == {"band": DEFAULTS["cascade"]["band"]}
    assert defaults(fair) == DEFAULTS["fair"]
    assert defaults(optimal) == {"seconds": 60.0, "gap": 1e-4}
    assert defaults(refined) == {"seconds": 2.0}
    assert defaults(videostorm) == {"cores": None}
    assert {**asdict(defaults(refine)["limits"]), "merge": False} == DEFAULTS["refined"]
    assert defaults(greedy) == {"release": False, "plain": False, "height": None}


@pytest.mark.parametrize(
    ("name", "field", "least", "below"),
    [
        *((name, "band", 1.0, 0.99) for name, own in DEFAULTS.items() if "band" in own),
        ("merged", "together", 0, -1),
        ("optimal", "seconds", 1e-9, 0.0),
        ("optimal", "gap", 0.0, -0.1),
        ("refined", "keep", 1, 0),
        ("refined", "sweeps", 0, -1),
        ("refined", "seconds", 0.0, -0.1),
        ("static", "tier", -1000, -1001),
        ("steady", "worth", 0.0, -0.1),
    ],
)
def test_least_values_are_allowed_and_lower_ones_are_not(name, field, least, below):
    policy = POLICIES.find(name)
    assert getattr(policy(**{field: least}), field) == least
    with pytest.raises(InputError, match=field):
        policy(**{field: below})


def test_greatest_values_are_allowed():
    for name, own in DEFAULTS.items():
        if "band" in own:
            assert POLICIES.find(name)(band=np.inf).band == np.inf
    assert POLICIES.find("steady")(worth=1.0).worth == 1.0
    with pytest.raises(InputError, match="worth"):
        POLICIES.find("steady")(worth=1.1)
    for field in ("cost", "efficiency", "ties"):
        with pytest.raises(InputError, match=f"{field} is 'other'"):
            POLICIES.find("cascade")(**{field: "other"})


def test_functions_check_their_parameters():
    case = [[0.5]], [[[1.0]]], [1.0]
    assert cascade(*case, band=1.0).tolist() == cascade(*case, band=np.inf).tolist() == [0]
    for band in (0.99, np.nan):
        with pytest.raises(InputError, match="band"):
            cascade(*case, band=band)
    assert optimal(*case, seconds=10.0, gap=0.0).tolist() == [0]
    for terms in ({"seconds": 0.0}, {"gap": -0.1}):
        with pytest.raises(InputError, match=next(iter(terms))):
            optimal(*case, **terms)
