"""Pods of openb: the readers of the one file agree, whatever is in it."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.io.traces.demands import read_demands
from windlass.io.traces.logs.openb import read_openb_log
from windlass.io.traces.openb import POD_COLUMNS, read_openb_pods
from windlass.model import InputError

HEAD = ",".join((*POD_COLUMNS, "qos"))


@st.composite
def pods(draw):
    """Cells of a pod; it waited, and ran, or was never scheduled."""
    created = draw(st.integers(0, 1000))
    waited, ran = draw(st.integers(0, 100)), draw(st.integers(0, 100))
    requested = [draw(st.integers(0, most)) for most in (96_000, 4096, 8, 1000)]
    scheduled = created + waited if draw(st.booleans()) else ""
    times = (created, created + waited + ran, scheduled)
    return (*requested, *times, draw(st.sampled_from(["LS", "BE", ""])))


@given(st.lists(pods(), min_size=1, max_size=12))
def test_all_readers_see_the_same_pods(rows):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pods.csv"
        path.write_text("\n".join([HEAD, *(",".join(map(str, row)) for row in rows)]) + "\n")
        found = read_openb_pods(path)
        began = [number for number, row in enumerate(rows, start=1) if row[6] != ""]
        assert sorted(found.number[found.was_scheduled]) == began
        assert (np.diff(found.created) >= 0).all()
        for place, number in enumerate(found.number):
            cores, memory, gpus, part, created, deleted, *_ = rows[number - 1]
            requested = [gpus * part / 1000, cores / 1000, memory * 2.0**20]
            assert found.resources[place].tolist() == pytest.approx(requested)
            assert (found.created[place], found.deleted[place]) == (created, deleted)
        if not began:
            with pytest.raises(InputError, match="none of its pods was scheduled"):
                read_demands(path)
            return
        jobs, trace = read_demands(path).jobs, read_openb_log(path).records
        of = found.was_scheduled
        assert jobs.job.tolist() == found.number[of].tolist()
        np.testing.assert_array_equal(jobs.resources, found.resources[of])
        np.testing.assert_array_equal(jobs.run, (found.deleted - found.scheduled)[of])
        assert sorted(trace["run"]) == pytest.approx(sorted(jobs.run))
        assert sorted(trace["gpus"]) == pytest.approx(sorted(jobs.resources[:, 0]))


def test_the_qos_column_is_optional_and_blanks_are_missing_times(tmp_path):
    path = tmp_path / "pods.csv"
    path.write_text(",".join(POD_COLUMNS) + "\n1,1,1,1,0,9, \n 2,1,1,1,0,9,3\n")
    found = read_openb_pods(path)
    assert (found.service.tolist(), found.was_scheduled.tolist()) == (["", ""], [False, True])
    assert read_demands(path).notes == ("1 pods were never scheduled, and are left out",)


def test_each_reader_names_a_pod_deleted_before_its_creation(tmp_path):
    path = tmp_path / "pods.csv"
    path.write_text(",".join(POD_COLUMNS) + "\n1,1,1,1,5,4,4\n")
    for reader in (read_openb_pods, read_demands):
        with pytest.raises(InputError, match="line 2: deletion_time is 4, expected at least 5"):
            reader(path)
