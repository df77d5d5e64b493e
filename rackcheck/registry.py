"""Finds the probes of every installed package, by entry point."""

import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from types import ModuleType
from typing import TypeVar

from rackcheck.core.catalogue import Catalogue, Clash
from rackcheck.core.join import Join
from rackcheck.core.probe import AnyProbe, Probe

GROUP = "rackcheck.probes"
T = TypeVar("T")


@dataclass(frozen=True)
class Registry:
    """All probes and the catalogue of what they give; `broken` tells which packages could not be loaded, and why."""

    probes: tuple[AnyProbe, ...]
    catalogue: Catalogue
    broken: tuple[str, ...] = ()
    joins: tuple[Join, ...] = ()


@cache
def registry() -> Registry:
    """Load every probe once; a package that fails is told, and leaves out its own probes only."""
    found: list[AnyProbe] = []
    joins: list[Join] = []
    broken: list[str] = []
    for point in sorted(entry_points(group=GROUP), key=lambda p: (p.name != "builtin", p.name)):
        try:
            modules = _modules(point.load())
            probes = _each(modules, Probe)
            told = Catalogue.of(entry for probe in (*found, *probes) for entry in probe.entries())
            bound = [join.bound(told) for join in _each(modules, Join)]
            Catalogue.of((*told.entries.values(), *(e for join in (*joins, *bound) for e in join.entries())))
        except Clash as clash:
            broken.append(f"{point.value}: {clash}")
        except Exception as error:  # noqa: BLE001  another package's code: told by name, never fatal
            broken.append(f"{point.value}: {error!r}")
        else:
            found += probes
            joins += bound
    entries = (entry for giver in (*found, *joins) for entry in giver.entries())
    return Registry(tuple(found), Catalogue.of(entries), tuple(broken), tuple(joins))


def _modules(package: ModuleType) -> list[ModuleType]:
    """The modules of a package, in the order of names."""
    modules = [package]
    modules += [
        import_module(f"{package.__name__}.{info.name}")
        for info in sorted(pkgutil.iter_modules(getattr(package, "__path__", ())), key=lambda m: m.name)
        if not info.ispkg
    ]
    return modules


def _each(modules: Iterable[ModuleType], kind: type[T]) -> list[T]:
    """Everything of one kind that the modules hold, each once."""
    found = [value for module in modules for value in vars(module).values() if isinstance(value, kind)]
    return list({id(value): value for value in found}.values())
