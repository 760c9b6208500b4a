"""Folders that imitate hierarchies of control groups for job groups."""

from __future__ import annotations

import errno
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from windlass.engines.linux.files import Files

V1_CPU = {
    "cgroup.procs": "",
    "cpu.cfs_quota_us": "-1\n",
    "cpu.cfs_period_us": "100000\n",
    "cpu.shares": "1024\n",
    "cpu.stat": "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
}
V1_CPUSET = {"cgroup.procs": "", "cpuset.cpus": "\n", "cpuset.mems": "\n"}
V1_CPUACCT = {"cgroup.procs": "", "cpuacct.usage": "0\n"}
V2_ALWAYS = {
    "cgroup.procs": "",
    "cgroup.subtree_control": "",
    "cpu.stat": "usage_usec 0\nthrottled_usec 0\n",
}
V2_CPU = {"cpu.max": "max 100000\n", "cpu.weight": "100\n"}
V2_MEMORY = {"memory.stat": "anon 0\nfile 0\nshmem 0\n"}


def fill(folder: Path, contents: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in contents.items():
        (folder / name).write_text(text)


@dataclass
class Kernel(Files):
    """Files of an imitated kernel: a process is in one group of a hierarchy, and values have bounds.

    ``alive`` are the existing processes; ``failing`` maps a file name to the error of a write to it;
    ``written`` is each write in turn, as (file name, value).
    """

    root: Path
    alive: set[int] = field(default_factory=set)
    failing: dict[str, int] = field(default_factory=dict)
    written: list[tuple[str, str]] = field(default_factory=list)

    def write(self, path: Path, value: str) -> None:
        self.written.append((path.name, value))
        if path.name in self.failing:
            raise OSError(self.failing[path.name], "imitated")
        if not path.exists():
            raise OSError(errno.ENOENT, "imitated")
        if path.name == "cgroup.procs":
            self.move(path.parent, int(value))
        elif path.name == "cgroup.subtree_control":
            self.enable(path.parent, value.removeprefix("+"))
        else:
            self.check(path.name, value)
            path.write_text(value + "\n")

    def check(self, name: str, value: str) -> None:
        least = {
            "cpu.cfs_quota_us": (1000, -1),
            "cpu.cfs_period_us": (1000, 1000),
            "cpu.shares": (2, 2),
            "cpu.weight": (1, 1),
        }
        if name not in least | {"cpu.max": 0}:
            return
        numbers = value.replace("max", "-1").split()
        bounds = (1000, -1) if name == "cpu.max" else least[name]
        if int(numbers[0]) < bounds[0] and int(numbers[0]) != bounds[1]:
            raise OSError(errno.EINVAL, "imitated")
        if name.endswith("period_us") and int(numbers[0]) > 1_000_000:
            raise OSError(errno.EINVAL, "imitated")

    def hierarchy(self, folder: Path) -> Path:
        return self.root / folder.relative_to(self.root).parts[0]

    def move(self, folder: Path, pid: int) -> None:
        if pid not in self.alive:
            raise ProcessLookupError(errno.ESRCH, "imitated")
        top = self.hierarchy(folder)
        if top.name == "cpuset" and not (folder / "cpuset.cpus").read_text().strip():
            raise OSError(errno.ENOSPC, "imitated")
        given = folder / "cgroup.subtree_control"
        if folder != top and given.exists() and given.read_text().strip():
            raise OSError(errno.EBUSY, "imitated")
        for file in top.rglob("cgroup.procs"):
            words = [word for word in file.read_text().split() if int(word) in self.alive - {pid}]
            if file.parent == folder:
                words.append(str(pid))
            file.write_text("".join(f"{word}\n" for word in words))

    def end(self, pid: int) -> None:
        self.alive.discard(pid)
        for file in self.root.rglob("cgroup.procs"):
            file.write_text("".join(f"{word}\n" for word in file.read_text().split() if int(word) != pid))

    def enable(self, folder: Path, controller: str) -> None:
        given = set((folder / "cgroup.subtree_control").read_text().split()) | {controller}
        (folder / "cgroup.subtree_control").write_text(" ".join(sorted(given)) + "\n")
        for child in (each for each in folder.iterdir() if each.is_dir()):
            self.fill_v2(child)

    def fill_v2(self, folder: Path) -> None:
        given = (folder.parent / "cgroup.subtree_control").read_text().split()
        contents = V2_ALWAYS | {"cgroup.controllers": " ".join(given) + "\n", "cgroup.type": "domain\n"}
        contents |= V2_CPU if "cpu" in given else {}
        contents |= V2_MEMORY if "memory" in given else {}
        fill(folder, {name: text for name, text in contents.items() if not (folder / name).exists()})

    def make(self, path: Path) -> None:
        if path.is_dir():
            return
        super().make(path)
        top = self.hierarchy(path).name
        if top == "unified":
            self.fill_v2(path)
        else:
            fill(path, {"cpu": V1_CPU, "cpuset": V1_CPUSET}.get(top, V1_CPUACCT))

    def remove(self, path: Path) -> None:
        if not path.is_dir():
            return
        if (path / "cgroup.procs").read_text().strip() or any(each.is_dir() for each in path.iterdir()):
            raise OSError(errno.EBUSY, "imitated")
        shutil.rmtree(path)


def tree_v1(folder: Path) -> Path:
    """Make the tree of v1 before any group exists, with separate controllers."""
    fill(folder / "cpu", V1_CPU)
    fill(folder / "cpuacct", V1_CPUACCT)
    fill(folder / "cpuset", V1_CPUSET | {"cpuset.cpus": "0-3\n", "cpuset.mems": "0\n"})
    return folder


def tree_v2(folder: Path, controllers: str = "cpu memory", topmost: bool = True) -> Path:
    """Make the tree of v2; below another group unless `topmost`."""
    top = folder / "unified"
    fill(top, V2_ALWAYS | {"cgroup.controllers": f"{controllers}\n"})
    if not topmost:
        fill(top, {"cgroup.type": "domain\n"})
    return top
