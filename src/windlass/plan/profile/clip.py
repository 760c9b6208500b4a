"""Reading clips frame by frame in one thread, and writing them. Needs OpenCV (the extra ``vision``)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from windlass.io import replace_file
from windlass.model import InputError
from windlass.plan.profile.clipinfo import ClipInfo

Image = NDArray[np.uint8]


def about(path: str | Path) -> ClipInfo:
    """Read the header of a clip.

    Raises
    ------
    InputError
        The file does not exist, or OpenCV cannot read it as video.

    Examples
    --------
    >>> about("nowhere.mp4")
    Traceback (most recent call last):
    windlass.model.errors.InputError: nowhere.mp4: no such file
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{file}: {'is a directory, expected a clip' if file.is_dir() else 'no such file'}")
    capture = _opened(file)
    try:
        numbers = [
            capture.get(which)
            for which in (
                cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT, cv2.CAP_PROP_FPS, cv2.CAP_PROP_FRAME_COUNT,
            )
        ]  # fmt: skip
    finally:
        capture.release()
    if not all(np.isfinite(each) and each > 0 for each in numbers):
        raise InputError(
            f"{file}: header has {numbers[3]:g} frames of {numbers[0]:g} x {numbers[1]:g} at {numbers[2]:g} frames/s, "
            "expected numbers above 0"
        )
    width, height, rate, frames = numbers
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
    return ClipInfo(str(file), int(width), int(height), float(rate), int(frames), digest)


@dataclass(frozen=True, slots=True)
class ClipFrame:
    """A frame of a clip: its index, CPU seconds to unpack it and to convert it to pixels, and the requested pixels."""

    index: int
    unpacking: float
    converting: float
    image: Image | None


def frames(clip: ClipInfo, wanted: Callable[[int], bool], clock: Callable[[], float]) -> Iterator[ClipFrame]:
    """Yield all frames of a clip in order. All are unpacked, as later ones depend on them; wanted ones get pixels.

    Parameters
    ----------
    clip
        The result of :func:`about`.
    wanted
        Whether a frame, given by its index, gets pixels.
    clock
        Returns the CPU time of this thread, s; OpenCV unpacks in this thread.

    Raises
    ------
    InputError
        A frame cannot be read because the file is damaged or truncated.
    """
    capture = _opened(Path(clip.path))
    try:
        for index in range(clip.frames):
            began = clock()
            readable = capture.grab()
            unpacked = clock()
            image: Image | None = None
            if readable and wanted(index):
                readable, image = capture.retrieve()
            done = clock()
            if not readable:
                raise InputError(f"{clip.path}: frame {index} cannot be read, expected {clip.frames} frames")
            yield ClipFrame(index, unpacked - began, done - unpacked, image)
    finally:
        capture.release()


def _opened(file: Path) -> cv2.VideoCapture:
    # With one thread, decoding counts as CPU time of the reading thread.
    capture = cv2.VideoCapture(str(file), cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, 1])
    if not capture.isOpened():
        capture.release()
        raise InputError(f"{file}: OpenCV cannot read it as video, expected a clip such as .mp4")
    return capture


def write_clip(
    path: str | Path, images: Iterator[Image], rate: float, size: tuple[int, int], codec: str = "mp4v"
) -> None:
    """Write frames as a clip.

    Parameters
    ----------
    path
        Output file.
    images
        Frames (height, width, 3) uint8: blue, green, red.
    rate
        Frames per second.
    size
        Width and height, pixels.
    codec
        Four-character code of OpenCV.

    Raises
    ------
    InputError
        This OpenCV lacks the codec, or the file cannot be written; an existing file is kept.
    """
    file = Path(path)
    if not file.parent.is_dir():
        raise InputError(f"{file}: folder {file.parent} does not exist")
    if len(codec) != 4:
        raise InputError(f"codec is {codec!r}, expected four characters such as mp4v")
    with replace_file(file) as fresh:
        writer = cv2.VideoWriter(str(fresh), cv2.CAP_FFMPEG, cv2.VideoWriter.fourcc(*codec), rate, size)
        try:
            if not writer.isOpened():
                raise InputError(
                    f"{file}: OpenCV cannot write it with the codec {codec!r}; this build lacks it, or the file name "
                    "does not end in .mp4"
                )
            written = 0
            for image in images:
                writer.write(image)
                written += 1
        finally:
            writer.release()
        # OpenCV reports no error if the disk is full.
        if (stored := _frames(fresh)) < written:
            raise InputError(f"{file}: {stored} of {written} frames were written; the disk may be full")


def _frames(file: Path) -> int:
    """Return the number of frames of a clip; 0 if it is not a clip."""
    try:
        return about(file).frames
    except InputError:
        return 0
