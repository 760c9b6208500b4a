"""The policies of a cluster scenario, by decision and site, and what stands in for a decision that is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from windlass.admit import POLICIES as ADMIT
from windlass.dispatch import POLICIES as DISPATCH
from windlass.experiment.worlds.cluster.policy_addresses import ORDER_FIELDS, OrderSpec, nested
from windlass.experiment.worlds.policy import Policy, PolicySpec
from windlass.experiment.worlds.spec import Spec
from windlass.order.fleet import POLICIES as ORDER_STAGED
from windlass.order.site import POLICIES as ORDER
from windlass.place import POLICIES as PLACE
from windlass.plan import POLICIES as PLAN
from windlass.policy.bounds import is_bound
from windlass.policy.registry import Registry
from windlass.results import Choice
from windlass.scale import POLICIES as SCALE
from windlass.share import POLICIES as SHARE

#: A decision that a variant can leave out.
Decision = Literal["plan", "order", "place", "scale", "share", "dispatch", "admit"]
DECISIONS: Final[tuple[Decision, ...]] = ("plan", "order", "place", "scale", "share", "dispatch", "admit")
#: The registry of each decision; that of ``order`` is for rigid jobs.
REGISTRIES: Final[Mapping[Decision, Registry]] = {
    "plan": PLAN,
    "order": ORDER,
    "place": PLACE,
    "scale": SCALE,
    "share": SHARE,
    "dispatch": DISPATCH,
    "admit": ADMIT,
}
_NONE = "none"
#: A variant that makes at most that number of decisions is named by them.
_FEW = 2
#: The placement that leaves the order of jobs to another policy.
_IN_PLACE = PolicySpec(name="in-place")


#: All decisions, in words; decisions to keep may follow, as in ``all but order and share``.
_ALL, _BUT, _AND = "all", "all but ", " and "


def _listed(given: Any) -> Any:
    """Return a list of decisions, from a list, one name, or all but some."""
    if not isinstance(given, str):
        return given
    if given == _ALL:
        return DECISIONS
    if not given.startswith(_BUT):
        return [given]
    kept = [name.strip() for name in given.removeprefix(_BUT).split(_AND)]
    for name in kept:
        if name not in DECISIONS:
            raise ValueError(
                f"no decision {name!r}, expected some of {', '.join(DECISIONS)}, joined by 'and'"
            )
    return [each for each in DECISIONS if each not in kept]


def left_out_label(left_out: tuple[Decision, ...]) -> str:
    """Return what a variant leaves out, in words; empty if nothing.

    >>> left_out_label(("order", "share")), left_out_label(DECISIONS)
    ('without order and share', 'no decision')
    >>> left_out_label(("plan", "place", "scale", "share", "dispatch", "admit"))
    'order alone'
    """
    kept = [each for each in DECISIONS if each not in left_out]
    if not kept:
        return "no decision"
    if len(kept) <= _FEW:
        return f"{_AND.join(kept)} alone"
    return f"without {_AND.join(left_out)}" if left_out else ""


def _in_order(left_out: tuple[Decision, ...]) -> tuple[Decision, ...]:
    return tuple(each for each in DECISIONS if each in left_out)


#: Decisions that are left out, in the order of :data:`DECISIONS`; one may be given without a list, and most of them as
#: all but some.
LeftOut = Annotated[tuple[Decision, ...], AfterValidator(_in_order), BeforeValidator(_listed)]


def with_defaults(policies: Mapping[str, Any]) -> dict[str, Any]:
    """Return policies with one for each decision, in plain values.

    >>> with_defaults({"share": "pairs"})["order"], with_defaults({"share": "pairs"})["admit"]
    ('easy', None)
    """
    defaults = ClusterPoliciesSpec().model_dump(mode="json", exclude={"at", "order"})
    given = {name: value for name, value in policies.items() if name not in DECISIONS}
    order = OrderSpec().rigid.name
    return {
        each: policies.get(each, defaults.get(each, None if each in defaults else order))
        for each in DECISIONS
    } | given


class SitePoliciesSpec(Spec):
    """Policies of one site that differ from those of the others; ``null`` leaves ``share`` or ``admit`` out there."""

    order: Policy | None = None
    share: Policy | None = None
    scale: Policy | None = None
    dispatch: Policy | None = None
    admit: Policy | None = None

    @model_validator(mode="after")
    def _policies_that_are_needed(self) -> Self:
        for name in self.model_fields_set - {"share", "admit"}:
            if getattr(self, name) is None:
                raise ValueError(
                    f"{name}: null, expected a policy; only share and admit can be left out at a site"
                )
        return self


class ClusterPoliciesSpec(Spec):
    """A policy for each decision; the defaults are plain baselines.

    Without ``share``, jobs share no allocations. Without ``admit``, nodes accept all tasks and measure nothing. ``at``:
    policies by site, where they differ. A policy may be given by its address: ``order@iowa`` is the policy of ``order``
    at the site iowa, ``order.staged`` that of staged jobs.
    """

    plan: Policy = PolicySpec(name="fair")
    order: OrderSpec = OrderSpec()
    place: Policy = _IN_PLACE
    scale: Policy = PolicySpec(name="reactive")
    share: Policy | None = None
    dispatch: Policy = PolicySpec(name="pull")
    admit: Policy | None = None
    at: dict[str, SitePoliciesSpec] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _by_address(cls, given: Any) -> Any:
        return nested(given)

    @field_validator("order", mode="before")
    @classmethod
    def _one_policy_is_for_rigid_jobs(cls, given: Any) -> Any:
        by_kind = isinstance(given, Mapping) and given and given.keys() <= ORDER_FIELDS
        return given if by_kind or isinstance(given, OrderSpec) else {"rigid": given}

    @model_validator(mode="after")
    def _one_order(self) -> Self:
        if self.order.staged is not None and self.place != _IN_PLACE:
            raise ValueError(
                f"place {self.place.name!r} orders staged jobs itself, expected {_IN_PLACE.name} with order.staged"
            )
        return self

    def of(self, decision: Decision, site: str | None = None) -> PolicySpec | None:
        """Return the policy of a decision, at a site if policies differ by site; None if there is none."""
        own = None if site is None else self.at.get(site)
        if own is not None and decision in own.model_fields_set:
            found: PolicySpec | None = getattr(own, decision)
            return found
        return self.order.rigid if decision == "order" else getattr(self, decision)

    def without(self, left_out: LeftOut, bases: Mapping[str, int]) -> ClusterPoliciesSpec:
        """Return the policies that stand in for decisions that are left out.

        Without ``place``, staged jobs have no order of their own either.

        Parameters
        ----------
        left_out
            The decisions.
        bases
            By site: instances of each type that are kept without ``scale``.
        """
        if not left_out:
            return self
        changed: dict[str, Any] = {each: _STAND_INS[each] for each in left_out if each in _STAND_INS}
        at = {name: _cleared(own, left_out) for name, own in self.at.items()}
        if "order" in left_out:
            changed["order"] = self.order.model_copy(update={"rigid": _FCFS, "estimates": "requested"})
        if "place" in left_out and self.order.staged is not None:
            changed["order"] = changed.get("order", self.order).model_copy(update={"staged": None})
        if "scale" in left_out:
            changed["scale"] = _static(*set(bases.values()))
            for name, base in bases.items():
                own = at.get(name, SitePoliciesSpec())
                at[name] = SitePoliciesSpec(
                    scale=_static(base),
                    **{field: getattr(own, field) for field in own.model_fields_set - {"scale"}},
                )
        return self.model_copy(update={**changed, "at": at})

    def _is_bound(self, decision: Decision) -> bool:
        """Return whether a policy of a decision, at any site, knows what none can know."""
        if decision == "order" and self.order.estimates == "perfect":
            return True
        specs = (self.of(decision, site) for site in (None, *self.at))
        return any(spec is not None and is_bound(REGISTRIES[decision].find(spec.name)) for spec in specs)

    def choices(self) -> tuple[Choice, ...]:
        """Return the policy of each decision, for all sites that have none of their own."""
        found = []
        for decision in DECISIONS:
            policy = self.of(decision)
            choice = Choice(decision, _NONE) if policy is None else policy.choice(REGISTRIES[decision])
            if decision == "order" and self.order.estimates != "requested":
                estimates = f"estimates={self.order.estimates}"
                choice = replace(choice, parameters=", ".join(filter(None, (choice.parameters, estimates))))
            found.append(replace(choice, bound=self._is_bound(decision)))
            if decision == "order" and self.order.staged is not None:
                found.append(replace(self.order.staged.choice(ORDER_STAGED), decision="order.staged"))
        return tuple(found)


#: What stands in for a decision that is left out: the simplest rule, or nothing.
_STAND_INS: Final[Mapping[Decision, PolicySpec | None]] = {
    "plan": PolicySpec(name="fair"),
    "place": _IN_PLACE,
    "share": None,
    "dispatch": PolicySpec(name="round-robin"),
    "admit": None,
}


_FCFS = PolicySpec(name="fcfs")


def _static(*counts: int) -> PolicySpec:
    """Return the policy that keeps a number of instances; without one number for all sites, only its name."""
    return PolicySpec(name="static", parameters={"count": counts[0]} if len(counts) == 1 else {})


def _cleared(own: SitePoliciesSpec, left_out: LeftOut) -> SitePoliciesSpec:
    """Return a site's own policies without those of decisions that are left out."""
    return SitePoliciesSpec(
        **{name: getattr(own, name) for name in own.model_fields_set if name not in left_out}
    )
