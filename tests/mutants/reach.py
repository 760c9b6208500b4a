"""Which tests execute which line: a pytest plugin that records it, and the record's reader.

``python -m tests.mutants reach`` runs the ordinary tests once with this plugin and keeps what it saw in ``.mutants/``,
or in the folder that ``WINDLASS_REACH_FOLDER`` names.
Lines of Python come from coverage.py, with one context per test. Compiled functions are invisible to it; for these the
plugin records which kernels a test obtains, and what each kernel is compiled from.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.changes import Change
from tests.mutants.rooms import room_named

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("WINDLASS_REACH_FOLDER") or ROOT / ".mutants")
#: Environment variable with the names of the rooms whose lines are recorded. Others run at their usual speed.
ROOMS_RECORDED = "WINDLASS_REACH_ROOMS"
_PACKAGE = ROOT / "src" / "windlass"
_REPRODUCTIONS = ROOT / "reproductions" / "src" / "windlass_reproductions"


def recorded_files() -> list[str]:
    """Return the files whose lines are recorded: those of the rooms in ``WINDLASS_REACH_ROOMS``, or all."""
    names = os.environ.get(ROOMS_RECORDED, "").split()
    if not names:
        return [f"{_PACKAGE}/*", f"{_REPRODUCTIONS}/*"]
    return sorted({str(path) for name in names for path in room_named(name).files()})


class Recorder:
    """Switches coverage's context with each test, and notes durations and kernels."""

    def __init__(self, worker: str) -> None:
        import coverage

        self._file = FOLDER / f"{worker}.json"
        self._coverage = coverage.Coverage(
            data_file=str(FOLDER / f"coverage.{worker}"),
            include=recorded_files(),
            config_file=False,
        )
        self._test = ""
        self._kernels: dict[str, set[str]] = {}
        self._seconds: dict[str, float] = {}

    def start(self) -> None:
        """Begin to record; before the package is imported."""
        FOLDER.mkdir(exist_ok=True)
        self._coverage.start()
        self._coverage.switch_context("")

    def watch_kernels(self) -> None:
        """Note each compiled function that a test obtains."""
        from windlass.jit import Kernel

        for name in ("ready", "entry", "as_argument"):
            original = getattr(Kernel, name)

            @functools.wraps(original)
            def noted(kernel: Any, original: Any = original) -> Any:
                if self._test:
                    self._kernels.setdefault(self._test, set()).update(_compiled_from(kernel))
                return original(kernel)

            setattr(Kernel, name, noted)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._test = item.nodeid
        self._coverage.switch_context(item.nodeid)
        yield
        self._test = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        self._coverage.save()
        kernels = {test: sorted(names) for test, names in self._kernels.items()}
        self._file.write_text(json.dumps({"kernels": kernels, "seconds": self._seconds}), encoding="utf-8")


@functools.cache
def _compiled_from(kernel: Any) -> frozenset[str]:
    """Functions that a kernel is compiled from, as ``file::qualified name``."""
    try:
        functions = kernel.depends().functions
    except Exception:
        functions = (kernel._dispatcher,)
    codes = [each.py_func.__code__ for each in functions]
    return frozenset(
        f"{Path(code.co_filename).relative_to(_PACKAGE).as_posix()}::{code.co_qualname}"
        for code in codes
        if Path(code.co_filename).is_relative_to(_PACKAGE)
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the recorder in each process that runs tests."""
    is_controller = not hasattr(config, "workerinput") and config.getoption("numprocesses", None)
    if is_controller or os.environ.get("WINDLASS_RECORD_REACH") != "1":
        return
    recorder = Recorder(getattr(config, "workerinput", {}).get("workerid", "main"))
    recorder.start()
    recorder.watch_kernels()
    config.pluginmanager.register(recorder, "windlass-reach")


@dataclass(slots=True)
class Reach:
    """The record of one run of the tests.

    Parameters
    ----------
    seconds
        How long each test took, s.
    kernels
        Tests by compiled function, as ``file::qualified name``.
    """

    seconds: dict[str, float]
    kernels: dict[str, set[str]]
    _lines: dict[str, dict[int, set[str]]] = field(default_factory=dict)
    _folder: Path = FOLDER

    def line(self, file: str, line: int) -> set[str]:
        """Return the tests that execute a line of Python; import time is not counted."""
        if file not in self._lines:
            import coverage

            found: dict[int, set[str]] = {}
            for path in sorted(self._folder.glob("coverage.*")):
                data = coverage.CoverageData(str(path))
                data.read()
                # The record may have been made in another checkout.
                names = [
                    name
                    for name in data.measured_files()
                    if name.endswith((f"/src/windlass/{file}", f"/src/{file}"))
                ]
                by_line = data.contexts_by_lineno(names[0]) if names else {}
                for number, contexts in by_line.items():
                    found.setdefault(number, set()).update(each for each in contexts if each)
            self._lines[file] = found
        return self._lines[file].get(line, set())

    def of(self, change: Change) -> set[str]:
        """Return the tests that execute what a change touches.

        For a constant at the top of a module these are the tests that execute anything in the module.
        """
        if not change.function:
            return self.file(change.file)
        lines = range(change.first, change.last + 1)
        tests = set[str]().union(*(self.line(change.file, line) for line in lines))
        for name, users in self.kernels.items():
            file, _, function = name.partition("::")
            if file == change.file and function.replace(".<locals>", "") == change.function:
                tests |= users
        return tests

    def file(self, file: str) -> set[str]:
        """Return the tests that execute any line of a file, or obtain a kernel with a function of it."""
        self.line(file, 1)
        tests = set[str]().union(*self._lines[file].values())
        for name, users in self.kernels.items():
            if name.startswith(f"{file}::"):
                tests |= users
        return tests

    def sorted(self, tests: Iterable[str]) -> list[str]:
        """Return tests, quick ones first."""
        return sorted(tests, key=lambda test: (self.seconds.get(test, 1.0), test))


def read_reach(folder: Path = FOLDER) -> Reach | None:
    """Return the record in a folder; None if there is none."""
    files = sorted(folder.glob("*.json"))
    if not files:
        return None
    seconds: dict[str, float] = {}
    kernels: dict[str, set[str]] = {}
    for path in files:
        found = json.loads(path.read_text(encoding="utf-8"))
        seconds.update(found["seconds"])
        for test, names in found["kernels"].items():
            for name in names:
                kernels.setdefault(name, set()).add(test)
    return Reach(seconds, kernels, {}, folder)
