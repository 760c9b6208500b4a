"""Requirements of the operator, such as ``p99_wait<=1.1*fcfs, users.jain>=0.9*recorded``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from windlass.model.errors import ParameterError
from windlass.model.nearest import did_you_mean

_HOLDS: Final[Mapping[str, Callable[[float, float], bool]]] = MappingProxyType(
    {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
)
_SECONDS: Final[Mapping[str, float]] = MappingProxyType(
    {"": 1.0, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "%": 0.01}
)
_NUMBER = r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+"
_WHOLE = re.compile(r"(?P<metric>[^<>=]+?)\s*(?P<sign><=|>=|<|>)\s*(?P<bound>[^<>=].*)")
_TIMES = re.compile(rf"(?P<factor>{_NUMBER})\s*\*\s*(?P<rest>.+)")
_VALUE = re.compile(rf"(?P<number>{_NUMBER})\s*(?P<unit>s|min|h|d|%)?")
_COMMA = re.compile(r",(?![^(]*\))")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A bound on a metric: a number, or a multiple of another variant's value.

    Parameters
    ----------
    text
        The requirement as given.
    metric
        The metric as given; :func:`metric_named` finds its full name.
    sign
        One of ``<=``, ``>=``, ``<`` and ``>``.
    factor
        The bound; with a variant, the factor by which the variant's value is multiplied.
    variant
        Variant whose value the bound is a multiple of; None for a number.
    """

    text: str
    metric: str
    sign: str
    factor: float
    variant: str | None = None

    def holds(self, value: float, of_variant: float = 1.0) -> bool:
        """Return whether a value meets the requirement; False if the value or the bound is NaN.

        >>> Requirement("", "p99_wait_s", "<=", 1.1, "fcfs").holds(21.0, of_variant=20.0)
        True
        """
        bound = self.factor * of_variant
        return not (math.isnan(value) or math.isnan(bound)) and _HOLDS[self.sign](value, bound)


def parse_requirements(text: str, variants: Sequence[str] | None = None) -> tuple[Requirement, ...]:
    """Parse requirements, each ``METRIC OP [FACTOR*]VALUE`` or ``METRIC OP [FACTOR*]VARIANT``.

    Parameters
    ----------
    text
        Requirements, separated by commas. A value may have a unit: s, min, h, d or %.
    variants
        Names of the known variants; ``text`` may have hyphens instead of their spaces. If None, names are not checked.

    Raises
    ------
    InputError
        A requirement cannot be parsed or refers to an unknown variant; the message quotes it.

    Examples
    --------
    >>> first, second = parse_requirements("p99_wait<=1.1*fcfs, max_wait < 2 d", ["fcfs", "easy"])
    >>> first.factor, first.variant, second.factor, second.variant
    (1.1, 'fcfs', 172800.0, None)
    """
    return tuple(_requirement(part.strip(), variants) for part in _COMMA.split(text))


def _requirement(part: str, variants: Sequence[str] | None) -> Requirement:
    whole = _WHOLE.fullmatch(part)
    if whole is None:
        raise ParameterError(
            "require",
            f"{part!r} is not a requirement, expected METRIC OP VALUE with OP one of <=, >=, < and >, as in "
            "p99_wait<=1.1*fcfs",
        )
    factor, rest = 1.0, whole["bound"].strip()
    if times := _TIMES.fullmatch(rest):
        factor, rest = float(times["factor"]), times["rest"].strip()
    if value := _VALUE.fullmatch(rest):
        bound = factor * float(value["number"]) * _SECONDS[value["unit"] or ""]
        return Requirement(part, whole["metric"].strip(), whole["sign"], bound)
    named = rest if variants is None else _variant(part, rest, variants)
    return Requirement(part, whole["metric"].strip(), whole["sign"], factor, named)


def _variant(part: str, name: str, variants: Sequence[str]) -> str:
    for variant in variants:
        if name in (variant, variant.replace(" ", "-")):
            return variant
    known = ", ".join(dict.fromkeys(variants))
    raise ParameterError(
        "require",
        f"{part!r}: {name!r} is neither a number (optionally with a unit: s, min, h, d or %) nor one of the variants "
        f"{known}",
    )


def metric_named(name: str, metrics: Sequence[str], option: str) -> str:
    """Return the full name of a metric, given its full name, its name without the unit, or words that identify it.

    Parameters
    ----------
    name
        The metric as the user writes it, such as ``p99_wait``, ``slowdown`` or ``users.jain``.
    metrics
        Full names of the known metrics.
    option
        The parameter or option whose value it is, for the error message.

    Raises
    ------
    InputError
        The name matches no metric, or more than one; the message lists the candidates.

    Examples
    --------
    >>> metric_named("slowdown", ["mean_wait_s", "mean_bounded_slowdown"], "by")
    'mean_bounded_slowdown'
    """
    plain = re.sub(r"[\s.-]+", "_", name.strip().lower())
    for metric in metrics:
        if plain in (metric, metric.removesuffix("_s")):
            return metric
    words = set(plain.split("_"))
    found = [metric for metric in metrics if words <= set(metric.removesuffix("_s").split("_"))]
    if len(found) == 1:
        return found[0]
    known = ", ".join(metric.removesuffix("_s") for metric in found or metrics)
    problem = "is ambiguous, expected one of" if found else "is not a metric of this world, expected one of"
    hint = "" if found else did_you_mean(plain, (metric.removesuffix("_s") for metric in metrics))
    raise ParameterError(option, f"{name!r} {problem} {known}{hint}")
