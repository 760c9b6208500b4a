"""Sites with slots, and links between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.errors import InputError

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Fleet:
    """Sites with slots, with or without links.

    Without links, the movement of data is not modelled, and reading takes no time. Sites are then only pools of slots,
    of which there may be ten thousand.

    Parameters
    ----------
    names
        The name of each site; distinct.
    slots
        (n,) int64, number of tasks that each site runs at once.
    up, down
        (n,) bandwidth of each site's uplink and downlink, bytes/s; (0,) without links.
    pair
        (n, n) maximum bandwidth between each pair of sites, bytes/s, infinity if only the uplinks and downlinks limit
        it; (0, 0) without links.
    price
        (n, n) USD per byte sent; (0, 0) without links.

    Raises
    ------
    InputError
        A value or shape is not allowed; names it.

    Examples
    --------
    >>> Fleet.of(slots=[40, 10], up=[5e9, 1e9], down=[5e9, 1e9]).names
    ('site-1', 'site-2')
    >>> Fleet.of(slots=[40, 10]).linked
    False
    """

    names: tuple[str, ...]
    slots: _Ints
    up: _Floats
    down: _Floats
    pair: _Floats
    price: _Floats

    @classmethod
    def of(
        cls,
        slots: object,
        up: object = None,
        down: object = None,
        names: Sequence[str] | None = None,
        pair: object = None,
        price: object = None,
    ) -> Fleet:
        """Build from anything array-like; without ``up`` and ``down`` there are no links."""
        count = np.array(slots, dtype=np.int64)
        if count.ndim != 1 or not len(count):
            raise InputError(f"slots has shape {count.shape}, expected one number a site, at least one site")
        n = len(count)
        given = tuple(names) if names is not None else tuple(f"site-{x + 1}" for x in range(n))
        if up is None and down is None:
            none = np.empty((0, 0))
            return cls(given, count, np.empty(0), np.empty(0), none, none)
        limits = np.full((n, n), np.inf) if pair is None else np.array(pair, dtype=np.float64)
        prices = np.zeros((n, n)) if price is None else np.array(price, dtype=np.float64)
        return cls(
            given, count, np.array(up, dtype=np.float64), np.array(down, dtype=np.float64), limits, prices
        )

    def __post_init__(self) -> None:
        n = len(self.names)
        links = n if len(self.up) or len(self.down) else 0
        for name, values, shape in (
            ("slots", self.slots, (n,)),
            ("up", self.up, (links,)),
            ("down", self.down, (links,)),
            ("pair", self.pair, (links, links)),
            ("price", self.price, (links, links)),
        ):
            if values.shape != shape:
                raise InputError(f"{name} has shape {values.shape}, expected {shape} for {n} sites")
            if not (values >= 0).all():
                raise InputError(f"{name}: {values[~(values >= 0)][0]} is not a number of 0 or more")
        if len(set(self.names)) < n:
            name = next(name for name in self.names if self.names.count(name) > 1)
            raise InputError(
                f"sites: {name!r} appears {self.names.count(name)} times, expected distinct names"
            )

    def __len__(self) -> int:
        return len(self.names)

    @property
    def linked(self) -> bool:
        """Whether there are links."""
        return len(self.up) > 0
