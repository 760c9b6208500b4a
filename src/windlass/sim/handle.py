"""Passing a part's state to compiled code once, as an address, instead of at each call.

Unpacking thirty arrays from Python objects takes 20 to 50 µs, which is long compared with an instant of a simulation.
Therefore a :class:`Handle` writes the state, in the layout of compiled code, into a block of memory. A compiled
function receives the address of the block and reads the state with the function that :func:`opening` makes. The
functions of a policy are in the state as addresses as well.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numba import types
from numba.core.registry import cpu_target
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype
from numpy.typing import NDArray

#: Field of a compiled function value that holds the address of its machine code. Python gives only the address of a C
#: wrapper, through which a call takes 5 to 10 ns longer.
_ENTRY = 2


def opening(kind: Any) -> Any:
    """Make the function with which compiled code reads the state from a handle's address.

    Parameters
    ----------
    kind
        The Numba type of the state: a named tuple of arrays, numbers and functions.

    Examples
    --------
    >>> from numba import types
    >>> from windlass.jit import Kernel
    >>> pair = types.UniTuple(types.float64[::1], 2)
    >>> opened = opening(pair)
    >>> def _first(address):
    ...     return opened(address)[0][0]
    >>> first = Kernel(_first, types.float64(types.int64), allocates=False)
    >>> handle = Handle((np.array([3.0]), np.array([4.0])), pair)
    >>> first.ready()(handle.address)
    3.0
    """

    @intrinsic
    def opened(typing_context: Any, address: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.load(_place(context, builder, kind, arguments[0]))

        return kind(types.int64), emit

    return opened


def as_value(context: Any, builder: Any, kind: Any, entry: Any) -> Any:
    """Return the function value of a type for an address of machine code; for the code of an intrinsic function."""
    empty = context.get_constant_null(kind)
    return builder.insert_value(empty, _pointer(context, builder, entry), _ENTRY)


class Handle:
    """State of a part at an address that compiled code can read.

    Parameters
    ----------
    state
        A tuple of arrays, numbers, and functions from :meth:`~windlass.jit.Kernel.as_argument`. The handle keeps a
        reference to it and does not copy its arrays, so changes by compiled code are visible at once. A tuple with
        other arrays needs :meth:`refill`.
    kind
        The state's Numba type, as for :func:`opening`. It may have contiguous arrays, numbers of 64 bits, functions,
        and tuples of these.

    Raises
    ------
    TypeError
        A value does not match the type.
    """

    def __init__(self, state: Any, kind: Any) -> None:
        self._layout = _layout_of(kind)
        # NumPy does not guarantee an alignment of 64 bytes, so allocate 64 bytes more and round the address up.
        self._memory = np.zeros(self._layout.size + 64, np.uint8)
        begin = address_of(self._memory)
        self.address: int = -(-begin // 64) * 64
        self._offset = self.address - begin
        self.refill(state)

    def refill(self, state: Any) -> None:
        """Replace the state."""
        self.state = state
        words: list[int] = []
        self._layout.write(state, words)
        struct.pack_into(f"={len(words)}Q", self._memory.data, self._offset, *words)


class _Layout:
    """How a state of a Numba type is written: its size in bytes, and a function that appends its words of 64 bits."""

    def __init__(self, kind: Any) -> None:
        context = cpu_target.target_context
        # The type is kept, so that its identity stays its own.
        self.kind = kind
        self.size: int = context.get_abi_sizeof(context.get_value_type(kind))
        self.write = _writer(kind)


#: Layouts by the identity of their type: the hash of a type of a hundred arrays takes longer than the look-up may.
_LAYOUTS: dict[int, _Layout] = {}


def _layout_of(kind: Any) -> _Layout:
    found = _LAYOUTS.get(id(kind))
    if found is None:
        found = _LAYOUTS[id(kind)] = _Layout(kind)
    return found


_Writer = Callable[[Any, list[int]], None]


def _writer(kind: Any) -> _Writer:
    """Return the function that appends a value of a type to a list, in the layout of compiled code."""
    if isinstance(kind, types.BaseTuple):
        return _tuple_writer(tuple(map(_writer, kind)))
    if isinstance(kind, types.Array):
        return _array_writer(kind, as_dtype(kind.dtype), kind.ndim)
    if isinstance(kind, types.FunctionType):
        # The address of a Python object between the two is for calls of functions without machine code.
        return lambda value, words: words.extend((value.address, 0, value.entry))
    if kind in _NUMBERS:
        number = _NUMBERS[kind]
        return lambda value, words: words.append(int(np.array(value, number).view(np.uint64)))
    raise TypeError(f"a state cannot have {kind}; expected arrays, numbers of 64 bits, functions, tuples")


def _tuple_writer(writers: tuple[_Writer, ...]) -> _Writer:
    def write(value: Any, words: list[int]) -> None:
        if len(value) != len(writers):
            raise TypeError(f"a state has {len(writers)} values, found {len(value)}")
        for writer, each in zip(writers, value, strict=True):
            writer(each, words)

    return write


def _array_writer(kind: Any, dtype: np.dtype[Any], ndim: int) -> _Writer:
    size, accepted = dtype.itemsize, dtype

    def check(value: Any) -> None:
        """Raise TypeError for an array of another type; keep the type, as comparing those of records takes long."""
        nonlocal accepted
        contiguous, found = value.flags.c_contiguous, value.dtype
        if found != dtype or value.ndim != ndim or not contiguous:
            layout = "" if contiguous else ", not contiguous"
            raise TypeError(f"a state has {kind}, found {value.ndim} dimensions of {found}{layout}")
        accepted = found

    def write(value: Any, words: list[int]) -> None:
        if value.dtype is not accepted or value.ndim != ndim or not value.flags.c_contiguous:
            check(value)
        count = value.size
        # Arrays of a handle are not reference counted, so the first two words, which serve that, are empty.
        if ndim == 1:
            # The size and the item size are the shape and the strides.
            words += (0, 0, count, size, address_of(value), count, size)
        else:
            words += (0, 0, count, size, address_of(value), *value.shape, *value.strides)

    return write


_word_at, _HEAD = ctypes.c_size_t.from_address, object.__basicsize__


def _public_address(array: NDArray[Any]) -> int:
    found: int = array.__array_interface__["data"][0]
    return found


def _field_address(array: NDArray[Any]) -> int:
    """Read the first field of the array's C structure, which follows the head of every Python object."""
    return _word_at(id(array) + _HEAD).value


def _address_function() -> Callable[[NDArray[Any]], int]:
    """Return the faster of the two functions if both agree. A state has a hundred arrays, and NumPy takes 1 µs each."""
    probes = np.zeros(3), np.zeros((2, 2))[1:], np.zeros(2, [("a", "i8"), ("b", "f8")])
    agree = sys.implementation.name == "cpython" and all(
        _field_address(probe) == _public_address(probe) for probe in probes
    )
    return _field_address if agree else _public_address


#: Returns the address of an array's first element.
address_of: Final = _address_function()

_NUMBERS = {types.int64: np.int64, types.uint64: np.uint64, types.float64: np.float64}


def _pointer(context: Any, builder: Any, entry: Any) -> Any:
    return builder.inttoptr(entry, context.get_value_type(types.voidptr))


def _place(context: Any, builder: Any, kind: Any, address: Any) -> Any:
    return builder.inttoptr(address, context.get_value_type(kind).as_pointer())
