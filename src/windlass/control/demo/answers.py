"""Answers of policies as records of the journal, one for each job that an answer concerns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from windlass.control.journal import DecisionRecord, JobKey
from windlass.place.view import Placement, PlaceView
from windlass.plan.view import Plan, PlanView
from windlass.scale.view import ScaleView, Totals
from windlass.share.view import ShareView, Sharing

#: A decision, its load and its site, as in the address ``scale.ml@virginia``.
Address = tuple[str, str, str]


def address_of(text: str) -> Address:
    """Split an address into its decision, load and site.

    >>> address_of("scale.ml@virginia"), address_of("plan.cameras"), address_of("scale@ohio")
    (('scale', 'ml', 'virginia'), ('plan', 'cameras', ''), ('scale', '', 'ohio'))
    """
    before, _, site = text.partition("@")
    decision, _, load = before.partition(".")
    return decision, load, site


class AnswerRecords:
    """Turns answers into records; answers that change nothing have none.

    Parameters
    ----------
    engine
        Name of the engine.
    policies
        Returns the name of the policy of a decision at a site.
    sites
        By load over several sites, the names of its sites.

    Examples
    --------
    >>> from windlass.share.view import Share
    >>> from windlass.share.allocation import Allocation, Candidate
    >>> records = AnswerRecords("demo", lambda decision, site: "pairs", {})
    >>> host = Allocation(1, "montage", 4, 8e9, 60.0, 0.0, cpu=10.0, memory_used=50.0)
    >>> view = ShareView(5.0, (host,), (Candidate(2, "blast", 4, 4e9, 60.0),))
    >>> found = records.of("share.batch@iowa", view, Sharing((Share(1, 2, 30, "host idles"),)))
    >>> [(str(each.job), each.answer, each.reason) for each in found]
    [('demo:iowa:batch/2', 'share the cores of batch/1, quota 30 %', 'host idles')]
    """

    def __init__(
        self, engine: str, policies: Callable[[str, str], str], sites: Mapping[str, tuple[str, ...]]
    ) -> None:
        self._engine, self._policy, self._sites = engine, policies, sites
        #: By address: the totals that the autoscaler wanted last.
        self._wanted: dict[str, tuple[int, ...]] = {}
        self._readers: Mapping[str, Callable[[Address, Any, Any], Iterator[DecisionRecord]]] = {
            "share": self._share,
            "scale": self._scale,
            "plan": self._plan,
            "place": self._place,
        }

    def of(self, address: str, view: Any, answer: Any) -> list[DecisionRecord]:
        """Return the records of an answer; none for a decision that is recorded otherwise."""
        where = address_of(address)
        reader = self._readers.get(where[0])
        return [] if reader is None else list(reader(where, view, answer))

    def record(
        self, where: Address, time: float, job: int | None, answer: str, reason: str
    ) -> DecisionRecord:
        """Return the record of a decision about a job's number, or about a site with None."""
        decision, load, site = where
        key = JobKey(self._engine, site, "" if job is None else f"{load}/{job}")
        return DecisionRecord(time, key, decision, self._policy(decision, site), answer, reason)

    def _share(self, where: Address, view: ShareView, answer: Sharing) -> Iterator[DecisionRecord]:
        load = where[1]
        quotas = {host.guest.job.job: host.guest.quota for host in view.running if host.guest is not None}
        for each in answer.shares:
            # Co-schedulers repeat the quota of a pair at each checkpoint.
            if quotas.get(each.guest) == each.quota:
                continue
            text = f"share the cores of {load}/{each.host}, quota {each.quota} %"
            yield self.record(where, view.now, each.guest, text, each.why)
        for back in answer.back:
            yield self.record(where, view.now, back.guest, "requeue", back.why)

    def _scale(self, where: Address, view: ScaleView, answer: Totals) -> Iterator[DecisionRecord]:
        _, load, site = where
        address = f"{load}@{site}"
        if self._wanted.get(address) == answer.counts:
            return
        self._wanted[address] = answer.counts
        present = (view.ready + view.coming).tolist()
        for kind, count, there, why in zip(view.types, answer.counts, present, answer.why, strict=True):
            text = f"{count} × {kind.name}, where {there} are up or starting"
            yield self.record(where, view.now, None, text, why)

    def _plan(self, where: Address, view: PlanView, answer: Plan) -> Iterator[DecisionRecord]:
        for options, choice, why in zip(view.queries, answer.choices, answer.why, strict=True):
            if choice != options.current:
                label = "no configuration" if choice < 0 else options.label(choice)
                yield self.record(where, view.now, options.query + 1, f"run with {label}", why)

    def _place(self, where: Address, view: PlaceView, answer: Placement) -> Iterator[DecisionRecord]:
        names = self._sites.get(where[1], ())
        jobs = view.ready.job[answer.starts[:, 0]]
        for job in np.unique(jobs).tolist():
            own = np.flatnonzero(jobs == job)
            tasks: dict[str, int] = {}
            for place in own.tolist():
                site, count = int(answer.starts[place, 2]), int(answer.starts[place, 3])
                name = names[site] if site < len(names) else f"site {site}"
                tasks[name] = tasks.get(name, 0) + count
            text = ", ".join(f"{name} {count}" for name, count in tasks.items())
            why = "; ".join(dict.fromkeys(answer.reasons[int(answer.why[place])] for place in own.tolist()))
            yield self.record(where, view.now, job + 1, f"start tasks at {text}", why)
