"""Finds the probes of every installed package, by entry point."""

import pkgutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path as File
from types import ModuleType
from typing import TYPE_CHECKING

from rackcheck.base.program import PROBES
from rackcheck.model.catalogue import Catalogue, Clash, Entry
from rackcheck.model.fact import Plane
from rackcheck.model.path import Path
from rackcheck.model.path import parse as parse_path
from rackcheck.model.profile import Phase, Profile
from rackcheck.model.sibling_silence import ENTRY
from rackcheck.probe import index
from rackcheck.probe.compare import Comparison
from rackcheck.probe.contract import AnyProbe, Probe, names
from rackcheck.probe.group import Aggregate
from rackcheck.probe.index import Declared, origin
from rackcheck.probe.join import Join
from rackcheck.probe.plan import Plan, part_facts, plan

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "rackcheck.probes"

GIVERS = (Probe, Join, Aggregate, Comparison)


@dataclass(frozen=True)
class Registry:
    """All probes and the catalogue of their facts; `broken` has the modules that could not be loaded, and why."""

    probes: tuple[AnyProbe, ...]
    catalogue: Catalogue
    broken: tuple[str, ...] = ()
    joins: tuple[Join, ...] = ()
    gatherings: tuple[Aggregate, ...] = ()
    comparisons: tuple[Comparison, ...] = ()

    def planned(self, profile: Profile, phases: Iterable[Phase], *, parts: bool = True) -> Plan:
        """Plan the facts of a profile; with `parts`, also those of all parts of each plane of which it reads parts.

        If `phases` contains the burn-in, all facts of the burn-in are added.
        """
        measured = self._measured if Phase.BURN_IN in phases else ()
        wanted = (*profile.facts(), *measured)
        chosen = self.plan(wanted, profile.spare_facts())
        if not parts:
            return chosen
        return self.plan((*wanted, *part_facts(chosen, self.probes, self.catalogue)), profile.spare_facts())

    @cached_property
    def _measured(self) -> tuple[Path, ...]:
        burnt = frozenset({Plane.BURNIN})
        entries = self.catalogue.entries.items()
        return tuple(parse_path(p) for p, e in entries if e.plane is Plane.BURNIN or e.inputs == burnt)

    def plan(self, wanted: Iterable[Path], spare: Iterable[Path] = ()) -> Plan:
        """Plan the fewest questions for these facts; facts in `spare` are read only from BMCs where that is cheap."""
        return plan(wanted, self.probes, self.catalogue, self.joins, self.gatherings, self.comparisons, spare)


def points() -> "list[EntryPoint]":
    """Return the packages with probes, rackcheck's own first."""
    from importlib.metadata import entry_points  # noqa: PLC0415  takes as long as all imports of this module

    return sorted(entry_points(group=GROUP), key=lambda p: (p.name != "builtin", p.name))


@cache
def only_own() -> bool:
    """Whether the probes of rackcheck are the only ones that are installed."""
    return {point.value for point in points()} == {PROBES}


def is_own(catalogue: Catalogue) -> bool:
    """Whether a catalogue is that of the registry, and the registry has all probes of rackcheck and no others."""
    if not registry.cache_info().currsize:
        return False
    known = registry()
    return catalogue is known.catalogue and not known.broken and only_own()


@cache
def registry() -> Registry:
    """Load all probes once; a module that fails is reported, and only the probes of that module are missing."""
    loading = _Loading()
    for point in points():
        own = point.value == PROBES
        kept = index.load() if own and not loading.probes else None  # else, other probes may have the same facts
        if kept is not None:
            loading.add(kept)
            continue
        with loading.recording(point.value):
            package = point.load()
            loading.take(package)
            found: list[ModuleType] = []
            for name in modules(package.__name__, getattr(package, "__path__", ())):
                with loading.recording(name):
                    found.append(import_module(name))
            for module in sorted(found, key=_called):
                with loading.recording(module.__name__):
                    loading.take(module)
        if own and not loading.broken:
            index.store(loading.declared)
    loading.bind()
    return Registry(
        tuple(loading.probes.values()),
        Catalogue({**loading.entries, ENTRY.pattern: ENTRY}),
        tuple(loading.broken),
        tuple(loading.joins.values()),
        tuple(loading.gatherings.values()),
        tuple(loading.comparisons.values()),
    )


def modules(package: str, places: Iterable[str]) -> Iterator[str]:
    """Yield the names of a package's modules, also in folders, but without payload modules, which run on a node."""
    for info in sorted(pkgutil.iter_modules(places), key=lambda info: info.name):
        name = f"{package}.{info.name}"
        if not info.ispkg:
            yield name
        elif info.name != "payload":
            inner = [str(File(place) / info.name) for place in places]
            yield from modules(name, inner)


def _called(module: ModuleType) -> str:
    """Return the name by which a module is sorted: FOLDER_NAME if its probe or derivation is named so, else NAME."""
    held = {each.name for each in vars(module).values() if isinstance(each, GIVERS)}
    own, *longer = names(module.__name__)
    return next((name for name in longer if name in held), own)


class _Loading:
    """Collects probes and facts while modules are loaded; if two probes provide the same fact, the first is used."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.probes: dict[int, AnyProbe] = {}
        self.joins: dict[int, Join] = {}
        self.gatherings: dict[int, Aggregate] = {}
        self.comparisons: dict[int, Comparison] = {}
        self.broken: list[str] = []
        self._names: set[str] = set()
        self._indexed: frozenset[tuple[str, str]] = frozenset()
        self._unbound: dict[int, Join] = {}
        self._unbound_gatherings: dict[int, Aggregate] = {}
        self._unbound_comparisons: dict[int, Comparison] = {}

    @contextmanager
    def recording(self, name: str) -> Iterator[None]:
        """Record exceptions under the module's name: third-party code must not end the program."""
        try:
            yield
        except Clash as clash:
            self.broken.append(f"{name}: {clash}")
        except Exception as error:  # noqa: BLE001
            self.broken.append(f"{name}: {type(error).__name__}: {error}")

    @property
    def declared(self) -> Declared:
        """What was taken from modules so far; derivations are not bound."""
        return Declared(
            tuple(self.probes.values()),
            tuple(self._unbound.values()),
            tuple(self._unbound_gatherings.values()),
            tuple(self._unbound_comparisons.values()),
        )

    def add(self, known: Declared) -> None:
        """Add what rackcheck's own modules declare, as if these modules were taken."""
        self._indexed = frozenset(map(origin, known.givers))
        self._add(entry for probe in known.probes for entry in probe.entries())
        self.probes |= {id(probe): probe for probe in known.probes}
        self._names |= {probe.name for probe in known.probes}
        self._unbound |= {id(v): v for v in known.joins}
        self._unbound_gatherings |= {id(v): v for v in known.gatherings}
        self._unbound_comparisons |= {id(v): v for v in known.comparisons}

    def take(self, module: ModuleType) -> None:
        """Add a module's probes, or none of them; a probe that is re-exported by another module is added only once."""
        values = [v for v in vars(module).values() if isinstance(v, GIVERS) and origin(v) not in self._indexed]
        probes = {id(v): v for v in values if isinstance(v, Probe) and id(v) not in self.probes}
        names: set[str] = set()
        for probe in probes.values():
            if probe.name in self._names or probe.name in names:
                raise Clash(f"two probes have the name {probe.name}; names are unique")
            names.add(probe.name)
        self._add(entry for probe in probes.values() for entry in probe.entries())
        self.probes |= probes
        self._names |= names
        self._unbound |= {id(v): v for v in values if isinstance(v, Join)}
        self._unbound_gatherings |= {id(v): v for v in values if isinstance(v, Aggregate)}
        self._unbound_comparisons |= {id(v): v for v in values if isinstance(v, Comparison)}

    def bind(self) -> None:
        """Look up the inputs of all joins, then of all aggregates and comparisons; all probes must be loaded before."""
        for key, join in self._unbound.items():
            with self.recording(f"join {join.name}"):
                bound = join.bound(Catalogue(self.entries))
                self._add(bound.entries())
                self.joins[key] = bound
        for key, gathering in self._unbound_gatherings.items():
            with self.recording(f"gathering {gathering.name}"):
                gathered = gathering.bound(Catalogue(self.entries))
                self._add(gathered.entries())
                self.gatherings[key] = gathered
        for key, comparison in self._unbound_comparisons.items():
            with self.recording(f"comparison {comparison.name}"):
                compared = comparison.bound(Catalogue(self.entries))
                self._add(compared.entries())
                self.comparisons[key] = compared

    def _add(self, entries: Iterable[Entry]) -> None:
        fresh = Catalogue.of(entries).entries
        for pattern, entry in fresh.items():
            if pattern in self.entries:
                raise Clash(f"{pattern} is provided by both {self.entries[pattern].probe} and {entry.probe}")
        self.entries |= fresh
