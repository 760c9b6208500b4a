"""The token of a tree of agents: a shared secret that admits agents to send and receive what was learned."""

from __future__ import annotations

import hmac
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from windlass.model import InputError

#: The environment variable that is read if no file is given.
VARIABLE = "WINDLASS_TOKEN"
_SHORTEST = 16


class Token:
    """A secret that is hidden in its representation.

    Parameters
    ----------
    secret
        Printable ASCII without blanks, at least 16 characters.

    Raises
    ------
    InputError
        It is too short, or has other characters.

    Examples
    --------
    >>> token = Token("0123456789abcdef")
    >>> token, token.is_in(b"Bearer 0123456789abcdef"), token.is_in(b"Bearer 0"), token.is_in(None)
    (Token(…), True, False, False)
    """

    def __init__(self, secret: str) -> None:
        if len(secret) < _SHORTEST or not all("!" <= each <= "~" for each in secret):
            raise InputError(
                f"token has {len(secret)} characters, expected at least {_SHORTEST}, printable ASCII without blanks"
            )
        self._header = f"Bearer {secret}".encode()

    def __repr__(self) -> str:
        return "Token(…)"

    def is_in(self, header: bytes | None) -> bool:
        """Return whether an ``Authorization`` header has the token, in constant time."""
        return header is not None and hmac.compare_digest(header, self._header)

    @property
    def header(self) -> str:
        """The value of the header that carries the token."""
        return self._header.decode()


def read_token(file: Path | None, environment: Mapping[str, str] = os.environ) -> Token | None:
    """Read the token from a file, or from the environment (``WINDLASS_TOKEN``); None if there is none.

    Raises
    ------
    InputError
        The file cannot be read, other users may read it, or it holds no token.

    Examples
    --------
    >>> read_token(None, {}) is None
    True
    """
    if file is None:
        found = environment.get(VARIABLE)
        return None if found is None else Token(found)
    try:
        mode = file.stat().st_mode
        if not stat.S_ISREG(mode):
            raise InputError(f"{file}: not a regular file, expected one with a token")
        text = file.read_text(encoding="ascii", errors="replace").strip()
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from error
    if mode & stat.S_IROTH:
        raise InputError(f"{file}: readable by every user (mode {mode & 0o777:o}), expected 640 or 600")
    try:
        return Token(text)
    except InputError as error:
        raise InputError(f"{file}: {error}") from error
