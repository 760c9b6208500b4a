"""Parameters of co-schedulers: their documented defaults, and bounds that are themselves allowed."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tests.executed_again import defaults, executed_again
from windlass.io import unseal_text
from windlass.model import InputError
from windlass.share import POLICIES
from windlass.share.book import ShareBook
from windlass.share.policies.oracle import time_shared

DEFAULTS = {
    "always": {"quota": 30},
    "asax": {
        "experts": None,
        "update": "printed",
        "loss": "walltime",
        "full": 0.5,
        "tolerance": 0.2,
        "redraw": True,
        "gamma": None,
        "learn": True,
    },
    "none": {},
    "oracle": {"speeds": time_shared, "budget": 0.1},
    "pairs": {"budget": 0.1, "worth": 0.3, "care": 2.0, "probe": 20},
    "static": {},
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_default_parameters_are_those_of_the_documentation(name):
    assert sorted(POLICIES.names()) == sorted(DEFAULTS)
    found = defaults(executed_again(POLICIES.find(name)))
    if name == "oracle":
        # A module that is executed again has its own function of that name.
        found["speeds"] = {"time_shared": time_shared}[found["speeds"].__name__]
    assert found == DEFAULTS[name]


def made(name, **parameters):
    return POLICIES.make(name, np.random.default_rng(1), **parameters)


@pytest.mark.parametrize(
    ("name", "field", "allowed", "beyond", "scale"),
    [
        ("oracle", "budget", (0.0, 1.0, 1e9), (-0.1, math.nan), 100.0),
        ("pairs", "budget", (0.0, 1.0, 1e9), (-0.1, math.nan), 100.0),
        ("pairs", "worth", (0.0, 1.0, 100.0), (-0.1, 100.1), 100.0),
        ("pairs", "care", (0.0, 1e9), (-0.1, math.nan), 1.0),
        ("pairs", "probe", (1, 10**9), (0, 1.5), 1.0),
        ("asax", "full", (1e-9, 1e9), (0.0, -0.1), 1.0),
        ("asax", "tolerance", (0.0, 1.0), (-0.1, 1.1), 1.0),
        ("always", "quota", (10, 90), (0, 100, 15), 1.0),
    ],
)
def test_values_at_a_bound_are_allowed_and_values_beyond_are_not(name, field, allowed, beyond, scale):
    for value in allowed:
        assert getattr(made(name, **{field: value}), field) == pytest.approx(value / scale)
    for value in beyond:
        with pytest.raises(InputError, match=field):
            made(name, **{field: value})


@pytest.mark.parametrize(("name", "field"), [("pairs", "budget"), ("pairs", "worth"), ("oracle", "budget")])
def test_a_part_is_a_fraction_below_1_and_percent_from_1_on(name, field):
    for given, expected in ((0.05, 0.05), (5, 0.05), (0.999, 0.999), (1, 0.01), (30.0, 0.3)):
        assert getattr(made(name, **{field: given}), field) == expected


def test_an_unknown_loss_is_named_in_the_error():
    with pytest.raises(InputError, match="loss is 'mood', expected one of walltime, progress, wait"):
        made("asax", loss="mood")


def test_an_ended_job_has_no_time_and_was_not_killed_by_default():
    assert defaults(executed_again(ShareBook).ended) == {"at": None, "killed": False}


def test_pairs_saves_version_1_and_reads_no_other():
    """A state that an earlier release saved can be read by a later one."""
    policy = executed_again(POLICIES.find("pairs"))()
    tree = json.loads(unseal_text(policy.saved(), "sharing"))
    assert (tree["policy"], tree["version"]) == ("pairs", 1)
    policy.restore(json.dumps(tree))
    for version in (0, 2):
        with pytest.raises(
            InputError,
            match=f"^saved state: policy is 'pairs' in version {version}, expected 'pairs' in version 1$",
        ):
            policy.restore(json.dumps(tree | {"version": version}))
