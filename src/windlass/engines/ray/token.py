"""The token of a private cluster: a new one each time, in a file that only its user can read.

With ``RAY_AUTH_MODE=token`` each of Ray's processes rejects requests without the token, and sends it with its own.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

from ray import _raylet

_BYTES = 32


def write(folder: Path) -> dict[str, str | None]:
    """Create a token in a folder; return the environment variables of :func:`variables`."""
    handle = os.open(_file(folder), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_hex(_BYTES))
    return variables(folder)


def variables(folder: Path) -> dict[str, str | None]:
    """Return the environment variables for the token of this folder; None for a variable to unset.

    >>> variables(Path("/tmp/here"))["RAY_AUTH_TOKEN_PATH"]
    '/tmp/here/token'
    """
    # A token in the environment would take precedence over that of the file.
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(_file(folder)), "RAY_AUTH_TOKEN": None}


def read_again() -> None:
    """Make Ray's compiled part read the environment and the token again, as it caches both.

    The mode comes first: otherwise a thread of Ray that is still ending would look for a missing token, and abort.
    """
    compiled: Any = _raylet
    compiled.Config.initialize("")
    compiled.AuthenticationTokenLoader.instance().reset_cache()


def _file(folder: Path) -> Path:
    return folder / "token"
