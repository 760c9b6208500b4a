"""Parts of a whole, such as the budget of a host."""

from __future__ import annotations

from windlass.model.values import number


def part_of(name: str, value: float, most: float = float("inf")) -> float:
    """Return a part of a whole as a fraction; it is given as a fraction below 1, or in percent from 1 on.

    Releases up to 0.2 read percent only, and their scenarios keep their meaning.

    Parameters
    ----------
    name
        The parameter, for messages.
    value
        A fraction below 1, such as 0.05, or a percentage from 1 on, such as 5.
    most
        Largest percentage.

    Raises
    ------
    InputError
        The value is negative, not finite, or too large.

    Examples
    --------
    >>> part_of("budget", 0.05), part_of("budget", 5), part_of("budget", 1)
    (0.05, 0.05, 0.01)
    """
    found = number(name, value, 0.0, most)
    return found / 100.0 if found >= 1.0 else found
