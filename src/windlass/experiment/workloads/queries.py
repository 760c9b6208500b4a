"""Streaming queries on cameras, connected to a private cluster and a cloud, modelled on the thesis on Cascade.

For scenarios: accuracy saturates as lines and frames grow, and a component's output is a share of its input. The
reproduction of the thesis generates queries by other laws, in the ranges of the thesis's figures
(``windlass_reproductions/cascade/drawn.py``): it has as many plans of each kind, but other knobs, implementations and
laws, so neither can replace the other.
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
    """One implementation of a component: its accuracy, and its use at 1080 lines and 30 frames per second.

    Parameters
    ----------
    name
        Its function.
    worth
        Its factor on the accuracy.
    cores
        CPU seconds per second.
    output
        Output per byte of its component's input, bytes.
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
        Frames per second.
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
        """Number of plans."""
        return len(self.lines) * len(self.frames) * len(self.first) * len(self.second)


_LINES = (1080, 720, 480, 360, 240)
_MODELS = (
    ComponentProfile("large", 1.0, 3.0),
    ComponentProfile("medium", 0.96, 1.6),
    ComponentProfile("small", 0.88, 0.7),
    ComponentProfile("tiny", 0.72, 0.25),
)
#: The numbers of plans are those of the thesis: 300, 20, 10 and 30.
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

#: Output of a camera's encoder at 1080 lines and 30 frames, and its input, which no link can carry, bytes/s.
_ENCODED, _RAW = 375e3, 90e6


def three_tiers(
    cameras: int = 20,
    camera_cores: float = 2.0,
    camera_up: float = 75e3,
    private_cores: float = 8.0,
    private_up: float = 625e3,
    cloud_cores: float = 48.0,
) -> Hierarchy:
    """Return cameras connected to one private cluster, and that to one cloud; by default as in the thesis.

    Parameters
    ----------
    cameras
        Number of cameras, named ``camera-1`` and so on.
    camera_cores, private_cores, cloud_cores
        Cores of each cluster.
    camera_up, private_up
        Uplink of each, bytes/s.

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
    """Generate queries on cameras in turn, each with a random profile of a random kind.

    A stream's work differs between cameras, and the loss of accuracy with fewer lines and frames between queries.
    Components with equal names on one camera do the same work, so queries can be merged there.

    Parameters
    ----------
    rng
        The random generator.
    cameras
        Clusters where streams originate.
    count
        Number of queries.
    kinds
        Names of :data:`KINDS`, equally likely.
    spread
        Standard deviation of the logarithm of each plan's accuracy around the law.

    Returns
    -------
    The queries, named ``tracker-1`` and so on.

    Raises
    ------
    InputError
        A kind is unknown, or a number is out of bounds.

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
            raise InputError(f"unknown kind of query {name!r}, expected one of {', '.join(known)}")
    number("spread", spread, 0.0)
    busy = rng.lognormal(0.0, 0.3, len(cameras))
    found = []
    for at in range(whole("count", count, 0)):
        kind = known[kinds[int(rng.integers(len(kinds)))]]
        plans = tuple(_plans(kind, rng, spread, float(busy[at % len(cameras)])))
        found.append(Query(f"{kind.name}-{at + 1}", cameras[at % len(cameras)], plans, _RAW))
    return tuple(found)


def _plans(kind: QueryKind, rng: np.random.Generator, spread: float, busy: float) -> Iterator[QueryPlan]:
    """Yield all plans of a kind on a stream with this much work; accuracy saturates with lines and frames."""
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
