"""A cache of step outputs with a budget in bytes.

The thesis keeps the outputs with the largest M = n·T/S (section 5.6.1): n is the number of future uses of an output,
T the time to make it, S its size. M is CPU seconds saved per byte. An output grows frame by frame; while it grows, it
counts against the budget, with the M of its present part.
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
    """An output or its first part: values, bytes, seconds to make them, and the number of readers."""

    values: list[V] = field(default_factory=list)
    size: int = 0
    seconds: float = 0.0
    whole: bool = False
    readers: int = 0


class Cache(Generic[K, V]):
    """A cache of outputs by key, whose size never exceeds the budget.

    Parameters
    ----------
    budget
        Maximum size, bytes; at 0 nothing is kept.
    uses
        Returns n for a key: the number of future uses of its output.

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
        """Return whether the whole output is cached."""
        entry = self._entries.get(key)
        return entry is not None and entry.whole

    def keeps(self, key: K) -> bool:
        """Return whether the output, or the part made so far, is cached."""
        return key in self._entries

    def begin(self, key: K) -> None:
        """Start a new output; an old one under the same key is dropped."""
        self.drop(key)
        self._entries[key] = CacheEntry()

    def add(self, key: K, value: V, size: int, seconds: float) -> bool:
        """Add a value to an output that is being made.

        Parameters
        ----------
        value, size, seconds
            The value, its size in bytes, and the CPU seconds to make it.

        Returns
        -------
        bool
            Whether the output is still cached. If not, the rest of it need not be added.
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
        """Mark the output as complete."""
        if key in self._entries:
            self._entries[key].whole = True

    def read(self, key: K) -> list[V]:
        """Return a whole output. It stays cached until :meth:`release`, because its memory is in use anyway."""
        entry = self._entries[key]
        entry.readers += 1
        return entry.values

    def release(self, key: K) -> None:
        """End one :meth:`read`."""
        self._entries[key].readers -= 1

    def drop(self, key: K) -> None:
        """Drop an output that is not needed any more."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.held -= entry.size

    def _worth(self, key: K, entry: CacheEntry[V], size: int = 0) -> float:
        """Return M = n·T/S."""
        return self._uses(key) * entry.seconds / max(entry.size + size, 1)

    def _room(self, key: K, entry: CacheEntry[V], size: int) -> bool:
        """Make room for ``size`` bytes by dropping outputs with a smaller M; if impossible, drop none, return False."""
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
        dropped: list[K] = []
        for worth, _, name in others:
            if short <= 0 or worth >= mine:
                break
            dropped.append(name)
            short -= self._entries[name].size
        if short > 0:
            return False
        for name in dropped:
            self.drop(name)
        return True
