"""Passing a part's state to compiled code once, as an address, instead of at each call.

Unpacking thirty arrays from Python objects takes 20 to 50 µs, which is long compared with an instant of a simulation.
Therefore a :class:`Handle` writes the state, in the layout of compiled code, into a block of memory. A compiled
function receives the address of the block and reads the state with the function that :func:`opening` makes. The
functions of a policy are in the state as addresses as well.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import types
from numba.core.registry import cpu_target
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype

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
        self._kind = kind
        # NumPy does not guarantee an alignment of 64 bytes, so allocate 64 bytes more and round the address up.
        self._memory = np.zeros(_size(kind) + 64, np.uint8)
        self.address: int = -(-self._memory.ctypes.data // 64) * 64
        self.refill(state)

    def refill(self, state: Any) -> None:
        """Replace the state."""
        self.state = state
        words = np.array(list(_words(state, self._kind)), np.uint64)
        begin = self.address - self._memory.ctypes.data
        self._memory[begin : begin + words.nbytes] = words.view(np.uint8)


def _words(value: Any, kind: Any) -> Iterator[int]:
    """Yield a value in the layout of compiled code, as words of 64 bits."""
    if isinstance(kind, types.BaseTuple):
        if len(value) != len(kind):
            raise TypeError(f"a state has {len(kind)} values, found {len(value)}")
        for each, kind_of_each in zip(value, kind, strict=True):
            yield from _words(each, kind_of_each)
    elif isinstance(kind, types.Array):
        if value.dtype != _dtype(kind) or value.ndim != kind.ndim or not value.flags.c_contiguous:
            layout = "" if value.flags.c_contiguous else ", not contiguous"
            raise TypeError(f"a state has {kind}, found {value.ndim} dimensions of {value.dtype}{layout}")
        # Arrays of a handle are not reference counted, so the first two words, which serve that, are empty.
        yield from (0, 0, value.size, value.itemsize, value.__array_interface__["data"][0])
        yield from value.shape
        yield from value.strides
    elif isinstance(kind, types.FunctionType):
        # The address of a Python object between the two is for calls of functions without machine code.
        yield from (value.address, 0, value.entry)
    elif kind in _NUMBERS:
        yield int(np.array(value, _NUMBERS[kind]).view(np.uint64))
    else:
        raise TypeError(f"a state cannot have {kind}; expected arrays, numbers of 64 bits, functions, tuples")


_NUMBERS = {types.int64: np.int64, types.uint64: np.uint64, types.float64: np.float64}


@functools.cache
def _dtype(kind: Any) -> np.dtype[Any]:
    found: np.dtype[Any] = as_dtype(kind.dtype)
    return found


@functools.cache
def _size(kind: Any) -> int:
    """Return the size of a state, bytes; cached, because it takes 0.5 ms to compute."""
    context = cpu_target.target_context
    size: int = context.get_abi_sizeof(context.get_value_type(kind))
    return size


def _pointer(context: Any, builder: Any, entry: Any) -> Any:
    return builder.inttoptr(entry, context.get_value_type(types.voidptr))


def _place(context: Any, builder: Any, kind: Any, address: Any) -> Any:
    return builder.inttoptr(address, context.get_value_type(kind).as_pointer())
