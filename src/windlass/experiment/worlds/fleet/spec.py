"""The fields of a fleet scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from windlass.experiment.worlds import Setting
from windlass.experiment.worlds.fleet.jobs import FleetWorkloadSpec
from windlass.experiment.worlds.fleet.sites import FleetClusterSpec, SiteDropsSpec
from windlass.experiment.worlds.policy import Policy, PolicySpec
from windlass.experiment.worlds.spec import NotNegative, Spec


class EstimatesSpec(Spec):
    """Task times and sizes as seen by policies; ``estimates: finished`` and ``estimates: true`` set ``durations``.

    ``durations`` is for placements: with ``finished`` they see the mean of finished tasks, with ``true`` the jobs' own
    times. ``accuracy``: how accurate task times of ``workload.fixed`` are. ``sizes``: whether ordering policies see
    task counts or expected seconds.
    """

    accuracy: Annotated[float, Field(ge=0, le=1)] = 1.0
    sizes: Literal["tasks", "seconds"] = "tasks"
    durations: Literal["finished", "true"] = "finished"

    @model_validator(mode="before")
    @classmethod
    def _one_word(cls, given: Any) -> Any:
        if given in ("true", "finished"):
            return {"durations": given}
        # YAML parses the word true as a boolean.
        return (
            given | {"durations": "true"}
            if isinstance(given, dict) and given.get("durations") is True
            else given
        )


#: The placement that needs no links and leaves the order of jobs to another policy.
DEFAULT_PLACE = PolicySpec(name="in-place")


class FleetPoliciesSpec(Spec):
    """One policy for each decision.

    With ``order``, that policy orders jobs and ``place`` is ``in-place``, as other placement policies order jobs
    themselves. ``dispatch`` chooses among the workers of a site on live engines.
    """

    place: Policy = DEFAULT_PLACE
    order: Policy | None = None
    dispatch: Policy | None = None

    @model_validator(mode="after")
    def _one_order(self) -> Self:
        if self.order is not None and self.place != DEFAULT_PLACE:
            raise ValueError(
                f"place {self.place.name!r} orders jobs itself, expected {DEFAULT_PLACE.name} with 'order'"
            )
        return self


class FleetSetting(Setting):
    """One variant of a scenario over the sites of a fleet.

    ``cluster`` defines the sites; it must be omitted with a log that names its own sites.
    """

    plain_lists: ClassVar[frozenset[str]] = frozenset(
        {
            "cluster.sites",
            "cluster.pair",
            "cluster.usd_per_gb",
            "cluster.measured.regions",
            "cluster.measured.slots",
            "workload.jobs",
        }
    )
    path_fields: ClassVar[tuple[str, ...]] = (
        "workload.trace",
        "cluster.measured.throughput",
        "cluster.measured.prices",
    )
    options: ClassVar[Mapping[str, str]] = {
        "--where": "workload.where",
        "--skip-bad-lines": "workload.skip_bad_lines",
    }

    world: Literal["fleet"] = "fleet"
    cluster: FleetClusterSpec | None = None
    workload: FleetWorkloadSpec
    policies: FleetPoliciesSpec = FleetPoliciesSpec()
    estimates: EstimatesSpec = EstimatesSpec()
    drops: SiteDropsSpec | None = None
    look_every: NotNegative = 0.25
    decide_every: NotNegative = 1.0

    @model_validator(mode="before")
    @classmethod
    def _word_true(cls, given: Any) -> Any:
        # YAML parses the word true as a boolean.
        return (
            given | {"estimates": "true"}
            if isinstance(given, dict) and given.get("estimates") is True
            else given
        )

    @model_validator(mode="after")
    def _what_goes_together(self) -> Self:
        if self.workload.names_sites and self.cluster is not None:
            raise ValueError("cluster: expected none, as the .swf log names its sites")
        if not self.workload.names_sites and self.cluster is None:
            raise ValueError("cluster: missing; only an .swf log names its own sites")
        if self.policies.order is None and self.estimates.sizes == "seconds":
            raise ValueError(
                "estimates: sizes 'seconds' is for policies that order jobs, expected policies.order"
            )
        if self.workload.fixed is None and self.estimates.accuracy < 1.0:
            raise ValueError("estimates: accuracy is for workload.fixed")
        drawn = self.workload.drawn
        if drawn is not None and drawn.estimate_error > 0.0 and self.estimates.durations == "finished":
            raise ValueError(
                "workload.drawn.estimate_error: has no effect on policies, expected estimates: true with it"
            )
        linked = self.cluster is not None and self.cluster.linked
        if self.policies.order is None and self.policies.place.name != DEFAULT_PLACE.name and not linked:
            raise ValueError(
                f"policies.place: {self.policies.place.name!r} plans with links, but the sites have none"
            )
        if self.drops is not None and not linked:
            raise ValueError("drops: expected sites with links")
        return self
