"""Synthetic profiles of queries: as many plans as in the thesis, in the ranges that its figures show.

A query is an encoder at the camera and two components that depend on its kind. A plan is an implementation of each, a
resolution and a frame rate. The thesis shows its profiles as clouds of points (Figures 5.7 to 5.10). We know the number
of plans (300 for a tracker, 20 for a classifier, 10 for a counter, 30 for a license plate reader) and the ranges (cores
from far below one to several, outputs from some 100 kb/s to 5 Mb/s, accuracies from 0 to near 1). All constants below
are ours; they were fixed before the first run.

Scenarios use other laws (:mod:`windlass.experiment.workloads.queries`). Here accuracies are powers of resolution and
rate, which do not level off; a detector's output does not depend on what its encoder sends; and a scene is harder for
some implementations than for others. So the two kinds of profiles are not interchangeable.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.queries import Component, QueryPlan

#: Bytes/s of 1 Mb/s.
MBIT = 1e6 / 8
#: Bytes/s of raw 1080p video with 30 frames/s, the output of the sensor; no link can carry it.
RAW = 1920 * 1080 * 1.5 * 30
#: Bytes/s of encoded 1080p video with 30 frames/s (Section 5.4: a few Mb/s).
STREAM = 3.0 * MBIT
#: Bytes/s of a query's results at the full frame rate: ten boxes of 24 bytes in each of 30 frames a second.
RESULTS = 10 * 24 * 30.0


@dataclass(frozen=True, slots=True)
class Implementation:
    """One implementation of a component.

    Parameters
    ----------
    name
        Name, for example ``MOG2``.
    cores
        CPU seconds per second of the stream, at full resolution and rate.
    quality
        Factor of the accuracy.
    output
        Bytes/s that it sends to the next component, at full resolution and rate.
    """

    name: str
    cores: float
    quality: float
    output: float = 0.0


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of query: its implementations, resolutions and rates, and how accuracy falls with them.

    Parameters
    ----------
    name
        Name in the thesis.
    first, second
        Implementations of its two components.
    resolutions, rates
        Fractions of the full resolution, per side, and of the full frame rate.
    falls
        Exponents of resolution and of rate in the accuracy: (lowest, highest) of the draw for a query.
    """

    name: str
    first: tuple[Implementation, ...]
    second: tuple[Implementation, ...]
    resolutions: tuple[float, ...]
    rates: tuple[float, ...]
    falls: tuple[tuple[float, float], tuple[float, float]]


_BOXES = (
    Implementation("difference", 0.3, 0.55, 4.0 * MBIT),
    Implementation("MOG2", 0.6, 0.68, 3.0 * MBIT),
    Implementation("KNN", 1.0, 0.72, 3.0 * MBIT),
    Implementation("small DNN", 2.5, 0.85, 0.8 * MBIT),
    Implementation("large DNN", 6.0, 0.97, 0.6 * MBIT),
)
_SIDES = (1.0, 0.75, 0.5, 0.35, 0.25)

TRACKER = Kind(
    "tracker",
    _BOXES,
    (
        Implementation("distance", 0.05, 0.75),
        Implementation("histogram", 0.3, 0.85),
        Implementation("SURF", 1.2, 0.93),
        Implementation("SIFT", 2.0, 0.97),
    ),
    _SIDES,
    (1.0, 0.5, 0.2),
    ((0.2, 0.8), (0.1, 0.6)),
)
CLASSIFIER = Kind(
    "classifier",
    _BOXES[1:2],
    tuple(
        Implementation(f"DNN {size}", cores, quality)
        for size, cores, quality in (
            (1, 0.2, 0.62),
            (2, 0.4, 0.72),
            (3, 0.8, 0.8),
            (4, 1.6, 0.87),
            (5, 3.2, 0.92),
        )
    ),
    _SIDES[:4],
    (0.5,),
    ((0.1, 0.4), (0.0, 0.0)),
)
COUNTER = Kind(
    "counter",
    _BOXES[1:4:2],
    (Implementation("count", 0.05, 0.95),),
    _SIDES,
    (1.0,),
    ((0.3, 0.9), (0.0, 0.0)),
)
READER = Kind(
    "license plates",
    _BOXES[1:4:2],
    (
        Implementation("OCR 1", 0.3, 0.6),
        Implementation("OCR 2", 1.0, 0.8),
        Implementation("OCR 3", 3.0, 0.95),
    ),
    _SIDES,
    (1.0,),
    # No implementation can read a plate of few pixels.
    ((0.8, 1.5), (0.0, 0.0)),
)
KINDS = (READER, CLASSIFIER, COUNTER, TRACKER)


@dataclass(frozen=True, slots=True)
class Clip:
    """The scene of a camera, shared by all its queries, so equal components do equal work.

    Parameters
    ----------
    stream
        Bytes/s of full resolution and rate.
    cores, output
        Factors of every implementation's cores and output, by its name.
    """

    stream: float
    cores: dict[str, float]
    output: dict[str, float]


def draw_clip(rng: np.random.Generator) -> Clip:
    """Draw a scene: how much moves in it, and how hard it is for each implementation."""
    names = sorted({each.name for kind in KINDS for each in (*kind.first, *kind.second)})
    busy = rng.lognormal(0.0, 0.4)
    cores = rng.lognormal(0.0, 0.2, len(names))
    output = busy * rng.lognormal(0.0, 0.2, len(names))
    return Clip(
        STREAM * rng.lognormal(0.0, 0.3),
        dict(zip(names, cores.tolist(), strict=True)),
        dict(zip(names, output.tolist(), strict=True)),
    )


def plans_of(
    kind: Kind, clip: Clip, accuracy: NDArray[np.float64], results: float = 0.0
) -> tuple[QueryPlan, ...]:
    """Return all plans of a kind of query on a clip.

    Parameters
    ----------
    kind, clip
        The kind of query, and the scene.
    accuracy
        (k,) accuracies from :func:`draw_accuracy`, in the order of implementations, resolutions, rates.
    results
        Bytes/s that the last component sends at the full frame rate.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> [len(plans_of(kind, draw_clip(rng), draw_accuracy(kind, rng))) for kind in KINDS]
    [30, 20, 10, 300]
    """
    found = []
    for (first, second, side, rate), value in zip(_knobs(kind), accuracy.tolist(), strict=True):
        knobs = f"{side:g} at {rate:g}"
        found.append(
            QueryPlan(
                value,
                (
                    # Bits fall more slowly than pixels and frames, because frames are predicted from each other.
                    Component(f"encode {knobs}", 0.0, clip.stream * side**1.5 * rate**0.7),
                    Component(
                        f"{first.name} {knobs}",
                        first.cores * clip.cores[first.name] * side**2 * rate,
                        first.output * clip.output[first.name] * side**1.5 * rate,
                    ),
                    Component(
                        f"{second.name} {knobs}",
                        second.cores * clip.cores[second.name] * side * rate,
                        results * rate,
                    ),
                ),
            )
        )
    return tuple(found)


def draw_accuracy(kind: Kind, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw the (k,) accuracies of a kind's plans for one query; queries on the same scene differ in their target."""
    falls = [rng.uniform(*bounds) for bounds in kind.falls]
    own = {each.name: rng.normal(0.0, 0.04) for each in (*kind.first, *kind.second)}
    values = []
    for first, second, side, rate in _knobs(kind):
        quality = (first.quality + own[first.name]) * (second.quality + own[second.name])
        values.append(quality * side ** falls[0] * rate ** falls[1])
    return np.clip(np.array(values) + rng.normal(0.0, 0.02, len(values)), 0.01, 0.99)


def _knobs(kind: Kind) -> list[tuple[Implementation, Implementation, float, float]]:
    return list(itertools.product(kind.first, kind.second, kind.resolutions, kind.rates))
