"""A part's state crosses into compiled code once, as an address, not at each call.

To unpack thirty arrays from Python objects takes some 20 to 50 µs, a synchronisation of a part an instant or two. So
a :class:`Handle` writes the state, as compiled code holds it, into a piece of memory; a compiled function is given
its address and reads it from there with the function that :func:`opening` makes. Functions that the state refers to,
a policy's, are in it as addresses too.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from windlass.jit import Kernel

#: Where a function, as compiled code holds it, has the address of its machine code. Python gives only that of a wrapper
#: for C, through which a call takes 5 to 10 ns longer.
_ENTRY = 2


def opening(kind: Any) -> Any:
    """Makes the function that compiled code opens a handle with: from its address to the state.

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
    """Makes the function that a handle is filled with; the parameter is that of :func:`opening`."""

    functions = _functions(kind)
    entries = types.UniTuple(types.int64, len(functions))

    @intrinsic
    def stored(typing_context: Any, state: Any, entries: Any, address: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            whole = arguments[0]
            for number, place in enumerate(functions):
                entry = builder.extract_value(arguments[1], number)
                pointer = builder.inttoptr(entry, context.get_value_type(types.voidptr))
                whole = builder.insert_value(whole, pointer, (place, _ENTRY))
            builder.store(whole, _place(context, builder, kind, arguments[2]))
            return context.get_dummy_value()

        return types.void(kind, entries, types.int64), emit

    def store(state, entries, address):
        stored(state, entries, address)
        return 0

    return Kernel(store, types.int64(kind, entries, types.int64), allocates=False)


class Handle:
    """State of a part where compiled code finds it.

    Parameters
    ----------
    state
        A tuple of arrays, numbers and functions as :meth:`~windlass.jit.Kernel.as_argument` gives them; it is
        kept. Its arrays stay its own: what compiled code writes into them is seen at once. A tuple with other arrays
        needs :meth:`refill`.
    store
        The function of :func:`storing` for the state's type.
    """

    def __init__(self, state: Any, store: Kernel) -> None:
        size = _size(store)
        # 64 bytes more than the state, as memory need not begin at a multiple of what it is aligned to.
        self._memory = np.zeros(size + 64, np.uint8)
        self.address: int = -(-self._memory.ctypes.data // 64) * 64
        self._store, self._functions = store.entry(), _functions(store.signature.args[0])
        self.refill(state)

    def refill(self, state: Any) -> None:
        """Put another state in the place of this one."""
        self.state = state
        self._store(state, tuple(state[place].entry for place in self._functions), self.address)


@functools.cache
def _size(store: Kernel) -> int:
    """Bytes of the state that a function stores; working it out takes half a millisecond."""
    context = cpu_target.target_context
    size: int = context.get_abi_sizeof(context.get_value_type(store.signature.args[0]))
    return size


def _functions(kind: Any) -> tuple[int, ...]:
    """Places of the functions in a state."""
    return tuple(place for place, each in enumerate(kind) if isinstance(each, types.FunctionType))


def _place(context: Any, builder: Any, kind: Any, address: Any) -> Any:
    return builder.inttoptr(address, context.get_value_type(kind).as_pointer())
