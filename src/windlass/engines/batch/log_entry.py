"""Lines of a driver's log that carry fields for programs."""

from __future__ import annotations

from typing import Any, Self


class LogEntry(str):
    """A line of the log, with the kind of event and its fields.

    Parameters
    ----------
    line
        The line for people.
    event
        The kind of event, such as ``start``.
    fields
        Plain values by name.

    Examples
    --------
    >>> entry = LogEntry.of("start 7: fits", "start", jobs=[7])
    >>> entry, entry.event, entry.fields
    ('start 7: fits', 'start', {'jobs': [7]})
    """

    __slots__ = ("event", "fields")

    event: str
    fields: dict[str, Any]

    @classmethod
    def of(cls, line: str, event: str, **fields: Any) -> Self:
        """Return an entry."""
        found = cls(line)
        found.event, found.fields = event, fields
        return found


def log_tree(line: str, time: str) -> dict[str, Any]:
    """Return a line of the log as a tree for JSON; one without fields is a ``notice``.

    Parameters
    ----------
    line
        The line, or a :class:`LogEntry`.
    time
        When it was written, as in ISO 8601.

    Examples
    --------
    >>> log_tree("Slurm answers again", "2026-01-01T00:00:00Z")
    {'time': '2026-01-01T00:00:00Z', 'event': 'notice', 'message': 'Slurm answers again'}
    """
    entry = line if isinstance(line, LogEntry) else LogEntry.of(line, "notice")
    return {"time": time, "event": entry.event, "message": str(entry), **entry.fields}
