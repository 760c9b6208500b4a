"""What the paper works out by hand: Algorithm 1, Tables 1 and 2, and Figure 5."""

from __future__ import annotations

from collections.abc import Sequence

from windlass.papers.reproduction import Row
from windlass.scale import balance, embed

#: Table 1, and the buckets of Table 2: GPUs, cores, GB.
VECTORS, BUCKETS = ((0, 1, 1), (0, 1, 2), (1, 2, 4)), ((0, 1, 2), (1, 2, 4))
_PRINTED = (1.5, 1.0)
_MEMORY = 2


def printed_less(first: Sequence[float], second: Sequence[float]) -> bool:
    """Algorithm 1 to the letter: true at the first element that is smaller, be it after a larger one.

    >>> printed_less((2, 1), (1, 2)), printed_less((1, 2), (2, 1)), printed_less((1, 2), (1, 2))
    (True, True, False)
    """
    return any(one < other for one, other in zip(first, second, strict=True))


def rows_of() -> list[Row]:
    """Each beside what is printed."""
    memory, dominant = (tuple(embed(VECTORS, BUCKETS, resource).tolist()) for resource in (_MEMORY, None))
    groups = tuple(balance([4, 2], groups=2).tolist())
    both = printed_less((2, 1), (1, 2)) and printed_less((1, 2), (2, 1))
    return [
        Row(
            "Table 2, counts of both buckets, memory by memory",
            _shown(_PRINTED),
            _shown(memory),
            memory == _PRINTED,
            "(1 + 2) / 2 GB, and 4 / 4 GB",
        ),
        Row(
            "Table 2, counts of both buckets, by the dominant resource",
            _shown(_PRINTED),
            _shown(dominant),
            dominant == _PRINTED,
            "Algorithm 2 takes the largest part of a resource: both jobs need a core and an instance has one, so 2",
        ),
        Row(
            "Algorithm 1, of (2, 1) and (1, 2) only one is less than the other",
            "an order",
            "each is less than the other" if both else "an order",
            not both,
            "as printed it goes on after a larger element; ours lets the first that differs decide",
        ),
        Row(
            "Figure 5, placement groups of virtual instances of 4 and 2",
            "a group each",
            _shown(groups),
            groups == (0, 1),
        ),
    ]


def _shown(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
