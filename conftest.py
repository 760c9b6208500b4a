"""Leaves out what needs an extra that is not installed, and lets linear algebra use one thread a process."""

import gc
import importlib.util
import linecache
import os
from collections.abc import Generator

import pytest
from _pytest.doctest import DoctestItem

# Tests run in as many processes as there are cores. Threads of linear algebra that wait keep the cores of the others
# busy: decompositions of small matrices took ten times the processor time. NumPy reads this when it is imported. A
# plugin may have done so already; the processes that pytest-xdist starts inherit it in any case.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

_NEED_RAY = [
    "src/windlass/engines/ray/*.py",
    *(f"src/windlass/engines/serve/{name}.py" for name in ("router", "benchmarks", "metrics", "outcomes")),
    "tests/engines/routers.py",
    "tests/engines/ray_nodes.py",
]
_NEED_AGENT = [
    f"src/windlass/agent/{name}.py" for name in ("agent", "aggregate", "check", "routes", "prometheus", "web")
]
_NEED_JAX = ["src/windlass/scale/forecast/neural/*.py"]
_PROFILE = "src/windlass/plan/profile"
_NEED_OPENCV = [
    *(
        f"{_PROFILE}/{name}.py"
        for name in ("clip", "golden", "options", "pipeline", "recheck", "running", "tree")
    ),
    *(
        f"{_PROFILE}/steps/{name}.py"
        for name in ("decode", "detections", "appearance", "match", "motion", "people")
    ),
    *(f"{_PROFILE}/traffic/{name}.py" for name in ("drawing", "making", "weather")),
    "src/windlass/engines/streams/video.py",
]
collect_ignore_glob = [
    *([] if importlib.util.find_spec("ray") else _NEED_RAY),
    *([] if all(map(importlib.util.find_spec, ("uvicorn", "prometheus_client"))) else _NEED_AGENT),
    *([] if importlib.util.find_spec("jax") and importlib.util.find_spec("equinox") else _NEED_JAX),
    *([] if importlib.util.find_spec("cv2") else _NEED_OPENCV),
]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without garbage collections: each visits all tests so far, and they took a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Forget the lines of source files before the examples of a docstring.

    The debugger, which each of them starts, checks every remembered file for changes: 7 ms for those of all tests.
    """
    if isinstance(item, DoctestItem):
        linecache.clearcache()
