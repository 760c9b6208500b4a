"""The world of one cluster saves the same bytes from one process and from two."""

import pytest

from windlass import run

TREE = {
    "world": "cluster",
    "seconds": 900,
    "begin": 36_000,
    "sites": {
        "iowa": {
            "nodes": [{"count": 4, "cores": 8}],
            "instances": {"types": [{"name": "small", "cores": 4, "price": 0.4, "launch": 60, "most": 4}]},
            "cameras": {"count": 2},
        },
        "oslo": {"nodes": [{"count": 2, "cores": 16}]},
    },
    "loads": {
        "batch": {"rigid": {"lublin": {"jobs": 2000, "load": 3.0}}},
        "web": {"tasks": {"tasks": 600, "load": 0.05}},
        "etl": {"staged": {"drawn": {"jobs": 3, "tasks": 20}}},
        "cameras": {"queries": {"per_hour": 40, "last": 600}},
    },
    "policies": {
        "order": "easy",
        "place": "tetrium",
        "share": "pairs",
        "scale": "thrifty",
        "plan": "cascade",
    },
    "variants": {"ours": {"policies": {"admit": "ready"}}, "plain": {"without": "all"}},
    "seeds": [1, 2],
}


@pytest.mark.slow
def test_two_processes_save_the_same_bytes_as_one(tmp_path):
    for jobs in (1, 2):
        run(TREE, jobs=jobs, out=tmp_path / str(jobs))
    one, two = (
        {file.name: file.read_bytes() for file in (tmp_path / str(jobs)).iterdir()} for jobs in (1, 2)
    )
    assert {"flows.parquet", "jobs.parquet", "metrics.parquet", "series.parquet"} < one.keys()
    assert one == two
