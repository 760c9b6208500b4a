"""``windlass plan clip``: a synthetic clip of traffic with its true tracks."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from windlass.cli.output import print_lines
from windlass.cli.progress import counted_progress
from windlass.io import check_file
from windlass.model import InputError
from windlass.plan.profile.traffic.scene import Traffic


def size_of(given: str) -> tuple[int, int]:
    """Return width and height in pixels, read from the option.

    >>> size_of("1280x720")
    (1280, 720)
    """
    found = re.fullmatch(r"(\d+)x(\d+)", given)
    if found is None:
        raise InputError(f"--size is {given!r}, expected a width and a height, as in 1280x720")
    return int(found[1]), int(found[2])


def needs_opencv(command: str) -> None:
    """Reject a command if OpenCV is not installed.

    Raises
    ------
    InputError
        OpenCV is not installed; the error names the extra to install.
    """
    if importlib.util.find_spec("cv2") is None:
        raise InputError(
            f"windlass plan {command}: OpenCV is not installed; run: pip install 'windlass[vision]'"
        )


def clip_command(traffic: Traffic, out: Path, truth: Path) -> None:
    """Draw a clip and write it with its true tracks."""
    needs_opencv("clip")
    check_file("OUT", out)
    check_file("--truth", truth, begins=b"frame,object,")
    if out.resolve() == truth.resolve():
        raise InputError(f"--truth: {truth} is the clip, expected another file")
    # Imported here, since OpenCV is optional.
    from windlass.plan.profile.traffic.making import make_clip

    with counted_progress("drawing") as update:
        clip = make_clip(traffic, out, truth, update)
    print_lines(
        [
            f"{out}: {clip.frames} frames of {clip.width} x {clip.height}, {clip.seconds:g} s, {traffic.weather}; "
            f"{truth}: true tracks"
        ]
    )
