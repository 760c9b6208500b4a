"""Streaming queries on cameras, below a private cluster and a cloud, modelled on the thesis on Cascade.

For scenarios: an accuracy levels off as lines and frames grow, and a component hands on a part of what it takes in. The
reproduction of the thesis draws by laws of its own, in the ranges of the thesis' figures
(``windlass_reproductions/cascade/drawn.py``): it has as many plans of each kind, and other knobs, implementations and
laws, so neither can stand for the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from windlass.model import InputError
from windlass.model.queries import Cluster, Component, Hierarchy, Query, QueryPlan
from windlass.model.values import number, whole


@dataclass(frozen=True, slots=True)
class ComponentProfile:
    """One implementation of a component: what it is worth, and what it takes at 1080 lines and 30 frames a second.

    Parameters
    ----------
    name
        What it does.
    worth
        Its factor of the accuracy.
    cores
        CPU seconds a second.
    output
        Bytes it hands on for each byte that its component takes in.
    """

    name: str
    worth: float
    cores: float
    output: float = 0.0


@dataclass(frozen=True, slots=True)
class QueryKind:
    """A type of query: its knobs and implementations, all of which can be combined.

    Parameters
    ----------
    name
        Such as ``tracker``.
    lines
        Resolutions.
    frames
        Frames a second.
    first, second
        Implementations of its two components.
    """

    name: str
    lines: tuple[int, ...]
    frames: tuple[int, ...]
    first: tuple[ComponentProfile, ...]
    second: tuple[ComponentProfile, ...]

    @property
    def plans(self) -> int:
        """How many there are."""
        return len(self.lines) * len(self.frames) * len(self.first) * len(self.second)


_LINES = (1080, 720, 480, 360, 240)
_MODELS = (
    ComponentProfile("large", 1.0, 3.0),
    ComponentProfile("medium", 0.96, 1.6),
    ComponentProfile("small", 0.88, 0.7),
    ComponentProfile("tiny", 0.72, 0.25),
)
#: With as many plans as those of the thesis: 300, 20, 10 and 30.
KINDS = (
    QueryKind(
        "tracker",
        _LINES,
        (30, 15, 10, 5, 2),
        (
            ComponentProfile("detect hog", 1.0, 3.0, 0.4),
            ComponentProfile("detect knn", 0.94, 1.5, 0.4),
            ComponentProfile("detect mog", 0.9, 1.0, 0.4),
            ComponentProfile("detect difference", 0.72, 0.3, 0.4),
        ),
        (
            ComponentProfile("associate features", 1.0, 1.5),
            ComponentProfile("associate colours", 0.93, 0.6),
            ComponentProfile("associate distance", 0.82, 0.05),
        ),
    ),
    QueryKind("classifier", _LINES, (2,), (ComponentProfile("find objects", 1.0, 1.0, 0.3),), _MODELS),
    QueryKind(
        "counter",
        _LINES,
        (15,),
        (
            ComponentProfile("detect mog", 0.95, 1.0, 0.1),
            ComponentProfile("detect difference", 0.7, 0.3, 0.1),
        ),
        (ComponentProfile("count", 1.0, 0.05),),
    ),
    QueryKind(
        "plates",
        _LINES,
        (15, 5, 2),
        (ComponentProfile("find plates", 1.0, 1.2, 0.2),),
        (ComponentProfile("read well", 1.0, 2.0), ComponentProfile("read fast", 0.85, 0.5)),
    ),
)

#: What a camera's encoder hands on at 1080 lines and 30 frames, bytes/s, and what it takes in: more than links carry.
_ENCODED, _RAW = 375e3, 90e6


def three_tiers(
    cameras: int = 20,
    camera_cores: float = 2.0,
    camera_up: float = 75e3,
    private_cores: float = 8.0,
    private_up: float = 625e3,
    cloud_cores: float = 48.0,
) -> Hierarchy:
    """Cameras below one private cluster below one cloud; by default as the thesis has them.

    Parameters
    ----------
    cameras
        How many, named ``camera-1`` and so on.
    camera_cores, private_cores, cloud_cores
        What each has.
    camera_up, private_up
        What each can send upwards, bytes/s.

    Source: thesis, section 5.7.1: 20 cameras on ten nodes of 4 cores, 600 kb/s each; 2 private nodes, 5 Mb/s; 12 cloud
    nodes.

    Examples
    --------
    >>> tiers = three_tiers(cameras=2)
    >>> [cluster.name for cluster in tiers.clusters]
    ['camera-1', 'camera-2', 'private', 'cloud']
    """
    names = [f"camera-{at + 1}" for at in range(whole("cameras", cameras, 1))]
    below = (Cluster(name, camera_cores, camera_up, parent="private") for name in names)
    private = Cluster("private", private_cores, private_up, parent="cloud")
    return Hierarchy((*below, private, Cluster("cloud", cloud_cores)))


def drawn_queries(
    rng: np.random.Generator,
    cameras: Sequence[str],
    count: int,
    kinds: Sequence[str] = ("tracker",),
    spread: float = 0.1,
) -> tuple[Query, ...]:
    """Queries in turn on cameras, each with a drawn profile of a drawn kind.

    How much work a stream is differs from camera to camera, and how much accuracy suffers from fewer lines and frames
    from query to query. Components of equal names on one camera do the same work: queries could be merged there.

    Parameters
    ----------
    rng
        Of the profiles.
    cameras
        Clusters where streams are born.
    count
        How many queries.
    kinds
        Names of :data:`KINDS`, all as likely.
    spread
        Standard deviation of the logarithm of what each plan's accuracy differs by from the law.

    Returns
    -------
    Named ``tracker-1`` and so on.

    Raises
    ------
    InputError
        There is no such kind, or a number is out of bounds.

    Examples
    --------
    >>> queries = drawn_queries(np.random.default_rng(1), ["camera-1"], 2, ("counter",))
    >>> [query.name for query in queries], len(queries[0].plans)
    (['counter-1', 'counter-2'], 10)
    >>> [component.name for component in queries[0].plans[0].components]
    ['encode 1080p 15fps', 'detect mog', 'count']
    """
    known = {kind.name: kind for kind in KINDS}
    for name in kinds:
        if name not in known:
            raise InputError(f"there is no kind of query {name!r}, expected one of {', '.join(known)}")
    number("spread", spread, 0.0)
    busy = rng.lognormal(0.0, 0.3, len(cameras))
    found = []
    for at in range(whole("count", count, 0)):
        kind = known[kinds[int(rng.integers(len(kinds)))]]
        plans = tuple(_plans(kind, rng, spread, float(busy[at % len(cameras)])))
        found.append(Query(f"{kind.name}-{at + 1}", cameras[at % len(cameras)], plans, _RAW))
    return tuple(found)


def _plans(kind: QueryKind, rng: np.random.Generator, spread: float, busy: float) -> Iterator[QueryPlan]:
    """All plans of a kind on a stream that is so much work: more lines and frames are worth less and less."""
    needs_lines, needs_frames = rng.uniform(150, 500), rng.uniform(1, 6)
    top = rng.uniform(0.8, 1.0)
    for lines, frames, first, second in product(kind.lines, kind.frames, kind.first, kind.second):
        seen = (1 - np.exp(-lines / needs_lines)) * (1 - np.exp(-frames / needs_frames))
        accuracy = top * first.worth * second.worth * seen * rng.lognormal(0.0, spread)
        stream = _ENCODED * (lines / 1080) ** 1.3 * (frames / 30) ** 0.7
        work = (lines / 1080) ** 1.5 * frames / 30 * busy
        yield QueryPlan(
            float(min(1.0, accuracy)),
            (
                Component(f"encode {lines}p {frames}fps", 0.0, stream),
                Component(first.name, first.cores * work, first.output * stream),
                Component(second.name, second.cores * work, 0.0),
            ),
        )
