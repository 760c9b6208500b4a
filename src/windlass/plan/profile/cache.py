"""Outputs that are worth keeping, within a budget of bytes.

The thesis keeps what has the greatest M = n·T/S (section 5.6.1): n is how often an output will still be asked for, T
how long it took to make, S how large it is. M is CPU seconds saved a byte held. An output grows frame by frame. While
it grows it counts against the budget, and M is that of the part which is there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from windlass.model.values import number

V = TypeVar("V")
K = TypeVar("K", bound=Hashable)


@dataclass(slots=True)
class CacheEntry(Generic[V]):
    """An output, or its first part: values, bytes, seconds that they took, and how many are reading or writing it."""

    values: list[V] = field(default_factory=list)
    size: int = 0
    seconds: float = 0.0
    whole: bool = False
    readers: int = 0


class Cache(Generic[K, V]):
    """Keeps outputs by key; what it holds is never more than the budget.

    Parameters
    ----------
    budget
        Bytes; 0: keeps nothing.
    uses
        From a key to n, how often its output will still be asked for.

    Examples
    --------
    >>> cache = Cache(100, {"cheap": 2, "dear": 2}.__getitem__)
    >>> for key, seconds in (("cheap", 1.0), ("dear", 9.0)):
    ...     cache.begin(key)
    ...     _ = cache.add(key, "a value", 60, seconds)
    ...     cache.end(key)
    >>> cache.has("cheap"), cache.has("dear"), cache.held, cache.most_held
    (False, True, 60, 60)
    """

    def __init__(self, budget: float, uses: Callable[[K], int]) -> None:
        self.budget = number("cache", budget, 0.0)
        self.held = 0
        self.most_held = 0
        self._uses = uses
        self._entries: dict[K, CacheEntry[V]] = {}

    def has(self, key: K) -> bool:
        """Whether the whole output is here."""
        entry = self._entries.get(key)
        return entry is not None and entry.whole

    def keeps(self, key: K) -> bool:
        """Whether the output is here, or as much of it as is made."""
        return key in self._entries

    def begin(self, key: K) -> None:
        """An output is about to be made; what there was of it is forgotten."""
        self.drop(key)
        self._entries[key] = CacheEntry()

    def add(self, key: K, value: V, size: int, seconds: float) -> bool:
        """A value of an output that is being made.

        Parameters
        ----------
        value, size, seconds
            With its bytes, and the CPU seconds that it took.

        Returns
        -------
        bool
            Whether the output is still kept. Once it is not, the rest of it need not be added.
        """
        entry = self._entries.get(key)
        if entry is None:
            return False
        entry.seconds += seconds
        if not self._room(key, entry, size):
            self.drop(key)
            return False
        entry.values.append(value)
        entry.size += size
        self.held += size
        self.most_held = max(self.most_held, self.held)
        return True

    def end(self, key: K) -> None:
        """The output has all its values."""
        if key in self._entries:
            self._entries[key].whole = True

    def read(self, key: K) -> list[V]:
        """A whole output. Until :meth:`release`, it stays: memory that somebody reads is not free."""
        entry = self._entries[key]
        entry.readers += 1
        return entry.values

    def release(self, key: K) -> None:
        """A reader has done."""
        self._entries[key].readers -= 1

    def drop(self, key: K) -> None:
        """Nobody will ask for this output any more."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.held -= entry.size

    def _worth(self, key: K, entry: CacheEntry[V], size: int = 0) -> float:
        """M = n·T/S."""
        return self._uses(key) * entry.seconds / max(entry.size + size, 1)

    def _room(self, key: K, entry: CacheEntry[V], size: int) -> bool:
        """Make room for so many more bytes of an output, by what is worth less; or change nothing."""
        short = self.held + size - self.budget
        if short <= 0:
            return True
        mine = self._worth(key, entry, size)
        others = sorted(
            (
                (self._worth(name, each), place, name)
                for place, (name, each) in enumerate(self._entries.items())
                if name != key and not each.readers
            ),
            key=lambda found: found[:2],
        )
        go: list[K] = []
        for worth, _, name in others:
            if short <= 0 or worth >= mine:
                break
            go.append(name)
            short -= self._entries[name].size
        if short > 0:
            return False
        for name in go:
            self.drop(name)
        return True
