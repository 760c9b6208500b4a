"""The thesis' deployment of 20 cameras, a private cluster and a cloud (Section 5.7.1), and queries on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from windlass.model.queries import Cluster, Hierarchy, Query, QueryPlan
from windlass.plan import configurations
from windlass_reproductions.cascade.drawn import (
    MBIT,
    RAW,
    STREAM,
    TRACKER,
    Kind,
    draw_accuracy,
    draw_clip,
    plans_of,
)
from windlass_reproductions.cascade.recorded import Tables

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: Levels of the hierarchy in :attr:`Options.level`.
CAMERA, PRIVATE, CLOUD = range(3)


@dataclass(frozen=True, slots=True)
class Deployment:
    """Capacities: ten nodes of four cores emulate two cameras each, two the private cluster, twelve the cloud.

    Parameters
    ----------
    cameras
        Number of cameras.
    camera_cores, private_cores, cloud_cores
        Cores of one camera, of the private cluster and of the cloud.
    link, uplink
        Bytes/s from a camera to the private cluster, and from the private cluster to the cloud.
    """

    cameras: int = 20
    camera_cores: float = 2.0
    private_cores: float = 8.0
    cloud_cores: float = 48.0
    link: float = 0.6 * MBIT
    uplink: float = 5.0 * MBIT

    def hierarchy(self) -> Hierarchy:
        """Return the clusters; downlinks are unlimited, because they far exceed uplinks (Section 5.5.1).

        >>> Deployment(cameras=1).hierarchy().capacity()[:2].tolist()
        [48.0, inf]
        """
        cameras = (
            Cluster(f"camera-{number}", self.camera_cores, self.link, parent="private")
            for number in range(self.cameras)
        )
        private = Cluster("private", self.private_cores, self.uplink, parent="cloud")
        return Hierarchy((Cluster("cloud", self.cloud_cores), private, *cameras))

    def times(self, **factors: float) -> Deployment:
        """Return the deployment with some of its capacities multiplied."""
        return replace(self, **{name: getattr(self, name) * factor for name, factor in factors.items()})


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """The k configurations of a query; an encoder always runs at the camera.

    Parameters
    ----------
    kind, camera
        The kind of query, and the number of its camera.
    accuracy, demand
        (k,) accuracies and (k, L) demands, as planners take them.
    level
        (k, c) level at which each component runs: camera, private cluster or cloud.
    plan
        (k,) int64 index of the query's plan.
    piece, piece_demand
        See :class:`~windlass.plan.Configurations`.
    """

    kind: str
    camera: int
    accuracy: _Floats
    demand: _Floats
    level: _Ints
    plan: _Ints
    piece: _Ints
    piece_demand: _Floats

    def take(self, rows: NDArray[np.bool_]) -> Options:
        """Return only the configurations in ``rows``."""
        return replace(
            self,
            accuracy=self.accuracy[rows],
            demand=self.demand[rows],
            level=self.level[rows],
            plan=self.plan[rows],
            piece=self.piece[rows],
            piece_demand=self.piece_demand[rows],
        )

    @property
    def together(self) -> NDArray[np.bool_]:
        """(k,) whether all components but the encoder run at one place."""
        return np.asarray((self.level[:, 1:] == self.level[:, 1:2]).all(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Competing queries: their options, and the capacities."""

    options: tuple[Options, ...]
    capacity: _Floats

    @property
    def accuracy(self) -> list[_Floats]:
        """(k,) accuracies of each query, for planners on arrays."""
        return [each.accuracy for each in self.options]

    @property
    def demand(self) -> list[_Floats]:
        """(k, L) demands of each query, for planners on arrays."""
        return [each.demand for each in self.options]

    def first(self, count: int) -> Case:
        """Return the case with only the first ``count`` queries."""
        return replace(self, options=self.options[:count])

    def on(self, deployment: Deployment) -> Case:
        """Return the case with the capacities of another deployment."""
        return replace(self, capacity=deployment.hierarchy().capacity())

    def where(self, rows: Callable[[Options], NDArray[np.bool_]]) -> Case:
        """Return the case with only the configurations that ``rows`` selects."""
        return replace(self, options=tuple(each.take(rows(each)) for each in self.options))


def drawn_case(
    per_camera: int,
    rng: np.random.Generator,
    kinds: Sequence[Kind] = (TRACKER,),
    deployment: Deployment | None = None,
    results: float = 0.0,
) -> Case:
    """Draw queries with synthetic profiles; kinds alternate over cameras and rounds.

    The first query of each camera comes first, then the second of each: the first n·cameras queries are the case with n
    queries per camera.

    Parameters
    ----------
    per_camera, kinds
        Number of queries at each camera, and their kinds.
    rng
        Draws scenes and accuracies.
    deployment
        Capacities; by default the thesis'.
    results
        Bytes/s that each query sends to the cloud at the full frame rate.
    """
    here = deployment or Deployment()
    hierarchy = here.hierarchy()
    clips = [draw_clip(rng) for _ in range(here.cameras)]
    bases: dict[tuple[str, int], Options] = {}
    found = []
    for round_ in range(per_camera):
        for camera in range(here.cameras):
            kind = kinds[(round_ * here.cameras + camera + round_) % len(kinds)]
            accuracy = draw_accuracy(kind, rng)
            key = kind.name, camera
            if key not in bases:
                plans = plans_of(kind, clips[camera], accuracy, results)
                bases[key] = _options(kind.name, camera, plans, hierarchy, RAW, to_root=results > 0.0)
            found.append(replace(bases[key], accuracy=accuracy[bases[key].plan]))
    return Case(tuple(found), hierarchy.capacity())


def recorded_case(
    per_camera: int, rng: np.random.Generator, tables: Tables, deployment: Deployment | None = None
) -> Case:
    """Draw queries that classify frames, with profiles from public tables; each uses a random one of five cameras."""
    here = deployment or Deployment()
    hierarchy = here.hierarchy()
    plans = tables.plans()
    bases = [_options("classifier", camera, plans, hierarchy, RAW) for camera in range(here.cameras)]
    found = []
    for _ in range(per_camera):
        for base in bases:
            accuracy = tables.accuracy(int(rng.integers(tables.left.shape[1])))
            found.append(replace(base, accuracy=accuracy[base.plan]))
    return Case(tuple(found), hierarchy.capacity())


def measured_case(
    per_camera: int,
    rng: np.random.Generator,
    profiles: Sequence[tuple[QueryPlan, ...]],
    deployment: Deployment | None = None,
) -> Case:
    """Draw queries with measured profiles; all queries of a camera use the same randomly chosen profile.

    Cameras send a stream of a few Mb/s for every plan, because profiles begin with the decoder.
    """
    here = deployment or Deployment()
    hierarchy = here.hierarchy()
    shown = rng.integers(len(profiles), size=here.cameras)
    bases = [
        _options("tracker", camera, profiles[shown[camera]], hierarchy, STREAM)
        for camera in range(here.cameras)
    ]
    return Case(tuple(bases) * per_camera, hierarchy.capacity())


def _options(
    kind: str,
    camera: int,
    plans: tuple[QueryPlan, ...],
    hierarchy: Hierarchy,
    source: float,
    to_root: bool = False,
) -> Options:
    name = f"camera-{camera}"
    found = configurations(Query(kind, name, plans, source, to_root), hierarchy)
    path = hierarchy.path(name)
    level = np.full_like(found.place, -1)
    for number, cluster in enumerate(path):
        level[found.place == cluster] = number
    all_ = Options(
        kind,
        camera,
        found.accuracy,
        found.demand,
        level,
        found.plan,
        found.piece,
        found.piece_demand,
    )
    return all_.take(level[:, 0] == CAMERA) if source == RAW else all_
