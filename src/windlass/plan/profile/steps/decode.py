"""Scaling of frames. Needs OpenCV (the extra ``vision``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import cv2

from windlass.model.values import number
from windlass.plan.profile.clip import Image
from windlass.plan.profile.clipinfo import ClipInfo

#: JPEG quality of frames and crops that are sent over a link.
QUALITY = 85


def jpeg_bytes(image: Image) -> int:
    """Return the size of an image as JPEG, bytes."""
    return len(cv2.imencode(".jpg", image, (cv2.IMWRITE_JPEG_QUALITY, QUALITY))[1])


@dataclass(frozen=True, slots=True)
class Scale:
    """Scales frames to a fraction of their width and height; sends JPEG.

    Examples
    --------
    >>> import numpy as np
    >>> run = Scale(0.5).start(ClipInfo("a.mp4", 64, 48, 30.0, 1))
    >>> run(0, np.zeros((48, 64, 3), np.uint8)).shape
    (24, 32, 3)
    """

    alone: ClassVar[bool] = True
    scale: float = 1.0

    def __post_init__(self) -> None:
        number("scale", self.scale, 0.05, 1.0)

    @property
    def same(self) -> bool:
        return self.scale == 1.0

    def start(self, clip: ClipInfo) -> Callable[[int, Image], Image]:
        if self.same:
            return lambda index, image: image
        size = max(1, round(clip.width * self.scale)), max(1, round(clip.height * self.scale))
        return lambda index, image: cv2.resize(image, size, interpolation=cv2.INTER_AREA)

    def size(self, value: Image) -> int:
        return value.nbytes + 150

    def sent(self, value: Image) -> int:
        return jpeg_bytes(value)
