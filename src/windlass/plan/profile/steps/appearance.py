"""Descriptors of objects: colour histograms and keypoints. Needs OpenCV (the extra ``vision``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import cv2
import numpy as np

from windlass.model.values import whole
from windlass.plan.profile.clip import Image
from windlass.plan.profile.clipinfo import ClipInfo
from windlass.plan.profile.steps.step import Detections

#: Side of the square to which crops are resized for ORB, pixels; ORB's patches have a side of 31.
_SIDE = 64


@dataclass(frozen=True, slots=True)
class Colours:
    """Square root of a histogram of hue and saturation of each object.

    The product of two of them is their similarity (the Bhattacharyya coefficient).

    Parameters
    ----------
    bins
        Number of bins for each of the two.
    """

    alone: ClassVar[bool] = True
    same: ClassVar[bool] = False
    bins: int = 16

    def __post_init__(self) -> None:
        whole("bins", self.bins, 2)

    def start(self, clip: ClipInfo) -> Callable[[int, Detections], Detections]:
        def of(crop: Image) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
            hue = cv2.cvtColor(crop, cv2.COLOR_BGR2HSV)
            # Only the middle of the crop, because its edges show the background.
            high, wide = crop.shape[:2]
            middle = hue[high // 8 : high - high // 8, wide // 8 : wide - wide // 8]
            counted = cv2.calcHist([middle], [0, 1], None, [self.bins, self.bins], [0, 180, 0, 256]).ravel()
            return np.sqrt(counted / max(float(counted.sum()), 1.0))

        return lambda index, found: replace(
            found, crops=(), descriptors=tuple(of(crop) for crop in found.crops)
        )

    def size(self, value: Detections) -> int:
        return value.size()

    def sent(self, value: Detections) -> int:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Corners:
    """ORB keypoints of each object with their binary descriptors (Rublee et al. 2011).

    Parameters
    ----------
    corners
        Maximum number of keypoints.
    """

    alone: ClassVar[bool] = True
    same: ClassVar[bool] = False
    corners: int = 30

    def __post_init__(self) -> None:
        whole("corners", self.corners, 4)

    def start(self, clip: ClipInfo) -> Callable[[int, Detections], Detections]:
        orb = cv2.ORB_create(nfeatures=self.corners, nlevels=3, edgeThreshold=8, fastThreshold=8)
        none = np.zeros((0, 32), np.uint8)

        def of(crop: Image) -> Image:
            grey = cv2.resize(cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY), (_SIDE, _SIDE))
            bits = orb.detectAndCompute(grey, None)[1]
            return none if bits is None else bits

        return lambda index, found: replace(
            found, crops=(), descriptors=tuple(of(crop) for crop in found.crops)
        )

    def size(self, value: Detections) -> int:
        return value.size()

    def sent(self, value: Detections) -> int:
        raise NotImplementedError
