"""The series of the predictive autoscaler: the instances needed over time, and the base instance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.model import InputError
from windlass.scale import Embedding
from windlass_reproductions import public
from windlass_reproductions.autoscaler import data, paper, sizes, tables
from windlass_reproductions.autoscaler.demand import JobDemands, counts_over_time
from windlass_reproductions.autoscaler.figures import pictures
from windlass_reproductions.autoscaler.instances import G4, M5, buckets, prices

jobs_drawn = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.5, 1.0, 2.0, 4.0, 24.0]),
        st.integers(1, 200),
        st.integers(0, 500),
        st.integers(0, 100),
        st.integers(0, 60),
    ),
    min_size=1,
    max_size=25,
)


@settings(deadline=None, max_examples=60)
@given(jobs_drawn)
def test_counts_over_time_match_the_jobs_running_at_each_instant(drawn):
    table = np.array(drawn, np.float64)
    resources = np.stack([table[:, 0], table[:, 1], table[:, 2] * 2.0**30], axis=1)
    jobs = JobDemands(resources, table[:, 3], table[:, 3] + table[:, 4])
    embedding = Embedding(np.concatenate([buckets(M5), buckets(G4)]))
    found = counts_over_time(jobs, embedding, 7.0, 5.0, 140.0)
    times = 5.0 + 7.0 * np.arange(1, 1 + int(135.0 // 7.0))
    expected = [embedding.counts(jobs.at(time)) for time in times]
    assert found == pytest.approx(np.array(expected), abs=1e-9)
    assert found.min() >= 0.0


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(InputError, match="columns of one length"):
        JobDemands(np.zeros((2, 3)), np.zeros(2), np.zeros(1))


def test_types_keep_the_embedding_order_and_more_expensive_types_are_larger():
    for types in (M5, G4):
        assert Embedding(buckets(types)).order.tolist() == list(range(len(types)))
    for one, other in ((0, 1), (4, 6)):
        assert prices(M5)[one] < prices(M5)[other]
        assert (buckets(M5)[one] <= buckets(M5)[other]).all()


def test_the_base_instance_is_the_last_type_before_the_scale_rises():
    # One job of eight cores and a GPU fits g4dn.2xlarge; a larger type costs more and holds no more of it.
    jobs = JobDemands(np.array([[1.0, 8.0, 2.0**30]]), np.zeros(1), np.ones(1))
    found = sizes.find_base("one job", jobs, G4, [0.0], None, "")
    assert found.smallest == "g4dn.2xlarge"
    assert found.scales()[:2] == [1.0, 1.0]
    assert found.scales()[2] == pytest.approx(1.204 / 0.752)
    assert [len(each.lines) for each in sizes.pictures([found])] == [1]
    assert [each.ours for each in sizes.rows_of([found])] == ["g4dn.2xlarge", "not run"]


def test_without_traces_rows_that_need_them_report_not_run(monkeypatch, tmp_path):
    monkeypatch.setenv(public.VARIABLE, str(tmp_path))
    assert data.absent() == (data.HELIOS, data.PHILLY, data.OPENB)
    assert list(data.cases()) == []
    assert paper._compared(quick=True, notify=lambda step, share: None) == []
    assert sizes.find_bases(quick=True) == ()
    assert tables.rows_of([]) == pictures([]) == []
    assert [paper._missing_row(name).ours for name in data.absent()] == ["not run"] * 3


def test_a_truncated_cluster_is_left_out_of_a_small_log(monkeypatch, tmp_path):
    monkeypatch.setenv(public.VARIABLE, str(tmp_path))
    (tmp_path / "gpu").mkdir()
    cut = "".join(f"big,{60 * number},1,600\n" for number in range(data._CUT))
    (tmp_path / data.PHILLY).write_text(
        f"vc,arrival_s,gpus,duration_s\n{cut}small,100,2,1000\nsmall,7000,16,600\n"
    )
    (found,) = data.cases()
    assert found.rows.shape == (91 * 288, 3)
    # The truncated cluster's jobs are left out. Two GPUs are half of a g4dn.12xlarge, and 16 are two of metal.
    assert found.rows[:, 1].tolist() == [
        0.5 if 300 <= 300 * n < 1100 and n else 0.0 for n in range(1, 91 * 288 + 1)
    ]
    assert found.rows[:, 2].max() == 2.0
    assert (found.seasons, found.steps, found.test, found.same) == ((288, 2016), (1, 4), 2016, True)
