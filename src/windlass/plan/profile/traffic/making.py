"""Writing of a traffic clip and its true tracks. Needs OpenCV (the extra ``vision``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from windlass.plan.profile.clip import Image, about, write_clip
from windlass.plan.profile.clipinfo import ClipInfo
from windlass.plan.profile.tracks import write_truth
from windlass.plan.profile.traffic.drawing import shadow, street, thing
from windlass.plan.profile.traffic.scene import LANES, Traffic, movers, truth
from windlass.plan.profile.traffic.weather import SHADOW, Weather


def pictures(traffic: Traffic) -> Iterator[Image]:
    """Yield the frames in order, (height, width, 3) uint8.

    Examples
    --------
    >>> frames = list(pictures(Traffic(seed=1, seconds=0.1, width=160, height=96)))
    >>> len(frames), frames[0].shape
    (3, (96, 160, 3))
    """
    still, weather, road_users = street(traffic), Weather(traffic), movers(traffic)
    dark = SHADOW[traffic.weather]
    for frame in range(traffic.frames):
        at = frame / traffic.rate
        picture = still.copy()
        boxes = [(mover, mover.box(at, traffic.width, traffic.height)) for mover in road_users]
        for lane in range(len(LANES)):
            here = [(mover, box) for mover, box in boxes if mover.lane == lane]
            for _, box in here:
                shadow(picture, box, dark)
            for mover, box in here:
                thing(picture, mover, box, at, traffic.weather == "night")
        yield weather.on(picture)


def make_clip(
    traffic: Traffic,
    path: str | Path,
    tracks: str | Path,
    notify: Callable[[int, int], None] = lambda done, of: None,
) -> ClipInfo:
    """Draw a clip and write it with its true tracks.

    Parameters
    ----------
    traffic
        The scene.
    path, tracks
        Output files: the clip, and its true tracks as CSV.
    notify
        Progress callback, called with the number of drawn frames and the total.

    Raises
    ------
    InputError
        A file cannot be written, or OpenCV lacks the codec.
    """

    def counted() -> Iterator[Image]:
        for done, picture in enumerate(pictures(traffic), start=1):
            yield picture
            notify(done, traffic.frames)

    write_clip(path, counted(), traffic.rate, (traffic.width, traffic.height))
    clip = about(path)
    write_truth(truth(traffic), tracks, clip.digest)
    return clip
