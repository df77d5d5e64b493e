"""The list of installed packages, one per row as dpkg-query prints it; rpm gets a format that prints the same rows.

    dpkg amd64
    ii |adduser|all|3.134
    hi |linux-image-5.15.0-1053-nvidia|amd64|5.15.0-1053.54
    -- end --

The first row names the package manager and the machine's own architecture. The three letters before a name are the
desired action, the package's state, and whether it must be reinstalled (dpkg-query(1)).
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from rackcheck.model.fact import Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows

DPKG = "${db:Status-Abbrev}|${Package}|${Architecture}|${Version}\\n"
RPM = "ii |%{NAME}|%{ARCH}|%|EPOCH?{%{EPOCH}:}:{}|%{VERSION}-%{RELEASE}\\n"
"""Formats by which dpkg-query and rpm print one row for each package."""

END = "-- end --"
"""Last line of a complete list of packages."""

KEYS = "gpg-pubkey"
"""Package name under which rpm lists the keys that sign packages."""

_ROW = regex(r"([uihrp])([ncHUFWti])([ R])\|([^|\s]{1,200})\|([^|\s]{1,40})\|([^|\s]{0,200})")


@dataclass(frozen=True, slots=True)
class Package:
    """One installed package; `held` means that an upgrade skips it, `broken` that it is not completely installed."""

    name: str
    arch: str
    version: str
    held: bool
    broken: bool


@dataclass(frozen=True, slots=True)
class Installed:
    """The package manager (dpkg or rpm), the machine's own architecture, and the packages in the order of the list."""

    manager: str
    native: str
    packages: tuple[Package, ...]


def installed(answer: str) -> Installed:
    """Read the list of packages; raises Unreadable if it is incomplete or empty, or has a row that is not a package."""
    items = rows(answer)
    manager, _, native = items[0].partition(" ") if items else ("", "", "")
    if len(items) < 3 or items[-1] != END or manager not in {"dpkg", "rpm"}:
        raise Unreadable("the output was truncated, or lists no package")
    found = (_package(row) for row in items[1:-1])
    return Installed(manager, native, tuple(package for package in found if package is not None))


def _package(row: str) -> Package | None:
    """Read the row of one package; None for a removed package with remaining configuration, and for signing keys."""
    match = _ROW.fullmatch(row)
    if match is None:
        raise Unreadable(f"not a package: {row[:80]!r}")
    want, state, error, name, arch, version = match.groups()
    if state in "nc" or name == KEYS:
        return None
    if not version:
        raise Unreadable(f"{name} has no version")
    return Package(name, arch, version, held=want == "h", broken=state != "i" or error == "R")


def versions(packages: Iterable[Package], native: str) -> dict[str, list[str]]:
    """Group the versions by package; a package of a foreign architecture is named `NAME:ARCH`, as dpkg does."""
    found: dict[str, list[str]] = defaultdict(list)
    for package in packages:
        own = package.arch in {native, "all", "noarch", "(none)"}
        found[package.name if own else f"{package.name}:{package.arch}"].append(package.version)
    return found
