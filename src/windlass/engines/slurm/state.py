"""Current pairs, and what a co-scheduler has learned, saved in the journal for the next driver."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from windlass.engines.batch.sharing_backend import Pair
from windlass.engines.slurm.journal import Record
from windlass.io import unseal_text
from windlass.model import InputError

_CONTAINER = "slurm-shares"
#: Name of the text in the journal.
SHARES = "shares"


@dataclass(frozen=True, slots=True)
class ShareState:
    """The saved state.

    Parameters
    ----------
    policy
        The co-scheduler's name.
    pairs
        The pairs of jobs that share.
    learned
        What the policy has learned, in its own format; empty if it saves nothing.
    uses
        The usage of classes of jobs while alone, as from :meth:`windlass.share.usage.ClassUse.totals`.
    """

    policy: str
    pairs: tuple[Pair, ...] = ()
    learned: str = ""
    uses: tuple[tuple[str, float, float], ...] = ()


def share_text(state: ShareState) -> str:
    """Return the state as a text, which a journal saves.

    Examples
    --------
    >>> parse_shares(share_text(ShareState("pairs", (Pair(7, 8, 30),))), "journal").pairs
    (Pair(host=7, guest=8, quota=30),)
    """
    pairs = [[pair.host, pair.guest, pair.quota] for pair in state.pairs]
    uses = [list(each) for each in state.uses]
    return json.dumps({"policy": state.policy, "pairs": pairs, "learned": state.learned, "uses": uses})


def parse_shares(text: str, where: object) -> ShareState:
    """Parse a text of :func:`share_text`.

    Raises
    ------
    InputError
        The text is invalid; the message has ``where`` it is from.
    """
    try:
        tree = json.loads(text)
        pairs = tuple(Pair(*(int(each) for each in pair)) for pair in tree["pairs"])
        uses = tuple((str(name), float(seconds), float(used)) for name, seconds, used in tree["uses"])
        return ShareState(str(tree["policy"]), pairs, str(tree["learned"]), uses)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{where}: not a saved state of shares: {type(error).__name__}: {error}") from error


def read_state(path: Path) -> ShareState | None:
    """Read the state from a file of its own, in which Windlass saved it before; None if there is no file.

    Raises
    ------
    InputError
        The file is invalid; the message names it.
    """
    try:
        text = unseal_text(path.read_bytes(), _CONTAINER)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return parse_shares(text, path)


def saved_shares(journal: Record, file: Path) -> ShareState | None:
    """Return the state that a journal has, or else that of a file of its own; None without either.

    Parameters
    ----------
    journal
        The journal.
    file
        The file in which Windlass saved the state before.

    Raises
    ------
    InputError
        The state is invalid.
    """
    text = journal.text(SHARES)
    return read_state(file) if text is None else parse_shares(text, "the journal")
