"""Slurm's reasons for which a job waits: for room, for something else, or for ever."""

from __future__ import annotations

from windlass.engines.backoff import Backoff
from windlass.engines.slurm.models import JobRow

#: Reasons of a released job that will start once there is room. A job with any other reason is set aside.
WAITS_FOR_ROOM = frozenset(["None", "Priority", "Resources", "Cleaning"])
#: Delays before a job that cannot start unless it or the cluster is changed is queued again.
ASIDE_FOR_GOOD = Backoff(600.0, 21600.0)
#: Reasons that end only when a user or an administrator changes the job, its account, or the partition.
_NEVER = frozenset(
    [
        "DependencyNeverSatisfied",
        "PartitionTimeLimit",
        "PartitionNodeLimit",
        "PartitionConfig",
        "BadConstraints",
        "AccountNotAllowed",
        "QOSNotAllowed",
        "InvalidAccount",
        "InvalidQOS",
        "MaxMemPerLimit",
        "JobLaunchFailure",
        "DeadLine",
    ]
)
#: Beginning and end of a family of such reasons, as in QOSMaxCpuPerJobLimit and AssocMaxWallDurationPerJobLimit.
_LIMITS, _OF_A_JOB = ("QOSMax", "AssocMax"), "PerJobLimit"
#: Slurm's description of a job whose launch failed and that it has therefore requeued, held.
LAUNCH_FAILED = "launch failed requeued held"


def is_final(reason: str) -> bool:
    """Return whether a job with this reason cannot start unless it or the cluster is changed.

    >>> is_final("DependencyNeverSatisfied"), is_final("QOSMaxCpuPerJobLimit"), is_final("Dependency")
    (True, True, False)
    """
    return reason in _NEVER or (reason.startswith(_LIMITS) and reason.endswith(_OF_A_JOB))


def launch_failed(row: JobRow) -> bool:
    """Return whether Slurm has requeued a job, held, because its launch failed."""
    # Slurm 22.05 writes the description in place of the reason, with underscores.
    words = (row.reason.replace("_", " "), row.description)
    return row.held and LAUNCH_FAILED in words
