"""Compiled functions that refer to each other and to constants in every way that there is, and edits of them."""

from __future__ import annotations

from typing import NamedTuple

FILES = {
    "at.py": '''
"""Constants."""
import enum
import numpy as np
LIMIT = 10.0
FACTOR = 2.0
DEEP = 3.0
LOCAL = 4.0
BY_NAME = 5.0
UNUSED = 6.0
class Color(enum.IntEnum):
    RED = 1
    BLUE = 2
''',
    "lib.py": '''
"""Helpers."""
from typing import NamedTuple
import numpy as np
from numba import types
from numba.extending import intrinsic
from windlass.jit import allocating, helper, inlined, lean
from pkg import at
from pkg import deep

class Pair(NamedTuple):
    first: float
    second: float

@helper
def lowest(x):
    """Deepest of three."""
    return x + 0.5

@helper
def middle(x):
    return lowest(x) * 2.0

@lean
def limited(x):
    return min(x, at.LIMIT) + at.FACTOR

@helper
def by_default(x, more=7.0):
    return x + more

@inlined
def copied(x):
    return x * 3.0

@allocating
def summed(x):
    values = np.zeros(3)
    values[:] = x
    return values[0] + values[2]

@helper
def unrelated(x):
    return x - 1.0

@intrinsic
def emitted(context, x):
    def emit(context, builder, signature, arguments):
        return builder.fadd(arguments[0], arguments[0].type(1.25))
    return x(x), emit

@helper
def taking_first(pair):
    return pair.first
''',
    "deep/__init__.py": "",
    "deep/more.py": "DEPTH = 0.125\n",
    "one.py": '''
"""Kernels."""
import numpy as np
from numba import from_dtype, types
from windlass.jit import Kernel
from pkg import at, deep, lib
from pkg import lib as other
from pkg.at import Color, DEEP
from pkg.lib import Pair, copied, middle
import pkg.deep.more

OWN = 1.0
SCALAR = np.float32(1.5)
ARRAY = np.array([1.0, 2.0, 3.0])
TUPLE = (1.0, (2.0, 3.0))
HELD = Pair(1.0, 2.0)
MODE = "add"
RECORD = np.dtype([("a", np.float64), ("b", np.float64)])
_number, _floats = types.float64, types.float64[::1]
_plain = _number(_number)
_pair = types.NamedUniTuple(_number, 2, Pair)

def literal(x):
    return x + 1.0

def own_global(x):
    return x + OWN

def from_import(x):
    return x + DEEP

def helped(x):
    return middle(x)

def through_module(x):
    return other.by_default(x)

def constants_of_helper(x):
    return lib.limited(x)

def scalar(x):
    return x + SCALAR

def array(x):
    return x + ARRAY[1]

def of_tuple(x):
    return x + TUPLE[1][0]

def held(x):
    return x + HELD.first

def pair_given(x):
    return x.first

def pair_made(x):
    return lib.taking_first(Pair(x, -x))

def record_given(x):
    return x[0].a

def inlining(x):
    return copied(x)

def making_arrays(x):
    return lib.summed(x)

def intrinsic(x):
    return lib.emitted(x)

def by_text(x):
    return x + 1.0 if MODE == "add" else x - 1.0

def of_enum(x):
    return x + Color.RED.value

def documented(x):
    """add"""
    return x + 1.0 if MODE == "add" else x - 2.0

def deeply(x):
    return x + pkg.deep.more.DEPTH

def in_comprehension(x):
    return [x + 2.0 + OWN for _ in range(2)][1]

def nested(x):
    def inside(y):
        return y + 2.25
    return inside(x)

def module_in_variable(x):
    module = at
    return x + module.LOCAL

def by_name(x):
    return x + getattr(at, "BY_NAME")

def factory(step):
    def made(x):
        return x + step
    return made

def calling(function, x):
    return function(x)

KERNELS = {
    python.__name__: Kernel(python, _plain)
    for python in (
        literal, own_global, from_import, helped, through_module, constants_of_helper, scalar, array, of_tuple, held,
        pair_made, inlining, making_arrays, intrinsic, by_text, of_enum, documented, deeply, in_comprehension, nested,
        module_in_variable, by_name,
    )
}
KERNELS["pair_given"] = Kernel(pair_given, _number(_pair))
KERNELS["record_given"] = Kernel(record_given, _number(types.Array(from_dtype(RECORD), 1, "C")))
KERNELS["closure"] = Kernel(factory(1.75), _plain)
KERNELS["calling"] = Kernel(calling, _number(types.FunctionType(_number(_pair)), _pair))

def results():
    """What each kernel makes of 2; of (2, 5) where it takes two."""
    given = {
        "pair_given": (Pair(2.0, 5.0),),
        "record_given": (np.array([(2.0, 5.0)], RECORD),),
        "calling": (KERNELS["pair_given"].ready(), Pair(2.0, 5.0)),
    }
    return {name: float(kernel.ready()(*given.get(name, (2.0,)))) for name, kernel in KERNELS.items()}
''',
}


class Edit(NamedTuple):
    """A change of one file, and which kernels' results it changes."""

    file: str
    old: str
    new: str
    changes: tuple[str, ...]


#: One for each way to refer to something. All of them can be made together.
EDITS = (
    Edit(
        "one.py", "def literal(x):\n    return x + 1.0", "def literal(x):\n    return x + 1.5", ("literal",)
    ),
    Edit("one.py", "OWN = 1.0", "OWN = -1.0", ("own_global", "in_comprehension")),
    Edit("at.py", "DEEP = 3.0", "DEEP = 30.0", ("from_import",)),
    Edit("lib.py", "return x + 0.5", "return x + 0.25", ("helped",)),
    Edit("lib.py", "more=7.0", "more=8.0", ("through_module",)),
    Edit("at.py", "FACTOR = 2.0", "FACTOR = 2.5", ("constants_of_helper",)),
    Edit("one.py", "SCALAR = np.float32(1.5)", "SCALAR = np.float32(2.5)", ("scalar",)),
    Edit("one.py", "ARRAY = np.array([1.0, 2.0, 3.0])", "ARRAY = np.array([1.0, 2.5, 3.0])", ("array",)),
    Edit("one.py", "TUPLE = (1.0, (2.0, 3.0))", "TUPLE = (1.0, (2.25, 3.0))", ("of_tuple",)),
    Edit("one.py", "HELD = Pair(1.0, 2.0)", "HELD = Pair(first=1.125, second=2.0)", ("held",)),
    Edit(
        "lib.py",
        "    first: float\n    second: float",
        "    second: float\n    first: float",
        ("pair_given", "pair_made", "calling", "held"),
    ),
    Edit(
        "one.py",
        '[("a", np.float64), ("b", np.float64)]',
        '[("b", np.float64), ("a", np.float64)]',
        ("record_given",),
    ),
    Edit("lib.py", "return x * 3.0", "return x * 3.5", ("inlining",)),
    Edit("lib.py", "return values[0] + values[2]", "return values[0] - values[2]", ("making_arrays",)),
    Edit("lib.py", "type(1.25)", "type(1.5)", ("intrinsic",)),
    Edit("one.py", 'MODE = "add"', 'MODE = "take"', ("by_text", "documented")),
    Edit("at.py", "RED = 1", "RED = 3", ("of_enum",)),
    Edit("deep/more.py", "DEPTH = 0.125", "DEPTH = 0.25", ("deeply",)),
    Edit("one.py", "return y + 2.25", "return y + 2.5", ("nested",)),
    Edit("at.py", "LOCAL = 4.0", "LOCAL = 4.5", ("module_in_variable",)),
    Edit("at.py", "BY_NAME = 5.0", "BY_NAME = 5.5", ("by_name",)),
    Edit("one.py", "factory(1.75)", "factory(1.5)", ("closure",)),
)

#: Changes of the text that change no code.
IDLE = (
    Edit("lib.py", "Deepest of three.", "The deepest.", ()),
    Edit("lib.py", '"""Helpers."""', '"""Helpers,\n\nfurther down."""\n\n# They are few.', ()),
    Edit("lib.py", "return x - 1.0", "return x - 1.5", ()),
    Edit("at.py", "UNUSED = 6.0", "UNUSED = 7.0", ()),
    Edit("one.py", "def own_global(x):\n", "def own_global(x):\n    # As given.\n\n", ()),
    Edit(
        "one.py",
        '"""Kernels."""',
        '"""Kernels."""\n\ndef further(x):\n    return middle(x) + LATER\n\nLATER = 1',
        (),
    ),
)
