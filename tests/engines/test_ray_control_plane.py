"""The autoscaler of Ray under the control plane, on a cluster that does not answer."""

from __future__ import annotations

import pytest

pytest.importorskip("ray", reason="Ray is not installed (the extra `ray`)")

from tests.control.test_scaling_engine import TYPES, VirtualStop
from windlass.control.cluster_file import read_cluster
from windlass.control.engine import EngineStoppedError
from windlass.control.journal import JournalReader, JournalWriter

CLUSTER = "engines: [{engine: ray, types: types.yaml, address: '127.0.0.1:1', history: history.db}]"


def test_a_head_that_does_not_answer_is_shown_and_tried_again(tmp_path):
    (tmp_path / "types.yaml").write_text(TYPES)
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    lines = []
    (engine,) = read_cluster(tmp_path / "cluster.yaml", acts=True, report=lines.append).engines
    with JournalWriter(tmp_path / "journal.db") as journal, pytest.raises(EngineStoppedError):
        engine.run(journal, VirtualStop(10.0))
    with JournalReader(tmp_path / "journal.db") as reader:
        (seen,) = reader.engines()
        assert (reader.decisions().rows, reader.acts().rows) == ((), ())
    assert seen.status.state == "unreachable"
    assert "127.0.0.1:1" in seen.status.error
    assert lines[0].startswith("ray: the Ray cluster does not answer")
    assert len(lines) > 1
