"""What a scenario of the batch world may say of its site, its jobs and its policy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from windlass.worlds import Setting
from windlass.worlds.policy import Policy
from windlass.worlds.spec import Positive, Spec


class ClusterSpec(Spec):
    """The site; without ``processors``, those that the log names (128 for generated jobs)."""

    processors: Annotated[int, Field(ge=1)] | None = None


class LublinSpec(Spec):
    """Jobs drawn from the Lublin–Feitelson model; see :func:`windlass.workloads.lublin`."""

    jobs: Annotated[int, Field(ge=1, le=100_000_000)] = 5000
    load: Positive | None = None
    kinds: bool = False
    overestimate: Annotated[float, Field(ge=1)] = 5.0


class WorkloadSpec(Spec):
    """Either a log (``trace``, and how to read it) or a model (``lublin``)."""

    trace: Path | None = None
    format: str | None = None
    where: str | None = None
    skip_bad_lines: bool = False
    lublin: LublinSpec | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.trace is None) == (self.lublin is None):
            raise ValueError("expected either 'trace' or 'lublin'")
        if self.lublin is not None and (self.format or self.where or self.skip_bad_lines):
            raise ValueError("format, where and skip_bad_lines are for a trace, not for 'lublin'")
        return self


class PoliciesSpec(Spec):
    """A policy per decision."""

    order: Policy


class BatchSetting(Setting):
    """One variant of a batch scenario."""

    options: ClassVar[Mapping[str, str]] = {
        "--procs": "cluster.processors",
        "--where": "workload.where",
        "--format": "workload.format",
        "--skip-bad-lines": "workload.skip_bad_lines",
        "--no-kill": "kill_at_walltime",
    }

    world: Literal["batch"] = "batch"
    cluster: ClusterSpec = ClusterSpec()
    workload: WorkloadSpec
    policies: PoliciesSpec
    kill_at_walltime: bool = True
    estimates: Literal["requested", "history", "perfect"] = "requested"
