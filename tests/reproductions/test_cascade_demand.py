"""The curve of the gain over fair shares, by the cores that plans request."""

import numpy as np

from tests.reproductions.cascade_cases import mean_text
from windlass.model.queries import KINDS
from windlass_reproductions.cascade import demand
from windlass_reproductions.cascade.runs import run
from windlass_reproductions.cascade.setting import Deployment, drawn_case

SMALL = Deployment(cameras=2, camera_cores=2.0, private_cores=2.0, cloud_cores=4.0)


def test_only_cores_are_multiplied():
    case = drawn_case(1, np.random.default_rng(1), deployment=SMALL)
    more = demand.requesting(case, 3.0)
    cores = np.arange(len(case.capacity)) % len(KINDS) == KINDS.index("cores")
    for before, after in zip(case.options, more.options, strict=True):
        assert after.demand[:, cores].tolist() == (3.0 * before.demand[:, cores]).tolist()
        assert after.demand[:, ~cores].tolist() == before.demand[:, ~cores].tolist()
    assert more.capacity.tolist() == case.capacity.tolist()


def test_each_factor_has_the_gains_over_both_kinds_of_shares(monkeypatch):
    monkeypatch.setattr(
        demand, "drawn_case", lambda count, rng: drawn_case(1 + count // 5, rng, deployment=SMALL)
    )
    rows, picture = demand.demand_rows((1, 2), (1.0, 40.0))
    cases = [drawn_case(2, np.random.default_rng([seed, 5]), deployment=SMALL) for seed in (1, 2)]
    assert picture.key == "fig-5-15-requested-cores"
    assert [line.name for line in picture.lines] == ["over fair", "over 1/n of every resource"]
    for factor, row in zip((1.0, 40.0), rows, strict=True):
        some = [demand.requesting(case, factor) for case in cases]
        ours = np.array([run(case, "cascade").mean for case in some])
        texts = []
        for line, (name, among) in zip(
            picture.lines, (("fair", "users"), ("1/n of every resource", "queries")), strict=True
        ):
            fair = np.array([run(case, "fair", among=among).mean for case in some])
            idle = int((fair <= 0).sum())
            texts.append(
                f"{name} runs no query in {idle} of 2 draws"
                if idle
                else f"{mean_text(ours / fair)} over {name}"
            )
            assert (factor in line.x) == (not idle)
            if not idle:
                assert line.y[list(line.x).index(factor)] == (ours / fair).mean()
            assert f"{name} {fair.mean():.3f}" in row.note
        assert row.ours == "; ".join(texts)
        assert f"cascade {ours.mean():.3f}" in row.note
