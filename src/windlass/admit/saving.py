"""Subspaces, lessons and aggregators as bytes, for messages and files, with a version and a checksum.

Received bytes are validated completely before an object is built: a number that is not finite, a
basis that is not orthonormal, another dimension or another kind is rejected with an error of one line.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.admit.federation import Aggregator, Subspace
from windlass.admit.lib.saved import Header, opened, pack
from windlass.admit.lib.subspace import Floats
from windlass.admit.shared_model import PLAIN, Lesson
from windlass.model import InputError
from windlass.model.values import number, whole

_SUBSPACE, _LESSON, _AGGREGATOR = (f"windlass.admit.{name}" for name in ("subspace", "lesson", "aggregator"))
_OF_SUBSPACE = ("subspace.basis", "subspace.singular")
_OF_LESSON = ("lesson.metrics", "lesson.plain", "lesson.count")


def save_subspace(subspace: Subspace) -> bytes:
    """Return a subspace as bytes.

    >>> subspace = Subspace(np.eye(3)[:, :1], np.array([2.0]))
    >>> load_subspace(save_subspace(subspace)).singular.tolist()
    [2.0]
    """
    return pack(_SUBSPACE, {}, [("subspace", subspace, ("basis", "singular"))])


def load_subspace(data: bytes) -> Subspace:
    """Return the subspace from the bytes of :func:`save_subspace`.

    Raises
    ------
    InputError
        The data are not a saved subspace; one line.
    """
    header, arrays = opened(data, _SUBSPACE)
    basis, singular = _named(header, arrays, _OF_SUBSPACE)
    return Subspace(basis, singular)


def save_lesson(lesson: Lesson) -> bytes:
    """Return a lesson with its subspace as bytes."""
    return pack(
        _LESSON,
        {},
        [
            ("subspace", lesson.subspace, ("basis", "singular")),
            ("lesson", lesson, ("metrics", "plain", "count")),
        ],
    )


def load_lesson(data: bytes) -> Lesson:
    """Return the lesson from the bytes of :func:`save_lesson`.

    Raises
    ------
    InputError
        The data are not a saved lesson; one line.
    """
    header, arrays = opened(data, _LESSON)
    basis, singular, metrics, plain, count = _named(header, arrays, (*_OF_SUBSPACE, *_OF_LESSON))
    subspace = Subspace(basis, singular)
    shapes = {
        "metrics": (metrics.shape, (len(subspace.basis), 2)),
        "plain": (plain.shape, (PLAIN,)),
        "count": (count.shape, ()),
    }
    for name, (found, expected) in shapes.items():
        if found != expected:
            raise InputError(f"saved state: lesson.{name} has shape {found}, expected {expected}")
    return Lesson(subspace, metrics, plain, number("saved state: lesson.count", float(count), 0.0))


def save_aggregator(aggregator: Aggregator) -> bytes:
    """Return an aggregator with its children's subspaces as bytes."""
    subspaces = aggregator.subspaces
    made = {
        "dim": aggregator.dim,
        "rank": aggregator.rank,
        "forget": aggregator.forget,
        "epsilon": aggregator.epsilon,
        "children": [[child, age] for child, _, age in subspaces],
    }
    return pack(_AGGREGATOR, made, [(child, each, ("basis", "singular")) for child, each, _ in subspaces])


def load_aggregator(data: bytes) -> Aggregator:
    """Return the aggregator from the bytes of :func:`save_aggregator`; it sends its next merged subspace up.

    Raises
    ------
    InputError
        The data are not a saved aggregator; one line.

    Examples
    --------
    >>> aggregator = Aggregator(dim=3, rank=2)
    >>> aggregator.take("a", Subspace(np.eye(3)[:, :1], np.array([2.0])))
    >>> load_aggregator(save_aggregator(aggregator)).children
    ('a',)
    """
    header, arrays = opened(data, _AGGREGATOR)
    made = dict(header.settings)
    children = made.pop("children", None)
    if not isinstance(children, list) or len(arrays) != 2 * len(children):
        raise InputError("saved state: its list of children does not match its arrays")
    if set(made) != {"dim", "rank", "forget", "epsilon"} or not all(map(_is_number, made.values())):
        raise InputError("saved state: its settings are not those of an aggregator")
    found = Aggregator(made["dim"], made["rank"], made["forget"], made["epsilon"])
    for at, child in enumerate(children):
        if not (isinstance(child, list) and len(child) == 2 and isinstance(child[0], str)):
            raise InputError(f"saved state: child {at} has no name and age")
        found.put(
            child[0], Subspace(arrays[2 * at], arrays[2 * at + 1]), whole("saved state: age", child[1], 0)
        )
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _named(header: Header, arrays: list[NDArray[Any]], names: tuple[str, ...]) -> list[Floats]:
    """Return the float arrays with these names, or raise InputError."""
    if tuple(each.name for each in header.arrays) != names or any(
        each.dtype != "f8" for each in header.arrays
    ):
        listed = ", ".join(f"{each.name} ({each.dtype})" for each in header.arrays)
        raise InputError(f"saved state: lists {listed or 'nothing'}, expected {', '.join(names)} (f8)")
    return [np.asarray(each, np.float64) for each in arrays]
