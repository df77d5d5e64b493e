"""Finds the probes of every installed package, by entry point."""

import pkgutil
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from types import ModuleType

from rackcheck.core.catalogue import Catalogue, Clash
from rackcheck.core.probe import AnyProbe, Probe

GROUP = "rackcheck.probes"


@dataclass(frozen=True)
class Registry:
    """All probes and the catalogue of what they give; `broken` tells which packages could not be loaded, and why."""

    probes: tuple[AnyProbe, ...]
    catalogue: Catalogue
    broken: tuple[str, ...] = ()


@cache
def registry() -> Registry:
    """Load every probe once; a package that fails is told, and leaves out its own probes only."""
    found: list[AnyProbe] = []
    broken: list[str] = []
    for point in sorted(entry_points(group=GROUP), key=lambda p: (p.name != "builtin", p.name)):
        try:
            probes = _probes(point.load())
            Catalogue.of(entry for probe in (*found, *probes) for entry in probe.entries())
        except Clash as clash:
            broken.append(f"{point.value}: {clash}")
        except Exception as error:  # noqa: BLE001  another package's code: told by name, never fatal
            broken.append(f"{point.value}: {error!r}")
        else:
            found += probes
    return Registry(tuple(found), Catalogue.of(e for p in found for e in p.entries()), tuple(broken))


def _probes(package: ModuleType) -> list[AnyProbe]:
    """Every probe of every module of a package, in the order of names."""
    modules = [package]
    modules += [
        import_module(f"{package.__name__}.{info.name}")
        for info in sorted(pkgutil.iter_modules(getattr(package, "__path__", ())), key=lambda m: m.name)
        if not info.ispkg
    ]
    found = [probe for module in modules for probe in vars(module).values() if isinstance(probe, Probe)]
    return list({id(probe): probe for probe in found}.values())
