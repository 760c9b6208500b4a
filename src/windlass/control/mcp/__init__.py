"""A server of the Model Context Protocol: read-only tools on a journal, for programs that converse.

- :mod:`~windlass.control.mcp.protocol`: requests and replies, JSON-RPC 2.0.
- :mod:`~windlass.control.mcp.tools`: the tools with their arguments.
- :mod:`~windlass.control.mcp.answers`: what the tools return.
- :mod:`~windlass.control.mcp.stdio`: the server on standard input and output; the pages have it by HTTP.
"""
