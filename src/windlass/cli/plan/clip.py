"""``windlass plan clip``: a clip of drawn traffic with its true tracks."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from windlass.cli.plan.bar import bar
from windlass.cli.terminal import terminal
from windlass.io import check_file
from windlass.model import InputError
from windlass.plan.profile.traffic.scene import Traffic


def size_of(given: str) -> tuple[int, int]:
    """Width and height as a user gives them.

    >>> size_of("1280x720")
    (1280, 720)
    """
    found = re.fullmatch(r"(\d+)x(\d+)", given)
    if found is None:
        raise InputError(f"--size is {given!r}, expected such as 1280x720")
    return int(found[1]), int(found[2])


def needs_opencv(command: str) -> None:
    """Say in a line that the extra is missing, if so."""
    if importlib.util.find_spec("cv2") is None:
        raise InputError(
            f"windlass plan {command}: OpenCV is not installed, expected pip install 'windlass[vision]'"
        )


def clip_command(traffic: Traffic, out: Path, truth: Path) -> None:
    """Draw, write, and say what is there."""
    needs_opencv("clip")
    check_file("OUT", out)
    check_file("--truth", truth, begins=b"frame,object,")
    if out.resolve() == truth.resolve():
        raise InputError(f"--truth: {truth} is the clip, expected another file")
    # Imported here, as OpenCV may not be there.
    from windlass.plan.profile.traffic.making import make_clip

    with bar("drawing") as tell:
        clip = make_clip(traffic, out, truth, tell)
    terminal().print(
        f"{out}: {clip.frames} frames of {clip.width} x {clip.height}, {clip.seconds:g} s, {traffic.weather}; "
        f"{truth}: true tracks",
        highlight=False,
    )
