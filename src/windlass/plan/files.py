"""Queries and clusters as YAML files, validated with errors that name file, field and value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, ValidationError, model_validator

from windlass.io import Fields, read_yaml
from windlass.io.field_errors import field_error
from windlass.model import InputError
from windlass.model.queries import Cluster, Component, Hierarchy, Query, QueryPlan
from windlass.plan.profile import stream_plans

_NotNegative = Annotated[float, Field(ge=0)]


class ClusterOf(Fields):
    """A cluster of a file; a rate that is left out is unlimited."""

    name: Annotated[str, Field(min_length=1)]
    cores: _NotNegative
    up: _NotNegative | None = None
    down: _NotNegative | None = None
    parent: str | None = None


class HierarchyOf(Fields):
    """All clusters of a file."""

    clusters: Annotated[tuple[ClusterOf, ...], Field(min_length=1)]


class ComponentOf(Fields):
    """A component of a plan: its name with its knobs, its cores, and its output in bytes/s."""

    name: Annotated[str, Field(min_length=1)]
    cores: _NotNegative
    output: _NotNegative = 0.0


class PlanOf(Fields):
    """A plan: one way to run a query."""

    accuracy: Annotated[float, Field(ge=0, le=1)]
    components: Annotated[tuple[ComponentOf, ...], Field(min_length=1)]


class QueryOf(Fields):
    """A query, with its own plans or a profile that contains them."""

    name: Annotated[str, Field(min_length=1)]
    camera: str
    source: _NotNegative = 0.0
    to_root: bool = False
    clip: Path | None = None
    truth: Path | None = None
    pipeline: Path | None = None
    plans: Annotated[tuple[PlanOf, ...], Field(min_length=1)] | None = None
    profile: Path | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.plans is None) == (self.profile is None):
            raise ValueError("expected either 'plans' or 'profile'")
        return self


class QueriesOf(Fields):
    """All queries of a file."""

    queries: Annotated[tuple[QueryOf, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _own_names(self) -> Self:
        names = [query.name for query in self.queries]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"query {twice!r} appears {names.count(twice)} times")
        return self


def read_hierarchy(path: Path) -> Hierarchy:
    """Read the clusters of a file.

    Parameters
    ----------
    path
        A YAML file with ``clusters``, a list of ``name``, ``cores`` and optionally ``parent``, ``up``
        (bytes/s to the parent) and ``down`` (bytes/s in from all children together).

    Returns
    -------
    Hierarchy
        In the order of the file.

    Raises
    ------
    InputError
        The file cannot be read or a value is invalid; the message names file, field and value.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "hierarchy.yaml"
    ...     _ = file.write_text("clusters: [{name: cloud, cores: 9}, {name: cam, cores: 2, up: 75000, parent: cloud}]")
    ...     read_hierarchy(file).clusters[1].up
    75000.0
    """
    found = _validated(HierarchyOf, read_yaml(path), path)
    infinite = float("inf")
    try:
        return Hierarchy(
            tuple(
                Cluster(
                    each.name,
                    each.cores,
                    infinite if each.up is None else each.up,
                    infinite if each.down is None else each.down,
                    each.parent,
                )
                for each in found.clusters
            )
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def read_queries(path: Path) -> tuple[Query, ...]:
    """Read the queries of a file.

    Parameters
    ----------
    path
        A YAML file with ``queries``, a list of ``name``, ``camera``, optionally ``source`` (bytes/s into the
        first component) and ``to_root`` (true if results are sent to the root), and either ``plans``, a list of
        ``accuracy`` and ``components``, each with ``name``, ``cores`` and ``output`` (bytes/s), or ``profile``,
        a measured profile (.parquet), relative to this file.

    Returns
    -------
    tuple of Query
        In the order of the file.

    Raises
    ------
    InputError
        The file cannot be read or a value is invalid; the message names file, field and value.

    Examples
    --------
    >>> import tempfile
    >>> text = "queries: [{name: cars, camera: c, plans: [{accuracy: 0.9, components: [{name: detect, cores: 3}]}]}]"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "queries.yaml"
    ...     _ = file.write_text(text)
    ...     read_queries(file)[0].plans[0].accuracy
    0.9
    """
    found = _validated(QueriesOf, read_yaml(path), path)
    profiles: dict[Path, tuple[QueryPlan, ...]] = {}
    queries = []
    for place, each in enumerate(found.queries):
        if each.profile is None:
            plans = tuple(_plan(plan) for plan in each.plans or ())
        else:
            # Queries often share a profile, so each is read once.
            file = path.parent / each.profile
            if file not in profiles:
                profiles[file] = _profile(file, f"{path}: queries.{place}.profile")
            plans = profiles[file]
        try:
            queries.append(Query(each.name, each.camera, plans, each.source, each.to_root))
        except InputError as error:
            raise InputError(f"{path}: queries.{place}: {error}") from error
    return tuple(queries)


@dataclass(frozen=True, slots=True)
class QueryRecording:
    """Files with which a query runs: a clip, its true tracks, and the pipeline that defines the query's plans."""

    clip: Path
    truth: Path
    pipeline: Path


def read_recorded(path: Path) -> tuple[QueryRecording, ...]:
    """Read the recording of each query of a file.

    Parameters
    ----------
    path
        The file of :func:`read_queries`; each query also has ``clip``, ``truth`` and ``pipeline``, relative
        to it.

    Returns
    -------
    tuple of QueryRecording
        In the order of the file.

    Raises
    ------
    InputError
        The file cannot be read, or a query lacks one of these; the message names file and field.

    Examples
    --------
    >>> import tempfile
    >>> text = "queries: [{name: cars, camera: c, plans: [{accuracy: 0.9, components: [{name: detect, cores: 3}]}]}]"
    >>> file = Path(tempfile.mkdtemp()) / "queries.yaml"
    >>> _ = file.write_text(text)
    >>> read_recorded(file)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    windlass.model.errors.InputError: ...queries.yaml: queries.0.clip: missing, expected a file
    """
    found = _validated(QueriesOf, read_yaml(path), path)
    recorded = []
    for place, each in enumerate(found.queries):
        given = {"clip": each.clip, "truth": each.truth, "pipeline": each.pipeline}
        for name, file in given.items():
            if file is None:
                raise InputError(f"{path}: queries.{place}.{name}: missing, expected a file")
        recorded.append(QueryRecording(*(path.parent / file for file in given.values())))
    return tuple(recorded)


def _plan(of: PlanOf) -> QueryPlan:
    return QueryPlan(
        of.accuracy, tuple(Component(each.name, each.cores, each.output) for each in of.components)
    )


def _profile(file: Path, field: str) -> tuple[QueryPlan, ...]:
    try:
        return stream_plans(file)
    except InputError as error:
        raise InputError(f"{field}: {error}") from error


def _validated(model: type[BaseModel], tree: Any, path: Path) -> Any:
    if not isinstance(tree, dict):
        raise InputError(f"{path}: expected a mapping of fields, found {type(tree).__name__}")
    try:
        return model.model_validate(tree)
    except ValidationError as error:
        raise InputError(f"{path}: {field_error(error)}") from error
