"""Shell completion of option values; the library is imported when a completion is requested."""

from __future__ import annotations

from collections.abc import Iterable


def policies(incomplete: str) -> list[str]:
    """Complete the last name of a list of policies, of any decision.

    >>> policies("fcfs,conserv")
    ['fcfs,conservative']
    """
    from windlass.policy.registry import decisions

    return _last_of_list(incomplete, sorted({name for each in decisions() for name in each.names()}))


def decision_names(incomplete: str) -> list[str]:
    """Complete a decision.

    >>> decision_names("order.")
    ['order.fleet', 'order.site']
    """
    from windlass.policy.registry import decisions

    return _starting(incomplete, (each.decision for each in decisions()))


def metrics(incomplete: str) -> list[str]:
    """Complete the last metric of a list, of any world, without its unit.

    >>> metrics("p99_w")
    ['p99_wait']
    """
    from dataclasses import fields

    from windlass.experiment.worlds import worlds

    names = {each.name.removesuffix("_s") for world in worlds() for each in fields(world.metrics)}
    return _last_of_list(incomplete, sorted(names))


def divisions(incomplete: str) -> list[str]:
    """Complete a division of jobs, for ``--per``.

    >>> divisions("q")
    ['queue']
    """
    from windlass.results.groups import DIVISIONS

    return _starting(incomplete, DIVISIONS)


def formats(incomplete: str) -> list[str]:
    """Complete a format of logs.

    >>> formats("sacct")
    ['sacct', 'sacct-json']
    """
    from windlass.io.traces import FORMATS

    return _starting(incomplete, (known.name for known in FORMATS))


def papers(incomplete: str) -> list[str]:
    """Complete a paper of the installed package of reproductions."""
    from windlass.cli.reproduce import installed_reproductions

    package = installed_reproductions()
    return [] if package is None else _starting(incomplete, (paper.name for paper in package.papers()))


def engines(incomplete: str) -> list[str]:
    """Complete an engine of ``windlass run``.

    >>> engines("r")
    ['ray']
    """
    from windlass.engines.targets import ENGINES

    return _starting(incomplete, ("sim", *ENGINES))


def paper_engines(incomplete: str) -> list[str]:
    """Complete an engine of ``windlass reproduce``."""
    return _starting(incomplete, ("ray", "slurm"))


def forecaster_names(incomplete: str) -> list[str]:
    """Complete the last name of a list of forecasters.

    >>> forecaster_names("naive,nlin")
    ['naive,nlinear']
    """
    from windlass.scale.forecast import forecasters

    return _last_of_list(incomplete, forecasters())


def policies_of(decision: str, incomplete: str) -> list[str]:
    """Complete the last name of a list of policies of one decision.

    >>> policies_of("order.site", "eas")
    ['easy']
    """
    from windlass.policy.registry import decisions

    names = [name for each in decisions() if each.decision == decision for name in each.names()]
    return _last_of_list(incomplete, names)


def admit_policies(incomplete: str) -> list[str]:
    """Complete an admission policy."""
    return policies_of("admit", incomplete)


def plan_policies(incomplete: str) -> list[str]:
    """Complete the last name of a list of planners."""
    return policies_of("plan", incomplete)


def scale_policies(incomplete: str) -> list[str]:
    """Complete a scaling policy."""
    return policies_of("scale", incomplete)


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _last_of_list(incomplete: str, names: Iterable[str]) -> list[str]:
    head, separator, last = incomplete.rpartition("," if "," in incomplete else "=")
    return [f"{head}{separator}{name}" for name in names if name.startswith(last.lstrip())]
