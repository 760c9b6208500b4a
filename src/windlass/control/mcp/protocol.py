"""Requests and replies of the Model Context Protocol, JSON-RPC 2.0. Only tools are offered, and no state is kept."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import msgspec

from windlass.control.journal import JournalReader
from windlass.control.mcp.tools import TOOLS, Tool
from windlass.io.json_errors import json_error, json_value
from windlass.model import InputError
from windlass.model.nearest import did_you_mean
from windlass.model.version import version

#: Versions of the protocol, the latest first.
VERSIONS = ("2025-06-18", "2025-03-26", "2024-11-05")
_PARSE, _INVALID, _NO_METHOD, _BAD_PARAMS = -32700, -32600, -32601, -32602
_INSTRUCTIONS = (
    "Read-only questions about the queues that Windlass schedules: what runs and waits and why, when a waiting job will"
    " start, what another policy or size would change. Begin with list. Nothing is changed by any tool."
)


class _Request(msgspec.Struct, frozen=True):
    jsonrpc: str
    method: str
    id: int | float | str | msgspec.UnsetType | None = msgspec.UNSET
    params: Any = None


class _Failure(msgspec.Struct, frozen=True):
    code: int
    message: str


class _Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    id: int | float | str | None
    result: Any = None
    error: _Failure | None = None
    jsonrpc: str = ""


class _RefusedError(Exception):
    """A request that is answered by an error of the protocol."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.failure = _Failure(code, message)


class McpServer:
    """Answers messages, each independent of the others, in any number of threads.

    Parameters
    ----------
    reader
        The journal.
    tools
        The tools.
    one
        Held during a replay.
    refuses
        True to refuse a second replay; False to let it wait for the first.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from windlass.control.journal import JournalWriter
    >>> file = Path(tempfile.mkdtemp()) / "journal.db"
    >>> JournalWriter(file).close()
    >>> with JournalReader(file) as reader:
    ...     McpServer(reader).answer(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}')
    b'{"id":1,"result":{},"jsonrpc":"2.0"}'
    """

    def __init__(
        self,
        reader: JournalReader,
        tools: Sequence[Tool] = TOOLS,
        one: threading.Lock | None = None,
        refuses: bool = False,
    ) -> None:
        self._reader, self._tools = reader, {tool.name: tool for tool in tools}
        self._one, self._refuses = one or threading.Lock(), refuses

    def answer(self, message: bytes) -> bytes | None:
        """Return the reply to a message; None for a notification, which has none."""
        try:
            request = msgspec.json.decode(message, type=_Request)
        except msgspec.ValidationError as error:
            why = f"not a request of JSON-RPC 2.0: {json_error(error, message, _Request)}"
            return _line(_Reply(None, error=_Failure(_INVALID, why)))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return _line(_Reply(None, error=_Failure(_PARSE, json_error(error, message, _Request))))
        number = request.id
        if number is msgspec.UNSET:
            return None
        assert not isinstance(number, msgspec.UnsetType)
        if request.jsonrpc != "2.0":
            why = f'jsonrpc: expected "2.0", found {json_value(request.jsonrpc)}'
            return _line(_Reply(number, error=_Failure(_INVALID, why)))
        try:
            return _line(_Reply(number, result=self._result(request.method, request.params)))
        except _RefusedError as error:
            return _line(_Reply(number, error=error.failure))

    def _result(self, method: str, params: Any) -> Any:
        if params is not None and not isinstance(params, dict):
            raise _RefusedError(
                _BAD_PARAMS, f"params: expected an object with fields, found {json_value(params)}"
            )
        given = params or {}
        match method:
            case "initialize":
                wanted = given.get("protocolVersion")
                return _Started(wanted if wanted in VERSIONS else VERSIONS[0], _Server("windlass", version()))
            case "ping":
                return {}
            case "tools/list":
                return _Tools([_described(tool) for tool in self._tools.values()])
            case "tools/call":
                return self._called(given.get("name"), given.get("arguments") or {})
        raise _RefusedError(
            _NO_METHOD,
            f"method: no such method, found {json_value(method)}, expected initialize, ping, tools/list or tools/call",
        )

    def _called(self, name: Any, arguments: Any) -> _Result:
        tool = self._tools.get(name) if isinstance(name, str) else None
        if tool is None:
            hint = did_you_mean(name, self._tools) if isinstance(name, str) else ""
            known = ", ".join(self._tools)
            raise _RefusedError(
                _BAD_PARAMS, f"name: no such tool, found {json_value(name)}, expected one of {known}{hint}"
            )
        try:
            given = msgspec.convert(arguments, tool.arguments)
        except msgspec.ValidationError as error:
            why = json_error(error, arguments, tool.arguments)
            return _Result([_Text(f"{tool.name}: {why}")], isError=True)
        if tool.replays and not self._one.acquire(blocking=not self._refuses):
            return _Result([_Text("another replay is under way, try again when it has ended")], isError=True)
        try:
            found = tool.call(self._reader, given)
        except InputError as error:
            return _Result([_Text(str(error))], isError=True)
        finally:
            if tool.replays:
                self._one.release()
        text = msgspec.json.format(msgspec.json.encode(found), indent=1).decode()
        return _Result([_Text(text)], structuredContent=found)


class _Server(msgspec.Struct, frozen=True):
    name: str
    version: str


class _Empty(msgspec.Struct, frozen=True):
    pass


class _Capabilities(msgspec.Struct, frozen=True):
    tools: _Empty = _Empty()


class _Started(msgspec.Struct, frozen=True, rename="camel"):
    protocol_version: str
    server_info: _Server
    capabilities: _Capabilities = _Capabilities()
    instructions: str = _INSTRUCTIONS


class _Hints(msgspec.Struct, frozen=True, rename="camel"):
    read_only_hint: bool = True
    open_world_hint: bool = False


class _Described(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    title: str
    description: str
    input_schema: Any
    annotations: _Hints = _Hints()


class _Tools(msgspec.Struct, frozen=True):
    tools: list[_Described]


class _Text(msgspec.Struct, frozen=True):
    text: str
    type: str = "text"


class _Result(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=False):
    content: list[_Text]
    structuredContent: Any = None  # noqa: N815 - the name in the protocol
    isError: bool = False  # noqa: N815


def _described(tool: Tool) -> _Described:
    schema = msgspec.json.schema(tool.arguments)
    own = dict(schema["$defs"][tool.arguments.__name__])
    own.pop("title", None)
    return _Described(tool.name, tool.title, tool.description, own)


def _line(reply: _Reply) -> bytes:
    return msgspec.json.encode(msgspec.structs.replace(reply, jsonrpc="2.0"))
