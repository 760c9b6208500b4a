"""The type of what a policy answered, before the answer checks itself."""

from __future__ import annotations

from typing import TypeVar

from windlass.model import PolicyError

_Answer = TypeVar("_Answer")


def expect_answer(answer: object, kind: type[_Answer]) -> _Answer:
    """Return an answer of the expected class.

    Parameters
    ----------
    answer
        What ``decide`` returned.
    kind
        The decision's class of answers.

    Raises
    ------
    PolicyError
        It is of another class.

    Examples
    --------
    >>> from windlass.order.site.view import Start
    >>> expect_answer(7, Start)
    Traceback (most recent call last):
    windlass.model.errors.PolicyError: decided 7, expected a Start
    """
    if not isinstance(answer, kind):
        raise PolicyError(f"decided {answer!r}, expected a {kind.__name__}")
    return answer
