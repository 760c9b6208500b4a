"""Rows of text tables, whose cells are accessed by the names in the first line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from windlass.io.traces import fields

#: Values that mark an unknown value in logs.
UNKNOWN = frozenset({"", "Unknown", "None", "N/A", "NONE", "(null)", "null", "NULL", "nan", "INVALID"})


def set_back_note(jobs: int) -> str:
    """Return a note on jobs during which the clock was set back by an hour.

    >>> set_back_note(1)
    '1 job ended after the clock was set back by an hour; its stated run time is used'
    """
    if jobs == 1:
        return "1 job ended after the clock was set back by an hour; its stated run time is used"
    return f"{jobs:,} jobs ended after the clock was set back by an hour; their stated run times are used"


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a line.

    Parameters
    ----------
    places
        Index of each column's cell.
    cells
        Text of each cell.

    Examples
    --------
    >>> row = Row({"User": 0, "Elapsed": 1}, ("ann", "01:00:00"))
    >>> row.text("User"), row.duration("Elapsed"), row.text("Account")
    ('ann', 3600.0, None)
    """

    places: Mapping[str, int]
    cells: Sequence[str]

    def text(self, *names: str) -> str | None:
        """Return the first known value of these columns; None if there is none."""
        places, cells = self.places, self.cells
        for name in names:
            if name in places and (cell := cells[places[name]].strip()) not in UNKNOWN:
                return cell
        return None

    def instant(self, name: str) -> float | None:
        """Return a time, s since 1970; None if it is unknown."""
        text = self.text(name)
        return None if text is None else fields.instant(name, text)

    def duration(self, name: str) -> float | None:
        """Return a duration, s; None if it is unknown."""
        text = self.text(name)
        return None if text is None else fields.duration(name, text)

    def whole(self, name: str) -> int | None:
        """Return a whole number; None if it is unknown."""
        text = self.text(name)
        return None if text is None else fields.whole(name, text)

    def number(self, name: str) -> float | None:
        """Return a number; None if it is unknown."""
        text = self.text(name)
        return None if text is None else fields.number(name, text)
