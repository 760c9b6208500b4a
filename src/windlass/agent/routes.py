"""The pages of an agent's HTTP server.

========================  ==========================================================================
``GET /accept``           200 or 503, and the reason: whether a task may start now
``GET /healthz``          200 while it measures; 503 if the last step is too old, and before the first
``GET /metrics``          for Prometheus
========================  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Callable

from windlass.agent.signal_board import Board
from windlass.agent.web import Answered, Answering, WebRequest, refuse


def only_get(request: WebRequest) -> Answered | None:
    """Reject requests other than GET and HEAD; return None for these.

    >>> only_get(WebRequest("POST", "/accept")).status, only_get(WebRequest("GET", "/accept"))
    (405, None)
    """
    if request.method in ("GET", "HEAD"):
        return None
    return refuse(405, f"{request.method[:16]} is not supported here, expected GET", "method")


def agent_routes(board: Board, metrics: Callable[[], Answered]) -> Answering:
    """Return the pages of an agent.

    Parameters
    ----------
    board
        The current decision.
    metrics
        The page for Prometheus.

    Examples
    --------
    >>> answering = agent_routes(Board(lambda: 0.0, 5.0), lambda: Answered(200))
    >>> answering(WebRequest("GET", "/accept"))
    Answered(status=503, body=b'reject: no step was measured yet\\n', refused='', content='text/plain; charset=utf-8')
    """

    def accept() -> Answered:
        answer = board.answer()
        word = "accept" if answer.accept else "reject"
        return Answered(200 if answer.accept else 503, f"{word}: {_line(answer.why)}\n".encode())

    def healthz() -> Answered:
        if board.age <= board.stale:
            return Answered(200, b"ok\n")
        return Answered(503, f"no step for {board.age:.0f} s\n".encode())

    pages = {"/accept": accept, "/healthz": healthz, "/metrics": metrics}

    def answering(request: WebRequest) -> Answered:
        page = pages.get(request.path)
        if page is None:
            return refuse(404, f"no such page, expected one of {', '.join(pages)}", "path")
        return only_get(request) or page()

    return answering


def _line(text: str) -> str:
    # A user's policy may return any text.
    return " ".join(text.split())[:500]
