"""Current pairs, and what a co-scheduler has learned, in a file that survives the driver."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from windlass.engines.batch.sharing_backend import Pair
from windlass.io import seal_text, unseal_text, write_text
from windlass.model import InputError

_CONTAINER = "slurm-shares"


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


def write_state(path: Path, state: ShareState) -> None:
    """Replace the file atomically; it is on disk when this returns.

    Raises
    ------
    InputError
        The file cannot be written; the message names it.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "shares"
    >>> write_state(file, ShareState("pairs", (Pair(7, 8, 30),)))
    >>> read_state(file).pairs
    (Pair(host=7, guest=8, quota=30),)
    """
    pairs = [[pair.host, pair.guest, pair.quota] for pair in state.pairs]
    uses = [list(each) for each in state.uses]
    tree = {"policy": state.policy, "pairs": pairs, "learned": state.learned, "uses": uses}
    write_text(seal_text(_CONTAINER, json.dumps(tree)), path)


def read_state(path: Path) -> ShareState | None:
    """Read the saved state; None if there is no file.

    Raises
    ------
    InputError
        The file is invalid; the message names it.
    """
    try:
        tree = json.loads(unseal_text(path.read_bytes(), _CONTAINER))
        pairs = tuple(Pair(*(int(each) for each in pair)) for pair in tree["pairs"])
        uses = tuple((str(name), float(seconds), float(used)) for name, seconds, used in tree["uses"])
        return ShareState(str(tree["policy"]), pairs, str(tree["learned"]), uses)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: not a saved state of shares: {type(error).__name__}: {error}") from error
