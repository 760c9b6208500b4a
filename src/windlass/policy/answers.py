"""Check of an answer's class, which precedes the answer's own validation."""

from __future__ import annotations

from typing import TypeVar

from windlass.model import PolicyError

_Answer = TypeVar("_Answer")


def expect_answer(answer: object, kind: type[_Answer]) -> _Answer:
    """Return an answer of the expected class.

    Parameters
    ----------
    answer
        The value that ``decide`` returned.
    kind
        The class of the decision's answers.

    Raises
    ------
    PolicyError
        The answer is of another class.

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
