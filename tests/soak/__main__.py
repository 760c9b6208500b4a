"""``python -m tests.soak --minutes 120 --out FOLDER``: drive a private Slurm, judge, and write a page with a plot."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.engines.slurm.private import private_slurm
from tests.soak.cluster import Controller, DriverProcess
from tests.soak.judge import growths, violations
from tests.soak.load import Load
from tests.soak.plot import page
from tests.soak.samples import Sample, write

NODES, CPUS = 4, 4
#: Mean time between faults, and time between samples, s.
FAULT_GAP, SAMPLE_GAP = 60.0, 10.0
#: Samples between two writes of the file.
SAVE_EVERY = 60
#: Time for the queue to empty after the last submission, s.
PATIENCE = 1800.0


@dataclass
class Soak:
    """The loop: at each time, submit a job, cause a fault or end one, or take a sample; never two at once."""

    load: Load
    driver: DriverProcess
    controller: Controller
    rng: np.random.Generator
    kill_at: list[float]
    file: Path
    samples: list[Sample] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)

    def run(self, seconds: float) -> str:
        """Run for a time; return why it ended early, or nothing."""
        begun = time.monotonic()
        job, fault, sample, until, undo = 0.0, FAULT_GAP, 0.0, np.inf, None
        while (now := time.monotonic() - begun) < seconds or undo is not None:
            if self.driver.process.poll() is not None:
                return f"the driver ended with status {self.driver.process.returncode} after {now:.0f} s"
            if now >= until and undo is not None:
                undo()
                until, undo, fault = np.inf, None, now + float(self.rng.exponential(FAULT_GAP))
            if undo is None and now >= fault:
                last, undo = self._fault()
                until, fault = now + last, np.inf
            if now >= job and undo is None:
                self.load.submit()
                job = max(job + float(self.rng.exponential(self.load.gap)), now - 60.0)
            if self.kill_at and now >= self.kill_at[0]:
                self.kill_at.pop(0)
                self.faults["driver killed"] += 1
                self.driver.kill()
            if now >= sample:
                sample = now + SAMPLE_GAP
                if (found := self.driver.sample(now)) is not None:
                    self.samples.append(found)
                    # Hours of driving are not lost if this process ends early.
                    if len(self.samples) % SAVE_EVERY == 0:
                        write(self.file, self.samples)
            time.sleep(0.1)
        return ""

    def _fault(self) -> tuple[float, Callable[[], None]]:
        """Cause a fault; return how long it lasts, s, and what ends it."""
        kinds: list[tuple[str, Callable[[], None], Callable[[], None], float]] = [
            ("controller restarted", self.controller.stop, self.controller.start, 20.0),
            ("controller hangs", self.controller.pause, self.controller.resume, 30.0),
            ("node drained", self.controller.drain, self.controller.undrain, 60.0),
            ("burst of jobs", self.load.burst, _nothing, 0.0),
            ("job cancelled", self.load.cancel, _nothing, 0.0),
            ("job requeued", self.load.requeue, _nothing, 0.0),
        ]
        name, begin, end, longest = kinds[self.rng.integers(len(kinds))]
        self.faults[name] += 1
        begin()
        return float(self.rng.uniform(0.2, 1.0)) * longest, end


def _nothing() -> None:
    pass


def main() -> int:
    """Run; the status is 1 if a job did not run once, or memory or latency grew."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--look", type=float, default=1.0, help="polling interval of the driver, s (default 1)"
    )
    parser.add_argument(
        "--kills", type=int, default=2, help="kills of the driver, in the first half (default 2)"
    )
    parser.add_argument("--port", type=int, default=9196, help="of the driver's metrics (default 9196)")
    parser.add_argument("--out", type=Path, required=True, help="folder for samples, log, journal and plot")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    rng, seconds = np.random.default_rng(options.seed), 60.0 * options.minutes
    kills = [seconds * (number + 1) / (2 * options.kills + 2) for number in range(options.kills)]
    with private_slurm(NODES, CPUS) as shell:
        load = Load(shell, NODES * CPUS, rng)
        driver = DriverProcess(shell, options.out, options.look, options.port)
        soak = Soak(load, driver, Controller(shell, rng), rng, kills, options.out / "samples.csv")
        try:
            early = soak.run(seconds)
            ends = time.monotonic() + PATIENCE
            while not early and load.left() and time.monotonic() < ends:
                time.sleep(1.0)
            left = load.left()
        finally:
            status = driver.end() if driver.process.poll() is None else driver.process.returncode
        lines = load.record.read_text().splitlines()
    write(soak.file, soak.samples)
    wrong = [early] if early else violations(lines, load.submitted, load.cancelled)
    wrong += ["jobs are left in the queue"] * left + [f"the driver ended with status {status}"] * (
        status != 0
    )
    grown = growths(soak.samples)
    said = [f"{len(load.submitted):,} jobs, {len(load.cancelled)} of them cancelled"]
    said += [f"{name}: {times}" for name, times in sorted(soak.faults.items())]
    said += [
        f"process {each.process}, {each.what}: {each.first:.4g} in the first third, {each.last:.4g} in the last"
        f"{'' if each.flat else ': it grew'}"
        for each in grown
    ]
    said += wrong or ["each job ran once"]
    (options.out / "soak.html").write_text(page(soak.samples, said))
    print("\n".join(said))
    return int(bool(wrong) or not all(each.flat for each in grown))


if __name__ == "__main__":
    sys.exit(main())
