"""Code that is not ours: files of policies, imported by their path, and blamed for what they do.

A user's policy runs in Windlass's process without restrictions. Its errors are reported with the policy's name, its
file and the line.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import traceback
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType, TracebackType
from typing import NoReturn

from windlass.model import InputError
from windlass.policy import installed

_PREFIX = "windlass_policy_"
#: Maximum length of an error's own message, in characters.
_LONGEST = 500
#: What Python raises where an answer is of another form than it should be.
ODD = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)


def import_file(path: Path) -> ModuleType:
    """The module of a file, imported once.

    Raises
    ------
    InputError
        It is no Python file, or raises or exits while it is imported; names file and line.
    """
    # The name carries the path, so that worker processes can import it again and two files never clash.
    name = f"{_PREFIX}{path.stem}_{zlib.crc32(str(path.resolve()).encode(errors='surrogateescape'))}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        found = _innermost(error.__traceback__)
        # What is no Python at all has run no line yet.
        line = error.lineno if isinstance(error, SyntaxError) and found is None else found and found[1]
        where = f"{path}, line {line}" if line else str(path)
        raise InputError(f"{where}: cannot be imported: {message_of(error)}") from error
    return module


def is_foreign(policy: object) -> bool:
    """Whether a policy, or anything else, is of a class that a policy's file or an installed package defines.

    >>> is_foreign(1)
    False
    """
    return _is_foreign_module(type(policy).__module__)


def _is_foreign_module(name: str) -> bool:
    """True for the module of a policy's file, and for modules of packages that offer policies."""
    return name.startswith(_PREFIX) or name.partition(".")[0] in installed.packages()


def place_of(policy: object) -> str:
    """Return the file and line of a user's policy class, in brackets; empty for a policy of Windlass.

    >>> place_of(1)
    ''
    """
    if not is_foreign(policy):
        return ""
    cls = type(policy)
    file = getattr(sys.modules.get(cls.__module__), "__file__", None) or cls.__module__
    # The lines of a class are its methods'; what they answered is not worth reading the file again.
    lines = [
        value.__code__.co_firstlineno for value in vars(cls).values() if isinstance(value, type(place_of))
    ]
    return f" ({file}, line {min(lines)})" if lines else f" ({file})"


def blamed(error: BaseException) -> str | None:
    """Which policy of one's own an error came out of, with file, line and the error; None where it was none.

    Parameters
    ----------
    error
        With its traceback. What a policy called and that failed in there is the policy's affair, too.
    """
    found = _innermost(error.__traceback__)
    cause = error.__cause__
    if found is None and isinstance(cause, StopIteration):
        # Python makes another error of it where it passes through a generator, as the runner's are.
        error, found = cause, _innermost(cause.__traceback__)
    if found is None:
        return None
    frame, line = found
    name = _name_of(frame)
    return f"policy {name!r} ({frame.f_code.co_filename}, line {line}) {_did(error)}"


def message_of(error: BaseException) -> str:
    """Return an error in one line: its kind and the first line of its message.

    >>> message_of(ValueError("no\\nway"))
    'ValueError: no'
    >>> message_of(KeyError())
    'KeyError'
    """
    line = next(iter(str(error).splitlines()), "")[:_LONGEST]
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


@contextlib.contextmanager
def contained() -> Iterator[None]:
    """While policies run: what they write to standard output goes to standard error, which is where talk belongs, and
    ``os._exit`` in one is an error like any other.

    Output of the processes that a policy starts goes there, too.
    """
    with contextlib.redirect_stdout(sys.stderr), _file_of_output_turned():
        real = os._exit
        refuse_to_leave()
        try:
            yield
        finally:
            os._exit = real


def refuse_to_leave() -> None:
    """Have ``os._exit``, where a policy calls it, raise from now on."""
    real = os._exit

    def leave(status: int = 0) -> NoReturn:
        if _is_foreign_module(sys._getframe(1).f_globals.get("__name__", "")):
            raise SystemExit(f"os._exit({status!r})")
        real(status)

    os._exit = leave


@contextlib.contextmanager
def _file_of_output_turned() -> Iterator[None]:
    try:
        if sys.__stdout__ is not None:
            sys.__stdout__.flush()
        kept = os.dup(1)
    except (OSError, ValueError):
        yield  # standard output is closed
        return
    try:
        with contextlib.suppress(OSError):
            os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _innermost(trace: TracebackType | None) -> tuple[FrameType, int] | None:
    """The last frame that is in a file of a policy, and its line."""
    found = None
    for frame, line in traceback.walk_tb(trace):
        if _is_foreign_module(frame.f_globals.get("__name__", "")):
            found = frame, line
    return found


def _name_of(frame: FrameType) -> str:
    """Return the name of the policy that has this code; the file if that is unknown."""
    own = getattr(type(frame.f_locals.get("self")), "name", None)
    if isinstance(own, str):
        return own
    module = frame.f_globals.get("__name__")
    classes = [
        value for value in frame.f_globals.values() if isinstance(value, type) and value.__module__ == module
    ]
    names = {name for name in (getattr(cls, "name", None) for cls in classes) if isinstance(name, str)}
    return names.pop() if len(names) == 1 else Path(frame.f_code.co_filename).stem


def _did(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        how = error.code if isinstance(error.code, str) else f"status {error.code!r}"
        return f"exits ({how}), expected an answer"
    return f"raised {message_of(error)}"
