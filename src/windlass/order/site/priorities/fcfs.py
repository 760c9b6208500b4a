"""First come, first served."""

from typing import ClassVar


class Fcfs:
    """First come, first served: all jobs have the same priority, which keeps the order of submission.

    Examples
    --------
    >>> Fcfs.score(None, 7)
    0.0
    """

    name: ClassVar[str] = "fcfs"

    @staticmethod
    def score(view, row):
        """Return 0 for every job."""
        return 0.0
