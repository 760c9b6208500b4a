"""Declarations of compiled state, from which its Numba type, allocation and growth follow.

A state is a ``NamedTuple``. Each field is one of these:

- an array, annotated with :func:`column`: its axes, and the initial value of its entries;
- a record of numbers, annotated with a subclass of :class:`Scalars`;
- a compiled function, annotated with its Numba signature;
- another state;
- in a view, whose fields never change, also a plain ``int`` or ``float``.

Compiled code reads ``state.length[worker]`` and ``state.clock[0].now``. Python reads a record through its class.

A declaration and its use::

    class Clock(Scalars):
        now: float = 0.0
        jobs: int = 0

    class Machine(NamedTuple):
        ends: Annotated[NDArray[np.float64], column("jobs", fill=np.nan)]
        clock: Annotated[NDArray[np.void], Clock]

    machine = allocate(Machine, {"jobs": 2})
    machine.clock[0].jobs = 2           # in compiled code
    Clock.of(machine.clock).jobs        # in Python: 2
    grown(machine, jobs=5)
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self, TypeVar, cast

import numba
import numpy as np
from numba import types
from numba.core.typing import Signature
from numpy.typing import DTypeLike, NDArray

State = TypeVar("State", bound=tuple[Any, ...])
Axis = str | int
_NUMBERS: dict[Any, Any] = {int: types.int64, float: types.float64}


@dataclass(frozen=True, slots=True)
class Column:
    """An array of a state; see :func:`column`."""

    axes: tuple[Axis, ...]
    fill: float | None
    dtype: np.dtype[Any] | None


def column(*axes: Axis, fill: float | None = 0, dtype: DTypeLike | None = None) -> Column:
    """Declare an array.

    Parameters
    ----------
    axes
        For each dimension a name, whose size :func:`allocate` receives, or a fixed size.
    fill
        Initial value of each entry; None leaves memory uninitialised, for entries written before they are read.
    dtype
        The type of an entry if the annotation cannot name it, such as a record.
    """
    return Column(axes, fill, None if dtype is None else np.dtype(dtype))


class Scalars:
    """Base class of a record of numbers: one annotation per number, ``int`` or ``float``, with an initial value.

    In a state, a record is an array with one entry. :meth:`of` wraps it for Python, where an attribute reads or writes
    one number. NumPy's own attribute access takes fifteen times as long.

    Attributes
    ----------
    dtype
        The NumPy type of the record.
    """

    __slots__ = ("_numbers", "_record")
    dtype: ClassVar[np.dtype[Any]]
    _initial: ClassVar[NDArray[np.void]]
    _numbers: tuple[memoryview, ...]

    def __init_subclass__(cls) -> None:
        kinds = inspect.get_annotations(cls, eval_str=True)
        entries = np.dtype([(name, np.dtype(kind)) for name, kind in kinds.items()], align=True)
        cls.dtype = np.dtype((np.record, entries))
        cls._initial = np.array([tuple(cls.__dict__.get(name, 0) for name in kinds)], cls.dtype)
        for place, name in enumerate(kinds):
            setattr(cls, name, _number(place))

    def __init__(self, record: NDArray[np.void]) -> None:
        self._record = record

    def __getattr__(self, name: str) -> Any:
        """Make the views of the numbers when the first is used: many records are used by compiled code alone."""
        if name != "_numbers":
            raise AttributeError(f"{type(self).__name__} has no number {name!r}")
        columns: list[Any] = [self._record[each] for each in self.dtype.names or ()]
        self._numbers = tuple(memoryview(each) for each in columns)
        return self._numbers

    @classmethod
    def of(cls, record: NDArray[np.void]) -> Self:
        """Wrap a record for Python; both share the memory."""
        return cls(record)

    @classmethod
    def array(cls) -> NDArray[np.void]:
        """Return a record with initial values, as an array with one entry."""
        return cls._initial.copy()


def _number(place: int) -> property:
    def read(self: Scalars) -> Any:
        return self._numbers[place][0]

    def write(self: Scalars, value: Any) -> None:
        self._numbers[place][0] = value

    return property(read, write)


@functools.cache
def numba_type(state: type) -> types.NamedTuple:
    """Return the Numba type of a state.

    Parameters
    ----------
    state
        A ``NamedTuple`` class, as described in the documentation of this module.

    Raises
    ------
    TypeError
        The annotation of a field is none of those.
    """
    hints = typing.get_type_hints(state, include_extras=True).items()
    return types.NamedTuple([_numba_type_of(state, name, hint) for name, hint in hints], state)


def allocate(state: type[State], sizes: Mapping[str, int], **given: object) -> State:
    """Return a state with initial values.

    Parameters
    ----------
    state
        The class of the state.
    sizes
        Length of each named axis.
    given
        Values of fields: functions, states, and arrays that replace the initial ones. Arrays are converted to the
        declared type, and copied only if necessary.

    Raises
    ------
    ValueError
        A given array does not have the declared shape.
    TypeError
        A function or a state is missing, or a field is unknown.
    KeyError
        The size of an axis is missing.
    """
    declared, made = _declared(state), dict(given)
    for name, column, dtype in declared.columns:
        shape = tuple([sizes[axis] if isinstance(axis, str) else axis for axis in column.axes])
        array = made.get(name)
        if array is None:
            array = _filled(shape, dtype, column.fill)
        else:
            if not isinstance(array, np.ndarray) or array.dtype != dtype or not array.flags.c_contiguous:
                array = np.ascontiguousarray(cast(Any, array), dtype)
            if array.shape != shape:
                raise ValueError(f"{state.__name__}.{name}: shape {array.shape}, expected {shape}")
        made[name] = array
    for name, record in declared.records:
        made.setdefault(name, record.array())
    return state(**made)


def grown(state: State, **sizes: int) -> State:
    """Return the state with longer axes; new entries have their initial value. Other arrays are shared.

    Parameters
    ----------
    state
        The state.
    sizes
        New length of each axis that grows.
    """
    kind, longer = type(state), dict[str, object]()
    for name, column, dtype in _declared(kind).columns:
        if not sizes.keys().isdisjoint(column.axes):
            old = getattr(state, name)
            shape = tuple(
                sizes[axis] if isinstance(axis, str) and axis in sizes else size
                for axis, size in zip(column.axes, old.shape, strict=True)
            )
            new = _filled(shape, dtype, column.fill)
            new[tuple(slice(size) for size in old.shape)] = old
            longer[name] = new
    replaced: State = cast(Any, state)._replace(**longer)
    return replaced


@dataclass(frozen=True, slots=True)
class _Declared:
    """The arrays and the records of a state, cached because reading the annotations takes 100 µs."""

    columns: tuple[tuple[str, Column, np.dtype[Any]], ...]
    records: tuple[tuple[str, type[Scalars]], ...]


@functools.cache
def _declared(state: type) -> _Declared:
    hints = typing.get_type_hints(state, include_extras=True).items()
    notes = [(name, hint, _note(hint)) for name, hint in hints]
    return _Declared(
        tuple((name, note, _dtype(hint, note)) for name, hint, note in notes if isinstance(note, Column)),
        tuple((name, note) for name, _, note in notes if _is_kind(note, Scalars)),
    )


def _note(hint: Any) -> Any:
    """Return the metadata of an annotation: a column, a record or a signature; the type itself if it has none."""
    return hint.__metadata__[0] if typing.get_origin(hint) is Annotated else hint


def _is_kind(note: Any, kind: type) -> bool:
    return isinstance(note, type) and issubclass(note, kind)


def _dtype(hint: Any, column: Column) -> np.dtype[Any]:
    if column.dtype is not None:
        return column.dtype
    array = typing.get_args(hint)[0]
    # NDArray[kind] is ndarray[shape, dtype[kind]] before NumPy 2.5, and an alias with the argument kind since.
    last = typing.get_args(array)[-1]
    entry: np.dtype[Any] = np.dtype((*typing.get_args(last), last)[0])
    return entry


def _numba_type_of(state: type, name: str, hint: Any) -> Any:
    note = _note(hint)
    if isinstance(note, Column):
        return types.Array(numba.from_dtype(_dtype(hint, note)), len(note.axes), "C")
    if _is_kind(note, Scalars):
        return types.Array(numba.from_dtype(note.dtype), 1, "C")
    if isinstance(note, Signature):
        return types.FunctionType(note)
    if _is_kind(note, tuple):
        return numba_type(note)
    if note in _NUMBERS:
        return _NUMBERS[note]
    raise TypeError(
        f"{state.__name__}.{name}: expected a column, a record, a number, a signature or a state, found {note}"
    )


def _filled(shape: tuple[int, ...], dtype: np.dtype[Any], fill: float | None) -> NDArray[Any]:
    if fill is not None and not fill:
        return np.zeros(shape, dtype)
    made = np.empty(shape, dtype)
    if fill is not None:
        made.fill(fill)
    return made
