"""Tables of text: a line is a row, and its cells go by the names of the first line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from windlass.io.traces import fields

#: What logs write for a value that is not known.
UNKNOWN = frozenset({"", "Unknown", "None", "N/A", "NONE", "(null)", "null", "NULL", "nan", "INVALID"})


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a line.

    Parameters
    ----------
    places
        Where the cell of each column is.
    cells
        Their text.

    Examples
    --------
    >>> row = Row({"User": 0, "Elapsed": 1}, ("ann", "01:00:00"))
    >>> row.text("User"), row.duration("Elapsed"), row.text("Account")
    ('ann', 3600.0, None)
    """

    places: Mapping[str, int]
    cells: Sequence[str]

    def text(self, *names: str) -> str | None:
        """The first of these columns that is there and known, None if none is."""
        for name in names:
            place = self.places.get(name)
            if place is not None and (cell := self.cells[place].strip()) not in UNKNOWN:
                return cell
        return None

    def instant(self, name: str) -> float | None:
        """A time, s since 1970."""
        text = self.text(name)
        return None if text is None else fields.instant(name, text)

    def duration(self, name: str) -> float | None:
        """A duration, s."""
        text = self.text(name)
        return None if text is None else fields.duration(name, text)

    def whole(self, name: str) -> int | None:
        """A whole number."""
        text = self.text(name)
        return None if text is None else fields.whole(name, text)

    def number(self, name: str) -> float | None:
        """A number."""
        text = self.text(name)
        return None if text is None else fields.number(name, text)
