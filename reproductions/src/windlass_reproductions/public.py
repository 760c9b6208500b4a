"""Where the public traces lie that papers are reproduced on."""

import os
from pathlib import Path

#: Says where they are; by default in a folder beside the project.
VARIABLE = "WINDLASS_TRACES"


def traces() -> Path:
    """Their folder, whether or not it is there."""
    beside = Path(__file__).parents[3].parent
    return Path(os.environ.get(VARIABLE, beside / "shared" / "traces"))
