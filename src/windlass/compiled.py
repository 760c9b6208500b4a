"""Compiled functions with a fixed signature, compiled on first use, cached on disk, and announced.

A :class:`Kernel` pairs a function with the one signature it is compiled for. Nothing is compiled at import;
:func:`prepare` does it, so that a command can say what it waits for and a benchmark can leave it out.
A fixed signature is also what lets one compiled event loop take any policy as a function argument and still
be cached.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numba
import numpy as np
from numba import njit, types
from numba.extending import intrinsic

_KEPT_CACHES = 12


def cache_folder(package: Path, base: Path) -> Path:
    """Where compiled code of this state of the compiled source is kept.

    Numba looks only at the file of the function that it is asked for; a change in a function that it calls,
    in another file, would go unseen. So every state of the source has a folder of its own.

    Parameters
    ----------
    package
        The package's folder.
    base
        The folder for all states; older ones are removed.
    """
    state = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        text = file.read_bytes()
        if b"windlass.compiled" in text:
            state.update(text)
    folder = base / state.hexdigest()[:16]
    if not folder.exists():
        folder.mkdir(parents=True)
        others = sorted(base.iterdir(), key=lambda other: other.stat().st_mtime, reverse=True)
        for old in others[_KEPT_CACHES:]:
            shutil.rmtree(old, ignore_errors=True)
    return folder


def _use_own_cache() -> None:
    if os.environ.get("NUMBA_CACHE_DIR"):
        return
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "windlass" / "compiled"
    try:
        numba.config.CACHE_DIR = str(cache_folder(Path(__file__).parent, base))
    except OSError:
        # No place to write to: Numba then tries the places it knows.
        return


_use_own_cache()

_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}


def _for_types(dispatcher: Any) -> Any:
    """The same, compiled once for a type: Numba would compile anew for each constant that it is called with."""
    typed = dispatcher.get_call_template

    def template(args: Any, kws: Any) -> Any:
        plain = {name: types.unliteral(kind) for name, kind in kws.items()}
        return typed(tuple(types.unliteral(kind) for kind in args), plain)

    dispatcher.get_call_template = template
    return dispatcher


def helper(python: Callable[..., Any]) -> Any:
    """Compiles a helper that other compiled functions call; it needs no signature of its own."""
    return _for_types(njit(**_OPTIONS)(python))


def allocating(python: Callable[..., Any]) -> Any:
    """The same for one that makes arrays, whoever calls it: without this, Numba gives it its caller's ways."""
    return _for_types(njit(**_OPTIONS, _nrt=True)(python))


def lean(python: Callable[..., Any]) -> Any:
    """The same for one that neither makes an array nor gets one from what it calls: nothing is reference counted.

    Where arrays come in records of dozens, as a world's do, most of the compiling is of that counting.
    """
    return _for_types(njit(**_OPTIONS, _nrt=False)(python))


#: The same as :func:`helper` for small functions in the innermost loops, copied into their callers.
inlined = njit(**_OPTIONS, inline="always")

#: Makes an index of a number that is not negative: one that might be costs three instructions to wrap around.
index = np.uint64


@intrinsic
def pick(typing_context: Any, condition: Any, yes: Any, no: Any) -> Any:
    """``yes if condition else no`` of two numbers of one type, without a branch.

    The compiler makes a branch of most selections. Where chance decides, every second or third of those is
    mispredicted, which costs as much as some fifty instructions.
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        selected = builder.select(*arguments)
        selected.set_metadata("unpredictable", builder.module.add_metadata([]))
        return selected

    if condition != types.boolean or yes != no:
        raise numba.TypingError(
            f"pick: expected a boolean and two of one type, found {condition}, {yes}, {no}"
        )
    return yes(condition, yes, no), emit


ANNOUNCE_AFTER_S = 1.0


@dataclass(frozen=True, eq=False)
class Kernel:
    """A function compiled for one signature.

    Parameters
    ----------
    python
        The function as written; its docstring says what it does.
    signature
        The Numba signature.
    allocates
        False where the function makes no array, nor calls anything that does. Its arrays are then not reference
        counted: in an event loop over thirty arrays, the counting takes three quarters of the time.

    Examples
    --------
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> callable(Fcfs.select.ready())
    True
    """

    python: Callable[..., Any]
    signature: Any
    allocates: bool = True

    def ready(self) -> Any:
        """The compiled function, loaded from the cache or compiled now."""
        return self._compiled

    @functools.cached_property
    def _compiled(self) -> Any:
        dispatcher = (helper if self.allocates else lean)(self.python)
        dispatcher.compile(self.signature)
        dispatcher.disable_compile()
        return dispatcher


def prepare(kernels: Iterable[Kernel], announce: TextIO | None = sys.stderr) -> None:
    """Compile what is not compiled yet; say so once it takes longer than a second.

    Parameters
    ----------
    kernels
        What is about to be used.
    announce
        Where to say it; None for silence.

    Examples
    --------
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> prepare([Fcfs.select], announce=None)
    """
    done = threading.Event()

    def speak() -> None:
        if announce is not None and not done.wait(ANNOUNCE_AFTER_S):
            print("Compiling for this machine (first use only, then cached) …", file=announce, flush=True)

    speaker = threading.Thread(target=speak, daemon=True)
    speaker.start()
    try:
        for kernel in kernels:
            kernel.ready()
    finally:
        done.set()
        speaker.join()
