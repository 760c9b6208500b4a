"""The fields of one load of a cluster scenario: its kind, and its sites."""

from __future__ import annotations

from typing import Final, Literal, Self

from pydantic import model_validator

from windlass.experiment.worlds.cluster.loads.neighbours import NeighboursSpec
from windlass.experiment.worlds.cluster.loads.queries import QueriesSpec
from windlass.experiment.worlds.cluster.loads.rigid import RigidSpec
from windlass.experiment.worlds.cluster.loads.staged import StagedSpec
from windlass.experiment.worlds.cluster.loads.tasks import ShortTasksSpec
from windlass.experiment.worlds.cluster.loads.vectors import VectorsSpec
from windlass.experiment.worlds.custom_parts import check_part
from windlass.experiment.worlds.policy import Policy
from windlass.experiment.worlds.spec import Spec

KINDS: Final = ("rigid", "tasks", "staged", "vectors", "queries", "neighbours", "part")


class ClusterLoadSpec(Spec):
    """A load: exactly one of its kinds, ``at`` some sites, or at each.

    Rigid jobs, tasks and vector jobs arrive at each of these sites separately. Staged jobs and queries run over all of
    them. ``neighbours`` and ``part``, a load of your own by its file: each of these sites has one.
    """

    rigid: RigidSpec | None = None
    tasks: ShortTasksSpec | None = None
    staged: StagedSpec | None = None
    vectors: VectorsSpec | None = None
    queries: QueriesSpec | None = None
    neighbours: NeighboursSpec | None = None
    part: Policy | None = None
    at: Literal["each"] | tuple[str, ...] = "each"

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(f"expected one of {', '.join(KINDS)}, found {' and '.join(given) or 'none'}")
        if self.part is not None:
            check_part(self.part, "part")
        if not self.at:
            raise ValueError("at: the list is empty, expected 'each' or some sites")
        return self

    @property
    def kind(self) -> str:
        """The kind of load."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)
