"""Which checks a policy must pass."""

from __future__ import annotations

from collections.abc import Callable

from windlass.checks import common, dispatch, multisite, order, place
from windlass.model import InputError
from windlass.registry import Registry

Check = Callable[[Registry, str], None]

_ALWAYS: tuple[Check, ...] = (
    common.check_documented,
    common.check_named,
    common.check_refuses_unknown_parameter,
)
_ORDER: tuple[Check, ...] = (
    order.check_parameters_have_defaults,
    order.check_seeded,
    order.check_picklable,
    order.check_same_by_hand,
    order.check_leaves_the_view_alone,
    order.check_gives_reasons,
    order.check_no_job_starves,
)


_DISPATCH: tuple[Check, ...] = (
    dispatch.check_parameters_have_defaults,
    dispatch.check_seeded,
    dispatch.check_picklable,
    dispatch.check_chooses_a_worker,
    dispatch.check_refuses_bad_input,
    dispatch.check_same_by_hand,
)

_PLACE: tuple[Check, ...] = (
    place.check_parameters_have_defaults,
    place.check_seeded,
    place.check_picklable,
    place.check_leaves_the_view_alone,
    place.check_gives_reasons,
    place.check_no_task_starves,
)

_GEO_ORDER: tuple[Check, ...] = (
    multisite.check_parameters_have_defaults,
    multisite.check_seeded,
    multisite.check_picklable,
    multisite.check_same_by_hand,
    multisite.check_leaves_the_view_alone,
    multisite.check_orders_all_jobs,
)


def checks_of(decision: str) -> tuple[Check, ...]:
    """The checks that policies of a decision must pass.

    >>> len(checks_of("order")) > 5
    True
    """
    by_decision = (("order", _ORDER), ("geo-order", _GEO_ORDER), ("dispatch", _DISPATCH), ("place", _PLACE))
    for known, checks in by_decision:
        if known == decision:
            return _ALWAYS + checks
    raise InputError(f"decision {decision!r} has no checks")


def check_policy(registry: Registry, name: str) -> None:
    """Run every check on a policy.

    Parameters
    ----------
    registry
        The decision's registry.
    name
        The policy's name, or the file that holds it.

    Raises
    ------
    CheckError
        The first check that fails, with what is wrong.

    Examples
    --------
    >>> from windlass.order import POLICIES
    >>> check_policy(POLICIES, "fcfs")
    """
    for check in checks_of(registry.decision):
        check(registry, name)
