"""Association of objects between frames. Needs OpenCV (the extra ``vision``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from windlass.model import InputError
from windlass.model.values import number
from windlass.plan.profile.clipinfo import ClipInfo
from windlass.plan.profile.steps.step import TRACK_BYTES, Detections, Floats, FrameTracks

WAYS = ("overlap", "centroid", "histogram", "orb")
#: Maximum movement between frames, as a share of the picture's diagonal, because appearance alone ignores
#: position.
_REACH = 0.1
#: Maximum number of differing bits, of 256, of two matching keypoints.
_BITS = 64


@dataclass(slots=True)
class _Track:
    number: int
    box: Floats
    descriptor: NDArray[Any] | None
    seen: int
    times: int = 1


@dataclass(frozen=True, slots=True)
class Match:
    """Assigns objects to tracks with the largest total similarity.

    Parameters
    ----------
    way
        Similarity: ``overlap`` (intersection over union with the track's last box), ``centroid`` (1 less the
        distance of centres divided by a tenth of the picture's diagonal), ``histogram`` (of colours) or
        ``orb`` (share of matched keypoints), the last two only within that distance.
    alike
        Minimum similarity of an object and a track, above 0 and at most 1.
    patience
        Time for which a track without objects is kept, s.
    confirm
        Number of frames in which an object has to be detected before its track is reported.

    Examples
    --------
    >>> run = Match("overlap", 0.3, confirm=1).start(ClipInfo("a.mp4", 640, 360, 30.0, 2))
    >>> def one(left: float) -> Detections:
    ...     return Detections(np.array([[left, 0.0, left + 20.0, 10.0]]), np.ones(1))
    >>> [run(frame, one(left)).track.tolist() for frame, left in enumerate((0, 4, 100))]
    [[0], [0], [1]]
    """

    alone: ClassVar[bool] = False
    same: ClassVar[bool] = False
    way: str
    alike: float
    patience: float = 0.5
    confirm: int = 2

    def __post_init__(self) -> None:
        if self.way not in WAYS:
            raise InputError(f"way is {self.way!r}, expected {', '.join(WAYS)}")
        number("alike", self.alike, 0.0, 1.0, open_below=True)
        number("patience", self.patience, 0.0)
        if self.confirm < 1:
            raise InputError(f"confirm is {self.confirm}, expected 1 or more")

    def start(self, clip: ClipInfo) -> Callable[[int, Detections], FrameTracks]:
        tracks: list[_Track] = []
        born = [0]
        reach = _REACH * float(np.hypot(clip.width, clip.height))
        patience = self.patience * clip.rate

        def run(index: int, found: Detections) -> FrameTracks:
            tracks[:] = [track for track in tracks if index - track.seen <= patience]
            assigned = self._pairs(tracks, found, reach)
            own: list[_Track] = []
            for thing, box in enumerate(found.boxes):
                descriptor = found.descriptors[thing] if found.descriptors else None
                place = assigned.get(thing)
                if place is None:
                    own.append(_Track(born[0], box, descriptor, index))
                    born[0] += 1
                    tracks.append(own[-1])
                    continue
                track = tracks[place]
                track.box, track.descriptor, track.seen = box, descriptor, index
                track.times += 1
                own.append(track)
            sure = [track for track in own if track.times >= self.confirm]
            numbers = np.array([track.number for track in sure], dtype=np.int64)
            return FrameTracks(numbers, np.array([track.box for track in sure]).reshape(-1, 4))

        return run

    def _pairs(self, tracks: Sequence[_Track], found: Detections, reach: float) -> dict[int, int]:
        """Return the index of the track of each assigned object."""
        if not tracks or not len(found.boxes):
            return {}
        last = np.array([track.box for track in tracks])
        likeness = self._likeness(tracks, last, found, reach)
        likeness[likeness < self.alike] = 0.0
        rows, columns = linear_sum_assignment(likeness, maximize=True)
        return {
            int(thing): int(track)
            for track, thing in zip(rows, columns, strict=True)
            if likeness[track, thing] > 0.0
        }

    def _likeness(self, tracks: Sequence[_Track], last: Floats, found: Detections, reach: float) -> Floats:
        """Return the similarities (tracks, things)."""
        if self.way == "overlap":
            return _overlap(last, found.boxes)
        near = 1.0 - _distance(last, found.boxes) / reach
        if self.way == "centroid":
            return near
        if self.way == "histogram":
            descriptors = np.array([track.descriptor for track in tracks], dtype=np.float64)
            alike = descriptors @ np.array(found.descriptors, dtype=np.float64).T
        else:
            alike = np.zeros(near.shape)
            # Keypoints are compared only within reach, because that is the slow part.
            for track, thing in zip(*np.nonzero(near > 0.0), strict=True):
                alike[track, thing] = _keypoint_similarity(tracks[track].descriptor, found.descriptors[thing])
        return np.where(near > 0.0, alike, 0.0)

    def size(self, value: FrameTracks) -> int:
        return value.track.nbytes + value.boxes.nbytes + 450

    def sent(self, value: FrameTracks) -> int:
        return TRACK_BYTES * len(value.track)


def _overlap(first: Floats, second: Floats) -> Floats:
    across = np.minimum(first[:, None, 2:], second[None, :, 2:]) - np.maximum(
        first[:, None, :2], second[None, :, :2]
    )
    shared = np.prod(np.maximum(across, 0.0), axis=2)
    areas = np.prod(first[:, 2:] - first[:, :2], axis=1)[:, None] + np.prod(
        second[:, 2:] - second[:, :2], axis=1
    )
    return shared / np.maximum(areas - shared, np.finfo(float).tiny)


def _distance(first: Floats, second: Floats) -> Floats:
    centres = [0.5 * (boxes[:, :2] + boxes[:, 2:]) for boxes in (first, second)]
    return np.linalg.norm(centres[0][:, None] - centres[1][None], axis=2)


def _keypoint_similarity(first: NDArray[Any] | None, second: NDArray[Any]) -> float:
    """Return the share of mutually nearest keypoints within ``_BITS`` bits, of the object with fewer keypoints."""
    if first is None or not len(first) or not len(second):
        return 0.0
    bits, nearest = cv2.batchDistance(
        first, second, cv2.CV_32S, normType=cv2.NORM_HAMMING, K=1, crosscheck=True
    )
    return float(((nearest >= 0) & (bits <= _BITS)).sum() / min(len(first), len(second)))
