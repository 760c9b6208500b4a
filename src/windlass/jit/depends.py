"""Cache keys of compiled functions: two functions with equal keys have the same machine code, in any process.

Numba compiles into the code whatever a function refers to: the functions that it calls, the constants that it reads
from its own module and from others, the fields of records. The key covers all of these, recursively: instructions, the
constants that they load, and the values of the names that they look up. Line numbers, comments and docstrings are not
part of it.

Code that is registered with Numba separately (with ``numba.extending.overload`` and similar) cannot be detected in this
way. A function with a key must not depend on it.
"""

from __future__ import annotations

import enum
import hashlib
import inspect
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core import sigutils
from numba.core.dispatcher import Dispatcher
from numba.core.typing import Signature
from numba.extending import _Intrinsic

from windlass.jit.bytecode import NotFollowedError, read
from windlass.jit.target import fingerprint

#: Packages whose contents are identified by name only: the key contains their versions.
_KNOWN_BY_VERSION = frozenset({*sys.stdlib_module_names, "numpy", "numba", "llvmlite"})
_PLAIN = frozenset({type(None), type(...), bool, int, float, complex, str, bytes})
#: A flag of code objects, which only newer Python versions define.
_HAS_DOCSTRING = getattr(inspect, "CO_HAS_DOCSTRING", 0)


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The dependencies of a compiled function.

    Parameters
    ----------
    key
        The cache key, 64 hexadecimal digits.
    functions
        The dispatchers of all functions that are compiled with it, its own first.
    """

    key: str
    functions: tuple[Any, ...]


def dependencies(dispatcher: Any, signature: Any) -> Dependencies:
    """Return the dependencies of a dispatcher that is compiled for a signature.

    Parameters
    ----------
    dispatcher
        A dispatcher made by :func:`numba.njit`.
    signature
        The Numba signature.

    Raises
    ------
    NotFollowedError
        It refers to something whose changes cannot be detected, such as a class or an object.

    Examples
    --------
    >>> def twice(x):
    ...     return x * factor
    >>> keys = []
    >>> for factor in (2, 2, 3):
    ...     twice.__globals__["factor"] = factor
    ...     keys.append(dependencies(numba.njit(twice), numba.float64(numba.float64)).key)
    >>> keys[0] == keys[1], keys[1] == keys[2]
    (True, False)
    """
    walk = _Walk()
    walk.add("target", fingerprint())
    arguments, result = sigutils.normalize_signature(signature)
    walk.value((*arguments, result))
    walk.value(dispatcher)
    return Dependencies(walk.key(), tuple(walk.functions))


class _Walk:
    """Visits everything that a function refers to, in an order that is the same in every process, and digests it."""

    def __init__(self) -> None:
        self.functions: list[Any] = []
        self._state = hashlib.sha256()
        self._visited: dict[int, tuple[int, object]] = {}

    def key(self) -> str:
        """Return the digest of all added texts."""
        return self._state.hexdigest()

    def add(self, *parts: str) -> None:
        """Add texts to the digest, each preceded by its length, so that different sequences cannot be confused."""
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            self._state.update(b"%d:" % len(data) + data)

    def visited(self, value: object) -> bool:
        """Return whether this object (a function or a module) was visited before; if so, add its number."""
        if id(value) in self._visited:
            self.add("visited", str(self._visited[id(value)][0]))
            return True
        # The reference keeps the object alive, so that no other object can get the same id.
        self._visited[id(value)] = len(self._visited), value
        return False

    def all(self, kind: str, values: Iterable[Any]) -> None:
        """Add a sequence."""
        listed = list(values)
        self.add(kind, str(len(listed)))
        for each in listed:
            self.value(each)

    def value(self, value: Any) -> None:
        """Add any value that compiled code may refer to."""
        kind = type(value)
        if kind in _PLAIN:
            self.add(kind.__name__, repr(value))
        elif isinstance(value, ModuleType):
            self.add("module", value.__name__)
        elif isinstance(value, FunctionType):
            self.function(value)
        elif isinstance(value, Dispatcher):
            self.dispatcher(value)
        elif isinstance(value, _Intrinsic):
            self.add("intrinsic")
            self.function(value._defn)
        elif isinstance(value, CodeType):
            raise NotFollowedError(f"the code object {value.co_qualname}, without its function")
        elif isinstance(value, numba.types.Type):
            self.type(value)
        elif isinstance(value, type):
            self.named_class(value)
        elif isinstance(value, enum.Enum):
            self.named_class(kind)
            self.add("member", value.name)
        else:
            self.data(value)

    def data(self, value: Any) -> None:
        """Add an array, a container of constants, or a builtin function of a package identified by its version."""
        if isinstance(value, np.dtype):
            self.add(
                "dtype", repr(value), str(value.itemsize), str(value.alignment), str(value.isalignedstruct)
            )
        elif isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
            flags = (value.flags.c_contiguous, value.flags.f_contiguous, value.flags.aligned)
            self.add("array", str(value.shape), str(flags), value.tobytes("A").hex())
            self.value(value.dtype)
        elif isinstance(value, tuple):
            if type(value) is not tuple:
                self.value(type(value))
            self.all("tuple", value)
        elif type(value) is list:
            self.all("list", value)
        elif type(value) is dict:
            self.all("dict", (entry for pair in value.items() for entry in pair))
        elif type(value) in (set, frozenset) and all(type(each) in _PLAIN for each in value):
            self.all("set", sorted(value, key=lambda each: (type(each).__name__, repr(each))))
        elif isinstance(value, slice):
            self.all("slice", (value.start, value.stop, value.step))
        elif isinstance(value, BuiltinFunctionType | MethodDescriptorType | np.ufunc) and _known(
            _home(value)
        ):
            self.add("known", _home(value), getattr(value, "__qualname__", value.__name__))
        else:
            raise NotFollowedError(f"{value!r}, a {type(value).__name__}")

    def named_class(self, cls: type) -> None:
        """Add a class: its name, and the fields of a named tuple or the members of an enumeration."""
        self.add("class", cls.__module__, cls.__qualname__)
        if _known(cls.__module__) or issubclass(cls, BaseException):
            return
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            self.value(cls._fields)
            self.value(dict(sorted(getattr(cls, "_field_defaults", {}).items())))
        elif issubclass(cls, enum.Enum):
            self.value([(name, member.value) for name, member in cls.__members__.items()])
        else:
            raise NotFollowedError(f"class {cls.__module__}.{cls.__qualname__}")

    def type(self, kind: Any) -> None:
        """Add a Numba type: its name, and the types that it consists of, whose fields the name may omit."""
        self.add("type", type(kind).__qualname__)
        if isinstance(kind, numba.types.Dispatcher):
            self.dispatcher(kind.dispatcher)
            return
        self.add(str(kind))
        for part in _parts(vars(kind).values()):
            self.value(part)

    def dispatcher(self, dispatcher: Any) -> None:
        """Add a dispatcher: its compiler, its options, and its function."""
        self.add("dispatcher", dispatcher._compiler.pipeline_class.__qualname__)
        self.value({name: dispatcher.targetoptions[name] for name in sorted(dispatcher.targetoptions)})
        self.value({name: dispatcher.locals[name] for name in sorted(dispatcher.locals)})
        if dispatcher.targetoptions.get("inline") != "always" and id(dispatcher.py_func) not in self._visited:
            self.functions.append(dispatcher)
        self.function(dispatcher.py_func)

    def function(self, function: Any) -> None:
        """Add a Python function and everything that it refers to."""
        module = str(function.__globals__.get("__name__"))
        self.add("function", module, function.__qualname__)
        if _known(module) or self.visited(function):
            return
        self.value(function.__defaults__)
        self.value(function.__kwdefaults__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self.add("cell", name)
            try:
                held = cell.cell_contents
            except ValueError:
                raise NotFollowedError(
                    f"the variable {name} of {function.__qualname__}, which is not set yet"
                ) from None
            self.value(held)
        self.code(function.__code__, function.__globals__)

    def code(self, code: CodeType, names: dict[str, Any]) -> None:
        """Add instructions, their constants, and the current values of the names that they look up."""
        reading = read(code)
        self.add(
            "code", reading.instructions, code.co_exceptiontable.hex(), str(code.co_flags & ~_HAS_DOCSTRING)
        )
        self.add(str((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)))
        self.add(str((code.co_varnames, code.co_cellvars, code.co_freevars)))
        for constant in reading.constants:
            if isinstance(constant, CodeType):
                self.code(constant, names)
            else:
                self.value(constant)
        for path in reading.paths:
            self.path(path, names, reading.names)

    def path(self, path: tuple[str, ...], names: dict[str, Any], others: tuple[str, ...]) -> None:
        """Add the current value of a dotted name.

        If the value is itself a module, and not one identified by its version, the function may read any of its
        attributes: those are added whose names occur in the function as attributes or texts (``others``).
        """
        self.add("path", *path)
        builtins = names.get("__builtins__", {})
        builtins = vars(builtins) if isinstance(builtins, ModuleType) else builtins
        if path[0] not in names:
            self.add("builtin" if path[0] in builtins else "missing")
            return
        value, rest = names[path[0]], path[1:]
        while isinstance(value, ModuleType) and rest:
            known = _known(value.__name__)
            self.add("module", value.__name__, rest[0])
            if not hasattr(value, rest[0]):
                self.add("missing")
                return
            value, rest = getattr(value, rest[0]), rest[1:]
            if known and not isinstance(value, ModuleType) and type(value) not in _PLAIN:
                return
        self.value(value)
        if isinstance(value, ModuleType) and not _known(value.__name__) and not self.visited(value):
            for name in _present(value, others):
                self.path((name,), vars(value), others)


def _present(module: ModuleType, names: Iterable[str]) -> Iterator[str]:
    return (name for name in sorted(set(names)) if name in vars(module))


def _parts(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, numba.types.Type | type):
            yield value
        elif isinstance(value, Signature):
            yield from (value.return_type, *value.args)
        elif isinstance(value, tuple | list):
            yield from _parts(value)


def _home(value: Any) -> str:
    """Return the module of a builtin function; for a method, the module of its class."""
    owner = getattr(value, "__objclass__", None)
    if isinstance(value, np.ufunc):
        return "numpy"
    return str(getattr(owner or value, "__module__", None) or "builtins")


def _known(module: str) -> bool:
    return module.partition(".")[0] in _KNOWN_BY_VERSION
