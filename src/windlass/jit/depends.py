"""What a compiled function depends on, as a key: equal where the machine code would be, in any process.

Numba copies into the code whatever a function refers to: the functions it calls, the constants that it reads from
its own module and from others, the fields of records. So the key is made of all of that, followed from function to
function: instructions with the constants that they load, and the values of the names that they look up. Line
numbers, comments and docstrings are not part of it.

What is registered with Numba behind a function's back (``numba.extending.overload`` and its like) cannot be found
in this way, and must not be used for functions with a key.
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
from windlass.jit.target import how_compiled

#: Packages whose functions are identified by name and version.
_KNOWN_BY_VERSION = frozenset({*sys.stdlib_module_names, "numpy", "numba", "llvmlite"})
_PLAIN = frozenset({type(None), type(...), bool, int, float, complex, str, bytes})
#: A flag of newer Pythons' code objects.
_HAS_DOCSTRING = getattr(inspect, "CO_HAS_DOCSTRING", 0)


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What a function depends on.

    Parameters
    ----------
    key
        64 hexadecimal digits.
    functions
        The dispatchers of what is compiled with it, its own first.
    """

    key: str
    functions: tuple[Any, ...]


def dependencies(dispatcher: Any, signature: Any) -> Dependencies:
    """What a dispatcher, compiled for a signature, depends on.

    Parameters
    ----------
    dispatcher
        As :func:`numba.njit` makes it.
    signature
        The Numba signature.

    Raises
    ------
    NotFollowedError
        It refers to something that is neither code nor a constant.

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
    walk.add("how", how_compiled())
    arguments, result = sigutils.normalize_signature(signature)
    walk.value((*arguments, result))
    walk.value(dispatcher)
    return Dependencies(walk.key(), tuple(walk.functions))


class _Walk:
    """Goes once through everything that is referred to, in an order that is the same in every process."""

    def __init__(self) -> None:
        self.functions: list[Any] = []
        self._state = hashlib.sha256()
        self._met: dict[int, tuple[int, object]] = {}

    def key(self) -> str:
        """The digest of all that was added."""
        return self._state.hexdigest()

    def add(self, *parts: str) -> None:
        """Take in texts, so that no two different sequences of them read the same."""
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            self._state.update(b"%d:" % len(data) + data)

    def met(self, value: object) -> bool:
        """Return whether this very function or module was met before; it is then recorded by its number."""
        if id(value) in self._met:
            self.add("met", str(self._met[id(value)][0]))
            return True
        # Kept, so that no other object gets its identity meanwhile.
        self._met[id(value)] = len(self._met), value
        return False

    def all(self, kind: str, values: Iterable[Any]) -> None:
        """Take in a sequence."""
        listed = list(values)
        self.add(kind, str(len(listed)))
        for each in listed:
            self.value(each)

    def value(self, value: Any) -> None:
        """Take in anything that compiled code may refer to."""
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
            raise NotFollowedError(f"code of {value.co_qualname} by itself")
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
        """Take in arrays and containers of constants, and functions that a version tells."""
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
        """Take in a class: its fields or members where it has some, its name where a version tells the rest."""
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
        """Take in a type of Numba's: its name leaves out the fields of records and of what it is made of."""
        self.add("type", type(kind).__qualname__)
        if isinstance(kind, numba.types.Dispatcher):
            self.dispatcher(kind.dispatcher)
            return
        self.add(str(kind))
        for part in _parts(vars(kind).values()):
            self.value(part)

    def dispatcher(self, dispatcher: Any) -> None:
        """Take in a compiled function: how it is compiled, and what."""
        self.add("dispatcher", dispatcher._compiler.pipeline_class.__qualname__)
        self.value({name: dispatcher.targetoptions[name] for name in sorted(dispatcher.targetoptions)})
        self.value({name: dispatcher.locals[name] for name in sorted(dispatcher.locals)})
        if dispatcher.targetoptions.get("inline") != "always" and id(dispatcher.py_func) not in self._met:
            self.functions.append(dispatcher)
        self.function(dispatcher.py_func)

    def function(self, function: Any) -> None:
        """Take in a function of Python and what it refers to."""
        module = str(function.__globals__.get("__name__"))
        self.add("function", module, function.__qualname__)
        if _known(module) or self.met(function):
            return
        self.value(function.__defaults__)
        self.value(function.__kwdefaults__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self.add("cell", name)
            try:
                held = cell.cell_contents
            except ValueError:
                raise NotFollowedError(f"{name} of {function.__qualname__}, not set yet") from None
            self.value(held)
        self.code(function.__code__, function.__globals__)

    def code(self, code: CodeType, names: dict[str, Any]) -> None:
        """Take in instructions, their constants, and what the names that they look up stand for now."""
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
        """Take in what a dotted name stands for.

        Of a module that is not looked into at once, whatever has a name that is used anywhere in the function.
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
        if isinstance(value, ModuleType) and not _known(value.__name__) and not self.met(value):
            for name in _looked_up(value, others):
                self.path((name,), vars(value), others)


def _looked_up(module: ModuleType, names: Iterable[str]) -> Iterator[str]:
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
    """The module of something built in; where a method belongs to a class, that of the class."""
    owner = getattr(value, "__objclass__", None)
    if isinstance(value, np.ufunc):
        return "numpy"
    return str(getattr(owner or value, "__module__", None) or "builtins")


def _known(module: str) -> bool:
    return module.partition(".")[0] in _KNOWN_BY_VERSION
