"""Policies that violate one rule each, and a registry of one policy."""

import inspect
import itertools

import numpy as np

from windlass.admit.view import Admission
from windlass.model import InputError
from windlass.order.fleet import JobOrder
from windlass.order.site.policies.fcfs import Fcfs
from windlass.place.policies.in_place import InPlace
from windlass.plan import Plan
from windlass.scale import Totals
from windlass.share.view import Share, Sharing

#: A counter shared by all policies of the process: a state that no seed resets.
CALLS = itertools.count()


class Registry:
    """A registry of one policy."""

    def __init__(self, cls, decision):
        self._cls, self.decision, self.method = cls, decision, "decide"

    def find(self, name):
        return self._cls

    def parameters(self, name):
        return inspect.signature(self._cls).parameters

    def make(self, name, rng, **given):
        return self._cls(**given)


class Good:
    """Returns the same answer for every view; broken policies override its methods."""

    name = "made"

    def __init__(self):
        self.calls = 0
        self.kept = []

    def decide(self, view):
        self.calls += 1
        self.look(view)
        return self.answer(view, self.odd(view))

    def look(self, view):
        """Inspect, or change, a view."""

    def odd(self, view):
        """Return True to return the other answer."""
        return False


class Admits(Good):
    def answer(self, view, odd):
        return Admission(bool(odd), "as always")

    def array(self, view):
        return view.metrics


class Scales(Good):
    def answer(self, view, odd):
        return Totals(tuple(int(odd) for _ in view.types), tuple("as always" for _ in view.types))

    def array(self, view):
        return view.history


class Plans(Good):
    """Runs nothing; the other answer runs the first query with its first feasible plan."""

    def answer(self, view, odd):
        choices = [-1] * len(view.queries)
        if odd and choices:
            fits = (view.queries[0].demand <= view.capacity).all(axis=1)
            choices[0] = int(np.flatnonzero(fits)[0]) if fits.any() else -1
        return Plan(tuple(choices), ("as always",) * len(choices))

    def array(self, view):
        return view.queries[0].demand if view.queries else None


class Shares(Good):
    """Lets no jobs share; the other answer lets the first feasible pair share."""

    def answer(self, view, odd):
        for host, guest in itertools.product(view.running, view.waiting) if odd else ():
            found = Sharing((Share(host.job, guest.job, 10, "as always"),))
            try:
                found.check(view)
            except Exception:
                continue
            return found
        return Sharing()


class Orders(Good):
    """First come, first served at one site; the other answer starts no job while others run."""

    def answer(self, view, odd):
        from windlass.order.site.view import Start

        running = view.free < view.processors
        return Start() if odd and running else Fcfs().decide(view)

    def array(self, view):
        return view.waiting.note


class OrdersAll(Good):
    """Orders jobs by row; the other answer reverses the order."""

    def answer(self, view, odd):
        rows = np.arange(len(view.job))
        return JobOrder(rows[::-1].copy() if odd else rows, "as always")

    def array(self, view):
        return view.subjobs


class Places(Good):
    """Places tasks in place; the other answer places none while tasks run."""

    def answer(self, view, odd):
        found = InPlace().decide(view)
        if odd and (view.sites.free < view.sites.slots).any():
            import dataclasses

            return dataclasses.replace(found, starts=found.starts[:0], why=found.why[:0])
        return found

    def array(self, view):
        return view.ready.task_s


class Unseeded:
    def odd(self, view):
        return np.random.default_rng(next(CALLS)).random() < 0.4


class Global:
    def odd(self, view):
        np.random.rand()  # noqa: NPY002
        return False


class Forgetful:
    """A pickled copy has a different count."""

    def odd(self, view):
        return self.calls % 7 < 3

    def __getstate__(self):
        return {"calls": self.calls + 4, "kept": []}


class Touches:
    def look(self, view):
        array = self.array(view)
        if array is not None and array.size:
            array.setflags(write=True)
            array.flat[0] = 0 if array.flat[0] else 1


class Needs:
    def __init__(self, depth):
        super().__init__()


class Dispatches:
    """Chooses workers in turn, and rejects invalid arguments."""

    name = "made"

    def __init__(self, workers=4):
        self.workers, self.last = workers, -1

    def arrived(self, now):
        self.require_valid("now", np.isfinite(now))

    def choose(self, queue_lengths):
        valid = len(queue_lengths) == self.workers and np.isfinite(queue_lengths).all()
        self.require_valid("queue_lengths", valid)
        self.last = (self.last + 1) % self.workers
        return self.chosen()

    def chosen(self):
        return self.last

    def completed(self, worker, work, seconds):
        self.require_valid("worker", 0 <= worker < self.workers)
        self.require_valid("work", work >= 0.0)
        self.require_valid("seconds", seconds >= 0.0)

    def require_valid(self, argument, valid):
        if not valid:
            raise InputError(f"{argument} cannot be used")
