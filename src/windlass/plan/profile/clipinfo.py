"""Properties of a clip."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClipInfo:
    """A clip on disk.

    Parameters
    ----------
    path
        Path as the user gave it.
    width, height
        Size, pixels.
    rate
        Frames per second.
    frames
        Number of frames.
    digest
        Beginning of the file's SHA-256, for example ``1f3a…``; empty if unknown.

    Examples
    --------
    >>> ClipInfo("a.mp4", 640, 360, 30.0, 120).seconds
    4.0
    """

    path: str
    width: int
    height: int
    rate: float
    frames: int
    digest: str = ""

    @property
    def seconds(self) -> float:
        """Length of the clip, s."""
        return self.frames / self.rate
