"""A change of the source that tests must see, and its trial on a copy of the source.

What is compiled lies in the cache by what it depends on, so a trial compiles no more than what its change touches.
A trial is forked off a process that has imported others' packages and none of ours: most of its time was in that.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
#: Of pytest: all passed, or some failed. Anything else is a trial that could not be held.
PASSED, FAILED = 0, 1
#: Those that our tests use; all that happen to be installed take longer to load than most tests to run.
_PLUGINS = ("_hypothesis_pytestplugin", "pytest_asyncio.plugin")
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(
    ["pytest", "hypothesis", "numba", "pandas", "pyarrow", "scipy.optimize", "scipy.stats", "yaml"]
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change.

    Parameters
    ----------
    file
        Below ``src/windlass``.
    old, new
        Text that is there once, and what takes its place.
    tests
        Which tests are run, as pytest takes them; those under ``src/`` are doctests of the copy.
    survives
        Why no test can see it; empty where one must.
    """

    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    survives: str = ""

    @property
    def name(self) -> str:
        """Where it is, and what it puts there."""
        return f"{self.file}: {' '.join(self.new.split())[:60]}"

    def apply(self, source: Path) -> None:
        """Change a copy of the source."""
        path = source / "windlass" / self.file
        path.write_text(path.read_text(encoding="utf-8").replace(self.old, self.new), encoding="utf-8")

    def found(self) -> int:
        """How often its text is there; once, or it says nothing any more."""
        return (SOURCE / "windlass" / self.file).read_text(encoding="utf-8").count(self.old)


def copied(folder: Path) -> Path:
    """A copy of the source in a new folder."""
    source = folder / "src"
    shutil.copytree(SOURCE, source, ignore=shutil.ignore_patterns("*.egg-info"))
    return source


def status_of(source: Path, tests: Sequence[str]) -> tuple[int, str]:
    """What pytest ends with, and says, where these tests run on a copy of the source.

    Examples are drawn anew from one seed, with nothing remembered of trials before: a trial says the same each time.
    """
    said = source.parent / "said.txt"
    trial = _SERVER.Process(target=_held, args=(source, tuple(tests), said))
    trial.start()
    trial.join()
    assert trial.exitcode is not None
    return trial.exitcode, said.read_text(encoding="utf-8", errors="replace")


def _held(source: Path, tests: Sequence[str], said: Path) -> None:
    """A trial, in a process of its own that ends with pytest's status."""
    with said.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(ROOT)
    # For this process, which has not read the last two yet, and for those that tests start.
    os.environ["PYTHONPATH"] = f"{source}{os.pathsep}{ROOT}"
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(source.parent / "examples")
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(source), str(ROOT)]
    import windlass

    assert Path(windlass.__file__).is_relative_to(source), windlass.__file__
    where = [str(source.parent / test) if test.startswith("src/") else test for test in tests]
    options = ["-q", "-x", "--no-header", "-p", "no:cacheprovider", "--override-ini", "addopts="]
    options += [part for plugin in _PLUGINS for part in ("-p", plugin)]
    options.append(f"--hypothesis-seed={os.environ.get('WINDLASS_MUTANTS_SEED', '1')}")
    sys.exit(pytest.main([*options, *where]))
