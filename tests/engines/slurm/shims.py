"""Slurm's commands as shell scripts on files: jobs are held, released, run for two polls, and end."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.engines.slurm.fake_commands import job, node, nodes, over, running

#: Lists all jobs; each poll counts down a running job, which ends at zero.
_SQUEUE = """
rows=
for each in jobs/*; do
  job=${each#jobs/}
  [ -e "$each" ] || continue
  row=$(cat "$each")
  case "$row" in *RUNNING*)
    if [ -e "left/$job.2" ]; then
      rm -f "left/$job.2"
    elif [ -e "left/$job.1" ]; then
      rm -f "left/$job.1"
    else
      cp "next/$job.over" "new/$job.$$" && mv "new/$job.$$" "$each"
    fi ;;
  esac
  rows="$rows${rows:+,}$row"
done
printf '{"meta": {}, "errors": [], "jobs": [%s]}' "$rows"
"""
#: A released job runs at once; its release is recorded first.
_SCONTROL = """
case "$1 $2" in
"show config") cat config ;;
"release "*)
  echo "$2" >> released
  for job in $(echo "$2" | tr , ' '); do
    : > "left/$job.1" && : > "left/$job.2"
    cp "next/$job.running" "new/$job.$$" && mv "new/$job.$$" "jobs/$job"
  done ;;
*) echo "not expected: $*" >&2; exit 1 ;;
esac
"""


class Shims:
    """A Slurm of shell scripts in a folder.

    Parameters
    ----------
    folder
        The folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._jobs = folder, 0
        for name in ("bin", "jobs", "next", "new", "left"):
            (folder / name).mkdir(parents=True)
        (folder / "nodes").write_text(nodes(node("w1", cpus=100_000)))
        (folder / "config").write_text(
            f"ClusterName = shims{os.getpid()}\nSlurmctldHost[0] = here\nSlurmctldPort = 1\n"
        )
        for name, script in (("squeue", _SQUEUE), ("scontrol", _SCONTROL), ("sinfo", "cat nodes\n")):
            program = folder / "bin" / name
            program.write_text(f"#!/bin/sh\ncd '{folder}' || exit 1\n{script}")
            program.chmod(0o755)

    def environment(self) -> dict[str, str]:
        """Return an environment with these commands on the path."""
        return {"PATH": f"{self._folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}

    def submit(self, count: int) -> None:
        """Submit `count` jobs, held and left to Windlass."""
        wide = {"cpus": 1, "node_count": 1}
        for _ in range(count):
            self._jobs += 1
            name = str(self._jobs)
            for state, row in (("running", running), ("over", over)):
                text = json.dumps(row(self._jobs, **wide))
                (self._folder / "next" / f"{name}.{state}").write_text(text)
            fresh = self._folder / "new" / name
            fresh.write_text(json.dumps(job(self._jobs, **wide)))
            fresh.rename(self._folder / "jobs" / name)

    def released(self) -> list[int]:
        """Return the released jobs in order."""
        file = self._folder / "released"
        lines = file.read_text().splitlines() if file.exists() else []
        return [int(word) for line in lines for word in line.split(",")]

    def states(self) -> dict[int, str]:
        """Return the state of each job: ``held``, ``RUNNING``, or ``COMPLETED``."""
        found = {}
        for file in (self._folder / "jobs").iterdir():
            row = json.loads(file.read_text())
            found[int(file.name)] = "held" if row["priority"] == 0 else row["job_state"]
        return found
