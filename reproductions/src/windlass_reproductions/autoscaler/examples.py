"""The paper's worked examples: Algorithm 1, Tables 1 and 2, and Figure 5."""

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
    """Compare two vectors by Algorithm 1 as printed: true if any element is smaller, even after a larger one.

    >>> printed_less((2, 1), (1, 2)), printed_less((1, 2), (2, 1)), printed_less((1, 2), (1, 2))
    (True, True, False)
    """
    return any(one < other for one, other in zip(first, second, strict=True))


def rows_of() -> list[Row]:
    """Return rows that compare each example with the printed result."""
    memory, dominant = (embed(VECTORS, BUCKETS, resource).tolist() for resource in (_MEMORY, None))
    return [
        counts_row("memory by memory", memory, "(1 + 2) / 2 GB, and 4 / 4 GB"),
        counts_row(
            "by the dominant resource",
            dominant,
            "Algorithm 2 uses the resource with the largest share: both jobs need a core and an instance has one, so 2",
        ),
        order_row(printed_less),
        groups_row(balance([4, 2], groups=2).tolist()),
    ]


def counts_row(how: str, counts: Sequence[float], note: str) -> Row:
    """Return the row that tests whether the counts of both buckets are the printed ones."""
    return Row.by(
        f"Table 2, counts of both buckets, {how}",
        _shown(_PRINTED),
        _shown(counts),
        _is_exactly(counts, _PRINTED),
        note,
    )


def order_row(less: Callable[[Sequence[float], Sequence[float]], bool]) -> Row:
    """Return the row that tests whether ``less`` is an order: of two vectors, only one is less than the other."""
    both = less((2, 1), (1, 2)) and less((1, 2), (2, 1))
    return Row.by(
        "Algorithm 1, of (2, 1) and (1, 2) only one is less than the other",
        "an order",
        "each is less than the other" if both else "an order",
        Judged((Within(exactly(both), high=0.0),), "holds if no two vectors are each less than the other"),
        "the printed algorithm continues after a larger element; in Windlass the first different element decides",
    )


def groups_row(groups: Sequence[int]) -> Row:
    """Return the row that tests whether two virtual instances get a placement group each."""
    return Row.by(
        "Figure 5, placement groups of virtual instances of 4 and 2",
        "a group each",
        _shown(groups),
        _is_exactly(groups, (0, 1)),
    )


def _is_exactly(found: Sequence[float], printed: Sequence[float]) -> Judged:
    return Judged(
        tuple(Within(exactly(one), other, other) for one, other in zip(found, printed, strict=True)),
        "holds if all are as printed",
    )


def _shown(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
