"""No sharing."""

from typing import ClassVar

from windlass.share.view import ShareView, Sharing


class NoSharing:
    """Never shares: every job has its cores alone, as under EASY backfilling.

    Source: ASAx, Section 4.1, the default setting of Slurm.

    Examples
    --------
    >>> NoSharing().decide(ShareView(0.0, (), ())).shares
    ()
    """

    name: ClassVar[str] = "none"

    def decide(self, view: ShareView) -> Sharing:
        """Return an empty answer."""
        return Sharing()
