"""Learned state as bytes, with a version, validated completely before any of it is used.

The container of :mod:`windlass.io.saved_state` holds the length of a header in four bytes, the header in JSON, and the
arrays that it lists, little-endian.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from windlass.io import seal, unseal
from windlass.io.field_errors import field_error
from windlass.model import InputError

_CONTAINER = "arrays"
_LENGTH = struct.Struct("<I")
_Code = Literal["f8", "i8", "b1"]
_CODES: dict[str, _Code] = {code[0]: code for code in get_args(_Code)}
_DTYPES: dict[str, np.dtype[Any]] = {"f8": np.dtype("<f8"), "i8": np.dtype("<i8"), "b1": np.dtype("?")}

#: A part of the saved state: its name in errors, the object, and its attributes: the name of each, or a pair of its
#: name in the file and its name in the object.
Part = tuple[str, object, tuple[str | tuple[str, str], ...]]


class SavedArray(BaseModel):
    """One array: its name, type and shape."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    dtype: _Code
    shape: list[Annotated[int, Field(ge=0)]]

    @property
    def size(self) -> int:
        """Size in bytes."""
        return math.prod(self.shape) * _DTYPES[self.dtype].itemsize


class Header(BaseModel):
    """The header of saved state: its kind, version, settings and arrays."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    version: Literal[1] = 1
    settings: dict[str, Any]
    arrays: list[SavedArray]


def pack(kind: str, settings: dict[str, Any], parts: Sequence[Part]) -> bytes:
    """Return parts of an object as bytes.

    Parameters
    ----------
    kind
        Kind of object; :func:`opened` rejects another.
    settings
        Arguments of its constructor.
    parts
        Attributes that are numbers and arrays of numbers.
    """
    listed, payload = [], []
    for name, value in _values(parts):
        array = np.ascontiguousarray(value)
        code = _CODES[array.dtype.kind]
        listed.append(SavedArray(name=name, dtype=code, shape=list(np.shape(value))))
        payload.append(array.astype(_DTYPES[code]).tobytes())
    header = Header(kind=kind, settings=settings, arrays=listed).model_dump_json().encode()
    return seal(_CONTAINER, _LENGTH.pack(len(header)) + header + b"".join(payload))


def opened(data: bytes, kind: str) -> tuple[Header, list[NDArray[Any]]]:
    """Return the header and the arrays from the bytes of :func:`pack`.

    Raises
    ------
    InputError
        The data are corrupt, or of another kind or version; one line.
    """
    body = unseal(data, _CONTAINER)
    length = int.from_bytes(body[: _LENGTH.size], "little")
    try:
        header = Header.model_validate(json.loads(body[_LENGTH.size : _LENGTH.size + length]))
    except (ValidationError, ValueError, RecursionError) as error:
        reason = field_error(error) if isinstance(error, ValidationError) else "is not JSON"
        raise InputError(f"saved state: header: {reason}") from error
    if header.kind != kind:
        raise InputError(f"saved state: is of {header.kind!r}, expected {kind!r}")
    at, arrays = _LENGTH.size + length, []
    if at + sum(array.size for array in header.arrays) != len(body):
        raise InputError(f"saved state: has {len(body)} bytes, expected the size that its header lists")
    for listed in header.arrays:
        found = np.frombuffer(body, _DTYPES[listed.dtype], math.prod(listed.shape), at).reshape(listed.shape)
        if not np.isfinite(found).all():
            raise InputError(f"saved state: {listed.name} holds a number that is not finite")
        arrays.append(found.copy())
        at += listed.size
    return header, arrays


def restore(
    header: Header, arrays: Sequence[NDArray[Any]], parts: Sequence[Part], free: tuple[str, ...] = ()
) -> None:
    """Assign arrays to the attributes of an object, after validating all of them.

    Parameters
    ----------
    header, arrays
        From :func:`opened`.
    parts
        The parts that were saved, of a new object.
    free
        Names of arrays whose shape may differ from that of a new object.

    Raises
    ------
    InputError
        Names, types or shapes differ; one line.
    """
    expected = list(_values(parts))
    if [each.name for each in header.arrays] != [name for name, _ in expected]:
        raise InputError(
            f"saved state: the names of its {len(header.arrays)} arrays differ from those of this object"
        )
    for listed, (name, value) in zip(header.arrays, expected, strict=True):
        array = np.asarray(value)
        same = name in free or tuple(listed.shape) == array.shape
        if not same or listed.dtype[0] != array.dtype.kind:
            raise InputError(
                f"saved state: {name} is {listed.dtype} of shape {listed.shape}, expected {list(array.shape)}"
            )
    place = iter(arrays)
    for _, owner, attributes in parts:
        for _, attribute in map(_names, attributes):
            found = next(place)
            setattr(owner, attribute, found if found.ndim else found.item())


def _values(parts: Sequence[Part]) -> list[tuple[str, Any]]:
    """Return the name in the file and the value of each attribute."""
    return [
        (f"{part}.{name}", getattr(owner, attribute))
        for part, owner, attributes in parts
        for name, attribute in map(_names, attributes)
    ]


def _names(attribute: str | tuple[str, str]) -> tuple[str, str]:
    """Return the name of an attribute in the file and in the object."""
    return (attribute, attribute) if isinstance(attribute, str) else attribute
