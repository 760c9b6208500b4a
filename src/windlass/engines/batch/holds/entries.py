"""The entries of a journal: decisions, actions about to be carried out, and their outcome."""

from __future__ import annotations

from dataclasses import dataclass, field

from windlass.engines.batch.entries import Decided, EntryFormat


@dataclass(frozen=True, slots=True)
class Lifting:
    """A job is about to be released. Its submission (Unix time, s) identifies it even if its number is reused."""

    at: float
    job: str
    created: float
    runs: int


@dataclass(frozen=True, slots=True)
class Lifted:
    """The system confirmed that a job was released: a hold that it has from then on is not Windlass's."""

    at: float
    job: str
    created: float
    runs: int


@dataclass(frozen=True, slots=True)
class NotLifted:
    """The system refused to release a job; with its message."""

    at: float
    job: str
    why: str


@dataclass(frozen=True, slots=True)
class HoldingAgain:
    """A job that a driver once released is about to be held again; and why."""

    at: float
    job: str
    created: float
    runs: int
    why: str


@dataclass(frozen=True, slots=True)
class HeldAgain:
    """The system confirmed that a job is held again."""

    at: float
    job: str
    created: float
    runs: int


@dataclass(frozen=True, slots=True)
class NoLongerListed:
    """A released job is no longer listed; ``how`` names the case."""

    at: float
    job: str
    how: str


@dataclass(frozen=True, slots=True)
class OperatorHold:
    """A job was held by others after its release, so no driver may release it."""

    at: float
    job: str
    created: float


@dataclass(frozen=True, slots=True)
class QueueReturned:
    """Held jobs are about to be released to the system's scheduler, as the driver stops."""

    at: float
    jobs: tuple[str, ...]


HoldEntry = (
    Decided
    | Lifting
    | Lifted
    | NotLifted
    | HoldingAgain
    | HeldAgain
    | NoLongerListed
    | OperatorHold
    | QueueReturned
)
FORMAT: EntryFormat[HoldEntry] = EntryFormat(
    (
        Decided,
        Lifting,
        Lifted,
        NotLifted,
        HoldingAgain,
        HeldAgain,
        NoLongerListed,
        OperatorHold,
        QueueReturned,
    )
)


@dataclass(frozen=True, slots=True)
class OpenActions:
    """What a journal knows about jobs that the system still lists, by identifier.

    Parameters
    ----------
    under_way
        Jobs that were released, or were about to be, without a recorded end.
    released
        Jobs whose release the system confirmed, and that were not held again since.
    holding
        Jobs that were about to be held again, without its confirmation.
    held
        Jobs that were held again.
    withheld
        Jobs that others hold.
    """

    under_way: dict[str, Lifting] = field(default_factory=dict)
    released: dict[str, Lifted] = field(default_factory=dict)
    holding: dict[str, HoldingAgain] = field(default_factory=dict)
    held: dict[str, HeldAgain] = field(default_factory=dict)
    withheld: dict[str, OperatorHold] = field(default_factory=dict)

    def note(self, entry: HoldEntry) -> None:
        """Apply an entry."""
        match entry:
            case Lifting():
                self.forget(entry.job)
                self.under_way[entry.job] = entry
            case Lifted():
                # A give-back also releases jobs that were held again.
                left = self.under_way.get(entry.job)
                self.forget(entry.job)
                self.released[entry.job] = entry
                if left is not None:
                    self.under_way[entry.job] = left
            case HoldingAgain():
                self.forget(entry.job)
                self.holding[entry.job] = entry
            case HeldAgain():
                self.forget(entry.job)
                self.held[entry.job] = entry
            case OperatorHold():
                self.forget(entry.job)
                self.withheld[entry.job] = entry
            case NotLifted() | NoLongerListed():
                self.under_way.pop(entry.job, None)
            case _:
                pass

    def entries(self) -> list[HoldEntry]:
        """Return entries that rebuild this state."""
        # A new intent drops what is known about a job, so confirmations come after it.
        return [
            *self.under_way.values(),
            *self.released.values(),
            *self.holding.values(),
            *self.held.values(),
            *self.withheld.values(),
        ]

    def jobs(self) -> set[str]:
        """Return all jobs of which the journal knows something."""
        return {
            job
            for each in (self.under_way, self.released, self.holding, self.held, self.withheld)
            for job in each
        }

    def forget(self, job: str) -> None:
        """Drop what is known about a job; this needs no entry."""
        self.under_way.pop(job, None)
        self.released.pop(job, None)
        self.holding.pop(job, None)
        self.held.pop(job, None)
        self.withheld.pop(job, None)
