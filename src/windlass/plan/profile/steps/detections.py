"""Selection of detections, and how they are sent. Needs OpenCV (the extra ``vision``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from windlass.model.values import number
from windlass.plan.profile.clip import Image
from windlass.plan.profile.clipinfo import ClipInfo
from windlass.plan.profile.steps.decode import jpeg_bytes
from windlass.plan.profile.steps.step import BOX_BYTES, Detections, Floats


def detections_in(image: Image, boxes: Floats, score: Floats, clip: ClipInfo) -> Detections:
    """Return objects from their boxes (things, 4) in an image of any size, with their pixels, from left to right.

    Examples
    --------
    >>> half = np.zeros((50, 50, 3), np.uint8)
    >>> clip = ClipInfo("a.mp4", 100, 100, 30.0, 1)
    >>> detections_in(half, np.array([[10.0, 10, 20, 30]]), np.ones(1), clip).boxes.tolist()
    [[20.0, 20.0, 40.0, 60.0]]
    """
    high, wide = image.shape[:2]
    inside = np.clip(np.round(boxes), 0, (wide, high, wide, high))
    keep = (inside[:, 2:] > inside[:, :2]).all(axis=1)
    inside, score = inside[keep], score[keep]
    order = np.lexsort(inside.T[::-1])
    inside, score = inside[order], score[order]
    # Copies, because a view would keep the whole frame in memory.
    crops = tuple(
        image[int(top) : int(bottom), int(left) : int(right)].copy() for left, top, right, bottom in inside
    )
    larger = np.array([clip.width / wide, clip.height / high] * 2)
    return Detections(inside * larger, score, crops)


@dataclass(frozen=True, slots=True)
class Choose:
    """Keeps objects whose score is at least ``least``."""

    alone: ClassVar[bool] = True
    same: ClassVar[bool] = False
    least: float = 0.0

    def start(self, clip: ClipInfo) -> Callable[[int, Detections], Detections]:
        return lambda index, found: found.only(found.score >= self.least)

    def size(self, value: Detections) -> int:
        return value.size()

    def sent(self, value: Detections) -> int:
        return BOX_BYTES * len(value.boxes)


@dataclass(frozen=True, slots=True)
class Send:
    """Sends boxes, with the pixels in them as JPEG if the associator needs them."""

    alone: ClassVar[bool] = True
    same: ClassVar[bool] = False
    crops: bool = False

    def start(self, clip: ClipInfo) -> Callable[[int, Detections], Detections]:
        if self.crops:
            return lambda index, found: found
        return lambda index, found: replace(found, crops=())

    def size(self, value: Detections) -> int:
        return value.size()

    def sent(self, value: Detections) -> int:
        return BOX_BYTES * len(value.boxes) + sum(jpeg_bytes(crop) for crop in value.crops)


def checked_least(name: str, least: float) -> None:
    """Raise unless a value is a valid share of a frame's area; the error names it."""
    number(name, least, 0.0, 0.5)
