"""What an agent answers over HTTP.

========================  ==========================================================================
``GET /accept``           200 and the reason, or 503 and the reason: whether a task may come now
``GET /healthz``          200 while it measures; 503 where the last step is too old, and before the first
``GET /metrics``          for Prometheus
========================  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Callable

from windlass.agent.signal_board import Board
from windlass.agent.web import Answered, Answering, WebRequest, refuse


def only_get(asked: WebRequest) -> Answered | None:
    """A refusal of what is neither GET nor HEAD; None otherwise.

    >>> only_get(WebRequest("POST", "/accept")).status, only_get(WebRequest("GET", "/accept"))
    (405, None)
    """
    if asked.method in ("GET", "HEAD"):
        return None
    return refuse(405, f"{asked.method[:16]} is not answered here, expected GET", "method")


def agent_routes(board: Board, metrics: Callable[[], Answered]) -> Answering:
    """Answers of an agent.

    Parameters
    ----------
    board
        What stands.
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

    def answering(asked: WebRequest) -> Answered:
        page = pages.get(asked.path)
        if page is None:
            return refuse(404, f"no such page, expected one of {', '.join(pages)}", "path")
        return only_get(asked) or page()

    return answering


def _line(text: str) -> str:
    # A policy of the user's own may say anything.
    return " ".join(text.split())[:500]
