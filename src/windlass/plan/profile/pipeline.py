"""Parsing of pipeline files into all their plans. Needs OpenCV (the extra ``vision``).

```yaml
name: tracker
decode: {scale: [1, 0.5], every: [1, 2, 3]}
detect:
- mog2: {least: [0.001, 0.002]}
- hog
associate:
- overlap
- histogram: {alike: 0.6}
```

Each list of a knob's values is swept. A plan is a decoder, a detector and an associator, each with one value
per knob. ``golden`` may name one more plan in the same form, which labels clips without true tracks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from windlass.io import read_yaml
from windlass.io.field_errors import field_error
from windlass.model import InputError
from windlass.model.nearest import did_you_mean
from windlass.plan.profile.options import ASSOCIATORS, DETECTORS, Decode, Option, sending, way_of
from windlass.plan.profile.steps.step import PipelineStep

Kind = TypeVar("Kind", bound=Option)


@dataclass(frozen=True, slots=True)
class PlanComponent:
    """A component of a plan: its name with its knobs, and its steps."""

    name: str
    steps: tuple[PipelineStep, ...]


@dataclass(frozen=True, slots=True)
class TrackerPlan:
    """A plan of a tracker: every n-th frame passes through these components in turn."""

    every: int
    parts: tuple[PlanComponent, ...]

    @property
    def label(self) -> str:
        """The names of all components."""
        return ", ".join(part.name for part in self.parts)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A pipeline: all plans of a query.

    Parameters
    ----------
    name
        Its name.
    plans
        The plans to profile.
    golden
        The plan whose tracks are the labels of clips without true tracks; None if the file has none.

    Examples
    --------
    >>> found = read_tree({"name": "t", "detect": [{"knn": {"least": [0.01, 0.02]}}], "associate": ["orb"]}, "t.yaml")
    >>> [plan.label for plan in found.plans]  # doctest: +NORMALIZE_WHITESPACE
    ['decode, detect knn least=0.01 with crops, associate orb',
     'decode, detect knn least=0.02 with crops, associate orb']
    """

    name: str
    plans: tuple[TrackerPlan, ...]
    golden: TrackerPlan | None = None


def read_pipeline(path: str | PathLike[str]) -> Pipeline:
    """Read a pipeline's file.

    Parameters
    ----------
    path
        YAML file in the format shown in the module.

    Raises
    ------
    InputError
        The file cannot be read, or a name, knob or value is invalid; the message names file, field and value.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{file}: {'is a directory, expected a file' if file.is_dir() else 'no such file'}")
    return read_tree(read_yaml(file), str(file))


def read_tree(tree: object, where: str) -> Pipeline:
    """Parse a pipeline like :func:`read_pipeline`, from loaded YAML; ``where`` names the source in errors."""
    if not isinstance(tree, dict):
        raise InputError(f"{where}: is {tree!r}, expected name, decode, detect and associate")
    unknown = [key for key in tree if key not in ("name", "decode", "detect", "associate", "golden")]
    if unknown:
        raise InputError(
            f"{where}: {unknown[0]!r} is unknown, expected name, decode, detect, associate or golden"
        )
    golden = None if tree.get("golden") is None else _one_plan(tree["golden"], f"{where}: golden")
    return Pipeline(str(tree.get("name", Path(where).stem)), tuple(_plans(tree, where)), golden)


def _one_plan(tree: object, where: str) -> TrackerPlan:
    if not isinstance(tree, dict) or not set(tree) <= {"decode", "detect", "associate"}:
        raise InputError(f"{where} is {tree!r}, expected decode, detect and associate")
    plans = _plans(tree, where)
    if len(plans) != 1:
        raise InputError(f"{where} has {len(plans)} plans, expected one")
    return plans[0]


def _plans(tree: dict[Any, Any], where: str) -> list[TrackerPlan]:
    decoders = _swept(Decode, tree.get("decode"), f"{where}: decode")
    detectors = _ways(DETECTORS, tree.get("detect"), f"{where}: detect")
    associators = _ways(ASSOCIATORS, tree.get("associate"), f"{where}: associate")
    plans = []
    for decoder, detector, associator in product(decoders, detectors, associators):
        parts = (
            PlanComponent(decoder.name, decoder.steps()),
            PlanComponent(*sending(detector, associator)),
            PlanComponent(associator.name, associator.steps()),
        )
        plans.append(TrackerPlan(decoder.every, parts))
    return plans


def _ways(kinds: Sequence[type[Kind]], given: object, where: str) -> list[Kind]:
    """Return all listed options, each with all values of its knobs."""
    known = {way_of(kind): kind for kind in kinds}
    if not isinstance(given, list) or not given:
        raise InputError(f"{where} is {given!r}, expected a list of {', '.join(known)}")
    found: list[Kind] = []
    for each in given:
        named = (
            each
            if isinstance(each, dict) and len(each) == 1
            else {each: {}}
            if isinstance(each, str)
            else None
        )
        if named is None:
            raise InputError(
                f"{where}: {each!r}, expected a name, or a name with knobs, as in mog2: {{least: 0.001}}"
            )
        ((name, knobs),) = named.items()
        if name not in known:
            raise InputError(f"{where}: {name!r} is unknown, expected {', '.join(known)}")
        for option in _swept(known[name], knobs, f"{where}: {name}"):
            if option in found:
                raise InputError(f"{where}: {option.name!r} occurs twice")
            found.append(option)
    return found


def _swept(kind: type[Kind], knobs: object, where: str) -> list[Kind]:
    """Return one option for each combination of the knobs' values."""
    if not isinstance(knobs, dict | None):
        raise InputError(f"{where} is {knobs!r}, expected knobs such as {', '.join(kind.model_fields)}")
    given = knobs or {}
    lists = [value if isinstance(value, list) else [value] for value in given.values()]
    for name, values in zip(given, lists, strict=True):
        if not values:
            raise InputError(f"{where}: {name} is [], expected one value or more")
        if len({repr(value) for value in values}) < len(values):
            raise InputError(f"{where}: {name} is {values!r}, which contains a value twice")
    found = []
    for chosen in product(*lists):
        try:
            found.append(kind(**dict(zip(given, chosen, strict=True))))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            if first["type"] == "extra_forbidden":
                field = ".".join(map(str, first["loc"]))
                raise InputError(
                    f"{where}: unknown knob {field!r}, expected {', '.join(kind.model_fields)}"
                    f"{did_you_mean(field, kind.model_fields)}"
                ) from error
            raise InputError(f"{where}: {field_error(error)}") from error
        except TypeError as error:
            raise InputError(f"{where}: {given!r}, expected names of knobs") from error
    return found
