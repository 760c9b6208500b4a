"""How a request of Serve ended: served, failed or cancelled, from the first part of the answer."""

from __future__ import annotations

import asyncio
import pickle
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from ray.exceptions import TaskCancelledError
from ray.serve.exceptions import RequestCancelledError

from windlass.engines.serve.ejection import RequestOutcome

_HTTP_ERROR = 500
#: Ends without a beginning that are remembered, in case the beginning is reported later.
_EARLY = 1024

Id = TypeVar("Id", bound=Hashable)


class Outcomes(Generic[Id]):
    """Combines the end of a request, which Serve reports, with its outcome, which its answer shows.

    Ray reports both from different threads and in either order: an error that ends a task is stored after the task's
    end. The end of an accepted request is therefore passed on once its answer was seen, too. Serve also reports the end
    of a request that a replica rejected; that end is not passed on.

    Memory is bounded: requests under way, and a thousand ends of requests that were not accepted, or not yet.

    Parameters
    ----------
    end
        Called once for each accepted request, with the replica, the request and its outcome.

    Examples
    --------
    >>> outcomes = Outcomes(lambda replica, request, outcome: print(replica, request, outcome.name))
    >>> outcomes.accepted("replica", "request")
    True
    >>> outcomes.left("replica", "request")
    >>> outcomes.answered("replica", "request", RequestOutcome.DROPPED)
    replica request DROPPED
    """

    def __init__(self, end: Callable[[Id, str, RequestOutcome], None]) -> None:
        self._end = end
        #: Accepted requests without an answer, and whether their end was reported.
        self._unanswered: dict[tuple[Id, str], bool] = {}
        #: Outcomes of requests whose end was not reported yet.
        self._answered: dict[tuple[Id, str], RequestOutcome] = {}
        #: Requests whose end was reported before their acceptance, the oldest first; each is True.
        self._early: OrderedDict[tuple[Id, str], bool] = OrderedDict()

    def accepted(self, replica: Id, request: str) -> bool:
        """Expect an answer to a request; return False if its end was reported already, so its duration is unknown."""
        has_left = self._early.pop((replica, request), False)
        self._unanswered[replica, request] = has_left
        return not has_left

    def answered(self, replica: Id, request: str, outcome: RequestOutcome) -> None:
        """Record the outcome of an accepted request."""
        has_left = self._unanswered.pop((replica, request), None)
        if has_left:
            self._end(replica, request, outcome)
        elif has_left is False:
            self._answered[replica, request] = outcome

    def left(self, replica: Id, request: str) -> None:
        """Record that a request left a replica."""
        key = replica, request
        if key in self._unanswered:
            self._unanswered[key] = True
        elif key in self._answered:
            self._end(replica, request, self._answered.pop(key))
        else:
            self._early[key] = True
            while len(self._early) > _EARLY:
                self._early.popitem(last=False)


def watch(result: Any, call: Callable[[object], None]) -> None:
    """Call a function with the first part of an answer, or its error, from another thread.

    Looking at it takes nothing from the caller's answer. Serve has no public way to do so.

    Parameters
    ----------
    result
        Serve's result of a request that a replica has accepted.
    call
        The function.
    """
    if result._is_streaming:
        # As of each HTTP request.
        (first,) = result.to_object_ref_gen()._get_next_ref_n(1)
    else:
        first = result.to_object_ref()
    first._on_completed(call)


def outcome_of(answer: object) -> RequestOutcome:
    """Return the outcome that the first part of an answer shows.

    An error is a failure, and so is an HTTP answer with a status of 500 or more. A request that its client cancelled
    was dropped: a replica that hangs must not seem to have served it.

    >>> [outcome_of(answer).name for answer in ("done", ValueError("no"), TaskCancelledError())]
    ['SERVED', 'FAILED', 'DROPPED']
    >>> outcome_of(pickle.dumps([{"type": "http.response.start", "status": 503}])).name
    'FAILED'
    """
    if isinstance(answer, asyncio.CancelledError | TaskCancelledError | RequestCancelledError):
        return RequestOutcome.DROPPED
    failed = _is_http_error(answer) if isinstance(answer, bytes) else isinstance(answer, BaseException)
    return RequestOutcome.FAILED if failed else RequestOutcome.SERVED


def _is_http_error(answer: bytes) -> bool:
    try:
        messages = pickle.loads(answer)
    except Exception:
        return False
    return isinstance(messages, list) and any(
        isinstance(each, dict) and isinstance(status := each.get("status"), int) and status >= _HTTP_ERROR
        for each in messages
    )
