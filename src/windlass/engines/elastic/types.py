"""Types of instances, read from a user's file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from windlass.io import Fields, read_yaml
from windlass.io.field_errors import field_error
from windlass.model import InputError
from windlass.model.instances import InstanceType

_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Type(Fields):
    name: Annotated[str, Field(min_length=1)]
    gpus: _Amount = 0.0
    cores: _Amount = 0.0
    memory: _Amount = 0.0
    price: _Amount = 0.0
    launch: _Amount = 300.0
    most: Annotated[int, Field(ge=0)]


class _Types(Fields):
    types: Annotated[list[_Type], Field(min_length=1)]


def read_types(path: Path) -> tuple[InstanceType, ...]:
    """Read types of instances, smallest first.

    Parameters
    ----------
    path
        YAML: ``types``, a list of ``name``, ``gpus``, ``cores``, ``memory`` (available to jobs, bytes), ``price`` (USD
        per hour), ``launch`` (s), and ``most`` (required), the most instances of this type.

    Raises
    ------
    InputError
        The file cannot be read or is invalid; the message names file, field and value.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "types.yaml"
    >>> _ = file.write_text("types: [{name: large, cores: 8, most: 4}, {name: small, cores: 4, most: 9}]")
    >>> [kind.name for kind in read_types(file)]
    ['small', 'large']
    """
    try:
        known = _Types.model_validate(read_yaml(path))
    except ValidationError as error:
        raise InputError(f"{path}: {field_error(error, whole='the file')}") from error
    names = [each.name for each in known.types]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{path}: type {twice!r} is defined twice")
    kinds = [InstanceType(**each.model_dump()) for each in known.types]
    return tuple(sorted(kinds, key=lambda kind: tuple(kind.vector())))
