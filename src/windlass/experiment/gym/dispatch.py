"""The environment of an agent that dispatches small tasks to workers with queues."""

from __future__ import annotations

import operator
import queue
import threading
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.drive import drive
from windlass.experiment.dispatching import LANE
from windlass.experiment.workloads.tasks import draw_tasks
from windlass.model import InputError
from windlass.model.timetable import WorkerTimetable
from windlass.model.values import checked_rates, number, whole
from windlass.sim.coupled import SinglePart
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.result import Dispatched
from windlass.sim.workers.setup import Setup

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as problem:
    raise InputError(
        "windlass.gym needs Gymnasium; install it with: pip install 'windlass[gym]'"
    ) from problem

#: What the agent sees of a worker: its queue, n/(n + 1) for n tasks, and the rate at which it completed tasks.
WORKER_COLUMNS = ("queue", "rate")
#: Weight of the latest task in the mean rate of a worker.
_LATEST = 0.1
#: Seeds of workloads are drawn below this.
_SEEDS = 2**31

DispatchObservation = dict[str, NDArray[np.float32]]


class DispatchEnv(gymnasium.Env[Any, np.int64]):
    """Workers with queues; the agent chooses the worker of each task.

    A step is one decision: action ``i`` sends the task that has just arrived to worker ``i``. Tasks run in the
    simulator that also runs policies, so an agent and a policy that choose the same workers have the same responses.

    Parameters
    ----------
    speeds
        (n,) speed of each worker, work/s.
    load
        Arriving work over the rate of all workers, above 0.
    tasks
        Number of tasks of an episode; their mean work is 1.
    arrivals, service
        As for :func:`windlass.experiment.dispatching.simulate`.
    probe_delay
        Age of the queue lengths that the agent sees, s.

    Raises
    ------
    InputError
        An argument is out of range.

    Examples
    --------
    >>> env = DispatchEnv([1.0, 2.0], load=0.5, tasks=100)
    >>> observation, info = env.reset(seed=1)
    >>> rewards, ended = [], False
    >>> while not ended:
    ...     shortest = int(observation["workers"][:, 0].argmin())
    ...     observation, reward, ended, cut, info = env.step(shortest)
    ...     rewards.append(reward)
    >>> len(rewards), round(-sum(rewards) - info["mean_response_s"], 9)
    (100, 0.0)
    """

    def __init__(
        self,
        speeds: Sequence[float] | NDArray[np.float64],
        *,
        load: float = 0.8,
        tasks: int = 1000,
        arrivals: object = "poisson",
        service: object = "exponential",
        probe_delay: float = 0.0,
    ) -> None:
        try:
            self._speeds = checked_rates(speeds)
        except ValueError as error:
            raise InputError(str(error).replace("rates", "speeds", 1)) from error
        self._load, self._tasks = number("load", load, 0.0, open_below=True), whole("tasks", tasks, 1)
        self._arrivals, self._service = arrivals, service
        self._probe_delay = number("probe_delay", probe_delay, 0.0)
        count = len(self._speeds)
        self.action_space = spaces.Discrete(count)
        self.observation_space = spaces.Dict(
            {"workers": spaces.Box(0.0, 1.0, (count, len(WORKER_COLUMNS)), np.float32)}
        )
        self._episode: _DispatchEpisode | None = None

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[DispatchObservation, dict[str, Any]]:
        """Begin an episode; its workload is drawn with ``np_random``, and its seed is ``info["seed"]``."""
        super().reset(seed=seed)
        self.close()
        drawn = int(self.np_random.integers(_SEEDS))
        self._episode = _DispatchEpisode(self._part(drawn), drawn)
        return self._episode.observation(), self._episode.info()

    def step(self, action: np.int64 | int) -> tuple[DispatchObservation, float, bool, bool, dict[str, Any]]:
        """Send the task to a worker; return observation, reward, whether the episode ended, False, and info.

        The rewards of an episode add up to minus the mean response, s: each has the responses of the tasks that were
        completed since the last decision.

        Raises
        ------
        InputError
            The episode has ended, or none has begun; or there is no such worker.
        """
        episode = self._episode
        if episode is None:
            raise InputError("step: no episode has begun, expected a call of reset() before")
        if episode.ended:
            raise InputError("step: the episode has ended; reset() begins another one")
        worker = self._worker(action)
        reward = episode.send(worker)
        return episode.observation(), reward, episode.ended, False, episode.info()

    def _worker(self, action: np.int64 | int) -> int:
        try:
            worker = operator.index(action)
        except TypeError:
            worker = -1
        if not 0 <= worker < len(self._speeds):
            raise InputError(
                f"step: worker {action}, expected a whole number from 0 to {len(self._speeds) - 1}"
            )
        return worker

    def close(self) -> None:
        """End the episode."""
        if self._episode is not None:
            self._episode.abandon()
            self._episode = None

    def _part(self, seed: int) -> tuple[WorkersPart, _DispatchAgent]:
        setup = Setup(
            speeds=self._speeds,
            timetable=WorkerTimetable.none(),
            schedulers=1,
            probe_delay=self._probe_delay,
            sizes_known=False,
            lane=LANE,
            samples=0,
            record=True,
            tasks_per_job=1,
        )
        drawn = draw_tasks(
            self._tasks,
            self._load,
            self._arrivals,
            self._service,
            tasks_per_job=1,
            capacity=float(self._speeds.sum()),
            seed=seed,
        )
        agent = _DispatchAgent(len(self._speeds))
        rng = np.random.default_rng(drawn.schedulers)
        return WorkersPart(setup, agent, drawn.submit, drawn.work, rng), agent


class _AbandonedError(Exception):
    """The episode is not continued."""


class _DispatchAgent:
    """A policy in the simulator's thread, which passes each decision to the thread of the environment."""

    name: ClassVar[str] = "agent"

    def __init__(self, workers: int) -> None:
        self.rates = np.zeros(workers)
        self.seen: queue.SimpleQueue[NDArray[np.int64] | None] = queue.SimpleQueue()
        self.chosen: queue.SimpleQueue[int | None] = queue.SimpleQueue()

    def __deepcopy__(self, memo: object) -> _DispatchAgent:
        # The simulator copies policies; this one stands for an agent outside of it.
        return self

    def arrived(self, now: float) -> None:
        """Ignore the time."""

    def choose(self, lengths: NDArray[np.int64]) -> int:
        """Return the worker that the agent chooses."""
        self.seen.put(lengths)
        found = self.chosen.get()
        if found is None:
            raise _AbandonedError
        return found

    def completed(self, worker: int, work: float, seconds: float) -> None:
        """Update the worker's mean rate."""
        if seconds > 0:
            own = work / seconds
            known = self.rates[worker]
            self.rates[worker] = own if known == 0 else known + _LATEST * (own - known)


class _DispatchEpisode:
    """One simulation, stopped at each decision. It runs in a thread, since the simulator calls its policy."""

    def __init__(self, made: tuple[WorkersPart, _DispatchAgent], seed: int) -> None:
        self._part, self._agent = made
        self._seed, self._lengths = seed, np.zeros(len(self._agent.rates), np.int64)
        self._result: Dispatched | None = None
        self._error: BaseException | None = None
        self._running: NDArray[np.int64] = np.zeros(0, np.int64)
        self._decided, self._rewarded = 0, 0.0
        self.ended = False
        self._thread = threading.Thread(target=self._simulate, name="dispatch", daemon=True)
        self._thread.start()
        self._go_on()

    def send(self, worker: int) -> float:
        """Send the task to a worker; return the reward until the next decision, or the end."""
        self._running = np.append(self._running, self._decided)
        self._decided += 1
        self._agent.chosen.put(worker)
        return self._go_on()

    def abandon(self) -> None:
        """End the thread."""
        if self._thread.is_alive():
            self._agent.chosen.put(None)
            self._thread.join()

    def observation(self) -> DispatchObservation:
        """Return what the agent sees; zeros at the end."""
        most = float(self._agent.rates.max())
        columns = (
            self._lengths / (self._lengths + 1.0),
            self._agent.rates / most if most > 0 else self._agent.rates,
        )
        return {"workers": np.stack(columns, axis=1).astype(np.float32)}

    def info(self) -> dict[str, Any]:
        """Return the seed of the workload; at the end also the mean response, and that of each task."""
        if self._result is None:
            return {"seed": self._seed}
        response = self._result.response
        return {"seed": self._seed, "mean_response_s": float(response.mean()), "response_s": response}

    def _simulate(self) -> None:
        try:
            self._result = drive(SinglePart(self._part), {"dispatch": self._agent})
        except _AbandonedError:
            pass
        except BaseException as error:
            self._error = error
        finally:
            self._agent.seen.put(None)

    def _go_on(self) -> float:
        """Wait for the next decision, or the end; return the reward until then."""
        lengths = self._agent.seen.get()
        if self._error is not None:
            raise self._error
        if lengths is not None:
            self._lengths = lengths
            return self._reward()
        self.ended, self._lengths = True, np.zeros_like(self._lengths)
        self._thread.join()
        assert self._result is not None
        # The rest, so that the rewards add up to the result.
        return -float(self._result.response.mean()) - self._rewarded

    def _reward(self) -> float:
        """Return minus the responses of tasks completed since the last decision, over the number of tasks."""
        state = self._part.state
        end = state.end[self._running]
        done = np.isfinite(end)
        if not done.any():
            return 0.0
        spent = float((end[done] - state.submit[self._running[done]]).sum())
        self._running = self._running[~done]
        found = -spent / len(state.submit)
        self._rewarded += found
        return found
