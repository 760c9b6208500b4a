"""The values that an engine passes to the constructors of policies."""

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


def test_a_policy_receives_the_values_for_its_parameters():
    speeds = np.array([1.0, 3.0])
    made = DISPATCH.make("ppot", DispatchContext.of(speeds, rng()))
    assert made.workers == 2
    assert ADMIT.make("pronto", AdmitContext(rng(), 7)).dim == 7
    # Neither policy has a parameter for an offered value.
    assert ORDER.make("easy", AdmitContext(rng(), 7)).name == "easy"
    assert ADMIT.make("utilisation", AdmitContext(rng(), 7)).name == "utilisation"


def test_a_users_parameter_overrides_the_offered_value():
    assert ADMIT.make("pronto", AdmitContext(rng(), 7), dim=5).dim == 5


@pytest.mark.parametrize("context", [AdmitContext(rng()), rng()])
def test_the_error_names_a_missing_parameter(context):
    with pytest.raises(InputError, match=r"^policies\.admit: pronto: .*dim"):
        ADMIT.make("pronto", context)


def test_the_generator_is_not_a_user_parameter():
    with pytest.raises(InputError, match="has no parameter 'rng'"):
        ADMIT.make("random", rng(), rng=rng())


def test_a_context_offers_its_fields_that_are_not_none():
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
def test_the_guaranteed_rate_defaults_to_the_sum_of_the_speeds(given, guaranteed):
    context = DispatchContext.of(np.array([1.0, 3.0]), rng(), given)
    assert (context.workers, context.guaranteed) == (2, guaranteed)
    assert context.rates.tolist() == [1.0, 3.0]
