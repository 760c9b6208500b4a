"""Streaming queries from the cameras of sites, whose components run on cameras, sites and the cloud."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from windlass.experiment.workloads.streams import RandomStreams
from windlass.experiment.worlds.spec import NotNegative, Positive
from windlass.experiment.worlds.video.spec import ChangeSpec, LinkDropsSpec, VideoWorkloadSpec
from windlass.experiment.worlds.video.streams import QuerySchedule, streams_of
from windlass.model.queries import Hierarchy
from windlass.sim.queries.setup import Terms


class QueriesSpec(VideoWorkloadSpec):
    """Queries as in the video world, within the simulated time.

    ``patience``: time between two calls of the planner for a changed capacity that no query lacks, s. ``restart`` to
    ``merge``, ``changes`` and ``drops``: as in the video world; the clusters of ``changes`` are sites, their cameras,
    such as iowa-1, and the cloud. ``fractions``: whether components use thousandths of cores, if no other load runs;
    otherwise those of a cluster together hold whole cores.
    """

    seconds: Positive = Field(default=3600.0, exclude=True)
    begin: Annotated[int, Field(ge=0)] = 0
    patience: NotNegative = 60.0
    restart: NotNegative = 1.0
    notice: NotNegative = 1.0
    buffer: NotNegative = 2.0
    deadline: NotNegative = 0.5
    catch_up: NotNegative = 0.25
    merge: bool = False
    changes: tuple[ChangeSpec, ...] = ()
    drops: LinkDropsSpec | None = None
    fractions: bool = False

    @model_validator(mode="after")
    def _no_time_of_its_own(self) -> Self:
        if "seconds" in self.model_fields_set:
            raise ValueError(
                "seconds: queries start and end within the seconds of the cluster; remove it here"
            )
        return self

    def terms(self) -> Terms:
        """Return the terms for the simulator's part."""
        return Terms(self.restart, self.notice, self.buffer, self.deadline, self.catch_up, self.patience)


def draw_queries(
    spec: QueriesSpec, hierarchy: Hierarchy, seconds: float, streams: RandomStreams, name: str
) -> QuerySchedule:
    """Generate the times of the queries, and generate or read their plans.

    Parameters
    ----------
    spec
        The queries.
    hierarchy
        Cameras, sites and cloud.
    seconds
        The simulated time.
    streams, name
        The random streams, and the load's name.

    Raises
    ------
    InputError
        A file cannot be read, or there are no queries.

    Examples
    --------
    >>> from windlass.experiment.workloads.queries import three_tiers
    >>> spec = QueriesSpec.model_validate({"per_hour": 30})
    >>> bool(draw_queries(spec, three_tiers(cameras=2), 600.0, RandomStreams(1), "cameras").stays.leave.max() <= 600.0)
    True
    """
    return streams_of(spec.model_copy(update={"seconds": seconds}), hierarchy, streams.seed_of(name))
