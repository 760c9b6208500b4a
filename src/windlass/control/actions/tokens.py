"""The named tokens that may act: a file that only its owner may read."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

from windlass.agent.token import Token
from windlass.model import InputError

_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True)
class ActorTokens:
    """Tokens with the names that the journal records.

    Parameters
    ----------
    tokens
        Pairs of a name and a token.

    Examples
    --------
    >>> actors = ActorTokens((("ann", Token("0123456789abcdef")),))
    >>> actors.name_of("0123456789abcdef"), actors.name_of("0"), actors.name_of("")
    ('ann', None, None)
    """

    tokens: tuple[tuple[str, Token], ...]

    def name_of(self, secret: str) -> str | None:
        """Return the name of a token; None if it is none of them. The time does not depend on which one it is."""
        header = f"Bearer {secret}".encode(errors="replace")
        found = [name for name, token in self.tokens if token.is_in(header)]
        return found[0] if found else None


def read_actors(file: Path) -> ActorTokens:
    """Read a file with a name and a token in each line.

    Parameters
    ----------
    file
        Empty lines, and lines that begin with ``#``, are left out.

    Raises
    ------
    InputError
        The file cannot be read, other users may read or write it, or a line is not a name and a token.
    """
    try:
        mode = file.stat().st_mode
        if not stat.S_ISREG(mode):
            raise InputError(f"{file}: not a regular file, expected one with a name and a token in each line")
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from error
    if mode & 0o077:
        raise InputError(f"{file}: open to other users (mode {mode & 0o777:o}), expected 600; run chmod 600")
    found: dict[str, Token] = {}
    for place, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        where = f"{file}, line {place}"
        if len(words) != 2 or not words[0].isprintable() or len(words[0]) > _LONGEST_NAME:
            raise InputError(f"{where}: expected a name and a token")
        if words[0] in found:
            raise InputError(f"{where}: the name {words[0]} is given twice, expected another one")
        try:
            found[words[0]] = Token(words[1])
        except InputError as error:
            raise InputError(f"{where}: {error}") from error
    if not found:
        raise InputError(f"{file}: no token, expected a name and a token in each line")
    return ActorTokens(tuple(found.items()))
