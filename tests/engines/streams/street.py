"""A filmed street: files of a clip, its true tracks, a pipeline, measured plans, queries and tiers."""

from __future__ import annotations

import yaml

PIPELINE = """
name: cars
decode: {scale: [1.0, 0.5]}
detect: [mog2, difference]
associate: [overlap]
"""
#: The private cluster and the cloud hold the most expensive plan of each query twice; a camera a third of it.
TIERS = """
clusters:
  - {name: cloud, cores: CLOUD}
  - {name: private, cores: PRIVATE, up: 1.0e+6, parent: cloud}
  - {name: camera-1, cores: CAMERA, up: 1.0e+6, parent: private}
  - {name: camera-2, cores: CAMERA, up: 1.0e+6, parent: private}
"""


def make_street(folder, queries=4, seconds=5.0):
    """Write all files; return the paths of the queries and the tiers."""
    from windlass.plan.profile.clip import about
    from windlass.plan.profile.pipeline import read_pipeline
    from windlass.plan.profile.running import profile
    from windlass.plan.profile.tracks import read_truth
    from windlass.plan.profile.traffic.making import make_clip
    from windlass.plan.profile.traffic.scene import Traffic

    clip, truth, pipeline = folder / "clip.mp4", folder / "truth.csv", folder / "pipeline.yaml"
    make_clip(Traffic(seed=1, seconds=seconds, width=320, height=192, rate=10.0), clip, truth)
    pipeline.write_text(PIPELINE)
    seen = about(clip)
    measured = profile(read_pipeline(pipeline).plans, seen, read_truth(truth, seen), 1e8)
    plans = [
        {
            "accuracy": one.plan.accuracy,
            "components": [
                {"name": part.name, "cores": part.cores, "output": part.output}
                for part in one.plan.components
            ],
        }
        for one in measured.plans
    ]
    listed = [
        {
            "name": f"q{at + 1}",
            "camera": f"camera-{at % 2 + 1}",
            "clip": clip.name,
            "truth": truth.name,
            "pipeline": pipeline.name,
            "plans": plans,
        }
        for at in range(queries)
    ]
    file = folder / "queries.yaml"
    file.write_text(yaml.safe_dump({"queries": listed}))
    best = max(plans, key=lambda one: one["accuracy"])
    cores = sum(part["cores"] for part in best["components"])
    dearest = max(sum(part["cores"] for part in one["components"]) for one in plans)
    tiers = folder / "hierarchy.yaml"
    text = TIERS.replace("CAMERA", f"{0.3 * cores:.6f}").replace("PRIVATE", f"{2.0 * queries * dearest:.6f}")
    tiers.write_text(text.replace("CLOUD", f"{2.0 * queries * dearest:.6f}"))
    return file, tiers
