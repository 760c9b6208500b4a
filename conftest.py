"""Leaves out what needs an extra that is not installed."""

import importlib.util

collect_ignore_glob = (
    [] if importlib.util.find_spec("ray") else ["src/windlass/engines/ray*.py", "tests/engines/routers.py"]
)
