"""Calls of a part's compiled functions, of which the coordination has only the addresses."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

from windlass.sim.handle import as_value

#: Signatures of the steps of a part; the first argument is the address of its state.
RUN_UNTIL = types.int64(types.int64, types.float64, types.int64)
AT_INSTANT = types.int64(types.int64, types.float64)
HORIZON = types.float64(types.int64)
ENDED = types.int64(types.int64)


def _of(signature: Any) -> Any:
    """Make the function that turns an address of machine code into a function value of a signature."""
    kind = types.FunctionType(signature)

    @intrinsic
    def function_at(typing_context: Any, entry: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return as_value(context, builder, kind, arguments[0])

        return kind(types.int64), emit

    return function_at


run_at, step_at, horizon_at, ended_at = (_of(each) for each in (RUN_UNTIL, AT_INSTANT, HORIZON, ENDED))
