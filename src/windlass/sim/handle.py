"""Passing a part's state to compiled code once, as an address, instead of at each call.

Unpacking thirty arrays from Python objects takes 20 to 50 µs, which is long compared with an instant of a simulation.
Therefore a :class:`Handle` writes the state, in the layout of compiled code, into a block of memory. A compiled
function receives the address of the block and reads the state with the function that :func:`opening` makes. The
functions of a policy are in the state as addresses as well.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from windlass.jit import Kernel

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
    >>> pair = types.UniTuple(types.float64[::1], 2)
    >>> opened = opening(pair)
    >>> def _first(address):
    ...     return opened(address)[0][0]
    >>> first = Kernel(_first, types.float64(types.int64), allocates=False)
    >>> with_room = Handle((np.array([3.0]), np.array([4.0])), storing(pair))
    >>> first.ready()(with_room.address)
    3.0
    """

    @intrinsic
    def opened(typing_context: Any, address: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.load(_place(context, builder, kind, arguments[0]))

        return kind(types.int64), emit

    return opened


def storing(kind: Any) -> Kernel:
    """Make the function that writes the state of a handle; the parameter is that of :func:`opening`."""

    functions = _functions(kind)
    entries = types.UniTuple(types.int64, len(functions))

    @intrinsic
    def stored(typing_context: Any, state: Any, entries: Any, address: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            whole = arguments[0]
            for number, place in enumerate(functions):
                entry = builder.extract_value(arguments[1], number)
                whole = builder.insert_value(whole, _pointer(context, builder, entry), (place, _ENTRY))
            builder.store(whole, _place(context, builder, kind, arguments[2]))
            return context.get_dummy_value()

        return types.void(kind, entries, types.int64), emit

    def store(state, entries, address):
        stored(state, entries, address)
        return 0

    return Kernel(store, types.int64(kind, entries, types.int64), allocates=False)


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
    store
        The function of :func:`storing` for the state's type.
    """

    def __init__(self, state: Any, store: Kernel) -> None:
        size = _size(store)
        # NumPy does not guarantee an alignment of 64 bytes, so allocate 64 bytes more and round the address up.
        self._memory = np.zeros(size + 64, np.uint8)
        self.address: int = -(-self._memory.ctypes.data // 64) * 64
        self._store, self._functions = store.entry(), _functions(store.signature.args[0])
        self.refill(state)

    def refill(self, state: Any) -> None:
        """Replace the state."""
        self.state = state
        self._store(state, tuple(state[place].entry for place in self._functions), self.address)


@functools.cache
def _size(store: Kernel) -> int:
    """Return the size of the state that a function stores, bytes; cached, because it takes 0.5 ms to compute."""
    context = cpu_target.target_context
    size: int = context.get_abi_sizeof(context.get_value_type(store.signature.args[0]))
    return size


def _functions(kind: Any) -> tuple[int, ...]:
    """Return the indices of the functions in a state."""
    return tuple(place for place, each in enumerate(kind) if isinstance(each, types.FunctionType))


def _pointer(context: Any, builder: Any, entry: Any) -> Any:
    return builder.inttoptr(entry, context.get_value_type(types.voidptr))


def _place(context: Any, builder: Any, kind: Any, address: Any) -> Any:
    return builder.inttoptr(address, context.get_value_type(kind).as_pointer())
