"""Actions on single jobs of a live Slurm: hold, unhold and release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from windlass.control.journal.actions import FAILED
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.models import JobRow, Phase
from windlass.model import BatchError, InputError

#: What Slurm's commands do to the jobs of Windlass, by action.
_COMMANDS = {"hold": "hold", "unhold": "uhold", "release": "release"}


@dataclass(frozen=True, slots=True)
class SlurmJobs:
    """Holds and releases jobs by ``scontrol``, see :class:`~windlass.control.actions.job_control.JobControl`.

    A job is held as an administrator holds it, which a driver respects. So the user of the control plane must be an
    operator of Slurm. A hold of another administrator is of the same kind.

    Parameters
    ----------
    client
        Returns a client of Slurm that does not retry for long.
    partition
        Only jobs of this partition; None for all.
    """

    client: Callable[[], Client]
    partition: str | None = None

    @property
    def actions(self) -> tuple[str, ...]:
        """Names of the actions."""
        return tuple(_COMMANDS)

    def preview(self, action: str, job: str) -> str:
        """Return what an action would do."""
        row = self._checked(action, job)
        what = f"`scontrol {_COMMANDS[action]} {row.job}` ({row.user}, {row.procs} cores)"
        match action:
            case "hold":
                return f"{what}: the job waits until its hold is undone, and no policy starts it"
            case "unhold":
                return f"{what}: the job waits for the policy again"
            case _:
                return (
                    f"{what}: Slurm starts the job when it fits, whatever the policy decides; if it is held again"
                    " before that, it stays out of the policy's queue"
                )

    def carry_out(self, action: str, job: str) -> str:
        """Carry out an action, and return the state of the job that was found afterwards."""
        row, client = self._checked(action, job), self.client()
        status, out, errors = client.run(("scontrol", _COMMANDS[action], str(row.job)), client.timeout)
        if status != 0:
            raise BatchError(" ".join((errors or out).split()) or f"scontrol ended with status {status}")
        after = self._row(job)
        if after is None or after.phase is not Phase.WAITS:
            return "the job no longer waits"
        if action == "hold" and not after.barred:
            raise BatchError(
                f"the job is {'held as its user would hold it' if after.held else 'not held'}; "
                "expected an operator of Slurm as the user of the control plane"
            )
        if action == "unhold":
            return "waits for the policy" if after.held and not after.barred else "not held"
        return "held" if after.held else "released"

    def found(self, action: str, job: str) -> str:
        """Return the outcome of an action of a process that was killed, by the present state of its job."""
        row = self._row(job)
        if row is None:
            return "unknown: the process ended, and Slurm no longer lists the job"
        match action:
            case "hold":
                done = row.barred
            case "unhold":
                done = not row.barred
            case _:
                done = row.phase is not Phase.WAITS or not row.held
        return f"{'carried out' if done else f'{FAILED}: not carried out'}, as found after a restart"

    def _checked(self, action: str, job: str) -> JobRow:
        row = self._row(job)
        if row is None:
            raise InputError(f"job {job[:40]}: Slurm lists no such job")
        if not row.opted_in:
            raise InputError(f"job {job}: is left to Slurm, expected a job with the comment windlass")
        if row.phase is not Phase.WAITS:
            raise InputError(f"job {job}: is {row.state.lower()}, expected a waiting job")
        if action == "hold" and row.barred:
            raise InputError(f"job {job}: is held by an administrator already")
        if action == "unhold" and not row.barred:
            raise InputError(f"job {job}: is not held by an administrator")
        if action == "release" and not row.held:
            raise InputError(f"job {job}: is released already")
        if action == "release" and row.barred:
            raise InputError(f"job {job}: is held by an administrator, expected that hold to be undone first")
        return row

    def _row(self, job: str) -> JobRow | None:
        if not (job.isascii() and job.isdecimal() and len(job) <= 12):
            raise InputError(f"job {job[:40]!r}: expected a job's number")
        return next((row for row in self.client().jobs(self.partition) if row.job == int(job)), None)
