"""Paces and resource use of queries that share pieces of work and resources, in plain Python."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

#: The demand of each piece, and the queries that use it.
Pieces = Mapping[object, tuple[Sequence[float], Collection[int]]]


@dataclass(frozen=True)
class Shared:
    """The base pace of each query, the additional pace of late queries, and the use of each resource."""

    base: list[float]
    extra: list[float]
    held: list[float]


def shared(
    pieces: Pieces, queries: int, capacity: Sequence[float], behind: Collection[int], catch_up: float
) -> Shared:
    """All queries get the same share of a scarce resource; late queries then get equal shares of the remainder.

    A query is as slow as its slowest piece, and a piece used by several queries is as fast as the fastest of them.
    """
    wide = range(len(capacity))

    def taken(pace: Mapping[object, float]) -> list[float]:
        return [sum(pace[name] * pieces[name][0][at] for name in pieces) for at in wide]

    def slowest(requested: Sequence[float], there: Sequence[float], row: int) -> float | None:
        parts = [1.0 if requested[at] <= there[at] else there[at] / requested[at] for at in wide]
        own = [demand for demand, users in pieces.values() if row in users]
        if not own:
            return None
        return min([1.0, *(parts[at] for demand in own for at in wide if demand[at] > 0)])

    def fastest(of_query: Sequence[float]) -> dict[object, float]:
        return {name: max(of_query[row] for row in users) for name, (_, users) in pieces.items()}

    requested = taken(dict.fromkeys(pieces, 1.0))
    base = [1.0 if (own := slowest(requested, capacity, row)) is None else own for row in range(queries)]
    spare = [max(0.0, there - used) for there, used in zip(capacity, taken(fastest(base)), strict=True)]
    wanted = taken(fastest([catch_up if row in behind else 0.0 for row in range(queries)]))
    extra = [
        catch_up * (slowest(wanted, spare, row) or 0.0) if row in behind else 0.0 for row in range(queries)
    ]
    more = taken(fastest(extra))
    held = [min(there, requested[at] + more[at]) for at, there in enumerate(capacity)]
    return Shared(base, extra, held)
