"""Records of Slurm: its accounting, and its controller's log of holds and releases."""

from dataclasses import dataclass
from enum import Enum


class Actor(Enum):
    """The cause of a hold or a release."""

    #: The submission, with a hold for Windlass.
    SUBMISSION = "submission"
    DRIVER = "driver"
    #: `windlass slurm give-back`, or a driver with a full disk; neither writes a journal.
    GIVE_BACK = "give-back"
    USER = "user"
    ADMINISTRATOR = "administrator"
    #: Slurm itself, after a failed launch.
    SLURM = "slurm"
    #: The controller restarted from a state in which the job was still held.
    ROLLBACK = "rollback"


@dataclass(frozen=True, slots=True)
class HoldChange:
    """A job was held or released, with an effect, at a time (s)."""

    at: float
    job: int
    by: Actor
    held: bool


@dataclass(frozen=True, slots=True)
class Ran:
    """A run of a job, as `sacct --duplicates` lists it; `state` is REQUEUED if it was requeued afterwards."""

    job: int
    start: float
    end: float
    state: str


@dataclass(frozen=True, slots=True)
class Left:
    """A job that Slurm lists in the end."""

    job: int
    opted: bool
    held: bool
    waits: bool
