"""What a run of rigid jobs on a site needs compiled: the function of its policy, or the empty one."""

import numpy as np
import pytest

from windlass.order.site import POLICIES
from windlass.order.site.compiled import STARTS_NONE_BY_INDEX, as_compiled, indexed_of
from windlass.sim.instants.loop import KERNELS as COMMON_KERNELS
from windlass.sim.site.part import KERNELS, STARTS_NONE, kernels, select_of


class Plain:
    """A policy that is not compiled."""

    name = "plain"

    def decide(self, view):
        return ()


@pytest.mark.parametrize("pools", [False, True])
def test_a_compiled_policy_needs_its_own_function(pools):
    policy = POLICIES.make("fcfs", np.random.default_rng(1))
    own = select_of(as_compiled(policy), pools)
    assert kernels(policy, pools) == (*COMMON_KERNELS, own, STARTS_NONE_BY_INDEX, *KERNELS)
    assert own is not STARTS_NONE


@pytest.mark.parametrize("pools", [False, True])
def test_a_python_policy_needs_no_function_of_its_own(pools):
    assert kernels(Plain(), pools) == (*COMMON_KERNELS, STARTS_NONE, STARTS_NONE_BY_INDEX, *KERNELS)


def test_easy_needs_its_function_for_long_queues_only_without_pools():
    policy = POLICIES.make("easy", np.random.default_rng(1))
    by_index = indexed_of(policy)
    assert by_index is not None
    assert by_index in kernels(policy)
    assert by_index not in kernels(policy, pools=True)
