"""The protocol of steps, and the values that they pass to each other."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from windlass.plan.profile.clipinfo import ClipInfo

Floats = NDArray[np.float64]

#: Size over a link of a box, four float32 and a score, and of a tracked box, with its number; bytes.
BOX_BYTES, TRACK_BYTES = 20, 24


class PipelineStep(Hashable, Protocol):
    """A step of a component.

    ``alone`` is True if it processes each frame independently. ``same`` is True if it returns the object that
    it received, which must not be cached twice.
    """

    alone: ClassVar[bool]

    @property
    def same(self) -> bool: ...

    def start(self, clip: ClipInfo) -> Callable[[int, Any], Any]:
        """Return a function for one run, from a frame's index and the previous step's output to this step's output."""
        ...

    def size(self, value: Any) -> int:
        """Return the memory that an output takes, bytes."""
        ...

    def sent(self, value: Any) -> int:
        """Return the size of an output over a link, bytes, if this step is its component's last."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Detections:
    """Detections in a frame.

    Parameters
    ----------
    boxes
        (things, 4) left, top, right, bottom in pixels of the whole frame, whatever size was analysed.
    score
        (things,) confidence or size; higher is better.
    crops
        Pixels of each object; empty if not needed.
    descriptors
        Descriptor of each object from an earlier step; empty without one.
    """

    boxes: Floats
    score: Floats
    crops: tuple[NDArray[np.uint8], ...] = ()
    descriptors: tuple[NDArray[Any], ...] = ()

    def only(self, keep: NDArray[np.bool_]) -> Detections:
        """Return the selected objects."""
        places = np.flatnonzero(keep)
        crops = tuple(self.crops[place] for place in places) if self.crops else ()
        return Detections(self.boxes[keep], self.score[keep], crops)

    def size(self) -> int:
        """Return the memory that it takes, bytes, with about 150 for each Python object."""
        held = sum(each.nbytes + 150 for each in (*self.crops, *self.descriptors))
        return self.boxes.nbytes + self.score.nbytes + held + 450


@dataclass(frozen=True, slots=True, eq=False)
class FrameTracks:
    """Tracks in a frame: track numbers (things,) and boxes (things, 4)."""

    track: NDArray[np.int64]
    boxes: Floats
