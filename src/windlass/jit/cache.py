"""Cache of compiled functions on disk: one file each, named by the function and its key (:mod:`windlass.jit.depends`).

A file is never changed: if a dependency changes, so does the key, and with it the file's name. So no file can be stale,
several processes may write the same file at once, and the cache can hold code of several versions of the source.
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

#: Maximum size of all files together, bytes; the least recently used files are removed first.
MAX_BYTES = 256_000_000
_CHECK = hashlib.sha256().digest_size


def cache_folder() -> Path:
    """Return the folder of the cache, in ``NUMBA_CACHE_DIR``, ``XDG_CACHE_HOME`` or ``~/.cache``.

    Examples
    --------
    >>> cache_folder().parts[-2:]
    ('windlass', 'kernels')
    """
    given = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    return (Path(given) if given else Path.home() / ".cache") / "windlass" / "kernels"


def is_writable(folder: Path) -> bool:
    """Return whether files can be written to a folder, which is made if it does not exist."""
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return os.access(folder, os.W_OK)


class KernelCache(_Cache):  # type: ignore[misc]
    """The cache file of one function for one signature, with the interface that Numba's dispatchers expect.

    Parameters
    ----------
    folder
        The folder of the file. If it cannot be written to, nothing is cached, without an error.
    name
        The function's name, for readers of the folder.
    key
        The key of its dependencies, in hexadecimal digits.

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
        """Return the compiled function; None if the file does not exist, or cannot be read or used."""
        if not self._enabled:
            return None
        try:
            content = self.path.read_bytes()
        except OSError:
            return None
        check, data = content[:_CHECK], content[_CHECK:]
        # A full disk can leave an incomplete file, and an incomplete function would crash.
        if hashlib.sha256(data).digest() != check:
            return None
        target_context.refresh()
        loaded = CompileResult._rebuild(target_context, *pickle.loads(data))
        with contextlib.suppress(OSError):
            os.utime(self.path)
        return loaded

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write a compiled function to the file, if it can be cached and the folder can be written to."""
        # Code that contains addresses of this process does not work in another.
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
            _remove_old(self.path.parent, MAX_BYTES)

    def enable(self) -> None:
        """Read and write the file from now on."""
        self._enabled = True

    def disable(self) -> None:
        """Neither read nor write the file from now on."""
        self._enabled = False

    def flush(self) -> None:
        """Remove the file."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)


def _write(path: Path, content: bytes) -> None:
    """Write a file atomically: a concurrent reader finds no file or the complete one."""
    handle, name = tempfile.mkstemp(prefix=path.name[:40], dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _remove_old(folder: Path, max_bytes: int) -> None:
    """Remove the least recently used files until the others have at most ``max_bytes`` bytes together."""
    found = []
    for path in folder.iterdir():
        # Another process may remove the same files.
        with contextlib.suppress(OSError):
            status = path.stat()
            found.append((status.st_mtime, status.st_size, path))
    total = 0
    for _, size, path in sorted(found, reverse=True):
        total += size
        if total > max_bytes:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
