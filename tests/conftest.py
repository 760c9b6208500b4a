"""Common settings of all tests, independent of the user and the load of the machine."""

import gc
import hashlib
import math
import os
import signal
import threading
from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, Phase, settings

from tests.nights import night, of_night

# An example takes as long as it takes: a bound on the wall clock would fail on a machine with other work. The trial of
# a change only needs to know that a test fails: the search for a smaller failing example can take minutes.
settings.register_profile(
    "windlass",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[
        phase
        for phase in Phase
        if phase not in (Phase.shrink, Phase.explain) or "WINDLASS_TRIAL" not in os.environ
    ],
)
settings.load_profile("windlass")

#: Share of its examples that a drawn test runs, and of its cases that a matrix runs; its other cases are slow.
#: ``.ci/nightly`` and the trials of changes run all of them.
EXAMPLES = float(os.environ.get("WINDLASS_EXAMPLES", "0.1"))


#: The file of tests that is run first: what its tests share takes minutes to make, and towards the end of a run two
#: processes might divide its tests, and make it twice.
FIRST = "test_site.py"


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in docstrings only outside the files of tests, which have none."""
    found = yield
    return [each for each in found if not (is_of_tests(file_path) and isinstance(each, DoctestModule))]


#: Whether this process is every second one of several that run tests together.
IS_SECOND = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 2 == 1


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let every second process collect from the last file to the first.

    All processes collect all files. What one of them has compiled, the others find on disk.
    """
    report = yield
    if IS_SECOND and isinstance(collector, pytest.Directory):
        report.result.reverse()
    return report


def is_of_tests(path: Path) -> bool:
    """Return whether a file has tests, and no examples in docstrings."""
    return path.name.startswith("test_")


def pytest_collection_finish() -> None:
    """Exclude what was collected from garbage collection, and collect a tenth as often.

    The collected tests and the imported modules stay until the end. Each full collection would visit all of them.
    Even without them, collections took 4 % of the time of tests.
    """
    gc.freeze()
    gc.set_threshold(7_000, 10, 10)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark drawn tests, reduce the examples of each to a share, and leave out nightly tests of other nights."""
    # The same order in all processes.
    items.sort(key=lambda item: (item.path.name != FIRST, item.path))
    leave_out_other_nights(config, items)
    mark_beyond_share(items)
    reduced = set()
    for item in items:
        test = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)
        if not getattr(test, "is_hypothesis_test", False):
            continue
        item.add_marker("drawn")
        if test not in reduced:
            reduced.add(test)
            given = getattr(test, "_hypothesis_internal_use_settings", settings())
            test._hypothesis_internal_use_settings = settings(
                given, max_examples=examples_of(given.max_examples)
            )


def leave_out_other_nights(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave in a quarter of the nightly tests, the night's, if ``WINDLASS_NIGHT`` numbers one."""
    nightly = [item for item in items if item.get_closest_marker("nightly")]
    kept = {id(item) for item in of_night(nightly, night())}
    left_out = [item for item in nightly if id(item) not in kept]
    if left_out:
        others = {id(item) for item in left_out}
        items[:] = [item for item in items if id(item) not in others]
        config.hook.pytest_deselected(items=left_out)


def mark_beyond_share(items: list[pytest.Item]) -> None:
    """Mark as slow what is beyond the share of a ``matrix``: of the cases of one test, the same ones in each run.

    ``matrix(0.05)`` has a smaller share than others, because each of its cases compiles much. All cases of
    ``matrix(0)`` are slow, unless all cases of each matrix are ordinary, as in the trials of changed lines.
    """
    matrices: dict[str, list[pytest.Item]] = {}
    shares: dict[str, float] = {}
    for item in items:
        marker = item.get_closest_marker("matrix")
        if marker:
            name = item.nodeid.partition("[")[0]
            matrices.setdefault(name, []).append(item)
            shares[name] = min((*marker.args, EXAMPLES)) if EXAMPLES < 1.0 else 1.0
    for name, cases in matrices.items():
        drawn = sorted(cases, key=lambda case: hashlib.sha256(case.nodeid.encode()).digest())
        for case in drawn[math.ceil(shares[name] * len(cases)) :]:
            case.add_marker("slow")


def examples_of(listed: int) -> int:
    """Return the number of examples that a test runs of those listed in its settings; of 10 or fewer, all."""
    return max(round(EXAMPLES * listed), min(listed, 10))


# A shell starts what runs in its background with this signal ignored, and what tests start would inherit that.
if (
    threading.current_thread() is threading.main_thread()
    and signal.getsignal(signal.SIGINT) is not signal.default_int_handler
):
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Each of these variables forces colours in help and messages, also without a terminal.
for _name in ("GITHUB_ACTIONS", "FORCE_COLOR", "PY_COLORS", "CLICOLOR_FORCE"):
    os.environ.pop(_name, None)
