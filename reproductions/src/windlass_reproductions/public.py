"""The folder of the public traces that some reproductions read."""

import os
from pathlib import Path

#: Environment variable that names the folder; by default it is ``shared/traces`` next to the checkout.
VARIABLE = "WINDLASS_TRACES"


def traces() -> Path:
    """Return the folder of the public traces, which may be missing."""
    parent = Path(__file__).parents[3].parent
    return Path(os.environ.get(VARIABLE, parent / "shared" / "traces"))
