"""An agent and an aggregator, made from their options: all parts are created, started and stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np

from windlass.admit.learned import Learned
from windlass.agent.aggregate import Aggregate, Routes
from windlass.agent.check import CheckServer, line_of
from windlass.agent.envelope import Envelope, EnvelopePart, digest
from windlass.agent.guard import Guard
from windlass.agent.join import Joiner
from windlass.agent.kubernetes import Marker, marking_server
from windlass.agent.node import AgentNode, load_node, make_node
from windlass.agent.options import Above, AgentOptions, AggregatorOptions
from windlass.agent.prometheus import (
    Count,
    Gauge,
    LabelledMetric,
    Page,
    PrometheusMetric,
    board_metrics,
    node_metrics,
)
from windlass.agent.routes import agent_routes
from windlass.agent.signal_board import AdmissionAnswer, Board
from windlass.agent.state_file import Keeper
from windlass.agent.stop import Stop
from windlass.agent.token import Token
from windlass.agent.watch import NodeWatch, watch
from windlass.agent.web import Refusals, WebServer
from windlass.engines.backoff import Backoff
from windlass.engines.linux.telemetry.observer import Observation, Observer
from windlass.engines.linux.telemetry.source import Roots
from windlass.model import InputError

#: First and longest delay between retries while an aggregator or Kubernetes is unreachable, s.
_FIRST_DELAY_S, _LONGEST_DELAY_S = 1.0, 300.0
#: How long an agent waits at its end for the removal of the mark, s: three attempts of two requests of 10 s each.
_LAST_MARK_S = 65.0

Clock = Callable[[], float]
Notify = Callable[[str], None]


@dataclass(slots=True)
class SaveCounts:
    """Numbers of successful and failed saves of learned state."""

    done: int = 0
    failed: int = 0


class Saver:
    """Saves learned state at intervals and at the end; a full disk is not fatal.

    Parameters
    ----------
    keeper
        The file.
    every
        Interval between two saves, s.
    envelope
        Returns the state to save; None for nothing.
    clock
        Returns the time, s.
    notify
        Called with each message to the user.
    """

    def __init__(
        self,
        keeper: Keeper,
        every: float,
        envelope: Callable[[], Envelope | None],
        clock: Clock,
        notify: Notify,
    ) -> None:
        self._keeper, self._every, self._envelope = keeper, every, envelope
        self._clock, self._notify = clock, notify
        self._due = clock() + every
        self.saves = SaveCounts()

    def look(self, now: bool = False) -> bool:
        """Save if that is due, or at once with ``now``; return whether the state was saved."""
        if self._keeper.path is None or not (now or self._clock() >= self._due):
            return False
        self._due = self._clock() + self._every
        envelope = self._envelope()
        if envelope is None:
            return False
        try:
            self._keeper.save(envelope)
        except InputError as error:
            self.saves.failed += 1
            self._notify(str(error))
            return False
        self.saves.done += 1
        return True


def run_agent(
    options: AgentOptions,
    token: Token | None,
    rng: np.random.Generator,
    stop: Stop,
    notify: Notify,
    clock: Clock = time.monotonic,
) -> None:
    """Observe and answer until stopped or until an exception; learned state is saved either way.

    Parameters
    ----------
    options
        The agent's options.
    token
        The tree's token; required to join one.
    rng
        The random generator of policies and of retry delays.
    stop
        Ends the run.
    notify
        Called with each message to the user.
    clock
        Returns a monotonic time, s.

    Raises
    ------
    InputError
        A port is in use, the state file belongs to another program, or the policy does not exist.
    """
    observer = Observer(clock, time.time, options.roots)
    names, metrics = observer.names, digest(observer.names)
    policy_id = (
        options.policy if options.downtime is None else f"{options.policy}, downtime {options.downtime:g}"
    )
    keeper = Keeper(options.state)
    node = keeper.load(
        lambda found: _restored(found, policy_id, options.policy, metrics, len(names)), notify
    ) or make_node(options.policy, len(names), rng, options.downtime)
    board = Board(clock, options.stale)
    watching = NodeWatch(node, Guard(options.guard), board, options.every, clock)
    saver = Saver(keeper, options.save_every, lambda: _envelope(node, policy_id, metrics), clock, notify)
    refusals = Refusals()
    with ExitStack() as stack:
        stack.callback(stop.notify)
        joiner = None
        if options.above is not None:
            joiner = _joiner(
                options.above, token, options.policy, metrics, len(names), rng, clock, notify, watching
            )
            stack.enter_context(_threaded("join", joiner.run, stop))
        if options.mark != "off":
            marker = Marker(
                marking_server(), options.node, options.mark, board.answer, clock, retry_delays(rng), notify
            )
            stack.enter_context(_threaded("kubernetes", marker.run, stop, _LAST_MARK_S))

        def shown() -> Iterator[PrometheusMetric]:
            yield from board_metrics(board, names)
            yield from node_metrics(node.policy.name)
            yield from of_process(refusals, saver.saves, joiner)

        web = WebServer(options.listen, agent_routes(board, Page(shown).answer), refusals)
        stack.callback(web.close)
        where = f"{web.address.url}/accept, policy {options.policy}"
        if options.check is not None:
            farewell = line_of(AdmissionAnswer(True, "", 100), options.drain)
            check = CheckServer(options.check, lambda: line_of(board.answer(), options.drain), farewell)
            stack.callback(check.close)
            where += f"; agent-check at {check.address.host}, port {check.address.port}"
        notify(where)
        for line in _without_effect(options, node):
            notify(line)
        stack.callback(saver.look, True)
        first = _FirstStep(observer, notify)

        def take(seen: Observation) -> None:
            first(seen)
            watching.take(seen)
            saver.look()

        watch(observer.observe, take, options.every, clock, stop)


def run_aggregator(
    options: AggregatorOptions,
    token: Token,
    rng: np.random.Generator,
    stop: Stop,
    notify: Notify,
    clock: Clock = time.monotonic,
) -> None:
    """Merge what agents send until stopped; the parameters are those of :func:`run_agent`.

    Raises
    ------
    InputError
        The port is in use, or the state file belongs to another program.
    """
    names = Observer(clock, time.time, Roots()).names
    metrics = digest(names)
    aggregate = Aggregate(len(names), options.rank, metrics, options.forget_after, clock)
    keeper = Keeper(options.state)
    keeper.load(aggregate.restore, notify)
    saver = Saver(keeper, options.save_every, aggregate.saved, clock, notify)
    refusals, given = Refusals(), _Given()
    with ExitStack() as stack:
        stack.callback(stop.notify)
        joiner = None
        if options.above is not None:
            joiner = Joiner(
                above=options.above,
                token=token,
                policy="",
                metrics=metrics,
                dim=len(names),
                learned=aggregate.learned,
                wanted=lambda: True,
                give=given.take,
                backoff=retry_delays(rng),
                clock=clock,
                notify=notify,
            )
            stack.enter_context(_threaded("join", joiner.run, stop))

        def shown() -> Iterator[PrometheusMetric]:
            yield from aggregate.shown()
            yield from of_process(refusals, saver.saves, joiner)

        routes = Routes(aggregate, token, metrics, Page(shown).answer, lambda: given.last)
        # Only changes after this point need to be saved.
        saved = aggregate.changes
        web = WebServer(options.listen, routes, refusals)
        stack.callback(web.close)
        notify(f"{web.address.url}, {len(aggregate.children)} agents known")
        stack.callback(saver.look, True)
        while not stop.wait(1.0):
            aggregate.forget()
            changes = aggregate.changes
            if changes != saved and saver.look():
                saved = changes


class _Given:
    """The model last received from the aggregator above."""

    def __init__(self) -> None:
        self.last: Learned | None = None

    def take(self, learned: Learned) -> None:
        self.last = learned


class _FirstStep:
    """Reports once which metrics this machine lacks."""

    def __init__(self, observer: Observer, notify: Notify) -> None:
        self._observer, self._notify, self._reported = observer, notify, False

    def __call__(self, seen: Observation) -> None:
        if self._reported:
            return
        self._reported = True
        missing = self._observer.missing(seen)
        if missing:
            self._notify(f"{len(missing)} not on this machine: {'; '.join(missing)}")


@contextmanager
def _threaded(name: str, run: Callable[[Stop], None], stop: Stop, patience: float = 10.0) -> Iterator[None]:
    """Run a function in a thread; at the end, request its stop and wait for it, for at most ``patience`` s."""
    thread = threading.Thread(target=run, args=(stop,), name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.notify()
        thread.join(timeout=patience)


def _joiner(
    above: Above,
    token: Token | None,
    policy: str,
    metrics: str,
    dim: int,
    rng: np.random.Generator,
    clock: Clock,
    notify: Notify,
    watching: NodeWatch,
) -> Joiner:
    if token is None:
        raise InputError("--join: no token, expected --token-file or WINDLASS_TOKEN")

    def give(learned: Learned) -> None:
        watching.given = learned

    return Joiner(
        above=above,
        token=token,
        policy=policy,
        metrics=metrics,
        dim=dim,
        learned=lambda: watching.learned,
        wanted=lambda: watching.node.is_new,
        give=give,
        backoff=retry_delays(rng),
        clock=clock,
        notify=notify,
    )


def _without_effect(options: AgentOptions, node: AgentNode) -> Iterator[str]:
    """Yield a line for each given option that has no effect under the policy."""
    instead = "choose a policy that does, such as --policy forewarn"
    if options.state is not None and not node.can_be_saved:
        yield f"--state: policy {options.policy} saves nothing, so the file is not written; {instead}"
    if options.above is not None and not node.can_share:
        yield f"--join: policy {options.policy} shares nothing with other nodes; {instead}"


def retry_delays(rng: np.random.Generator) -> Backoff:
    """Return delays with a generator of their own, so that agents that failed together do not retry together."""
    return Backoff(_FIRST_DELAY_S, _LONGEST_DELAY_S, rng.spawn(1)[0])


def _restored(envelope: Envelope, policy_id: str, policy: str, metrics: str, dim: int) -> AgentNode:
    envelope.check("agent", metrics)
    if envelope.policy != policy_id:
        raise InputError(f"has policy '{envelope.policy:.80}', expected '{policy_id}'")
    return load_node(policy, dim, envelope.part("node") or b"")


def _envelope(node: AgentNode, policy_id: str, metrics: str) -> Envelope | None:
    data = node.save()
    return None if data is None else Envelope("agent", policy_id, metrics, (EnvelopePart("node", data),))


def of_process(refusals: Refusals, saves: SaveCounts, joiner: Joiner | None) -> Iterator[PrometheusMetric]:
    """Yield the metrics common to agents and aggregators: rejected requests, saves, and the aggregator above."""
    refused = tuple((why, float(count)) for why, count in refusals.by_reason())
    yield LabelledMetric("refused_requests", "Rejected requests.", "why", refused, counts=True)
    yield Count("saves", "Successful saves of learned state.", saves.done)
    yield Count("failed_saves", "Failed saves of learned state.", saves.failed)
    if joiner is not None:
        yield Gauge("joined", "1 if the aggregator answered the last request.", float(joiner.status.now))
        yield Count("sent", "Messages with learned state sent to the aggregator.", joiner.status.sent)
        yield Count(
            "failed_joins", "Requests that the aggregator rejected or did not answer.", joiner.status.failed
        )
