"""The entries of a journal: decisions, actions about to be carried out, and their outcome."""

from __future__ import annotations

from dataclasses import dataclass, field

from windlass.engines.batch.entries import Decided, EntryFormat


@dataclass(frozen=True, slots=True)
class Releasing:
    """A job is about to be released. Its submit time and restart count identify it even if its number is reused."""

    at: float
    job: int
    submit: float
    restarts: int


@dataclass(frozen=True, slots=True)
class Released:
    """A job was released, and Slurm confirmed it: a hold that it has from then on is not Windlass's."""

    at: float
    job: int
    submit: float
    restarts: int


@dataclass(frozen=True, slots=True)
class Holding:
    """A job without a hold is about to be held for Windlass again."""

    at: float
    job: int


@dataclass(frozen=True, slots=True)
class Refused:
    """Slurm refused to release a job; with its message."""

    at: float
    job: int
    why: str


@dataclass(frozen=True, slots=True)
class Began:
    """A released job was seen running, since ``at`` (s)."""

    at: float
    job: int


@dataclass(frozen=True, slots=True)
class Over:
    """A released job ended, was cancelled, or waits again; ``how`` names the case."""

    at: float
    job: int
    how: str


@dataclass(frozen=True, slots=True)
class Taking:
    """A job is about to be sent to the nodes of a running one, at a quota in percent, with another time limit.

    ``limit`` is the original time limit, s; ``until`` is its promised end. ``submit`` and ``restarts`` identify the
    job as in :class:`Releasing`. The entry is in force until :class:`Restored`.
    """

    at: float
    job: int
    host: int
    quota: int
    limit: float
    until: float
    submit: float
    restarts: int


@dataclass(frozen=True, slots=True)
class Returning:
    """A job with this restart count is about to be requeued, held; and why."""

    at: float
    job: int
    restarts: int
    why: str


@dataclass(frozen=True, slots=True)
class Restored:
    """A job has its user's time limit and nodes again, or no longer needs them."""

    at: float
    job: int


@dataclass(frozen=True, slots=True)
class Withheld:
    """A user held a job after its release, so no driver may release it. ``submit`` identifies the job."""

    at: float
    job: int
    submit: float


@dataclass(frozen=True, slots=True)
class GivenBack:
    """Held jobs were released to Slurm's scheduler when the driver stopped."""

    at: float
    jobs: tuple[int, ...]


Entry = (
    Decided
    | Releasing
    | Released
    | Holding
    | Refused
    | Began
    | Over
    | Taking
    | Returning
    | Restored
    | Withheld
    | GivenBack
)
FORMAT: EntryFormat[Entry] = EntryFormat(
    (
        Decided,
        Releasing,
        Released,
        Holding,
        Refused,
        Began,
        Over,
        Taking,
        Returning,
        Restored,
        Withheld,
        GivenBack,
    )
)


def entry_line(entry: Entry) -> str:
    """Format an entry as a line of JSON.

    >>> entry_line(Began(5.0, 7))
    '{"what":"began","at":5.0,"job":7}'
    """
    return FORMAT.line(entry)


def read_entry(line: str) -> Entry:
    """Parse a line; ValueError if it is not an entry."""
    return FORMAT.read(line)


@dataclass(frozen=True, slots=True)
class Standing:
    """Actions in a journal without a recorded outcome, by job.

    Parameters
    ----------
    under_way
        Jobs that were released, or were about to be, without a recorded end.
    taken
        Guests that have, or were about to get, another time limit and other nodes than their user requested.
    returning
        Jobs that were requeued, or were about to be, and were not released by a policy since.
    withheld
        Jobs held by a user.
    released
        Jobs that were released with Slurm's confirmation, and were not held for Windlass since.
    """

    under_way: dict[int, Releasing] = field(default_factory=dict)
    taken: dict[int, Taking] = field(default_factory=dict)
    returning: dict[int, Returning] = field(default_factory=dict)
    withheld: dict[int, Withheld] = field(default_factory=dict)
    released: dict[int, Released] = field(default_factory=dict)

    def note(self, entry: Entry) -> None:
        """Apply an entry."""
        match entry:
            case Releasing():
                self.under_way[entry.job] = entry
                self.returning.pop(entry.job, None)
                self.withheld.pop(entry.job, None)
                self.released.pop(entry.job, None)
            case Released():
                self.released[entry.job] = entry
            case Holding():
                self.released.pop(entry.job, None)
            case Refused() | Over():
                self.under_way.pop(entry.job, None)
            case Taking():
                self.taken[entry.job] = entry
            case Restored():
                self.taken.pop(entry.job, None)
            case Returning():
                self.returning[entry.job] = entry
            case Withheld():
                self.withheld[entry.job] = entry
            case _:
                pass

    def entries(self) -> list[Entry]:
        """Return entries that rebuild this state."""
        # A release cancels a pending return, so releases go first.
        return [
            *self.under_way.values(),
            *self.released.values(),
            *self.taken.values(),
            *self.returning.values(),
            *self.withheld.values(),
        ]

    def forget(self, job: int) -> None:
        """Drop a job that is gone; this needs no entry."""
        self.returning.pop(job, None)
        self.withheld.pop(job, None)
        self.released.pop(job, None)
