"""A change written by hand, with the tests that must notice it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.mutants.rooms import located
from tests.mutants.trial import in_copy, overwrite


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change.

    Parameters
    ----------
    file
        The file, relative to ``src/windlass``, or below ``windlass_reproductions``.
    old, new
        Text that occurs once in the file, and its replacement.
    tests
        Tests to run, as pytest takes them; those under ``src/`` are doctests of the copy.
    survives
        Why no test can notice it; empty if one must.
    """

    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    survives: str = ""

    @property
    def name(self) -> str:
        """The file and the replacement."""
        return f"{self.file}: {' '.join(self.new.split())[:60]}"

    def apply(self, source: Path) -> None:
        """Change a copy of the source."""
        path = in_copy(source, self.file)
        overwrite(path, path.read_bytes().replace(self.old.encode(), self.new.encode()))

    def found(self) -> int:
        """Return how often the text occurs; a change is only well-defined if it occurs once."""
        return located(self.file).read_text(encoding="utf-8").count(self.old)
