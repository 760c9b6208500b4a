"""The engine of the demonstration: a cluster scenario in the simulator, at a chosen speed."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import cast

import yaml

from windlass.agent.stop import Stop
from windlass.control.demo.observer import ClusterObserver
from windlass.control.demo.pace import SimulatedPace
from windlass.control.demo.predictor import replay_kernels
from windlass.control.journal import JournalWriter, PredictionsVoided
from windlass.experiment.scenario import Scenario, Variant, load_scenario, make_scenario
from windlass.experiment.worlds.cluster.build import run_cluster
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.jit import Compiling, prepare
from windlass.model import InputError
from windlass.model.errors import ParameterError
from windlass.model.nearest import did_you_mean
from windlass.model.values import number

#: The world whose scenarios can be shown.
_WORLD = "cluster"


class DemoEngine:
    """A simulated cluster, see :class:`~windlass.control.engine.ControlledEngine`.

    Parameters
    ----------
    scenario
        A scenario of the world ``cluster``.
    variant
        Name of the variant; None for the first.
    seed
        Random seed; None for the scenario's first.
    speed
        Simulated seconds per second; infinity for as fast as possible.
    clock
        Time that only grows, s.
    name
        Name of the engine.

    Raises
    ------
    InputError
        The scenario is of another world, has no such variant, or the speed is not positive.

    Examples
    --------
    >>> from windlass.experiment.scenario import make_scenario
    >>> scenario = make_scenario({"name": "small", "world": "cluster", "seconds": 600,
    ...     "sites": {"iowa": {"nodes": [{"count": 2, "cores": 4}]}},
    ...     "loads": {"web": {"tasks": {"tasks": 50}}}})
    >>> DemoEngine(scenario, speed=60.0).about
    'simulated: small, variant all decisions, seed 1; 60 simulated seconds per second'
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        variant: str | None = None,
        seed: int | None = None,
        speed: float = 60.0,
        clock: Callable[[], float] = lambda: 0.0,
        name: str = "demo",
    ) -> None:
        if scenario.world.name != _WORLD:
            raise InputError(f"{scenario.name}: world is {scenario.world.name!r}, expected {_WORLD!r}")
        if speed != math.inf:
            number("speed", speed, 0.0, open_below=True)
        chosen = _variant(scenario, variant)
        self.name, self._world, self._speed, self._clock = name, scenario.world, speed, clock
        self._setting = cast(ClusterSetting, chosen.setting)
        self._seed = scenario.seeds[0] if seed is None else seed
        self._observer: ClusterObserver | None = None
        pace = "as fast as possible" if speed == math.inf else f"{speed:g} simulated seconds per second"
        self.about = f"simulated: {scenario.name}, variant {chosen.name}, seed {self._seed}; {pace}"
        self.scope, self.jobs = ("simulated", name), None

    def prepare(self, compiling: Callable[[Compiling], None] | None = None) -> None:
        """Draw the loads and compile what the run needs, before any thread is started.

        Parameters
        ----------
        compiling
            Called with the progress of the compilation.

        Raises
        ------
        InputError
            A load cannot be read or drawn, or a policy does not exist.
        """
        self._arrivals = self._world.workload(self._setting, self._seed)
        prepare((*self._world.kernels(self._setting), *replay_kernels(self._setting)), compiling)

    @property
    def now(self) -> float:
        """The simulated time of the latest observation, s."""
        return 0.0 if self._observer is None else self._observer.now

    def run(self, journal: JournalWriter | None, stop: Stop) -> None:
        """Simulate the cluster; call :meth:`prepare` before.

        Raises
        ------
        ValueError
            There is no journal.
        EngineStoppedError
            A stop was requested.
        PolicyError
            A policy raised, or gave an answer that cannot be carried out.
        """
        if journal is None:
            raise ValueError("a simulated cluster is run for its journal, expected one")
        pace = SimulatedPace(self._speed, stop, self._clock)
        self._observer = ClusterObserver(self.name, self.about, self._setting, journal, pace)
        journal.append(PredictionsVoided(0.0, self.name))
        run_cluster(self._setting, self._seed, self._arrivals, lambda share: None, self._observer)


def load_demo(path: Path | None) -> Scenario:
    """Read the scenario of a demonstration; None for the bundled one, six hours of two sites.

    Raises
    ------
    InputError
        There is no such file, or it is not a scenario of the world ``cluster``.

    Examples
    --------
    >>> load_demo(None).world.name
    'cluster'
    >>> load_demo(Path("none.yaml"))
    Traceback (most recent call last):
    windlass.model.errors.InputError: none.yaml: no such file, expected a scenario of the world 'cluster'
    """
    if path is None:
        bundled = resources.files(__package__) / "cluster.yaml"
        return make_scenario(yaml.safe_load(bundled.read_text(encoding="utf-8")), "cluster.yaml")
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected a scenario of the world {_WORLD!r}")
    found = load_scenario(path)
    if found.world.name != _WORLD:
        raise InputError(
            f"{path}: world is {found.world.name!r}, expected {_WORLD!r}; "
            f"`windlass validate {path} --long` prints the scenario of one cluster for which it is short"
        )
    return found


def _variant(scenario: Scenario, name: str | None) -> Variant:
    if name is None:
        return scenario.variants[0]
    names = [each.name for each in scenario.variants]
    if name not in names:
        hint = did_you_mean(name, names)
        raise ParameterError("variant", f"no variant {name!r}, expected one of {'; '.join(names)}{hint}")
    return scenario.variants[names.index(name)]
