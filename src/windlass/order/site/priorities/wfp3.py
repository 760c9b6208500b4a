"""WFP3: jobs that have waited long relative to their requested time, and wide jobs."""

from typing import ClassVar


class Wfp3:
    """WFP3: the greatest (wait / requested time)³ × processors goes first.

    A requested time of less than a second counts as one.

    Source: Tang, Lan, Desai and Buettner, "Fault-aware, utility-based job scheduling on Blue Gene/P systems", CLUSTER
    2009.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> Wfp3.score(SimpleNamespace(now=20.0, submit=[0.0], request=[10.0], procs=[4]), 0)
    -32.0
    """

    name: ClassVar[str] = "wfp3"

    @staticmethod
    def score(view, row):
        """Return the value of the formula, negated."""
        ratio = (view.now - view.submit[row]) / max(view.request[row], 1.0)
        return -(ratio * ratio * ratio) * view.procs[row]
