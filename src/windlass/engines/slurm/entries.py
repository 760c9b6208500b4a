"""The entries of a journal: decisions, actions about to be carried out, and their outcome."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Decided:
    """A policy's answer as returned, before it is checked and carried out: the jobs to start, and a reason each."""

    at: float
    policy: str
    jobs: tuple[str, ...]
    why: tuple[str, ...]


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
#: Valid types for each annotation; for a tuple, of its elements.
_TYPES: dict[str, tuple[type, ...]] = {
    "float": (int, float),
    "int": (int,),
    "str": (str,),
    "tuple[str, ...]": (str,),
    "tuple[int, ...]": (int,),
}
_KINDS: dict[str, type[Any]] = {
    kind.__name__.lower(): kind
    for kind in (
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
}


def entry_line(entry: Entry) -> str:
    """Format an entry as a line of JSON.

    >>> entry_line(Began(5.0, 7))
    '{"what":"began","at":5.0,"job":7}'
    """
    return json.dumps({"what": type(entry).__name__.lower(), **asdict(entry)}, separators=(",", ":"))


def read_entry(line: str) -> Entry:
    """Parse a line.

    Raises
    ------
    ValueError
        The line is not an entry.
    """
    try:
        tree = json.loads(line)
        kind = _KINDS[tree.pop("what")]
        found: Entry = kind(
            **{key: tuple(value) if isinstance(value, list) else value for key, value in tree.items()}
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
    for each in fields(found):
        value = getattr(found, each.name)
        if value is None:
            raise ValueError("a value is missing")
        kinds = _TYPES[str(each.type)]
        held = value if str(each.type).startswith("tuple") and isinstance(value, tuple) else (value,)
        if any(isinstance(one, bool) or not isinstance(one, kinds) for one in held):
            raise ValueError(f"{each.name} is {repr(value)[:40]}, expected {each.type}")
    return found


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
        Jobs that were requeued, or were about to be, and were not released since.
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
