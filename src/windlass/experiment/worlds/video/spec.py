"""What a scenario of the video world may say of its clusters, its queries, what changes and its policy."""

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

#: A part of something, from none to all of it.
Part = Annotated[float, Field(ge=0, le=1)]


class VideoClusterSpec(Spec):
    """Cameras below one private cluster below one cloud, each with so many cores; links are in bytes/s.

    ``file``: the clusters of that file instead, as ``windlass plan solve`` reads them.
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
        beside = sorted(self.model_fields_set - {"file"})
        if self.file is not None and beside:
            raise ValueError(f"expected {beside[0]} or 'file', not both")
        return self


class ChangeSpec(Spec):
    """From ``at`` s on a cluster has so many cores and such links, bytes/s; what is left out stays."""

    at: NotNegative
    cluster: str
    cores: NotNegative | None = None
    up: NotNegative | None = None
    down: NotNegative | None = None


class LinkDropsSpec(Spec):
    """Links that drop: each uplink after ``every`` s on average, for ``last`` s on average, to this part of it."""

    every: Positive
    last: Positive
    left: Part = 0.3


class DrawnQueriesSpec(Spec):
    """Profiles of queries that are drawn: see :func:`~windlass.experiment.workloads.queries.drawn_queries`."""

    kinds: Annotated[tuple[str, ...], Field(min_length=1)] = ("tracker", "classifier", "counter", "plates")
    spread: NotNegative = 0.1


class VideoWorkloadSpec(Spec):
    """Queries that come and go over so many ``seconds``.

    ``begin`` are there at first, ``per_hour`` come later (a Poisson process), and each stays for ``last`` s on average
    (exponential). Cameras have them in turn. ``frames``: a second, of each stream.

    What they can run as is ``drawn``, or the same for all: the ``plans`` given here or those of a ``profile`` that was
    measured, with a ``source`` of so many bytes/s. Or it is that of the queries of a ``file``, in turn, with their
    cameras, as ``windlass plan solve`` reads them.
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
    """A policy per decision."""

    plan: Policy


class VideoSetting(Setting):
    """One variant of a video scenario.

    ``restart``, ``notice``, ``buffer``, ``deadline``, ``catch_up``: see :class:`~windlass.sim.queries.setup.Terms`.
    ``changes`` and ``drops``: of cores and links. ``merge``: whether planners are told which work is the same.
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
        """As the part needs them."""
        return Terms(self.restart, self.notice, self.buffer, self.deadline, self.catch_up)
