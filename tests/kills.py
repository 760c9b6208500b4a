"""How often a test ends what it has started, to look at what is left."""

import os

_VARIABLE = "WINDLASS_KILLS"
#: Who asks for a number is told how each of them ended.
PRINTED = _VARIABLE in os.environ


def kills(few: int = 6) -> int:
    """As many as are asked for, else a few: two by each of three signals."""
    return int(os.environ.get(_VARIABLE, few))
