"""Text files are read and written as UTF-8, also with an ASCII locale."""

import io

import polars as pl
import pytest

from tests.verdict.test_plain import Served
from windlass.io.traces.wan import read_wan
from windlass.results import Outcome, Results, VariantResult


@pytest.fixture(autouse=True)
def ascii_locale(monkeypatch):
    """Make ASCII the default encoding of files."""
    monkeypatch.setattr(io, "text_encoding", lambda encoding, level=2: encoding or "ascii")


def test_region_names_may_be_non_ascii(tmp_path):
    path = tmp_path / "wan.csv"
    path.write_bytes("src_region,dst_region,throughput_bits_per_s\nkøln,b,8\nb,køln,16\n".encode())
    assert read_wan(path, ["køln", "b"]).throughput.tolist() == [[0.0, 1.0], [2.0, 0.0]]


def test_scenarios_may_be_non_ascii(tmp_path):
    run = Outcome(4, Served(1.0, 2.0, 3.0), pl.DataFrame({"job": [1]}), 8)
    Results("s", "name: køln\n", (VariantResult("a", (), (run,)),)).save(tmp_path)
    assert (tmp_path / "scenario.yaml").read_bytes() == "name: køln\n".encode()
