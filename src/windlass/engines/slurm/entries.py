"""What a journal's lines say: decisions, what is about to be done, and what became of it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Decided:
    """A policy's answer as it gave it, before it is checked and carried out: who starts, and why each."""

    at: float
    policy: str
    jobs: tuple[str, ...]
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Releasing:
    """A job is about to be let go. With when it was submitted and how often it was put back, it is one job for ever."""

    at: float
    job: int
    submit: float
    restarts: int


@dataclass(frozen=True, slots=True)
class Refused:
    """A job was not let go after all, and what Slurm said."""

    at: float
    job: int
    why: str


@dataclass(frozen=True, slots=True)
class Began:
    """A job that was let go is seen to run, since ``at``, s."""

    at: float
    job: int


@dataclass(frozen=True, slots=True)
class Over:
    """Nothing more is expected of a job: it ended, was cancelled, or waits again; how."""

    at: float
    job: int
    how: str


@dataclass(frozen=True, slots=True)
class Taking:
    """A job is about to be sent to the nodes of a running one, at a quota in percent, with another time limit.

    ``limit`` is the one it had, s; ``until`` is when it is promised to be gone. ``submit`` and ``restarts`` as of
    :class:`Releasing`. It stands until :class:`Restored`.
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
    """A job is about to be put back in the queue, held, after it was put back so often; and why."""

    at: float
    job: int
    restarts: int
    why: str


@dataclass(frozen=True, slots=True)
class Restored:
    """A job has the time limit and the nodes that its user asked for; or it needs them no more."""

    at: float
    job: int


@dataclass(frozen=True, slots=True)
class Withheld:
    """A job that was let go is held by somebody since; not to be released by a driver. Of the one submitted then."""

    at: float
    job: int
    submit: float


@dataclass(frozen=True, slots=True)
class GivenBack:
    """Held jobs were released to Slurm's own scheduler, as the driver stopped."""

    at: float
    jobs: tuple[int, ...]


Entry = Decided | Releasing | Refused | Began | Over | Taking | Returning | Restored | Withheld | GivenBack
#: What a value of each type of field may be; of a tuple, what each in it may be.
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
    """An entry as a line of JSON.

    >>> entry_line(Began(5.0, 7))
    '{"what":"began","at":5.0,"job":7}'
    """
    return json.dumps({"what": type(entry).__name__.lower(), **asdict(entry)}, separators=(",", ":"))


def read_entry(line: str) -> Entry:
    """The entry of a line.

    Raises
    ------
    ValueError
        It is none.
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
    """What is under way by a journal, by job: what was begun and is not written to be over.

    Parameters
    ----------
    under_way
        Jobs that were let go, or were about to be, and of whose end nothing is written.
    taken
        Guests whose time limit and nodes are not those that their users asked for, or were about to be.
    returning
        Jobs that were put back, or were about to be, and have not been let go again.
    withheld
        Jobs that somebody holds for themselves.
    """

    under_way: dict[int, Releasing] = field(default_factory=dict)
    taken: dict[int, Taking] = field(default_factory=dict)
    returning: dict[int, Returning] = field(default_factory=dict)
    withheld: dict[int, Withheld] = field(default_factory=dict)

    def note(self, entry: Entry) -> None:
        """Have it be as after an entry."""
        match entry:
            case Releasing():
                self.under_way[entry.job] = entry
                self.returning.pop(entry.job, None)
                self.withheld.pop(entry.job, None)
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
        """Entries after which it would be just so."""
        # A release ends what stands of a return, so it goes first.
        return [
            *self.under_way.values(),
            *self.taken.values(),
            *self.returning.values(),
            *self.withheld.values(),
        ]

    def forget(self, job: int) -> None:
        """Nothing more is expected of a job; for those that are gone this needs no entry."""
        self.returning.pop(job, None)
        self.withheld.pop(job, None)
