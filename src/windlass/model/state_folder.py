"""The folder of the user's state, in which commands keep their journals by default."""

from __future__ import annotations

import os
from pathlib import Path


def state_folder() -> Path:
    """Return the folder ``windlass`` in ``$XDG_STATE_HOME``, or in ``~/.local/state``; it may not exist.

    Examples
    --------
    >>> state_folder().name
    'windlass'
    """
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(home) / "windlass"
