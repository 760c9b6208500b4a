"""Shortest job first."""

from typing import ClassVar


class Sjf:
    """Shortest job first, by requested time. Without reservations it starves long jobs.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> Sjf.score(SimpleNamespace(request=[60.0, 20.0]), 1)
    20.0
    """

    name: ClassVar[str] = "sjf"

    @staticmethod
    def score(view, row):
        """Return the requested time, s."""
        return view.request[row]
