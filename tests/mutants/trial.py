"""One trial: run tests on a copy of the source, in a process of its own.

What is compiled is cached by what it depends on, so a trial compiles no more than what its change touches. A trial is
forked from a process that has already imported third-party packages, because importing them took most of its time.
"""

from __future__ import annotations

import faulthandler
import json
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
#: Exit statuses of pytest.
PASSED, FAILED, INTERRUPTED, UNKNOWN_TEST, NO_TESTS = 0, 1, 2, 4, 5
#: The plugins that the tests use; loading every installed one takes longer than most tests.
_PLUGINS = ("_hypothesis_pytestplugin", "pytest_asyncio.plugin")
#: Processor time after which a single test counts as looping for ever, s. Compiling is in it.
_TEST_LIMIT_S = 60.0
#: Time after which a single test counts as hanging, s. A change that corrupts memory may leave all threads waiting.
_TEST_WALL_S = 600.0
# The server and the trials inherit it; the reason is in conftest.py, which a trial reads after it has imported NumPy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(
    ["pytest", "hypothesis", "numba", "pandas", "pyarrow", "scipy.optimize", "scipy.stats", "yaml"]
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one trial came to.

    Parameters
    ----------
    status
        Exit status of pytest; −1 if the trial exceeded its time limit, or its process died.
    failed
        Tests that failed, in order; with ``-x`` at most one per stage.
    output
        What pytest printed.
    seconds
        Processor time, s; of a trial that was killed, how long it took.
    """

    status: int
    failed: tuple[str, ...]
    output: str
    seconds: float


def copied(folder: Path) -> Path:
    """Copy the source into a new folder; returns its ``src``. Files are hard links where the file system allows."""
    source = folder / "src"

    def link(old: str, new: str) -> None:
        try:
            os.link(old, new)
        except OSError:
            shutil.copy2(old, new)

    for package in (SOURCE / "windlass", ROOT / "reproductions" / "src" / "windlass_reproductions"):
        shutil.copytree(package, source / package.name, copy_function=link)
    return source


def in_copy(source: Path, file: str) -> Path:
    """Return where a file of a change, as :func:`~tests.mutants.rooms.located` takes it, is in a copy."""
    is_reproduction = file.startswith("windlass_reproductions/")
    return source / file if is_reproduction else source / "windlass" / file


def overwrite(path: Path, data: bytes) -> None:
    """Replace a file of a copy; the original that it may be a link to stays."""
    path.unlink()
    path.write_bytes(data)


def run_trial(
    source: Path,
    stages: Sequence[Sequence[str]],
    limit_s: float | None = None,
    markers: str = "",
    left_out: Sequence[str] = (),
) -> Outcome:
    """Run tests on a copy of the source.

    Parameters
    ----------
    source
        As :func:`copied` returns it.
    stages
        Tests as pytest takes them; those under ``src/`` are doctests of the copy. A stage is run if the ones before it
        passed.
    limit_s
        The trial is killed after this long, s.
    markers
        Which tests are left in, as pytest's ``-m`` takes it.
    left_out
        Tests that are not run, by their names in the unchanged tree.
    """
    output, report = source.parent / "output.txt", source.parent / "failed.json"
    began = time.monotonic()
    trial = _SERVER.Process(target=_held, args=(source, stages, output, report, markers, left_out))
    trial.start()
    trial.join(limit_s)
    if trial.is_alive():
        assert trial.pid is not None
        os.killpg(trial.pid, signal.SIGKILL)
        trial.join()
    status = -1 if trial.exitcode is None or trial.exitcode < 0 else trial.exitcode
    failed, seconds = (), time.monotonic() - began
    if report.exists():
        failed, seconds = json.loads(report.read_text(encoding="utf-8"))
    text = output.read_text(encoding="utf-8", errors="replace") if output.exists() else ""
    return Outcome(status, tuple(failed), text, seconds)


def status_of(source: Path, tests: Sequence[str]) -> tuple[int, str]:
    """Run tests on a copy of the source; returns pytest's exit status and what it printed."""
    outcome = run_trial(source, [tests])
    return outcome.status, outcome.output


class _Watch:
    """Remembers which tests failed, by their names in the unchanged tree, and ends one that loops for ever."""

    def __init__(self, source: Path, wall_s: float = _TEST_WALL_S) -> None:
        self.failed: list[str] = []
        self._copy = source.parent.resolve()
        self._began, self._wall_s = time.process_time(), wall_s
        threading.Thread(target=self._guard, daemon=True).start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._began = time.process_time()
        # Its thread needs no lock of the interpreter.
        faulthandler.dump_traceback_later(self._wall_s, exit=True)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(self._name(report))

    def _name(self, report: pytest.TestReport) -> str:
        """The name of a test in the unchanged tree; the ids of tests outside the project do not name their file."""
        file = (ROOT / report.location[0]).resolve()
        root = next((each for each in (self._copy, ROOT) if file.is_relative_to(each)), None)
        where = file.relative_to(root) if root else file
        return f"{where.as_posix()}::{report.nodeid.partition('::')[2]}"

    def _guard(self) -> None:
        while time.process_time() - self._began < _TEST_LIMIT_S:
            time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)


def _processor_s() -> float:
    """Processor time of this process and of those that it has waited for, s."""
    used = (resource.getrusage(which) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def _held(
    source: Path,
    stages: Sequence[Sequence[str]],
    output: Path,
    report: Path,
    markers: str,
    left_out: Sequence[str],
) -> None:
    """The trial, in a process that ends with pytest's status."""
    os.setpgid(0, 0)
    with output.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(ROOT)
    # For this process, which has not read the last two yet, and for those that tests start.
    os.environ["PYTHONPATH"] = f"{source}{os.pathsep}{ROOT}"
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ["WINDLASS_EXAMPLES"] = "1"
    os.environ["WINDLASS_TRIAL"] = "1"
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(source.parent / "examples")
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(source), str(ROOT)]
    import windlass

    assert Path(windlass.__file__).is_relative_to(source), windlass.__file__
    options = ["-q", "-x", "--no-header", "-p", "no:cacheprovider", "--override-ini", "addopts="]
    options += ["-c", str(ROOT / "pyproject.toml"), "--doctest-modules", "-m", markers]
    options += [part for plugin in _PLUGINS for part in ("-p", plugin)]
    options.append(f"--basetemp={source.parent / 'temporary'}")
    options.append(f"--hypothesis-seed={os.environ.get('WINDLASS_MUTANTS_SEED', '1')}")
    # Outside the project, pytest's own id of a test lacks the file.
    ids = [each for test in left_out for each in (test, f"::{test.partition('::')[2]}")]
    options += [part for each in ids for part in ("--deselect", each)]
    status, failed = PASSED, list[str]()
    for tests in stages:
        where = [str(source.parent / test) if test.startswith("src/") else test for test in tests]
        watch = _Watch(source)
        status = int(pytest.main([*options, *where], plugins=[watch]))
        failed += watch.failed
        if status not in (PASSED, NO_TESTS):
            break
    report.write_text(json.dumps((failed, _processor_s())), encoding="utf-8")
    sys.stdout.flush()
    sys.exit(status)
