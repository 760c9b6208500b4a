"""A policy of ten lines; docs/add-a-policy.md explains it."""

from windlass.order.site.view import SiteView, Start


class Narrowest:
    """Start waiting jobs from the narrowest to the widest, as many as fit.

    >>> Narrowest.name
    'narrowest'
    """

    name = "narrowest"

    def decide(self, view: SiteView) -> Start:
        """Start as many of the narrowest jobs as fit."""
        chosen, free = [], view.free
        for position in view.waiting.procs.argsort(kind="stable"):
            if view.waiting.procs[position] <= free:
                free -= view.waiting.procs[position]
                chosen.append(int(view.waiting.job[position]))
        return Start(tuple(chosen), why="narrowest that fits")
