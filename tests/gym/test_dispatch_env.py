"""The environment of a dispatching agent: responses, rewards and ends of episodes."""

from __future__ import annotations

import threading
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.experiment.dispatching import simulate
from windlass.model import InputError

pytest.importorskip("gymnasium", reason="needs the extra gym")
from gymnasium.utils.env_checker import check_env

from windlass.experiment.gym import DispatchEnv


class Shortest:
    """Sends each task to the first of the shortest queues."""

    name: ClassVar[str] = "shortest"

    def arrived(self, now):
        pass

    def choose(self, lengths):
        return int(lengths.argmin())

    def completed(self, worker, work, seconds):
        pass


def _run(env, choose, seed=None):
    observation, info = env.reset(seed=seed)
    rewards, ended = [], False
    while not ended:
        assert observation in env.observation_space
        observation, reward, ended, cut, info = env.step(choose(observation))
        assert not cut
        rewards.append(reward)
    return rewards, info


def shortest(observation):
    return int(observation["workers"][:, 0].argmin())


def test_gymnasium_accepts_the_environment():
    check_env(DispatchEnv([1.0, 2.0, 0.5], tasks=50), skip_render_check=True)


@pytest.mark.parametrize("options", [{}, {"probe_delay": 0.5}, {"arrivals": "poisson", "service": "fixed"}])
def test_an_agent_that_acts_as_a_policy_has_its_responses(options):
    speeds = [0.5, 1.0, 2.0]
    _, info = _run(DispatchEnv(speeds, load=0.9, tasks=300, **options), shortest, seed=3)
    expected = simulate(Shortest(), speeds, 0.9, 300, info["seed"], record=True, **options)
    np.testing.assert_array_equal(info["response_s"], expected.response)
    assert info["mean_response_s"] == expected.mean


@given(st.integers(0, 10_000), st.floats(0.2, 1.2))
@settings(max_examples=15, deadline=None)
def test_rewards_add_up_to_minus_the_mean_response(seed, load):
    rng = np.random.default_rng(seed)
    rewards, info = _run(DispatchEnv([1.0, 3.0], load=load, tasks=40), lambda _: int(rng.integers(2)), seed)
    assert len(rewards) == 40
    assert -sum(rewards) == pytest.approx(info["mean_response_s"])
    assert max(rewards) <= 1e-12


def test_rewards_come_when_tasks_are_complete():
    rewards, info = _run(DispatchEnv([1.0], load=0.1, tasks=100, service="fixed"), lambda _: 0, 1)
    # At a low load a task ends before the next one arrives: its response is the reward of that step.
    own = -100 * np.array(rewards)
    assert np.isclose(own[:-1], info["response_s"][:-1]).mean() > 0.7


def test_the_agent_sees_the_rates_of_the_workers():
    env = DispatchEnv([1.0, 4.0], load=0.5, tasks=400, service="fixed")
    observation, _ = env.reset(seed=1)
    for _ in range(300):
        observation, *_ = env.step(shortest(observation))
    np.testing.assert_allclose(observation["workers"][:, 1], [0.25, 1.0], rtol=1e-5)
    env.close()


def test_an_episode_that_is_not_finished_ends_its_thread():
    before = threading.active_count()
    env = DispatchEnv([1.0, 2.0], tasks=50)
    for _ in range(3):
        env.reset(seed=1)
        env.step(0)
    assert threading.active_count() == before + 1
    env.close()
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"speeds": []}, "speeds"),
        ({"speeds": ["fast"]}, "speeds: could not convert .*, expected one number per worker"),
        ({"load": -1.0}, "load"),
        ({"load": 0}, "load is 0, expected a finite number above 0"),
        ({"tasks": 0}, "tasks"),
        ({"probe_delay": -1}, "probe_delay"),
    ],
)
def test_wrong_arguments_are_named(given, message):
    with pytest.raises(InputError, match=message):
        DispatchEnv(**({"speeds": [1.0]} | given))


def test_a_step_outside_of_an_episode_or_to_no_worker_is_an_error():
    env = DispatchEnv([1.0], tasks=1)
    with pytest.raises(InputError, match="no episode has begun"):
        env.step(0)
    env.reset(seed=1)
    for action in (1, -1, 0.5, "a", None):
        with pytest.raises(InputError, match=f"worker {action}, expected a whole number from 0 to 0"):
            env.step(action)
    assert env.step(0)[2]
    with pytest.raises(InputError, match="the episode has ended"):
        env.step(0)
