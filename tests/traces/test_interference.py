"""Measured pairs of jobs that share a device."""

from pathlib import Path

import numpy as np
import pytest

from windlass.io.traces.interference import read_interference
from windlass.model import InputError

ALONE = "model,dataset,batchsize,amp,gpu_util,gmem\nVGG,C10,64,0,80,3000\nPPO,LL,64,0,10,2000\n"
PAIRS = (
    "model1,dataset1,batchsize1,amp1,speed1,model2,dataset2,batchsize2,amp2,speed2\n"
    "VGG,C10,64,0,0.95,PPO,LL,64,0,0.9\n"
)


def written(folder: Path, alone: str = ALONE, pairs: str = PAIRS) -> Path:
    (folder / "single_data.csv").write_text(alone)
    (folder / "colocate_info.csv").write_text(pairs)
    return folder


def test_each_side_of_a_pair_has_its_own_use(tmp_path):
    # Detects swapped columns.
    pairs = read_interference(written(tmp_path))
    assert pairs.jobs.tolist() == [["VGG C10 64 0", "PPO LL 64 0"]]
    assert pairs.use.tolist() == [[80.0, 10.0]]
    assert pairs.speed.tolist() == [[0.95, 0.9]]
    assert pairs.memory.tolist() == [[3e9, 2e9]]


@pytest.mark.parametrize(
    ("alone", "pairs", "message"),
    [
        (
            ALONE.replace("80", "nan"),
            PAIRS,
            "single_data.csv, line 2: gpu_util is 'nan', expected a number above 0",
        ),
        (ALONE.replace("80", "101"), PAIRS, "gpu_util is '101', expected a number above 0 and at most 100"),
        (ALONE.replace("3000", ""), PAIRS, "line 2: gmem is None"),
        (ALONE, PAIRS.replace("0.9\n", "-1\n"), "colocate_info.csv, line 2: speed2 is '-1'"),
        (ALONE, PAIRS.replace("0.9\n", "fast\n"), "speed2 is 'fast'"),
        (
            ALONE,
            PAIRS.replace("PPO", "DQN"),
            "line 2: job 2 is 'DQN LL 64 0', expected one of those in single_data.csv",
        ),
        (ALONE + "PPO,LL,64,0,11,2000\n", PAIRS, "line 4: 'PPO LL 64 0' appears twice"),
        (ALONE.replace("gmem", "mem"), PAIRS, "column gmem is missing"),
        (ALONE.splitlines()[0], PAIRS, "no lines below the names"),
    ],
)
def test_bad_files_are_a_one_line_error(tmp_path, alone, pairs, message):
    with pytest.raises(InputError) as error:
        read_interference(written(tmp_path, alone, pairs))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_without_the_files_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"single_data.csv: no such file"):
        read_interference(tmp_path)


def test_the_real_pairs_are_read(real):
    pairs = read_interference(real / "interference")
    assert len(pairs) == 1388
    assert len(np.unique(pairs.jobs)) == 56
    assert len(np.unique(pairs.models)) == 11
    assert pairs.speed.mean() == pytest.approx(0.936, abs=0.01)
