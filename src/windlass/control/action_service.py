"""Carries out actions: a dry run first, then the intent in the journal, the action, and its outcome in the journal."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from windlass.control.actions.job_control import JobControl
from windlass.control.actions.kinds import KINDS
from windlass.control.actions.messages import (
    MOST_REASON,
    ActionReply,
    ActionRequest,
    EngineOffer,
    RequestKind,
)
from windlass.control.actions.tokens import read_actors
from windlass.control.journal import ActionRecord, JobKey, JournalReader, JournalWriter
from windlass.control.journal.actions import FAILED
from windlass.control.left_actions import LeftActions
from windlass.control.supervisor import Supervisor
from windlass.model import BatchError, InputError
from windlass.policy.user_code import message_of

#: Time for which a dry run can be carried out, s, and the most dry runs that wait for it.
_VALID, _MOST = 300.0, 1_000


@dataclass(frozen=True, slots=True)
class _Prepared:
    action: str
    engine: str
    job: str
    by: str
    reason: str
    undoes: int | None
    until: float
    token: str | None


class ActionService:
    """Answers requests for actions, see :mod:`windlass.control.actions`. Changes are made one after the other.

    Parameters
    ----------
    supervisor
        The engines.
    journal
        The journal.
    tokens
        The file of the tokens that may act from a page, read at each request; None for none.
    clock
        Time that only grows, s.
    """

    def __init__(
        self,
        supervisor: Supervisor,
        journal: JournalWriter,
        tokens: Path | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._supervisor, self._journal, self._tokens = supervisor, journal, tokens
        self._clock, self._one = clock, threading.Lock()
        self._prepared: dict[str, _Prepared] = {}

    def answer(self, request: ActionRequest, user: str) -> ActionReply:
        """Answer a request of a user of this machine.

        Raises
        ------
        InputError
            It is refused, or the journal cannot be written.
        """
        if request.kind is RequestKind.OFFERS:
            return ActionReply(offers=tuple(self._offer(name) for name in self._supervisor.engines))
        with self._one:
            if request.kind is RequestKind.PREVIEW:
                return self._preview(request, user)
            return self._carry_out(request.ticket)

    def left(self) -> LeftActions:
        """Return a context within which the outcomes of actions that a killed process has left are looked up."""
        return LeftActions(self._journal, self._job_control_of, self._one)

    def _offer(self, engine: str) -> EngineOffer:
        jobs, paused = self._jobs(engine), self._supervisor.paused(engine)
        if self._supervisor.runs(engine):
            own: tuple[str, ...] = ("pause",)
        else:
            own = ("resume", "pause") if engine in self._supervisor.failures and not paused else ("resume",)
        return EngineOffer(engine, paused, (*own, *(() if jobs is None else jobs.actions)))

    def _preview(self, request: ActionRequest, user: str) -> ActionReply:
        given = self._requested(request, user if request.token is None else self._name_of(request.token))
        text = self._shown(given)
        now = self._clock()
        self._prepared = {key: each for key, each in self._prepared.items() if each.until > now}
        if len(self._prepared) >= _MOST:
            raise InputError("actions: too many dry runs wait to be carried out, try again in five minutes")
        ticket = secrets.token_urlsafe(24)
        self._prepared[ticket] = given
        return ActionReply(text=text, ticket=ticket)

    def _name_of(self, token: str) -> str:
        if self._tokens is None:
            raise InputError(
                "actions: no token may act from a page; expected `windlass serve --act` with a file of tokens"
            )
        name = read_actors(self._tokens).name_of(token)
        if name is None:
            raise InputError("actions: the token is missing or wrong")
        return name

    def _requested(self, request: ActionRequest, by: str) -> _Prepared:
        reason = " ".join(request.reason.split())
        if not reason or len(reason) > MOST_REASON:
            raise InputError(f"actions: a reason is needed, expected 1 to {MOST_REASON} characters")
        action, engine, job = request.action, request.engine, request.job
        if request.undoes is not None:
            action, engine, job = self._undo_of(request.undoes)
        kind = KINDS.get(action)
        if kind is None:
            raise InputError(f"actions: no action {action[:40]!r}, expected one of {', '.join(KINDS)}")
        if engine not in self._supervisor.engines:
            known = ", ".join(self._supervisor.engines)
            raise InputError(f"actions: no engine {engine[:80]!r}, expected one of {known}")
        if kind.of_job != bool(job):
            raise InputError(
                f"actions: {action} concerns {'a job' if kind.of_job else 'an engine and no job'}"
            )
        until = self._clock() + _VALID
        return _Prepared(action, engine, job, by, reason, request.undoes, until, request.token)

    def _undo_of(self, number: int) -> tuple[str, str, str]:
        with JournalReader(self._journal.path) as reader:
            found = reader.actions.numbered(number) if 0 < number < 2**63 else None
        if found is None or found.action not in KINDS:
            raise InputError(f"actions: no action {number} that can be undone is in the journal")
        if found.undone:
            raise InputError(f"actions: action {number} is undone already")
        if (found.outcome or "").startswith(FAILED):
            raise InputError(f"actions: action {number} has changed nothing, so nothing can be undone")
        return KINDS[found.action].undo, found.job.engine, found.job.id

    def _shown(self, given: _Prepared) -> str:
        """Return what an action would do; raise an error if it cannot be carried out."""
        if KINDS[given.action].of_job:
            try:
                return self._job_control(given).preview(given.action, given.job)
            except BatchError as error:
                raise InputError(f"actions: {error}") from error
        if given.action == "pause":
            return self._supervisor.preview_pause(given.engine)
        return self._supervisor.preview_resume(given.engine)

    def _carry_out(self, ticket: str) -> ActionReply:
        given = self._prepared.pop(ticket, None)
        if given is None or given.until <= self._clock():
            with JournalReader(self._journal.path) as reader:
                done = reader.actions.with_key(ticket)
            if done is None:
                raise InputError("actions: the dry run is unknown or older than five minutes, repeat it")
            return _reply(done)
        # Since the dry run, the token may have been removed, the state may have changed, and another dry run may have
        # undone the action.
        if given.token is not None:
            self._name_of(given.token)
        if given.undoes is not None:
            self._undo_of(given.undoes)
        self._shown(given)
        now = self._supervisor.engines[given.engine].now
        key = JobKey(given.engine, "", given.job)
        self._journal.intend_action(
            ActionRecord(ticket, now, key, given.action, given.by, given.reason, given.undoes)
        )
        try:
            outcome = self._changed(given)
        except Exception as error:
            known = isinstance(error, InputError | BatchError)
            outcome = f"{FAILED}: {error if known else message_of(error)}"
        self._journal.conclude_action(ticket, self._supervisor.engines[given.engine].now, outcome)
        with JournalReader(self._journal.path) as reader:
            written = reader.actions.with_key(ticket)
        assert written is not None  # It was recorded above.
        return _reply(written)

    def _changed(self, given: _Prepared) -> str:
        if KINDS[given.action].of_job:
            return self._job_control(given).carry_out(given.action, given.job)
        if given.action == "pause":
            return self._supervisor.pause(given.engine)
        return self._supervisor.resume(given.engine)

    def _job_control(self, given: _Prepared) -> JobControl:
        jobs = self._jobs(given.engine)
        if jobs is None or given.action not in jobs.actions:
            raise InputError(f"actions: engine {given.engine} has no action {given.action} on jobs")
        return jobs

    def _jobs(self, engine: str) -> JobControl | None:
        return self._supervisor.engines[engine].jobs

    def _job_control_of(self, engine: str) -> JobControl | None:
        """Return the control of an engine's jobs; None also if there is no such engine any more."""
        return self._jobs(engine) if engine in self._supervisor.engines else None


def _reply(done: ActionRecord) -> ActionReply:
    """Return the reply to an action that was carried out, also to a repeated request."""
    outcome = done.outcome or ""
    if outcome.startswith(FAILED):
        what = f"{done.action} {done.job.id or done.job.engine}"
        return ActionReply(error=f"actions: {what} {outcome}", number=done.number)
    return ActionReply(text=outcome, number=done.number)
