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
from collections.abc import Callable, Mapping
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
    one number. NumPy's own attribute access takes fifteen times as long. Each number has 64 bits, so that two views of
    the record, as integers and as floating-point numbers, serve all of them.

    Attributes
    ----------
    dtype
        The NumPy type of the record.
    """

    __slots__ = ("_floats", "_integers")
    dtype: ClassVar[np.dtype[Any]]
    _initial: ClassVar[NDArray[np.void]]

    def __init_subclass__(cls) -> None:
        kinds = inspect.get_annotations(cls, eval_str=True)
        entries = np.dtype([(name, np.dtype(kind)) for name, kind in kinds.items()], align=True)
        cls.dtype = np.dtype((np.record, entries))
        cls._initial = np.array([tuple(cls.__dict__.get(name, 0) for name in kinds)], cls.dtype)
        for place, (name, kind) in enumerate(kinds.items()):
            setattr(cls, name, _NUMBER_OF[kind](place))

    def __init__(self, record: NDArray[np.void]) -> None:
        integers: Any = record.view(np.int64)
        floats: Any = record.view(np.float64)
        self._integers, self._floats = memoryview(integers), memoryview(floats)

    @classmethod
    def of(cls, record: NDArray[np.void]) -> Self:
        """Wrap a record for Python; both share the memory."""
        return cls(record)

    @classmethod
    def array(cls, count: int = 1) -> NDArray[np.void]:
        """Return an array of records with initial values; most states have a single one."""
        return cls._initial.repeat(count)


def _integer(place: int) -> property:
    def read(self: Scalars) -> Any:
        return self._integers[place]

    def write(self: Scalars, value: Any) -> None:
        self._integers[place] = value

    return property(read, write)


def _float(place: int) -> property:
    def read(self: Scalars) -> Any:
        return self._floats[place]

    def write(self: Scalars, value: Any) -> None:
        self._floats[place] = value

    return property(read, write)


#: By the kind of a number: makes the property that reads and writes it, from its place in the record.
_NUMBER_OF: dict[Any, Callable[[int], property]] = {int: _integer, float: _float}


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
    for name, column, dtype, line in declared.columns:
        if line is not None:
            shape: tuple[int, ...] = (sizes[line],)
        else:
            shape = tuple([sizes[axis] if isinstance(axis, str) else axis for axis in column.axes])
        array = made.get(name)
        made[name] = (
            _filled(shape, dtype, column.fill)
            if array is None
            else _as_column(state, name, array, dtype, shape)
        )
    for name, record in declared.records:
        if name not in made:
            made[name] = record.array()
    return state(**made)


def _as_column(
    state: type, name: str, given: object, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> NDArray[Any]:
    """Return a given array in the declared type."""
    array: Any = given
    kept = isinstance(array, np.ndarray) and (array.dtype is dtype or array.dtype == dtype)
    if not kept or not array.flags.c_contiguous:
        array = np.ascontiguousarray(array, dtype)
    if array.shape != shape:
        raise ValueError(f"{state.__name__}.{name}: shape {array.shape}, expected {shape}")
    return cast("NDArray[Any]", array)


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
    for name, column, dtype, _ in _declared(kind).columns:
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
    """The arrays and the records of a state, cached because reading the annotations takes 100 µs.

    The last entry of an array is the name of its axis if it has one dimension, as most have.
    """

    columns: tuple[tuple[str, Column, np.dtype[Any], str | None], ...]
    records: tuple[tuple[str, type[Scalars]], ...]


@functools.cache
def _declared(state: type) -> _Declared:
    hints = typing.get_type_hints(state, include_extras=True).items()
    notes = [(name, hint, _note(hint)) for name, hint in hints]
    return _Declared(
        tuple(
            (name, note, _dtype(hint, note), _line(note))
            for name, hint, note in notes
            if isinstance(note, Column)
        ),
        tuple((name, note) for name, _, note in notes if _is_kind(note, Scalars)),
    )


def _line(column: Column) -> str | None:
    """Return the name of the only axis of a column; None for several axes, or for a fixed size."""
    axis = column.axes[0]
    return axis if len(column.axes) == 1 and isinstance(axis, str) else None


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
