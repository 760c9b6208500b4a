"""The number of times that a test kills its processes and inspects the result."""

import os

_VARIABLE = "WINDLASS_KILLS"
#: True if the user set the number: each result is then printed.
PRINTED = _VARIABLE in os.environ


def kills(default: int = 6) -> int:
    """Return the number from the environment, by default two kills for each of three signals."""
    return int(os.environ.get(_VARIABLE, default))
