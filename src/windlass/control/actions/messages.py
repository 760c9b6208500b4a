"""Requests and replies between pages or commands and the process of the engines: one line of JSON each."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from windlass.io.json_errors import json_error
from windlass.model import InputError

#: The longest line, bytes, and the longest reason, characters.
LONGEST, MOST_REASON = 65_536, 500


class RequestKind(StrEnum):
    """What a request is for: which actions there are, a dry run, or carrying out what a dry run has shown."""

    OFFERS = "offers"
    PREVIEW = "preview"
    CARRY_OUT = "carry_out"


class ActionRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request.

    Parameters
    ----------
    kind
        What it is for.
    action, engine, job, reason
        The action of a dry run; ``job`` is empty for an engine.
    undoes
        Number of the action that is to be undone, in place of an action.
    token
        The token of a page's form; None for a request of this machine's user.
    ticket
        Of the dry run that is to be carried out.
    """

    kind: RequestKind
    action: str = ""
    engine: str = ""
    job: str = ""
    reason: str = ""
    undoes: int | None = None
    token: str | None = None
    ticket: str = ""


class EngineOffer(msgspec.Struct, frozen=True):
    """An engine, whether it is paused, and the actions that are possible now."""

    engine: str
    paused: bool
    actions: tuple[str, ...]


class ActionReply(msgspec.Struct, frozen=True):
    """A reply.

    Parameters
    ----------
    error
        Why the request is refused; empty if it is not.
    text
        What would happen, or what happened.
    ticket
        With a dry run: what carries it out, within a few minutes.
    number
        With an action that was carried out: its number in the journal.
    offers
        The engines and their actions.
    """

    error: str = ""
    text: str = ""
    ticket: str = ""
    number: int = 0
    offers: tuple[EngineOffer, ...] = ()

    def checked(self) -> ActionReply:
        """Return the reply; raise InputError with the reason if the request was refused."""
        if self.error:
            raise InputError(self.error)
        return self


def line_of(message: ActionRequest | ActionReply) -> bytes:
    """Return a message as a line.

    >>> line_of(ActionRequest(RequestKind.OFFERS))[:16]
    b'{"kind":"offers"'
    """
    return msgspec.json.encode(message) + b"\n"


def request_from(line: bytes) -> ActionRequest:
    """Read a request.

    Raises
    ------
    InputError
        It is not one; the message names the field and its value.
    """
    try:
        return msgspec.json.decode(line, type=ActionRequest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"actions: not a request: {json_error(error, line, ActionRequest)}") from error


def reply_from(line: bytes) -> ActionReply:
    """Read a reply; raise InputError if it is not one, as after the end of the process that replies."""
    try:
        return msgspec.json.decode(line, type=ActionReply)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(
            "actions: the process of the engines ended before it replied; the list of actions has the rest"
        ) from error
