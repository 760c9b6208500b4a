"""The server on standard input and output: one message a line."""

from __future__ import annotations

from typing import BinaryIO

from windlass.control.mcp.protocol import McpServer

#: The longest message, bytes.
LONGEST = 1 << 20


def serve_lines(server: McpServer, messages: BinaryIO, replies: BinaryIO) -> None:
    """Answer messages until the input ends.

    Parameters
    ----------
    server
        The server.
    messages
        A message in each line; empty lines are left out.
    replies
        Receives a line for each reply.
    """
    while line := messages.readline(LONGEST + 1):
        if not line.strip():
            continue
        # The rest of a line that is too long is answered as further messages that are no JSON.
        reply = server.answer(line)
        if reply is not None:
            replies.write(reply + b"\n")
            replies.flush()
