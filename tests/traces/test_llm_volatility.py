"""Requests to language models, and scores of cloud machines over time."""

from pathlib import Path

import numpy as np
import pytest

from windlass.io.traces.llm import read_llm
from windlass.io.traces.volatility import read_volatility
from windlass.model import InputError

TRACES = Path(__file__).parents[3] / "shared" / "traces"
HEAD = "TIMESTAMP,ContextTokens,GeneratedTokens\n"


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_requests_are_sorted_and_start_at_zero(tmp_path):
    text = HEAD + "2023-11-16 18:15:50.5,10,2\n2023-11-16 18:15:46.0,30,1\n"
    requests = read_llm(written(tmp_path / "a.csv", text))
    assert requests.arrival.tolist() == [0.0, 4.5]
    assert requests.context.tolist() == [30, 10]
    assert requests.work(20.0).mean() == pytest.approx(1.0)
    np.testing.assert_allclose(requests.work(0.0), [1.5, 0.5])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot be read"),
        (HEAD, "no requests"),
        ("TIMESTAMP,ContextTokens\n", "column GeneratedTokens is missing"),
        (HEAD + "yesterday,1,1\n", "line 2: TIMESTAMP is 'yesterday'"),
        (HEAD + "2023-11-16 18:15:46.0,1,1\n2023-11-16 18:15:46.0,-4,1\n", "line 3: ContextTokens is '-4'"),
        (HEAD + "2023-11-16 18:15:46.0,nan,1\n", "ContextTokens is 'nan'"),
    ],
)
def test_bad_requests_are_named(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_llm(written(tmp_path / "a.csv", text))


SCORES = "value,runtime,starttime,VM_id\n"


def test_scores_hold_until_the_next(tmp_path):
    text = SCORES + "".join(
        f"{value},90,2023-09-01 0{hour}:00:00.000,{machine}\n"
        for hour, machine, value in ((0, 0, 10), (4, 0, 20), (0, 1, 5), (2, 1, 6), (4, 1, 7))
    )
    assert read_volatility(written(tmp_path / "a.csv", text), 3).tolist() == [[10, 10, 20], [5, 6, 7]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("value,starttime\n1,2\n", "column VM_id is missing"),
        (SCORES + "fast,90,2023-09-01 00:00:00.000,0\n", "value is 'fast'"),
        (SCORES + "-1,90,2023-09-01 00:00:00.000,0\n", "line 2: value is"),
        (SCORES + "1,90,noon,0\n", "'noon' is not a time"),
    ],
)
def test_bad_scores_are_named(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_volatility(written(tmp_path / "a.csv", text), 3)


@pytest.mark.skipif(not TRACES.exists(), reason="../shared/traces is absent")
def test_real_requests_and_scores_are_read():
    assert len(read_llm(TRACES / "llm" / "AzureLLMInferenceTrace_conv.csv").arrival) == 19_366
    scores = read_volatility(TRACES / "volatility" / "azure_eastus_D8s_v5.csv", 100)
    assert scores.shape == (3, 100)
    # Long-lived cloud machines hardly drift: well under 1 % here.
    assert (scores.std(axis=1) / scores.mean(axis=1)).max() < 0.01
