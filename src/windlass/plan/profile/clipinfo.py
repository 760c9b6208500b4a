"""What is known of a clip without its pixels."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClipInfo:
    """A clip on disk.

    Parameters
    ----------
    path
        As the user gave it.
    width, height
        Pixels.
    rate
        Frames a second.
    frames
        How many.
    digest
        Of the file's bytes, such as ``1f3a…``; empty: not known.

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
        """How long it plays."""
        return self.frames / self.rate
