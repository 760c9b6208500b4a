"""A recorder that records nothing, from which those of each kind of load inherit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from windlass.experiment.worlds.cluster.draw import ClusterArrivals
from windlass.experiment.worlds.cluster.policies import Decision
from windlass.experiment.worlds.cluster.results import ClusterRun
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.results.history import JobHistory
from windlass.sim.ledger import Ledger
from windlass.sim.part import Part


@dataclass(frozen=True, slots=True, eq=False)
class JobOfRun:
    """The job to explain, and its run.

    Parameters
    ----------
    setting, arrivals
        The variant, and what arrives.
    row
        The job's row in the table of jobs.
    """

    setting: ClusterSetting
    arrivals: ClusterArrivals
    row: Mapping[str, Any]

    @property
    def load(self) -> str:
        """The load."""
        return str(self.row["load"])

    @property
    def site(self) -> str:
        """The site; empty for a load over several sites."""
        return str(self.row["site"])

    @property
    def group(self) -> str:
        """The load with its site, such as ``batch@iowa``."""
        return f"{self.load}@{self.site}" if self.site else self.load

    @property
    def number(self) -> int:
        """The job's number."""
        return int(self.row["job"])

    @property
    def name(self) -> str:
        """The job's name, such as ``batch@iowa/17``, with its identifier in the log if the table has one."""
        return f"{self.group}/{self.row.get('job_id') or self.number}"

    @property
    def since(self) -> float:
        """Time of its arrival, s."""
        return float(self.row["submit_s"])

    @property
    def until(self) -> float:
        """Time of its end, s; infinity if the table has none."""
        end = self.row.get("end_s")
        return float("inf") if end is None or end != end else float(end)

    def site_number(self, name: str) -> int:
        """Return the number of a site in the ledger."""
        return list(self.setting.sites).index(name)

    def holder_names(self, holders: Mapping[int, str]) -> dict[int, str]:
        """Return the loads of numbers of the ledger, marked where they hold only cores that are kept for them."""
        return {number: self._holder_name(name) for number, name in holders.items()}

    def _holder_name(self, name: str) -> str:
        load = name.partition("@")[0]
        if load:
            return f"{load} (kept)" if self.setting.loads[load].kind == "tasks" else name
        # The part of a site's instances holds cores for other loads, without jobs of its own.
        return f"instances{name}" if name else name

    def policy(self, decision: Decision, site: str | None = None) -> str:
        """Return the name of the policy of a decision; empty if there is none."""
        spec = self.setting.chosen().of(decision, site)
        return "" if spec is None else spec.name


class JobRecorder:
    """Records nothing; see :class:`~windlass.experiment.worlds.cluster.results.ClusterRecorder`.

    Parameters
    ----------
    job
        The job to explain.
    """

    def __init__(self, job: JobOfRun) -> None:
        self._job = job

    def before(self, kind: str, name: str, part: Any, ledger: Ledger) -> Sequence[Part]:
        """Return no parts."""
        return ()

    def last(self, ledger: Ledger, holders: Mapping[int, str]) -> Sequence[Part]:
        """Return no parts."""
        return ()

    def log(self, address: str, view: Any, answer: Any) -> None:
        """Ignore an answer."""

    def history(self, done: ClusterRun) -> JobHistory:
        """Return the job's history, once the run is done."""
        raise NotImplementedError
