"""The models below the type of a field, by which paths to fields and suggestions are found."""

from __future__ import annotations

import types
import typing
from typing import Any

from pydantic import BaseModel

from windlass.experiment.worlds.policy import PolicySpec


def models_of(annotation: Any) -> list[type[BaseModel]]:
    """Return the models that a field may hold; none for a value, a list or a policy.

    Parameters
    ----------
    annotation
        The type of the field.

    Examples
    --------
    >>> models_of(int | BaseModel)
    [<class 'pydantic.main.BaseModel'>]
    """
    if isinstance(annotation, type):
        return [annotation] if issubclass(annotation, BaseModel) and annotation is not PolicySpec else []
    if typing.get_origin(annotation) in (typing.Union, types.UnionType, typing.Annotated):
        return [found for each in typing.get_args(annotation) for found in models_of(each)]
    return []


def entries_of(annotation: Any) -> list[Any]:
    """Return the types of the entries of a field that is a mapping from names; none for others.

    Parameters
    ----------
    annotation
        The type of the field.

    Examples
    --------
    >>> entries_of(dict[str, int] | None)
    [<class 'int'>]
    """
    return _inside(annotation, (dict,), 1)


def items_of(annotation: Any) -> list[Any]:
    """Return the types of the entries of a field that is a list of any length; none for others.

    Parameters
    ----------
    annotation
        The type of the field.

    Examples
    --------
    >>> items_of(tuple[int, ...] | None)
    [<class 'int'>]
    """
    return _inside(annotation, (list, tuple), 0)


def _inside(annotation: Any, containers: tuple[type[Any], ...], place: int) -> list[Any]:
    """Return the type of the entries of each container that the field may hold."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in containers:
        return [arguments[place]]
    if origin is typing.Annotated:
        return _inside(arguments[0], containers, place)
    if origin in (typing.Union, types.UnionType):
        return [found for each in arguments for found in _inside(each, containers, place)]
    return []
