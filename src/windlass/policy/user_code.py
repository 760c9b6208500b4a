"""Users' code: import of policies from files, and errors that name the policy, file and line.

A user's policy runs in Windlass's process without restrictions. An error in it is reported with the policy's name, its
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
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import NoReturn

from windlass.model import InputError
from windlass.policy import installed

_PREFIX = "windlass_policy_"
#: Maximum length of an error's own message, in characters.
_LONGEST = 500
#: Errors that Python raises when an engine uses a malformed answer.
ANSWER_ERRORS = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)


class _Loader(SourceFileLoader):
    """Compiles a file at each import, and writes no bytecode into the file's folder.

    Python takes the bytecode of an earlier import where time of change, in whole seconds, and size are the same. A
    policy that is changed and reloaded within a second would keep its earlier code.
    """

    def get_code(self, fullname: str) -> CodeType:
        source = self.get_data(self.path)
        code: CodeType = self.source_to_code(source, self.path)
        return code


def import_file(path: Path) -> ModuleType:
    """Import a file as a module, once, and return the module.

    Raises
    ------
    InputError
        The file is not a Python file, or raises or exits while it is imported; names file and line.
    """
    # A checksum of the path makes names of different files differ, and is the same in worker processes.
    name = f"{_PREFIX}{path.stem}_{zlib.crc32(str(path.resolve()).encode(errors='surrogateescape'))}"
    if name in sys.modules:
        return sys.modules[name]
    loader = _Loader(name, str(path)) if path.suffix == ".py" else None
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        found = _innermost(error.__traceback__)
        # After a syntax error in the file itself, no frame of it is in the traceback.
        line = error.lineno if isinstance(error, SyntaxError) and found is None else found and found[1]
        where = f"{path}, line {line}" if line else str(path)
        raise InputError(f"{where}: cannot be imported: {message_of(error)}") from error
    return module


@contextlib.contextmanager
def imported_again() -> Iterator[None]:
    """Import users' files again within the context, as they are now; after an error, the modules before are back.

    Policies that were made before keep their code.
    """
    before = {name: module for name, module in sys.modules.items() if name.startswith(_PREFIX)}
    for name in before:
        del sys.modules[name]
    try:
        yield
    except BaseException:
        sys.modules.update(before)
        raise


def is_user_code(policy: object) -> bool:
    """Return whether an object's class is defined in a user's file or in an installed package of policies.

    For an adapter that an engine makes, the policy in its attribute ``represents`` counts.

    >>> is_user_code(1)
    False
    """
    return _is_user_module(_class_of(policy).__module__)


def _class_of(policy: object) -> type:
    """Return the class of a policy, or of the policy that an adapter ``represents``."""
    return type(getattr(policy, "represents", policy))


def _is_user_module(name: str) -> bool:
    """Return whether a module is a user's policy file or belongs to an installed package of policies."""
    return name.startswith(_PREFIX) or name.partition(".")[0] in installed.packages()


def place_of(policy: object) -> str:
    """Return the file and line of a user's policy class, in brackets; empty for a policy of Windlass.

    >>> place_of(1)
    ''
    """
    if not is_user_code(policy):
        return ""
    cls = _class_of(policy)
    file = getattr(sys.modules.get(cls.__module__), "__file__", None) or cls.__module__
    # A class does not record its own line; the line of its first method needs no parsing of the file.
    lines = [
        value.__code__.co_firstlineno for value in vars(cls).values() if isinstance(value, type(place_of))
    ]
    return f" ({file}, line {min(lines)})" if lines else f" ({file})"


def describe_failure(error: BaseException) -> str | None:
    """Describe an error that a user's policy raised: policy, file, line and error; None if no such policy did.

    Parameters
    ----------
    error
        The error, with its traceback. An error in code that the policy called counts as the policy's.
    """
    found = _innermost(error.__traceback__)
    cause = error.__cause__
    if found is None and isinstance(cause, StopIteration):
        # A StopIteration that leaves a generator, such as the runner's, becomes the cause of a RuntimeError.
        error, found = cause, _innermost(cause.__traceback__)
    if found is None:
        return None
    frame, line = found
    name = _name_of(frame)
    return f"policy {name!r} ({frame.f_code.co_filename}, line {line}) {_failure(error)}"


def message_of(error: BaseException) -> str:
    """Return an error on one line: its class and the first line of its message.

    >>> message_of(ValueError("no\\nway"))
    'ValueError: no'
    >>> message_of(KeyError())
    'KeyError'
    """
    line = next(iter(str(error).splitlines()), "")[:_LONGEST]
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


@contextlib.contextmanager
def contain_policies() -> Iterator[None]:
    """Protect a command from policies that run in this context.

    Their output to standard output goes to standard error, including the output of processes that they start. A call of
    ``os._exit`` in a policy raises ``SystemExit``.
    """
    with contextlib.redirect_stdout(sys.stderr), _redirected_descriptor():
        real = os._exit
        refuse_to_leave()
        try:
            yield
        finally:
            os._exit = real


def refuse_to_leave() -> None:
    """Make ``os._exit`` raise ``SystemExit`` from now on if a user's policy calls it."""
    real = os._exit

    def leave(status: int = 0) -> NoReturn:
        if _is_user_module(sys._getframe(1).f_globals.get("__name__", "")):
            raise SystemExit(f"os._exit({status!r})")
        real(status)

    os._exit = leave


@contextlib.contextmanager
def _redirected_descriptor() -> Iterator[None]:
    """Redirect file descriptor 1 to standard error."""
    try:
        if sys.__stdout__ is not None:
            sys.__stdout__.flush()
        output = os.dup(1)
    except (OSError, ValueError):
        yield  # standard output is closed
        return
    try:
        with contextlib.suppress(OSError):
            os.dup2(2, 1)
        yield
    finally:
        os.dup2(output, 1)
        os.close(output)


def _innermost(trace: TracebackType | None) -> tuple[FrameType, int] | None:
    """Return the innermost frame in a user's code, and its line; None if there is none."""
    found = None
    for frame, line in traceback.walk_tb(trace):
        if _is_user_module(frame.f_globals.get("__name__", "")):
            found = frame, line
    return found


def _name_of(frame: FrameType) -> str:
    """Return the name of the policy whose code runs in a frame; the file's name if the policy is unknown."""
    own = getattr(type(frame.f_locals.get("self")), "name", None)
    if isinstance(own, str):
        return own
    module = frame.f_globals.get("__name__")
    classes = [
        value for value in frame.f_globals.values() if isinstance(value, type) and value.__module__ == module
    ]
    names = {name for name in (getattr(cls, "name", None) for cls in classes) if isinstance(name, str)}
    return names.pop() if len(names) == 1 else Path(frame.f_code.co_filename).stem


def _failure(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        how = error.code if isinstance(error.code, str) else f"status {error.code!r}"
        return f"exits ({how}), expected an answer"
    return f"raised {message_of(error)}"
