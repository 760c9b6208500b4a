"""Shuffles that gather, and maps that leave their input instead of waiting."""

from typing import ClassVar

from windlass.place.policies.gather import Gather


class GatherOrLeave(Gather):
    """Places stages as ``gather`` does, but maps that would wait at their input leave it if reading is short.

    With ``gather``, tasks wait for slots that other tasks hold. If slots are scarce and reads tiny, this
    gains nothing, and slots stay idle while tasks wait. Here a map starts on an otherwise idle slot if idle
    links carry its input in a fifth of its compute time. A link in use counts as seven tenths, because the
    reading tasks will finish soon.

        Source: Windlass. Both numbers were chosen on other workloads than those used for the results in
    ``docs/results-place.md``.

    Parameters
    ----------
    ahead, slots_back, links_left, patience
        See ``gather``; the defaults differ.

    Raises
    ------
    InputError
        A parameter is out of bounds; the message names it.

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
