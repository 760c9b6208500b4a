"""Nobody shares."""

from typing import ClassVar

from windlass.share.answer import Sharing
from windlass.share.view import ShareView


class Nobody:
    """Every job has its cores to itself, as under EASY backfilling alone.

    Source: ASAx, Section 4.1, the default setting of Slurm.

    Examples
    --------
    >>> Nobody().decide(ShareView(0.0, (), ())).shares
    ()
    """

    name: ClassVar[str] = "none"

    def decide(self, view: ShareView) -> Sharing:
        """Nothing, whatever the view."""
        return Sharing()
