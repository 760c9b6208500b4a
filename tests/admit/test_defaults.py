"""Parameters of admission policies: their documented defaults."""

from __future__ import annotations

from tests.executed_again import defaults, executed_again
from windlass.admit import POLICIES

DEFAULTS = {
    "alarm": {
        "forecaster": "smoothing",
        "level": "percentile",
        "value": 95.0,
        "series": "spikes",
        "window": 180,
        "downtime": None,
        "between": False,
        "spike": None,
        "share": 0.05,
    },
    "always": {},
    "breakwater": {"target": 0.5, "increase": 1.0, "decrease": 0.2, "drop": 2.0, "initial": 20, "most": 1000},
    "codel": {"target": 0.5, "interval": 5.0},
    "concurrency": {"limit": 4},
    "forewarn": {
        "downtime": 0.05,
        "rank": 4,
        "block": 20,
        "forget": 0.99,
        "within": 10,
        "spike": None,
        "share": 0.05,
        "apart": 3,
        "slow": 5000.0,
        "memory": 1000.0,
        "clip": 10.0,
        "between": False,
    },
    "gradient": {
        "tolerance": 1.5,
        "queue": 4.0,
        "initial": 20,
        "least": 1,
        "most": 200,
        "smoothing": 0.2,
        "window": 600,
    },
    "never": {},
    "pronto": {
        "rank": 4,
        "block": 20,
        "tracker": "fpca",
        "forget": 1.0,
        "energy": None,
        "lag": 10,
        "alpha": 3.5,
        "beta": 0.5,
        "weights": None,
        "spectrum": "decay",
        "signal": None,
        "signs": "load",
        "threshold": 1.0,
        "downtime": None,
        "memory": 1000.0,
        "clip": 10.0,
        "between": False,
        "spike": None,
        "share": 0.05,
        "rng": None,
    },
    "random": {"downtime": 0.05, "between": False, "spike": None, "share": 0.05},
    "ready": {
        "threshold": 0.05,
        "downtime": None,
        "between": False,
        "spike": None,
        "share": 0.05,
        "nodes": 1,
    },
    "relenting": {"threshold": 0.05, "downtime": None, "patience": 0.25, "nodes": 1},
    "rising": {
        "dim": 1,
        "downtime": 0.05,
        "rise": 1.0,
        "between": True,
        "spike": None,
        "share": 0.05,
        "nodes": 1,
    },
    "utilisation": {
        "threshold": 0.9,
        "downtime": None,
        "between": False,
        "spike": None,
        "share": 0.05,
        "nodes": 1,
    },
    "vegas": {"initial": 20, "most": 1000, "alpha": 3.0, "beta": 6.0},
}


def test_policies_have_the_documented_defaults():
    assert {name: defaults(executed_again(POLICIES.find(name))) for name in POLICIES.names()} == DEFAULTS
