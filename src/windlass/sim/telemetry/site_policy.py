"""The admission policy of a site, as :func:`windlass.drive.drive` calls it: one question for all its nodes."""

from __future__ import annotations

from collections.abc import Sequence

from windlass.admit import AdmitPolicy, AdmitsSite
from windlass.admit.compiled import DecidesCompiled
from windlass.admit.site import AdmitSiteView, Declaring, Reads, SiteAdmission
from windlass.admit.view import Admission
from windlass.policy.registry import capability

_ABSENT = Admission(False, "the node is absent")


class AdmitSitePolicy:
    """A policy of all nodes of a site, or one policy for each node, called one after the other.

    Parameters
    ----------
    policies
        One policy that has ``decide_all``, or a policy for each node.

    Examples
    --------
    >>> import numpy as np
    >>> from windlass.admit.policies.codel import CoDel
    >>> from windlass.admit.policies.ready import Ready
    >>> view = AdmitSiteView(0.0, np.zeros((2, 0)), np.zeros(2), np.array([0.0, 0.2]), np.ones(2, np.bool_))
    >>> AdmitSitePolicy([Ready(nodes=2)]).decide(view).reject.tolist()
    [False, True]
    >>> AdmitSitePolicy([CoDel(), CoDel()]).decide(view).why
    ("the node's tasks were never measured", "the node's tasks were never measured")
    """

    def __init__(self, policies: Sequence[AdmitPolicy]) -> None:
        self._policies = policies
        #: The policy, which is named in errors.
        self.represents = policies[0]
        alone = len(policies) == 1
        self._site = capability(policies[0], AdmitsSite) if alone else None
        #: The policy, if a simulation may call its compiled function instead of :meth:`decide`.
        self.compiled = capability(policies[0], DecidesCompiled) if alone else None
        declared = capability(policies[0], Declaring)
        #: What it reads.
        self.reads = Reads() if declared is None else declared.reads

    @property
    def name(self) -> str:
        """Name of the policy."""
        return self.represents.name

    def decide(self, view: AdmitSiteView) -> SiteAdmission:
        """Return a decision for each node; policies of absent nodes are not called."""
        return self._one_by_one(view) if self._site is None else self._site.decide_all(view)

    def _one_by_one(self, view: AdmitSiteView) -> SiteAdmission:
        answers = [_ABSENT] * len(view.present)
        for node in view.present.nonzero()[0].tolist():
            row = view.node(node, tasks=self.reads.tasks)
            answers[node] = self._policies[node].decide(row)
            answers[node].check(row)
        return SiteAdmission.of(answers)
