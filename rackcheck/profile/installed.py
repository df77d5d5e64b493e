"""Finds the Python rules of installed packages, by entry point, for profiles that call them."""

from dataclasses import replace
from typing import TYPE_CHECKING

from rackcheck.model.python_rule import Called
from rackcheck.profile.layers import did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "rackcheck.rules"


def called(name: str) -> Called:
    """Return the rule of this name, with its package; raises LookupError, with a message, if it cannot be loaded."""
    from importlib.metadata import entry_points  # noqa: PLC0415  few profiles call rules in Python

    points = sorted(entry_points(group=GROUP), key=lambda point: (point.name, _package(point)))
    found = [point for point in points if point.name == name]
    if not found:
        known = list(dict.fromkeys(point.name for point in points))
        hint = did_you_mean(name, known) or (f"; there are: {', '.join(known)}" if known else "; none is installed")
        raise LookupError(f"no installed package provides a rule {name}{hint}")
    if len(found) > 1:
        raise LookupError(f"rule {name} is provided by {' and by '.join(map(_package, found))}")
    point = found[0]
    try:
        rule = point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001  third-party code: an error affects this profile only
        raise LookupError(f"rule {name} of {_package(point)} cannot be loaded: {error!r}") from None
    if isinstance(rule, Called):
        return replace(rule, name=name, package=_package(point))
    raise LookupError(f"{point.value} of {_package(point)} is not a rule: `@rackcheck.rule(facts=…)` makes one")


def _package(point: "EntryPoint") -> str:
    """Return the name and version of the package that offers a rule: another version may judge differently."""
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.module
