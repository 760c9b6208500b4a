"""What an engine offers to the constructors of policies."""

from dataclasses import dataclass

import numpy as np
import pytest

from windlass.admit import POLICIES as ADMIT
from windlass.admit import AdmitContext
from windlass.dispatch import POLICIES as DISPATCH
from windlass.dispatch import DispatchContext
from windlass.model import InputError
from windlass.order.site import POLICIES as ORDER
from windlass.policy.context import Context


def rng():
    return np.random.default_rng(5)


def test_a_policy_receives_what_its_constructor_has_a_parameter_for():
    speeds = np.array([1.0, 3.0])
    made = DISPATCH.make("ppot", DispatchContext.of(speeds, rng()))
    assert made.workers == 2
    assert ADMIT.make("pronto", AdmitContext(rng(), 7)).dim == 7
    # Neither has a parameter for anything that is offered.
    assert ORDER.make("easy", AdmitContext(rng(), 7)).name == "easy"
    assert ADMIT.make("utilisation", AdmitContext(rng(), 7)).name == "utilisation"


def test_a_user_s_parameter_replaces_what_is_offered():
    assert ADMIT.make("pronto", AdmitContext(rng(), 7), dim=5).dim == 5


@pytest.mark.parametrize("context", [AdmitContext(rng()), rng()])
def test_a_parameter_that_is_not_offered_and_has_no_default_is_named(context):
    with pytest.raises(InputError, match=r"^policies\.admit: pronto: .*dim"):
        ADMIT.make("pronto", context)


def test_the_generator_cannot_be_given_as_a_parameter():
    with pytest.raises(InputError, match="has no parameter 'rng'"):
        ADMIT.make("random", rng(), rng=rng())


def test_a_context_offers_its_fields_that_have_a_value():
    @dataclass(frozen=True)
    class Offers(Context):
        nothing: int | None = None
        zero: float = 0.0
        array: np.ndarray | None = None

    own = rng()
    found = dict(Offers(own, array=np.zeros(2)).offers())
    assert list(found) == ["rng", "zero", "array"]
    assert found["rng"] is own


@pytest.mark.parametrize(("given", "guaranteed"), [(None, 4.0), (1.5, 1.5)])
def test_all_of_the_workers_service_rate_is_guaranteed_unless_less_is(given, guaranteed):
    context = DispatchContext.of(np.array([1.0, 3.0]), rng(), given)
    assert (context.workers, context.guaranteed) == (2, guaranteed)
    assert context.rates.tolist() == [1.0, 3.0]
