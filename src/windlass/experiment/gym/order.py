"""The environment of an agent that orders the queue of one site."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from windlass.experiment.gym.window import JOB_COLUMNS, Observation, OrderWindow
from windlass.model import InputError, JobTable
from windlass.model.values import whole
from windlass.order.site.view import SiteView, Start
from windlass.sim.coupled import SinglePart
from windlass.sim.ledger import Ledger
from windlass.sim.site.part import SitePart

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as problem:
    raise InputError(
        "windlass.gym needs Gymnasium; install it with: pip install 'windlass[gym]'"
    ) from problem

#: What the rewards of an episode add up to, with a minus sign: the mean over jobs of the wait, or of the wait divided
#: by the run time, which counts as at least 10 s.
OBJECTIVES = ("wait", "slowdown")
_SHORTEST_S = 10.0


class OrderEnv(gymnasium.Env[Any, np.int64]):
    """One site with a queue; the agent chooses the jobs that start.

    A step is one action: action ``i`` starts the job in place ``i`` of the window, and the last action waits for the
    next submission or end. An action that the mask (``info["action_mask"]``) does not allow counts as waiting, or as
    the first allowed one if waiting is not. No action is due while no job of the window fits. The clock moves from one
    instant to the next in the simulator that also runs policies, so an agent and a policy that start the same jobs have
    the same schedule.

    Parameters
    ----------
    jobs
        The jobs, or a function that draws them with a random generator for each episode.
    processors
        Processors of the site.
    length
        Number of consecutive jobs of an episode, drawn from ``jobs``; 0 for all of them.
    window
        Number of jobs that the agent sees.
    objective
        ``wait`` or ``slowdown``: the rewards of an episode add up to minus the mean wait, s, or to minus the mean of
        wait divided by run time. Run times of less than 10 s count as 10 s.

    Raises
    ------
    InputError
        A job is wider than the site, an episode is longer than the jobs, or the objective does not exist.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> env = OrderEnv(JobTable.of(submit=[0, 0, 0], run=[30, 20, 10], procs=[2, 2, 2]), processors=2)
    >>> observation, info = env.reset(seed=1)
    >>> info["action_mask"].nonzero()[0].tolist()
    [0, 1, 2]
    >>> rewards = []
    >>> for place in (2, 1, 0):
    ...     observation, reward, ended, cut, info = env.step(place)
    ...     rewards.append(reward)
    >>> ended, [round(reward, 1) for reward in rewards], info["mean_wait_s"]
    (True, [-6.7, -6.7, 0.0], 13.333333333333334)
    """

    def __init__(
        self,
        jobs: JobTable | Callable[[np.random.Generator], JobTable],
        processors: int,
        *,
        length: int = 0,
        window: int = 32,
        objective: str = "wait",
    ) -> None:
        self._jobs, self._processors = jobs, whole("processors", processors, 1)
        self._length = whole("length", length, 0)
        self._window = OrderWindow(window)
        if objective not in OBJECTIVES:
            raise InputError(f"objective is {objective!r}, expected one of {', '.join(OBJECTIVES)}")
        self._objective = objective
        if isinstance(jobs, JobTable) and self._length > len(jobs):
            raise InputError(f"length is {length}, expected at most the number of jobs, {len(jobs)}")
        self.action_space = spaces.Discrete(window + 1)
        self.observation_space = spaces.Dict(
            {
                "jobs": spaces.Box(0.0, 1.0, (window, len(JOB_COLUMNS)), np.float32),
                "site": spaces.Box(0.0, 1.0, (6,), np.float32),
            }
        )
        self._episode: _Episode | None = None

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode; jobs and their stretch are drawn with ``np_random``."""
        super().reset(seed=seed)
        jobs = self._jobs if isinstance(self._jobs, JobTable) else self._jobs(self.np_random)
        if self._length:
            first = int(self.np_random.integers(len(jobs) - self._length + 1))
            jobs = jobs.take(np.arange(first, first + self._length))
        self._episode = _Episode(jobs, self._processors, self._window, self._objective)
        return self._episode.observation(), self._episode.info()

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take an action; return the observation, the reward, whether the episode ended, False, and the info.

        Raises
        ------
        InputError
            The episode has ended, or none has begun; :meth:`reset` begins one.
        """
        episode = self._episode
        if episode is None or episode.ended:
            raise InputError("step: the episode has ended; reset() begins another one")
        reward = episode.take(int(action))
        return episode.observation(), reward, episode.ended, False, episode.info()


class _Agent:
    """Stands for the agent in the simulator, which only waits for its decisions."""

    name: ClassVar[str] = "agent"

    def decide(self, view: SiteView) -> Start:
        raise NotImplementedError("the environment decides")


class _Episode:
    """One replay, stopped at each decision."""

    def __init__(self, jobs: JobTable, processors: int, window: OrderWindow, objective: str) -> None:
        ledger = Ledger([[processors]], parts=1)
        self._engine = SinglePart(SitePart(jobs, _Agent(), ledger), ledger)
        self._jobs, self._processors, self._window = jobs, processors, window
        # Weights of a second of waiting of each job, by its number.
        weights = 1.0 / np.maximum(jobs.run, _SHORTEST_S) if objective == "slowdown" else np.ones(len(jobs))
        order = np.argsort(jobs.job)
        self._numbers, self._weights = jobs.job[order], weights[order] / max(len(jobs), 1)
        self._chosen: list[int] = []
        self._view: SiteView | None = None
        self._waited_until = -np.inf
        self.ended = False
        self._go_on()

    def take(self, action: int) -> float:
        """Take an action; return the reward of the time that passes after it."""
        assert self._view is not None
        mask = self._window.mask(self._view, self._chosen)
        if not (0 <= action < len(mask) and mask[action]):
            action = self._window.wait if mask[self._window.wait] else int(mask.argmax())
        if action != self._window.wait:
            self._chosen.append(int(self._window.rows(self._view, self._chosen)[action]))
            if self._window.mask(self._view, self._chosen)[:-1].any():
                return 0.0
        self._engine.act("order", self._window.start(self._view, self._chosen, "chosen by the agent"))
        return self._go_on()

    def _go_on(self) -> float:
        """Go on to the next instant at which a job of the window fits, or to the end; return the reward until then."""
        reward = 0.0
        while True:
            self._chosen = []
            if self._engine.wait() is None:
                self._view, self.ended = None, True
                return reward
            self._view = self._engine.view("order")
            reward -= self._cost(self._view)
            if self._window.mask(self._view, ())[:-1].any():
                return reward
            self._engine.act("order", Start())

    def _cost(self, view: SiteView) -> float:
        """Return the weighted time that jobs have waited since the last instant."""
        waiting = view.waiting
        since = np.maximum(waiting.submit, self._waited_until)
        weights = self._weights[np.searchsorted(self._numbers, waiting.job)]
        self._waited_until = view.now
        return float(((view.now - since) * weights).sum())

    def observation(self) -> Observation:
        """Return what the agent sees; zeros at the end."""
        if self._view is None:
            return {
                "jobs": np.zeros((self._window.places, len(JOB_COLUMNS)), np.float32),
                "site": np.zeros(6, np.float32),
            }
        return self._window.observe(self._view, self._chosen)

    def info(self) -> dict[str, Any]:
        """Return the mask of allowed actions; at the end also the mean wait and each job's start."""
        if self._view is not None:
            return {"action_mask": self._window.mask(self._view, self._chosen), "time_s": self._view.now}
        replay = self._engine.result()
        waits = replay.start - self._jobs.submit
        return {
            "action_mask": np.zeros(self._window.places + 1, np.int8),
            "mean_wait_s": float(waits.mean()) if len(waits) else 0.0,
            "start_s": replay.start,
        }
