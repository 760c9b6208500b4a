"""The traffic of a scene: cars in lanes and people on pavements, with their positions over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windlass.model import InputError
from windlass.model.values import number, whole
from windlass.plan.profile.tracks import Tracks

WEATHERS = ("clear", "rain", "snow", "night")
#: An object is in the truth if at least this share of its box is in the picture.
_SEEN = 0.25


@dataclass(frozen=True, slots=True)
class Traffic:
    """Description of a clip to draw.

    Parameters
    ----------
    seed
        Random seed; the same seed gives the same frames and tracks.
    seconds
        Length, s.
    weather
        ``clear``, ``rain``, ``snow`` or ``night``.
    density
        Amount of traffic: 1 is a car every 4 s in each of four lanes, and a person every 5 s on each of two
        pavements.
    width, height
        Size, pixels.
    rate
        Frames per second.

    Raises
    ------
    InputError
        A value is out of bounds; the message names it.

    Examples
    --------
    >>> Traffic(seed=1, seconds=4.0).frames
    120
    >>> Traffic(seed=1, weather="fog")
    Traceback (most recent call last):
    windlass.model.errors.InputError: weather is 'fog', expected clear, rain, snow, night
    """

    seed: int
    seconds: float = 10.0
    weather: str = "clear"
    density: float = 1.0
    width: int = 1280
    height: int = 720
    rate: float = 30.0

    def __post_init__(self) -> None:
        whole("seed", self.seed, 0)
        number("seconds", self.seconds, 0.0, 3600.0, open_below=True)
        number("density", self.density, 0.0, 20.0)
        number("rate", self.rate, 1.0, 240.0)
        for name in ("width", "height"):
            if whole(name, getattr(self, name), 96) % 2:
                raise InputError(f"{name} is {getattr(self, name)}, expected an even number")
        if self.weather not in WEATHERS:
            raise InputError(f"weather is {self.weather!r}, expected {', '.join(WEATHERS)}")

    @property
    def frames(self) -> int:
        """Number of frames."""
        return max(1, round(self.seconds * self.rate))


@dataclass(frozen=True, slots=True)
class TrafficLane:
    """A lane across the picture.

    ``ground`` is the position of its ground and ``high`` the height of its objects, as shares of the
    picture's height. ``person`` is true for people; ``way`` is 1 to the right and −1 to the left; ``speed``
    is in object lengths a second; ``often`` is the number of arrivals a second at density 1.
    """

    ground: float
    high: float
    person: bool
    way: int
    speed: float
    often: float


#: Lanes from far to near, which is also the drawing order.
LANES = (
    TrafficLane(0.40, 0.19, True, 1, 2.0, 0.2),
    TrafficLane(0.49, 0.095, False, -1, 2.2, 0.25),
    TrafficLane(0.58, 0.115, False, -1, 1.9, 0.25),
    TrafficLane(0.69, 0.140, False, 1, 1.8, 0.25),
    TrafficLane(0.81, 0.165, False, 1, 1.6, 0.25),
    TrafficLane(0.95, 0.30, True, -1, 1.8, 0.2),
)


@dataclass(frozen=True, slots=True)
class RoadUser:
    """A car or a person.

    Parameters
    ----------
    track
        Track number, from 1.
    lane
        Index in :data:`LANES`.
    enters
        Time at which its front enters the picture, s; below 0 if it is inside when the clip starts.
    long, high
        Length and height, whole pixels.
    speed
        Speed, pixels/s.
    colour
        Blue, green, red.
    phase
        Phase of the walk, in steps.
    """

    track: int
    lane: int
    enters: float
    long: int
    high: int
    speed: float
    colour: tuple[int, int, int]
    phase: float

    def box(self, at: float, width: int, height: int) -> tuple[int, int, int, int]:
        """Return left, top, right, bottom at a time (s), whole pixels; parts may be outside the picture."""
        lane = LANES[self.lane]
        travelled = round(self.speed * (at - self.enters))
        left = travelled - self.long if lane.way > 0 else width - travelled
        bottom = round(lane.ground * height)
        return left, bottom - self.high, left + self.long, bottom


def movers(traffic: Traffic) -> tuple[RoadUser, ...]:
    """Return all road users of a clip, lane by lane; those of a lane have one speed, so that none overtakes another."""
    found: list[RoadUser] = []
    for place, lane in enumerate(LANES):
        # One generator for each lane, so that a change in one does not affect the others.
        rng = np.random.default_rng([traffic.seed, place])
        high = lane.high * traffic.height
        length = high * (0.42 if lane.person else 2.3)
        speed = lane.speed * length * rng.uniform(0.85, 1.15)
        at = -(traffic.width + length) / speed
        while traffic.density > 0:
            # The gap to the one in front is at least about half a length.
            at += 1.9 * length / speed + rng.exponential(1.0 / (lane.often * traffic.density))
            if at > traffic.seconds:
                break
            size = rng.uniform(0.85, 1.15)
            # Colours as grey as the road are replaced.
            colour = tuple(int(value) for value in rng.choice([20, 60, 180, 235], 3))
            if max(colour) - min(colour) < 60 and 40 < colour[0] < 200:
                colour = (colour[0], 20, 235)
            found.append(
                RoadUser(
                    len(found) + 1, place, float(at), max(4, round(length * size)), max(6, round(high * size)), speed,
                    (colour[0], colour[1], colour[2]), float(rng.uniform(0, 1)),
                )
            )  # fmt: skip
    return tuple(found)


def truth(traffic: Traffic) -> Tracks:
    """Return the true tracks: boxes cut at the picture's edge, if at least a quarter of the box is inside.

    Occluded objects are included.

    Examples
    --------
    >>> tracks = truth(Traffic(seed=1, seconds=2.0))
    >>> int(tracks.frame.max()), bool((tracks.boxes[:, 2] <= 1280).all())
    (59, True)
    """
    rows = []
    road_users = movers(traffic)
    for frame in range(traffic.frames):
        for mover in road_users:
            left, top, right, bottom = mover.box(frame / traffic.rate, traffic.width, traffic.height)
            inside = max(left, 0), max(top, 0), min(right, traffic.width), min(bottom, traffic.height)
            if inside[2] - inside[0] >= _SEEN * mover.long and inside[3] > inside[1]:
                rows.append((frame, mover.track, inside))
    return Tracks.of(
        [(frame, track, (float(a), float(b), float(c), float(d))) for frame, track, (a, b, c, d) in rows]
    )
