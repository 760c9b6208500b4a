"""The file of the control plane: which engines it runs, with which policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from windlass.agent.options import Address, check_name
from windlass.control.agents.engine import AgentsEngine
from windlass.control.engine import ControlledEngine
from windlass.control.scaling import clusters
from windlass.control.scaling.engine import Connect, ScalingEngine, ScalingSettings
from windlass.control.slurm.engine import SlurmEngine, SlurmSettings
from windlass.engines.address import host_and_port
from windlass.engines.elastic.types import read_types
from windlass.engines.slurm.system import SlurmOptions
from windlass.experiment.scenario.files import resolve_policies
from windlass.experiment.scenario.hints import field_hint
from windlass.experiment.scenario.quoting import shown
from windlass.experiment.worlds.policy import Policy, PolicySpec
from windlass.io import Fields, read_yaml
from windlass.io.field_errors import field_error, first_error
from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.model.nearest import did_you_mean
from windlass.model.state_folder import state_folder
from windlass.scale import POLICIES as SCALE
from windlass.scale.monitor import default_history

_Seconds = Annotated[float, Field(gt=0)]
_Text = Annotated[str, Field(min_length=1)]


class _File(Fields):
    journal: _Text | None = None
    engines: Annotated[list[dict[str, Any]], Field(min_length=1)]


class EngineFields(Fields):
    """What every engine has; ``built`` is given the fields, the folder of the file, and how to run it."""

    name: _Text

    def built(self, folder: Path, acts: bool, report: Callable[[str], None]) -> ControlledEngine:
        """Return the engine."""
        raise NotImplementedError

    def named(self, report: Callable[[str], None]) -> Callable[[str], None]:
        """Return a function that reports a line with the name of the engine."""
        return lambda line: report(f"{self.name}: {line}")


class _Slurm(EngineFields):
    engine: Literal["slurm"]
    name: _Text = "slurm"
    policies: dict[str, Policy]
    partition: _Text | None = None
    period: _Seconds = 0.25
    checkpoint: _Seconds = 5.0
    patience: _Seconds = 300.0
    keep_held: bool = False
    book: _Text | None = None
    conf: _Text | None = None
    accounting: bool = True

    def built(self, folder: Path, acts: bool, report: Callable[[str], None]) -> ControlledEngine:
        """Return the engine."""
        settings = SlurmSettings(
            self.policies,
            SlurmOptions(pace=self.period, partition=self.partition),
            self.name,
            self.keep_held,
            self.checkpoint,
            self.patience,
            _path(folder, self.book),
            _path(folder, self.conf),
            self.accounting,
        )
        return SlurmEngine(settings, acts=acts, report=self.named(report))


class _Scaling(EngineFields):
    """What the engines that scale a cluster have."""

    types: _Text
    policy: Policy = PolicySpec(name="thrifty")
    period: _Seconds
    history: _Text | None = None

    def scaling(
        self,
        kind: str,
        site: str,
        past: str,
        connect: Connect,
        modules: Sequence[str],
        folder: Path,
        acts: bool,
        report: Callable[[str], None],
    ) -> ControlledEngine:
        """Return the engine of a kind of cluster; ``past`` names its default history, as the command does."""
        history = _path(folder, self.history) or default_history(past)
        settings = ScalingSettings(self.name, site, kind, self.policy, history, self.period)
        try:
            return ScalingEngine(settings, connect, acts=acts, report=self.named(report), modules=modules)
        except InputError as error:
            # The message of a registry begins with the field of a scenario.
            raise InputError(str(error).replace(f"policies.{SCALE.key}", "policy", 1)) from error

    def kinds(self, folder: Path) -> tuple[InstanceType, ...]:
        """Return the types of instances."""
        try:
            return read_types(folder / Path(self.types).expanduser())
        except InputError as error:
            raise InputError(f"types: {error}") from error


class _Kubernetes(_Scaling):
    engine: Literal["kubernetes"]
    name: _Text = "kubernetes"
    period: _Seconds = 300.0
    kubeconfig: _Text | None = None
    context: _Text | None = None
    namespace: _Text = "windlass"
    label: _Text = "node.kubernetes.io/instance-type"
    lease: Annotated[float, Field(ge=0)] = 0.0

    def built(self, folder: Path, acts: bool, report: Callable[[str], None]) -> ControlledEngine:
        """Return the engine."""
        config = _path(folder, self.kubeconfig)
        connect = clusters.kubernetes(
            self.kinds(folder),
            None if config is None else str(config),
            self.context,
            self.namespace,
            self.label,
            # An engine that only decides takes no Lease.
            self.lease if acts else 0.0,
            self.named(report),
        )
        return self.scaling(
            "Kubernetes",
            self.context or "cluster",
            f"k8s-{self.namespace}",
            connect,
            clusters.KUBERNETES_MODULES,
            folder,
            acts,
            report,
        )


class _Ray(_Scaling):
    engine: Literal["ray"]
    name: _Text = "ray"
    period: _Seconds = 60.0
    address: _Text

    def built(self, folder: Path, acts: bool, report: Callable[[str], None]) -> ControlledEngine:
        """Return the engine."""
        host_and_port("address", self.address)
        connect = clusters.ray(self.kinds(folder), self.address)
        return self.scaling(
            "Ray", self.address, f"ray-{self.address}", connect, clusters.RAY_MODULES, folder, acts, report
        )


class _Agents(EngineFields):
    engine: Literal["agents"]
    name: _Text = "agents"
    addresses: Annotated[list[_Text], Field(min_length=1)]
    period: _Seconds = 5.0

    def built(self, folder: Path, acts: bool, report: Callable[[str], None]) -> ControlledEngine:
        """Return the engine, which changes nothing in any case."""
        found = [
            Address(*host_and_port(f"addresses.{place}", each)) for place, each in enumerate(self.addresses)
        ]
        for place, each in enumerate(found):
            if each in found[:place]:
                raise InputError(
                    f"addresses.{place}: {self.addresses[place]!r} is given twice, expected another"
                )
        return AgentsEngine(self.name, found, self.period)


_KINDS: Mapping[str, type[EngineFields]] = {
    "slurm": _Slurm,
    "kubernetes": _Kubernetes,
    "ray": _Ray,
    "agents": _Agents,
}
#: Fields with policies, whose files are relative to the folder of the file.
_POLICIES = ("policies", "policy")


@dataclass(frozen=True, slots=True)
class ClusterFile:
    """The engines of a file, and its journal.

    Parameters
    ----------
    engines
        The engines, in the order of the file.
    journal
        The control plane's journal; None if the file has none.
    """

    engines: tuple[ControlledEngine, ...]
    journal: Path | None


def read_cluster(path: Path, *, acts: bool, report: Callable[[str], None]) -> ClusterFile:
    """Read the engines of a file.

    Parameters
    ----------
    path
        YAML: ``engines``, a list in which each entry has ``engine``, its kind, and the fields of that kind; and
        ``journal``. Paths are relative to its folder.
    acts
        True for engines that change their cluster; False for engines that only decide.
    report
        Called with each line of an engine's log.

    Raises
    ------
    InputError
        The file cannot be read or a field is wrong; the message names file, field and value.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "cluster.yaml"
    >>> _ = file.write_text("engines: [{engine: slurm, policies: {order: easy}}]")
    >>> [engine.about for engine in read_cluster(file, acts=False, report=print).engines]
    ['Slurm, order by easy; decides only']
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected a list of engines such as cluster.yaml")
    tree, folder = read_yaml(path), path.absolute().parent
    if not isinstance(tree, dict):
        found = "nothing" if tree is None else shown(tree)
        raise InputError(f"{path}: expected a mapping with the field engines, found {found}")
    try:
        file = _File.model_validate(tree)
    except ValidationError as error:
        raise InputError(f"{path}: {_first(error, '', _File)}") from error
    engines = [
        _engine(entry, f"{path}: engines.{place}", folder, acts, report)
        for place, entry in enumerate(file.engines)
    ]
    names = [engine.name for engine in engines]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InputError(f"{path}: engines.{place}.name: {name!r} is given twice, expected another name")
    return ClusterFile(tuple(engines), _path(folder, file.journal))


def default_control_journal() -> Path:
    """Return the default path of the control plane's journal, in the user's state folder, and create the folder.

    Raises
    ------
    InputError
        The folder cannot be created.
    """
    folder = state_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}, expected a folder for the journal") from error
    return folder / "control.db"


def read_engine(entry: dict[str, Any], where: str = "engine", folder: Path = Path()) -> EngineFields:
    """Read the fields of one engine, and check them.

    Parameters
    ----------
    entry
        The fields.
    where
        Where they are, for messages.
    folder
        The folder to which files of policies are relative.

    Raises
    ------
    InputError
        A field is wrong.
    """
    kind = entry.get("engine")
    fields = _KINDS.get(kind) if isinstance(kind, str) else None
    if fields is None:
        known = ", ".join(_KINDS)
        hint = did_you_mean(kind, _KINDS) if isinstance(kind, str) else ""
        problem = "missing" if kind is None else f"unknown engine {shown(kind)}"
        raise InputError(f"{where}.engine: {problem}, expected one of {known}{hint}")
    given = {
        name: resolve_policies(value, folder) if name in _POLICIES else value for name, value in entry.items()
    }
    try:
        read = fields.model_validate(given)
    except ValidationError as error:
        raise InputError(f"{where}{_first(error, '.', fields)}") from error
    check_name(f"{where}.name", read.name)
    return read


def _engine(
    entry: dict[str, Any], where: str, folder: Path, acts: bool, report: Callable[[str], None]
) -> ControlledEngine:
    read = read_engine(entry, where, folder)
    try:
        return read.built(folder, acts, report)
    except InputError as error:
        raise InputError(f"{where}.{error}") from error


def _first(error: ValidationError, before: str, fields: type[Fields]) -> str:
    """Return the first error in one line: the field, what is wrong, and the value."""
    where = before if first_error(error)["loc"] else ": " if before else ""
    return f"{where}{field_error(error)}{field_hint(error, fields)}"


def _path(folder: Path, text: str | None) -> Path | None:
    return None if text is None else folder / Path(text).expanduser()
