"""Entries of a driver's journal: their form on a line, and the decisions of a policy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Generic, TypeVar

Entry = TypeVar("Entry")

#: Valid types for each annotation; for a tuple, of its elements.
_TYPES: dict[str, tuple[type, ...]] = {
    "float": (int, float),
    "int": (int,),
    "str": (str,),
    "tuple[str, ...]": (str,),
    "tuple[int, ...]": (int,),
}


@dataclass(frozen=True, slots=True)
class Decided:
    """A policy's answer as returned, before it is checked and carried out: the jobs to start, and a reason each."""

    at: float
    policy: str
    jobs: tuple[str, ...]
    why: tuple[str, ...]


class EntryFormat(Generic[Entry]):
    """Entries as lines of JSON, each with its kind in ``what``.

    Parameters
    ----------
    kinds
        The classes of entries: dataclasses of numbers, texts, and tuples of these.

    Examples
    --------
    >>> form = EntryFormat((Decided,))
    >>> form.line(Decided(5.0, "fcfs", ("7",), ("fits",)))
    '{"what":"decided","at":5.0,"policy":"fcfs","jobs":["7"],"why":["fits"]}'
    >>> form.read(form.line(Decided(5.0, "fcfs", (), ())))
    Decided(at=5.0, policy='fcfs', jobs=(), why=())
    """

    def __init__(self, kinds: Sequence[type[Any]]) -> None:
        self._kinds = {kind.__name__.lower(): kind for kind in kinds}

    def line(self, entry: Entry) -> str:
        """Format an entry, without a line end."""
        tree = asdict(entry)  # type: ignore[call-overload]
        return json.dumps({"what": type(entry).__name__.lower(), **tree}, separators=(",", ":"))

    def read(self, line: str) -> Entry:
        """Parse a line.

        Raises
        ------
        ValueError
            The line is not an entry.
        """
        try:
            tree = json.loads(line)
            kind = self._kinds[tree.pop("what")]
            found: Entry = kind(
                **{key: tuple(value) if isinstance(value, list) else value for key, value in tree.items()}
            )
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error
        for each in fields(kind):
            value = getattr(found, each.name)
            if value is None:
                raise ValueError("a value is missing")
            kinds = _TYPES[str(each.type)]
            held = value if str(each.type).startswith("tuple") and isinstance(value, tuple) else (value,)
            if any(isinstance(one, bool) or not isinstance(one, kinds) for one in held):
                raise ValueError(f"{each.name} is {repr(value)[:40]}, expected {each.type}")
        return found
