"""How a request of Serve ended: served, failed or cancelled, from the first part of the answer."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from typing import Any

from ray.exceptions import TaskCancelledError
from ray.serve.exceptions import RequestCancelledError

from windlass.engines.serve.ejection import RequestOutcome

_HTTP_ERROR = 500


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
