"""Detection of moving objects against the background. Needs OpenCV (the extra ``vision``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import cv2
import numpy as np

from windlass.model import InputError
from windlass.model.values import number, whole
from windlass.plan.profile.clip import Image
from windlass.plan.profile.clipinfo import ClipInfo
from windlass.plan.profile.steps.detections import detections_in
from windlass.plan.profile.steps.step import Detections

#: Bounds of an object's share of the frame's area: smaller is noise, larger is a model without history.
_SPECK, _ALL = 1e-4, 0.5

BACKGROUNDS = ("mog2", "knn", "difference")


@dataclass(frozen=True, slots=True)
class Motion:
    """Boxes around moving objects; the score is the box's share of the frame's area.

    Parameters
    ----------
    background
        ``mog2`` (Zivkovic 2004), ``knn`` (Zivkovic and van der Heijden 2006), or ``difference`` from the
        previous frame.
    threshold
        Minimum difference of a pixel, in the unit of the method.
    history
        Number of frames that a model learns from; not used by ``difference``.

    Examples
    --------
    >>> run = Motion("difference", 20.0).start(ClipInfo("a.mp4", 100, 100, 30.0, 2))
    >>> image = np.zeros((100, 100, 3), np.uint8)
    >>> len(run(0, image).boxes)
    0
    >>> image = image.copy()
    >>> image[20:50, 30:60] = 255
    >>> run(1, image).boxes.tolist()
    [[29.0, 19.0, 61.0, 51.0]]
    """

    alone: ClassVar[bool] = False
    same: ClassVar[bool] = False
    background: str
    threshold: float
    history: int = 200

    def __post_init__(self) -> None:
        if self.background not in BACKGROUNDS:
            raise InputError(f"background is {self.background!r}, expected {', '.join(BACKGROUNDS)}")
        number("threshold", self.threshold, 0.0, open_below=True)
        whole("history", self.history, 1)

    def start(self, clip: ClipInfo) -> Callable[[int, Image], Detections]:
        foreground = self._foreground()

        def run(index: int, image: Image) -> Detections:
            return _things(image, foreground(image), clip)

        return run

    def _foreground(self) -> Callable[[Image], Image]:
        if self.background == "difference":
            return _difference(self.threshold)
        if self.background == "mog2":
            model: cv2.BackgroundSubtractor = cv2.createBackgroundSubtractorMOG2(
                self.history, self.threshold, True
            )
        else:
            # KNN forgets a random value of each pixel; a fixed seed makes runs reproducible.
            cv2.setRNGSeed(1)
            model = cv2.createBackgroundSubtractorKNN(self.history, self.threshold, True)
        # A value of 127 marks a shadow.
        return lambda image: cv2.threshold(model.apply(image), 200, 255, cv2.THRESH_BINARY)[1]

    def size(self, value: Detections) -> int:
        return value.size()

    def sent(self, value: Detections) -> int:
        raise NotImplementedError


def _difference(threshold: float) -> Callable[[Image], Image]:
    before: list[Image] = []

    def run(image: Image) -> Image:
        grey = cv2.GaussianBlur(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), (5, 5), 0)
        last = before.pop() if before else grey
        before.append(grey)
        return cv2.threshold(cv2.absdiff(grey, last), threshold, 255, cv2.THRESH_BINARY)[1]

    return run


def _things(image: Image, mask: Image, clip: ClipInfo) -> Detections:
    """Return the connected regions of a mask; regions that nearly touch are joined."""
    high, wide = mask.shape
    mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    near = max(3, high // 60) | 1
    mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((near, near), np.uint8))
    _, _, about, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    about = about[1:].astype(np.float64)
    boxes = np.column_stack([about[:, 0], about[:, 1], about[:, 0] + about[:, 2], about[:, 1] + about[:, 3]])
    share = about[:, 2] * about[:, 3] / (high * wide)
    keep = (share >= _SPECK) & (share <= _ALL)
    return detections_in(image, boxes[keep], share[keep], clip)
