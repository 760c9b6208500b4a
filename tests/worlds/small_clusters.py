"""Small scenarios of the world ``cluster`` with all loads and all decisions, whose runs take a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

_INSTANCES = {"types": [{"name": "medium", "cores": 8, "price": 0.8, "launch": 60, "most": 4}], "idle": 120}
#: A policy for each decision.
ALL: dict[str, Any] = {
    "order": "easy", "place": "tetrium", "share": "pairs", "scale": "thrifty", "plan": "cascade", "dispatch": "pull",
    "admit": {"utilisation": {"threshold": 0.7}},
}  # fmt: skip


def write_jobs(path: Path, seed: int, widest: int, *, count: int, seconds: float = 1200.0) -> str:
    """Write a log of short jobs in whole seconds, of which some run into their walltime; return its path."""
    rng = np.random.default_rng(seed)
    # Most jobs come early, so that instances are idle and end before the last one.
    submit = np.sort(rng.integers(0, int(0.4 * seconds), count))
    submit[-1] = int(0.95 * seconds)
    run = rng.integers(10, 300, count)
    request = np.maximum(run + rng.choice([0, 0, 60, 600, -20], count), 5)
    procs = np.minimum(rng.choice([1, 1, 2, 3, 6, 12], count), widest)
    lines = [
        f"{at - submit[0]},{length},{cores},{limit}"
        for at, length, cores, limit in zip(submit, run, procs, request, strict=True)
    ]
    path.write_text("submit,run,procs,request\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def small_tree(folder: Path, seed: int = 1, *, jobs: int = 24, **fields: Any) -> dict[str, Any]:
    """Return a scenario of three sites: two with all loads, and one of batch jobs and short tasks only.

    ``jobs``: the number of batch jobs at each of the first two.
    """
    log = write_jobs(folder / f"jobs{seed}.csv", seed, 16, count=jobs)
    few = write_jobs(folder / f"few{seed}.csv", seed + 1000, 12, count=24)
    return {
        "world": "cluster",
        "seconds": 1200,
        "begin": 36000,
        "period": 120,
        "look": 15,
        "sites": {
            "iowa": {
                "nodes": [{"count": 4, "cores": 8}],
                "instances": _INSTANCES,
                "cameras": {"count": 1},
                "outages": {"every": 3000, "last": 200},
                "keeps": {"tasks": 0.1, "queries": 2},
            },
            "oslo": {"nodes": [{"count": 3, "cores": 8, "speed": 1.5}]},
            "rome": {"nodes": [{"count": 2, "cores": 8}], "keeps": {"tasks": 0.1}},
        },
        "loads": {
            "batch": {"rigid": {"trace": log}, "at": ["iowa", "oslo"]},
            "own": {"rigid": {"trace": few}, "at": ["rome"]},
            "web": {"tasks": {"tasks": 200, "load": 0.08}},
            "etl": {"staged": {"drawn": {"jobs": 4, "tasks": 12}}, "at": ["iowa", "oslo"]},
            "ml": {
                "vectors": {"drawn": {"per_hour": 30, "run": 200, "shapes": [{"cores": 2}, {"cores": 3}]}},
                "at": ["iowa"],
            },
            "cameras": {"queries": {"per_hour": 30, "last": 300}, "at": ["iowa", "oslo"]},
        },
        "policies": ALL,
        **fields,
    }
