"""The fields of a video scenario: clusters, queries, changes and policy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from windlass.experiment.worlds import Setting
from windlass.experiment.worlds.policy import Policy
from windlass.experiment.worlds.spec import NotNegative, Positive, Spec
from windlass.model.limits import WORKERS
from windlass.plan.files import PlanOf
from windlass.sim.queries.setup import Terms

#: A share, 0 to 1.
Part = Annotated[float, Field(ge=0, le=1)]


class VideoClusterSpec(Spec):
    """Cameras connected to one private cluster, and that to one cloud; cores of each, links in bytes/s.

    ``file``: a file of clusters instead, in the format of ``windlass plan solve``.
    """

    cameras: Annotated[int, Field(ge=1)] = 20
    camera_cores: NotNegative = 2.0
    camera_up: NotNegative = 75e3
    private_cores: NotNegative = 8.0
    private_up: NotNegative = 625e3
    cloud_cores: NotNegative = 48.0
    file: Path | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        WORKERS.check(self.cameras, "cameras")
        others = sorted(self.model_fields_set - {"file"})
        if self.file is not None and others:
            raise ValueError(f"expected {others[0]} or 'file', not both")
        return self


class ChangeSpec(Spec):
    """A cluster's cores and links, bytes/s, from ``at`` (s) on; omitted ones do not change."""

    at: NotNegative
    cluster: str
    cores: NotNegative | None = None
    up: NotNegative | None = None
    down: NotNegative | None = None


class LinkDropsSpec(Spec):
    """Random drops of uplinks: mean time between two, mean length, s, and the remaining share of the link."""

    every: Positive
    last: Positive
    left: Part = 0.3


class DrawnQueriesSpec(Spec):
    """Generated query profiles: see :func:`~windlass.experiment.workloads.queries.drawn_queries`."""

    kinds: Annotated[tuple[str, ...], Field(min_length=1)] = ("tracker", "classifier", "counter", "plates")
    spread: NotNegative = 0.1


class VideoWorkloadSpec(Spec):
    """Queries that start and end within ``seconds``.

    ``begin`` queries run at the start, ``per_hour`` more start later (a Poisson process), and each runs for a mean of
    ``last`` s (exponential). They are assigned to cameras in turn. ``frames``: frames per second of a stream.

    Their plans are ``drawn``, or the same for all: the ``plans`` given here or those of a measured ``profile``, with a
    ``source`` rate in bytes/s. Or they are those of the queries of a ``file``, in turn, with their cameras, in the
    format of ``windlass plan solve``.
    """

    seconds: Positive = 3600.0
    begin: Annotated[int, Field(ge=0)] = 40
    per_hour: NotNegative = 40.0
    last: Positive = 1800.0
    frames: Positive = 30.0
    drawn: DrawnQueriesSpec | None = None
    plans: Annotated[tuple[PlanOf, ...], Field(min_length=1)] | None = None
    profile: Path | None = None
    source: NotNegative | None = None
    file: Path | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if [self.drawn, self.plans, self.profile, self.file].count(None) < 3:
            raise ValueError("expected one of 'drawn', 'plans', 'profile' and 'file'")
        if self.source is not None and self.plans is None and self.profile is None:
            raise ValueError("source is for 'plans' or a 'profile'")
        return self


class VideoPoliciesSpec(Spec):
    """One policy for each decision."""

    plan: Policy


class VideoSetting(Setting):
    """One variant of a video scenario.

    ``restart``, ``notice``, ``buffer``, ``deadline``, ``catch_up``: see :class:`~windlass.sim.queries.setup.Terms`.
    ``changes`` and ``drops``: changes of cores and links. ``merge``: whether planners are given the work that queries
    have in common.
    """

    plain_lists: ClassVar[frozenset[str]] = frozenset({"changes", "workload.drawn.kinds", "workload.plans"})
    path_fields: ClassVar[tuple[str, ...]] = ("workload.file", "workload.profile", "cluster.file")
    options: ClassVar[Mapping[str, str]] = {}

    world: Literal["video"] = "video"
    cluster: VideoClusterSpec = VideoClusterSpec()
    workload: VideoWorkloadSpec = VideoWorkloadSpec()
    changes: tuple[ChangeSpec, ...] = ()
    drops: LinkDropsSpec | None = None
    restart: NotNegative = 1.0
    notice: NotNegative = 1.0
    buffer: NotNegative = 2.0
    deadline: NotNegative = 0.5
    catch_up: NotNegative = 0.25
    merge: bool = False
    policies: VideoPoliciesSpec

    def terms(self) -> Terms:
        """Return the terms for the simulator's part."""
        return Terms(self.restart, self.notice, self.buffer, self.deadline, self.catch_up)
