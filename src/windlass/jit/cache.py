"""Compiled functions on disk, one file each, named by the function and the key of what it depends on.

A file is never changed: what depends on something else has another name. So nothing has to be found out to be
stale, processes may write the same file at once, and code of several states of the source lies side by side.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import re
import tempfile
from pathlib import Path
from typing import Any

from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

#: All files together keep within this, bytes: the ones not used for longest go first.
KEPT_BYTES = 256_000_000
_CHECK = hashlib.sha256().digest_size


def cache_folder() -> Path:
    """Where compiled functions are kept: in ``NUMBA_CACHE_DIR``, ``XDG_CACHE_HOME`` or ``~/.cache``.

    Examples
    --------
    >>> cache_folder().parts[-2:]
    ('windlass', 'kernels')
    """
    given = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    return (Path(given) if given else Path.home() / ".cache") / "windlass" / "kernels"


class KernelCache(_Cache):  # type: ignore[misc]
    """The file of one function for one signature, as Numba's dispatchers use it.

    Parameters
    ----------
    folder
        Where it lies. One that cannot be written to is no error: nothing is kept then.
    name
        The function's, to be read by people.
    key
        What it depends on, in hexadecimal digits.

    Examples
    --------
    >>> KernelCache(Path("cache"), "place.<locals>._place", "ab12" * 16).path.name
    'place.locals._place-ab12ab12ab12ab12ab12ab12ab12ab12.compiled'
    """

    def __init__(self, folder: Path, name: str, key: str) -> None:
        readable = re.sub(r"[^\w.]", "", name)[-120:]
        self.path = folder / f"{readable}-{key[:32]}.compiled"
        self._enabled = True

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(self.path.parent)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function; None where it is not there, or cannot be read."""
        if not self._enabled:
            return None
        try:
            content = self.path.read_bytes()
        except OSError:
            return None
        check, data = content[:_CHECK], content[_CHECK:]
        # A disk that was full leaves half a file, and half a function crashes.
        if hashlib.sha256(data).digest() != check:
            return None
        target_context.refresh()
        loaded = CompileResult._rebuild(target_context, *pickle.loads(data))
        with contextlib.suppress(OSError):
            os.utime(self.path)
        return loaded

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function, where it can be kept."""
        # Addresses of this process are of no use to another.
        if (
            not self._enabled
            or data.library.has_dynamic_globals
            or any(not one.can_cache for one in data.lifted)
        ):
            return
        content = dumps(data._reduce())
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _write(self.path, hashlib.sha256(content).digest() + content)
            _remove_old(self.path.parent, KEPT_BYTES)

    def enable(self) -> None:
        """Use the file."""
        self._enabled = True

    def disable(self) -> None:
        """Leave the file alone."""
        self._enabled = False

    def flush(self) -> None:
        """Remove the file."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)


def _write(path: Path, content: bytes) -> None:
    """Write a file atomically: a concurrent reader finds nothing, or all of it."""
    handle, name = tempfile.mkstemp(prefix=path.name[:40], dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _remove_old(folder: Path, kept: int) -> None:
    """Remove the files not used for longest, until what is left is within ``kept`` bytes."""
    found = []
    for path in folder.iterdir():
        # Another process may be removing, too.
        with contextlib.suppress(OSError):
            status = path.stat()
            found.append((status.st_mtime, status.st_size, path))
    total = 0
    for _, size, path in sorted(found, reverse=True):
        total += size
        if total > kept:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
