"""Detection of people by HOG. Needs OpenCV (the extra ``vision``) before version 5, which has no HOG."""

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

#: Window of OpenCV's people detector, pixels, and its margin around people, as a share of its sides.
_WIDE, _HIGH = 64, 128
_MARGIN = (0.15, 0.05)


@dataclass(frozen=True, slots=True)
class People:
    """Boxes around people by histograms of oriented gradients (Dalal and Triggs 2005); the score is the classifier's.

    Parameters
    ----------
    stride
        Step between windows, pixels.
    growth
        Factor between two window sizes.
    """

    alone: ClassVar[bool] = True
    same: ClassVar[bool] = False
    stride: int = 8
    growth: float = 1.05

    def __post_init__(self) -> None:
        if whole("stride", self.stride, 8) % 8:
            raise InputError(f"stride is {self.stride}, expected a multiple of 8")
        number("growth", self.growth, 1.01, 2.0)

    def start(self, clip: ClipInfo) -> Callable[[int, Image], Detections]:
        try:
            outline = cv2.HOGDescriptor()
            outline.setSVMDetector(cv2.HOGDescriptor.getDefaultPeopleDetector())
        except AttributeError as error:
            raise InputError(
                f"detect hog: OpenCV {cv2.__version__} has no HOG, expected a version before 5"
            ) from error

        def run(index: int, image: Image) -> Detections:
            if image.shape[0] < _HIGH or image.shape[1] < _WIDE:
                raise InputError(
                    f"detect hog: frames are {image.shape[1]} x {image.shape[0]}, expected {_WIDE} x {_HIGH} or more: "
                    "raise scale, or remove hog"
                )
            windows, score = outline.detectMultiScale(
                image, winStride=(self.stride, self.stride), scale=self.growth
            )
            found = np.asarray(windows, dtype=np.float64).reshape(-1, 4)
            inset = found[:, 2:] * _MARGIN
            boxes = np.hstack([found[:, :2] + inset, found[:, :2] + found[:, 2:] - inset])
            return detections_in(image, boxes, np.asarray(score, dtype=np.float64).ravel(), clip)

        return run

    def size(self, value: Detections) -> int:
        return value.size()

    def sent(self, value: Detections) -> int:
        raise NotImplementedError
