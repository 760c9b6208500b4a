"""What a step is, and what steps hand on to each other."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from windlass.plan.profile.clipinfo import ClipInfo

Floats = NDArray[np.float64]

#: Bytes of a box over a link: four float32 and one for how sure; and of a track's: its number too.
BOX_BYTES, TRACK_BYTES = 20, 24


class PipelineStep(Hashable, Protocol):
    """A part of a component.

    ``alone``: it looks at each frame by itself. ``same``: it hands on the very object that it got, which is
    not to be kept twice.
    """

    alone: ClassVar[bool]

    @property
    def same(self) -> bool: ...

    def start(self, clip: ClipInfo) -> Callable[[int, Any], Any]:
        """A function from the index of a frame and the output of the step before to its own, for one run."""
        ...

    def size(self, value: Any) -> int:
        """Bytes of memory that an output takes."""
        ...

    def sent(self, value: Any) -> int:
        """Bytes of an output over a link, if this step is its component's last."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a detector found in a frame.

    Parameters
    ----------
    boxes
        (things, 4): left, top, right, bottom, pixels of the whole frame, whatever the size that was looked at.
    score
        (things,): how sure, or how large; higher is better.
    crops
        Its pixels, an image each; empty where nobody asks for them.
    looks
        What describes each, as the step says that made it; empty: nothing does.
    """

    boxes: Floats
    score: Floats
    crops: tuple[NDArray[np.uint8], ...] = ()
    looks: tuple[NDArray[Any], ...] = ()

    def only(self, keep: NDArray[np.bool_]) -> Found:
        """Those that count."""
        places = np.flatnonzero(keep)
        crops = tuple(self.crops[place] for place in places) if self.crops else ()
        return Found(self.boxes[keep], self.score[keep], crops)

    def size(self) -> int:
        """Bytes of memory, with some 150 for each Python object."""
        held = sum(each.nbytes + 150 for each in (*self.crops, *self.looks))
        return self.boxes.nbytes + self.score.nbytes + held + 450


@dataclass(frozen=True, slots=True, eq=False)
class FrameTracks:
    """Tracks in a frame: numbers (things,) and boxes (things, 4)."""

    track: NDArray[np.int64]
    boxes: Floats
