"""Shuffles gather, and maps that would wait leave their input."""

from typing import ClassVar

from windlass.place.policies.gather import Gather


class GatherOrLeave(Gather):
    """Places stages as ``gather`` does, and lets maps that would wait at their input leave where reading is short.

    ``gather`` has tasks wait for slots that others hold. Where slots are scarce and reads tiny, nothing is won by that,
    and slots stay idle while tasks wait. Here a map leaves for a slot that nobody wants if idle links carry its input
    in a fifth of the time that it computes. And a link in use counts for seven tenths: who uses it now will have read
    before long.

    Source: ours. Both numbers were chosen on other draws than those that ``docs/place.md`` judges by.

    Parameters
    ----------
    ahead, slots_back, links_left, patience
        As in ``gather``, with other defaults.

    Raises
    ------
    InputError
        A parameter out of bounds; names it.

    Examples
    --------
    >>> from windlass.place.policies.gather import Gather
    >>> from windlass.place.view import PlaceView, Ready, Sites
    >>> sites = Sites.of(slots=[10, 10], up=[1e8] * 2, down=[1e8] * 2, free=[0, 4])
    >>> view = PlaceView(0.0, sites, Ready.of(0, 4.0, [[3, 0]], 1e5))
    >>> Gather(slots_back=1.0).decide(view).starts.tolist()
    []
    >>> GatherOrLeave(slots_back=1.0).decide(view).starts.tolist()
    [[0, 0, 1, 3]]
    """

    name: ClassVar[str] = "gather-or-leave"

    def __init__(
        self, ahead: bool = True, slots_back: float = 0.3, links_left: float = 0.7, patience: float = 0.2
    ) -> None:
        super().__init__(ahead, slots_back, links_left, patience)
