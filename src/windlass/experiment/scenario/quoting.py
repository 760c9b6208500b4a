"""A value as messages show it."""

from __future__ import annotations

from typing import Any, Final

#: So many bits of a whole number are written out: Python refuses some thousand digits.
_BITS: Final = 64
#: So much of a value is shown.
_LONGEST: Final = 200


def shown(value: Any) -> str:
    """A value as messages show it: what is long is cut off.

    >>> shown("a" * 300)[-4:]
    'aaa…'
    """
    if isinstance(value, int) and value.bit_length() > _BITS:
        return f"a number of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
