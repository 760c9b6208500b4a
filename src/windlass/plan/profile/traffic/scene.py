"""Who is on the street: cars in lanes and people on pavements, at which instants, and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windlass.model import InputError
from windlass.model.values import number, whole
from windlass.plan.profile.tracks import Tracks

WEATHERS = ("clear", "rain", "snow", "night")
#: A thing counts as there once so much of its box is in the picture.
_SEEN = 0.25


@dataclass(frozen=True, slots=True)
class Traffic:
    """A clip to be drawn.

    Parameters
    ----------
    seed
        Of all that is drawn at random; the same seed gives the same frames and tracks.
    seconds
        How long.
    weather
        ``clear``, ``rain``, ``snow`` or ``night``.
    density
        How much traffic: 1 is a car every 4 s in each of four lanes, and a person every 5 s on each of two pavements.
    width, height
        Pixels.
    rate
        Frames a second.

    Raises
    ------
    InputError
        A value is out of bounds; names it.

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
        """How many."""
        return max(1, round(self.seconds * self.rate))


@dataclass(frozen=True, slots=True)
class TrafficLane:
    """A way along the picture: where its ground is and how high what goes there, as shares of the height; who goes
    there, which way (1: to the right), how fast, in its own lengths a second, how many come a second at density 1."""

    ground: float
    high: float
    person: bool
    way: int
    speed: float
    often: float


#: From far to near, which is also the order in which they are drawn.
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
        Its number, from 1.
    lane
        Of :data:`LANES`.
    enters
        Seconds at which its front comes into the picture; before 0: it is on its way when the clip begins.
    long, high
        Pixels, whole.
    speed
        Pixels a second.
    colour
        Blue, green, red.
    phase
        Of a walk, in steps.
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
        """Left, top, right, bottom at an instant (s), whole pixels; parts may be outside the picture."""
        lane = LANES[self.lane]
        gone = round(self.speed * (at - self.enters))
        left = gone - self.long if lane.way > 0 else width - gone
        bottom = round(lane.ground * height)
        return left, bottom - self.high, left + self.long, bottom


def movers(traffic: Traffic) -> tuple[RoadUser, ...]:
    """All who are ever in the picture, lane by lane; in a lane all are equally fast, so that none runs into another."""
    found: list[RoadUser] = []
    for place, lane in enumerate(LANES):
        # A generator a lane, so that one more car here changes nothing there.
        rng = np.random.default_rng([traffic.seed, place])
        high = lane.high * traffic.height
        length = high * (0.42 if lane.person else 2.3)
        speed = lane.speed * length * rng.uniform(0.85, 1.15)
        at = -(traffic.width + length) / speed
        while traffic.density > 0:
            # The one in front has left half its length behind it.
            at += 1.9 * length / speed + rng.exponential(1.0 / (lane.often * traffic.density))
            if at > traffic.seconds:
                break
            size = rng.uniform(0.85, 1.15)
            # Nobody is as grey as the road.
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
    """Where everybody is in each frame: boxes cut at the picture's edge, from a quarter of the box on.

    Who is hidden behind another is there all the same.

    Examples
    --------
    >>> tracks = truth(Traffic(seed=1, seconds=2.0))
    >>> int(tracks.frame.max()), bool((tracks.boxes[:, 2] <= 1280).all())
    (59, True)
    """
    rows = []
    everybody = movers(traffic)
    for frame in range(traffic.frames):
        for mover in everybody:
            left, top, right, bottom = mover.box(frame / traffic.rate, traffic.width, traffic.height)
            inside = max(left, 0), max(top, 0), min(right, traffic.width), min(bottom, traffic.height)
            if inside[2] - inside[0] >= _SEEN * mover.long and inside[3] > inside[1]:
                rows.append((frame, mover.track, inside))
    return Tracks.of(
        [(frame, track, (float(a), float(b), float(c), float(d))) for frame, track, (a, b, c, d) in rows]
    )
