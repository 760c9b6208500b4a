"""A change of the source that tests must see, and its trial on a copy of the source.

What is compiled lies in the cache by what it depends on, so a trial compiles no more than what its change touches.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
#: Of pytest: all passed, or some failed. Anything else is a trial that could not be held.
PASSED, FAILED = 0, 1


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
    where = [str(source.parent / test) if test.startswith("src/") else test for test in tests]
    check = f"import windlass; assert windlass.__file__.startswith({str(source)!r}), windlass.__file__"
    options = ["-q", "-x", "--no-header", "-p", "no:cacheprovider", "--override-ini", "addopts="]
    options.append(f"--hypothesis-seed={os.environ.get('WINDLASS_MUTANTS_SEED', '1')}")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{check}; import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))",
            *options,
            *where,
        ],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": f"{source}{os.pathsep}{ROOT}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "HYPOTHESIS_STORAGE_DIRECTORY": str(source.parent / "examples"),
        },
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr
