"""The server on standard input and output: one message a line, several at a time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO

from windlass.control.mcp.protocol import McpServer

#: The longest message, bytes.
LONGEST = 1 << 20
#: The most messages that are answered at a time, and those that are read before them.
_AT_ONCE, _AHEAD = 4, 64


def serve_lines(server: McpServer, messages: BinaryIO, replies: BinaryIO) -> None:
    """Answer messages until the input ends; a reply may overtake that of an earlier message.

    Parameters
    ----------
    server
        The server.
    messages
        A message in each line; empty lines are left out.
    replies
        Receives a line for each reply.
    """
    room, one_line, failures = threading.BoundedSemaphore(_AHEAD), threading.Lock(), list[Exception]()

    def answer(line: bytes) -> None:
        try:
            reply = server.answer(line)
            if reply is not None:
                with one_line:
                    replies.write(reply + b"\n")
                    replies.flush()
        except Exception as error:
            failures.append(error)
        finally:
            room.release()

    with ThreadPoolExecutor(_AT_ONCE, "mcp") as pool:
        while not failures and (line := messages.readline(LONGEST + 1)):
            # The rest of a line that is too long is answered as further messages that are no JSON.
            if line.strip():
                room.acquire()
                pool.submit(answer, line)
    for error in failures:
        raise error
