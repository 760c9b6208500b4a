"""Values as shown in messages."""

from __future__ import annotations

from typing import Any, Final

#: The longest integer that is written out, in bits; Python refuses to format integers of some thousand digits.
_BITS: Final = 64
#: The longest text of a value, in characters.
_LONGEST: Final = 200


def shown(value: Any) -> str:
    """Format a value for a message, truncated if it is long.

    >>> shown("a" * 300)[-4:]
    'aaa…'
    """
    if isinstance(value, int) and value.bit_length() > _BITS:
        return f"a number of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
