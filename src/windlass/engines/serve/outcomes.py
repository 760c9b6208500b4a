"""Whether Serve's answer to a request is an error, from the first part of the answer."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from typing import Any

from ray.exceptions import TaskCancelledError
from ray.serve.exceptions import RequestCancelledError

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


def is_failure(answer: object) -> bool:
    """Return whether the first part of an answer is an error, or an HTTP answer with a status of 500 or more.

    >>> is_failure("done"), is_failure(ValueError("no")), is_failure(TaskCancelledError())
    (False, True, False)
    >>> is_failure(pickle.dumps([{"type": "http.response.start", "status": 503}]))
    True
    """
    if isinstance(answer, asyncio.CancelledError | TaskCancelledError | RequestCancelledError):
        return False
    if isinstance(answer, bytes):
        try:
            messages = pickle.loads(answer)
        except Exception:
            return False
        return isinstance(messages, list) and any(
            isinstance(each, dict) and isinstance(status := each.get("status"), int) and status >= _HTTP_ERROR
            for each in messages
        )
    return isinstance(answer, BaseException)
