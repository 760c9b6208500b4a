"""Smallest area first."""

from typing import ClassVar


class Saf:
    """Smallest area first: requested time × processors.

    Source: Carastan-Santos, de Camargo, Trystram and Zrigui, "One can only gain by replacing EASY backfilling: a simple
    scheduling policies case study", CCGRID 2019.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> Saf.score(SimpleNamespace(request=[60.0], procs=[4]), 0)
    240.0
    """

    name: ClassVar[str] = "saf"

    @staticmethod
    def score(view, row):
        """Return the requested processor-seconds."""
        return view.request[row] * view.procs[row]
