"""Leaves out what needs an extra that is not installed."""

import importlib.util

_NEED_RAY = [
    "src/windlass/engines/ray/*.py",
    *(f"src/windlass/engines/serve/{name}.py" for name in ("router", "benchmarks", "metrics")),
    "tests/engines/routers.py",
]
collect_ignore_glob = [] if importlib.util.find_spec("ray") else _NEED_RAY
