"""First come, first served."""

from typing import ClassVar


class Fcfs:
    """First come, first served: all have one priority, so the order of submission stands.

    Examples
    --------
    >>> Fcfs.score(None, 7)
    0.0
    """

    name: ClassVar[str] = "fcfs"

    @staticmethod
    def score(view, row):
        """The same for everybody."""
        return 0.0
