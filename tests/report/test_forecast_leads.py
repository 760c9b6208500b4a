"""How much smaller the error of the best forecaster is than that of another."""

import numpy as np

from windlass.report.forecasts import lead_words


def errors(count=5000):
    return np.random.default_rng(1).exponential(1.0, count)


def test_a_lead_near_all_of_the_error_has_an_interval_in_plain_numbers():
    assert lead_words(0.002 * errors(), errors(), "naive").startswith(
        "99.8 % less than naive; 95 % confidence interval 98 to 102 %, n = 10 blocks"
    )


def test_a_larger_error_is_named_as_such():
    """Ranks may follow from other values, so the first can have more error in the rows that both have."""
    assert lead_words(1.5 * errors(50), errors(50), "naive").startswith("50 % more than naive; ")
    line = lead_words(1.3 * errors(), errors(), "naive")
    assert line == "30 % more than naive; 95 % confidence interval 29 to 31 %, n = 10 blocks"
    few = lead_words(2.0 * errors(300), errors(300), "naive")
    assert "naive is better in 20 of 20 blocks, which rules out chance" in few or "confidence" in few


def test_equal_errors_are_no_lead():
    assert lead_words(errors(50), errors(50), "naive").startswith("0 % less than naive")
