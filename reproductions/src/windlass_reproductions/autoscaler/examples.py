"""What the paper works out by hand: Algorithm 1, Tables 1 and 2, and Figure 5."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from windlass.scale import balance, embed
from windlass_reproductions.criteria import Judged, Within, exactly
from windlass_reproductions.reproduction import Row

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
    memory, dominant = (embed(VECTORS, BUCKETS, resource).tolist() for resource in (_MEMORY, None))
    return [
        counts_row("memory by memory", memory, "(1 + 2) / 2 GB, and 4 / 4 GB"),
        counts_row(
            "by the dominant resource",
            dominant,
            "Algorithm 2 takes the largest part of a resource: both jobs need a core and an instance has one, so 2",
        ),
        order_row(printed_less),
        groups_row(balance([4, 2], groups=2).tolist()),
    ]


def counts_row(how: str, counts: Sequence[float], note: str) -> Row:
    """Whether counts of both buckets are the printed ones."""
    return Row.by(
        f"Table 2, counts of both buckets, {how}",
        _shown(_PRINTED),
        _shown(counts),
        _is_exactly(counts, _PRINTED),
        note,
    )


def order_row(less: Callable[[Sequence[float], Sequence[float]], bool]) -> Row:
    """Whether of two vectors only one is less than the other, as in an order."""
    both = less((2, 1), (1, 2)) and less((1, 2), (2, 1))
    return Row.by(
        "Algorithm 1, of (2, 1) and (1, 2) only one is less than the other",
        "an order",
        "each is less than the other" if both else "an order",
        Judged((Within(exactly(both), high=0.0),), "holds where there are no two of which each is less"),
        "as printed it goes on after a larger element; ours lets the first that differs decide",
    )


def groups_row(groups: Sequence[int]) -> Row:
    """Whether two virtual instances are a placement group each."""
    return Row.by(
        "Figure 5, placement groups of virtual instances of 4 and 2",
        "a group each",
        _shown(groups),
        _is_exactly(groups, (0, 1)),
    )


def _is_exactly(found: Sequence[float], printed: Sequence[float]) -> Judged:
    return Judged(
        tuple(Within(exactly(one), other, other) for one, other in zip(found, printed, strict=True)),
        "holds where all are as printed",
    )


def _shown(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
