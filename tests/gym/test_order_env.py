"""The environment of an ordering agent: the schedules, rewards and masks of any agent."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.experiment.workloads import lublin
from windlass.model import InputError, JobTable, PolicyError
from windlass.order.site.policies.fcfs import Fcfs
from windlass.order.site.policies.sjf import Sjf
from windlass.sim.site.replay import replay

pytest.importorskip("gymnasium", reason="needs the extra gym")
from gymnasium.utils.env_checker import check_env

from windlass.experiment.gym import AgentOrder, OrderEnv


def _drawn(jobs, seed, processors=16, load=1.2):
    return lublin(jobs, processors, np.random.default_rng(seed), load=load)


def _run(env, agent, seed=None):
    """Run an episode; return the rewards, and the info of the end."""
    observation, info = env.reset(seed=seed)
    rewards, ended = [], False
    while not ended:
        assert observation in env.observation_space
        assert info["action_mask"][:-1].any()
        observation, reward, ended, cut, info = env.step(agent(observation, info["action_mask"]))
        assert not cut
        rewards.append(reward)
    return rewards, info


def head(observation, mask):
    """Take the first job if it fits, as first come, first served."""
    return 0 if mask[0] else len(mask) - 1


def shortest(observation, mask):
    """Take the job with the shortest request if it fits; of equal ones, the first."""
    jobs = observation["jobs"]
    place = int(np.argmin(np.where(jobs[:, 0] > 0, jobs[:, 2], np.inf)))
    return place if mask[place] else len(mask) - 1


def any_job(seed):
    """Take any allowed action."""
    rng = np.random.default_rng(seed)
    return lambda observation, mask: int(rng.choice(np.flatnonzero(mask)))


def test_gymnasium_accepts_the_environment():
    check_env(
        OrderEnv(lambda rng: lublin(30, 16, rng, load=1.2), 16, length=20, window=8), skip_render_check=True
    )


@pytest.mark.parametrize(("agent", "policy"), [(head, Fcfs()), (shortest, Sjf())])
def test_an_agent_that_acts_as_a_policy_has_its_schedule(agent, policy):
    jobs = _drawn(150, 3)
    _, info = _run(OrderEnv(jobs, 16, window=150), agent)
    expected = replay(jobs, 16, policy)
    assert expected.start.max() > jobs.submit.max()
    np.testing.assert_array_equal(info["start_s"], expected.start)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000), window=st.integers(1, 12), objective=st.sampled_from(["wait", "slowdown"])
)
def test_rewards_add_up_to_the_objective(seed, window, objective):
    jobs = _drawn(25, seed)
    rewards, info = _run(OrderEnv(jobs, 16, window=window, objective=objective), any_job(seed))
    waits = info["start_s"] - jobs.submit
    scale = np.maximum(jobs.run, 10.0) if objective == "slowdown" else 1.0
    assert (waits >= 0).all()
    assert -sum(rewards) == pytest.approx((waits / scale).mean())
    assert info["mean_wait_s"] == pytest.approx(waits.mean())
    assert _most_in_use(jobs, info["start_s"]) <= 16


def _most_in_use(jobs, start):
    """Return the most processors in use at once; a job that ends frees its own before others start."""
    ends = start + np.minimum(jobs.run, jobs.request)
    changes = [(time, 1, procs) for time, procs in zip(start, jobs.procs, strict=True)]
    changes += [(time, 0, -procs) for time, procs in zip(ends, jobs.procs, strict=True)]
    return max(itertools.accumulate(change for _, _, change in sorted(changes)))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), window=st.integers(1, 8))
def test_an_agent_has_the_same_schedule_as_a_policy(seed, window):
    jobs = _drawn(25, seed)
    _, info = _run(OrderEnv(jobs, 16, window=window), any_job(seed))
    as_policy = replay(jobs, 16, AgentOrder(any_job(seed), window))
    np.testing.assert_array_equal(info["start_s"], as_policy.start)


def test_one_seed_draws_the_same_episode_and_another_seed_another():
    env = OrderEnv(_drawn(200, 1), 16, length=30)
    first, same, other = (_run(env, head, seed)[1]["start_s"] for seed in (1, 1, 2))
    assert first.tolist() == same.tolist() != other.tolist()
    assert len(first) == 30


def test_the_last_stretch_of_the_jobs_is_drawn_too():
    jobs = _drawn(12, 1)
    env = OrderEnv(jobs, 16, length=10)
    begins = {float(env.reset(seed=seed)[1]["time_s"]) for seed in range(40)}
    assert begins == set(jobs.submit[:3].tolist())


JOBS = JobTable.of(submit=[0, 0, 1], run=[50, 50, 50], procs=[3, 2, 1])


def test_on_a_site_without_running_jobs_an_agent_cannot_wait():
    env = OrderEnv(JOBS, 4, window=2)
    _, info = env.reset(seed=1)
    assert info["action_mask"].tolist() == [1, 1, 0]
    # Waiting counts as the first allowed action. The other job does not fit then, and the next one arrives.
    observation, reward, ended, _, info = env.step(2)
    assert (info["time_s"], reward, ended) == (1.0, pytest.approx(-1 / 3), False)
    assert info["action_mask"].tolist() == [0, 1, 1]
    assert observation["site"][:2].tolist() == [0.25, 1.0]


def test_an_action_that_is_not_allowed_counts_as_waiting():
    env = OrderEnv(JOBS, 4, window=2)
    env.reset(seed=1)
    env.step(0)
    info = env.step(0)[4]
    # At 50 s the first job has ended, and both others fit.
    assert (info["time_s"], info["action_mask"].tolist()) == (50.0, [1, 1, 0])


def test_jobs_behind_the_window_are_counted_but_not_shown():
    jobs = JobTable.of(submit=[0] * 6, run=[50] * 6, procs=[1] * 6)
    observation, info = OrderEnv(jobs, 2, window=2).reset(seed=1)
    assert info["action_mask"].tolist() == [1, 1, 0]
    assert observation["jobs"][:, 0].tolist() == [1.0, 1.0]
    assert observation["site"][5] == pytest.approx(np.log(7) / np.log1p(1e6))


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"objective": "speed"}, "objective is 'speed', expected one of wait, slowdown"),
        ({"length": 4}, "length is 4, expected at most the number of jobs, 3"),
        ({"window": 0}, "window is 0, expected a whole number of at least 1"),
        ({"processors": 0}, "processors is 0, expected a whole number of at least 1"),
    ],
)
def test_a_value_out_of_bounds_is_refused(changed, problem):
    with pytest.raises(InputError, match=problem):
        OrderEnv(**{"jobs": JOBS, "processors": 4, **changed})


def test_a_job_wider_than_the_site_is_refused():
    with pytest.raises(InputError, match="3 processors"):
        OrderEnv(JOBS, 2).reset(seed=1)


def test_a_step_without_an_episode_is_refused():
    env = OrderEnv(JobTable.of(submit=[0], run=[1], procs=[1]), 1)
    with pytest.raises(InputError, match=r"reset\(\) begins"):
        env.step(0)
    env.reset(seed=1)
    assert env.step(0)[2]
    with pytest.raises(InputError, match=r"reset\(\) begins"):
        env.step(0)


def test_an_agent_without_jobs_has_ended():
    env = OrderEnv(JobTable.of(submit=[], run=[], procs=[]), 4)
    _, info = env.reset(seed=1)
    assert info["mean_wait_s"] == 0.0


def test_a_policy_names_an_action_that_is_not_allowed():
    with pytest.raises(PolicyError, match=r"took action 1, expected one of \[0\]"):
        replay(JobTable.of(submit=[0], run=[1], procs=[1]), 1, AgentOrder(lambda observation, mask: 1, 1))
