"""The attribute registry of a BIOS: how it is found, and the displayed names and allowed values of attributes."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rackcheck.model.documents import Documents, Missing
from rackcheck.model.fact import Unknown, Unreadable, clean
from rackcheck.model.regex import regex
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.bios import MOST, Attributes, attributes, read_settings
from rackcheck.parse.bmc.bios_table import BiosSettings, spelled
from rackcheck.parse.bmc.item import gather

FEW = 5
"""Minimum number of settings found by attribute name; with fewer, the attribute registry of the BIOS is fetched.

On every recorded BIOS, more than `FEW` settings are found by attribute name. An attribute registry has about a
megabyte, so it is fetched only if it is needed.
"""

BiosRegistry = Mapping[str, Any]

_OURS = regex(r"biosattributeregistry", re.IGNORECASE)
_VERSION = regex(r"([._-]?(en(-[a-z]{2})?|json|v?[0-9]+))*\Z", re.IGNORECASE)


def needed(known: BiosSettings, given: Attributes) -> bool:
    """Return whether so few settings are found by attribute name that the registry is needed."""
    return sum(1 for found in read_settings(known, given).values() if found.attributes) < FEW


def shown(docs: Documents, bios: Resource) -> dict[str, str]:
    """Return the displayed name of each attribute from the registry of a BIOS; empty if no registry can be read."""
    try:
        registry = _named(docs, bios)
        return {} if registry is None else displayed(registry)
    except (Unreadable, Missing):  # older captures have no registry either
        return {}


def displayed(registry: BiosRegistry) -> dict[str, str]:
    """Read the displayed name of each attribute from a registry; malformed entries are skipped.

    An attribute for which the registry has two displayed names is left out. For a registry with more than `MOST`
    attributes, the result is empty.
    """
    found: dict[str, set[str]] = {}
    for entry in _entries(registry):
        name, shown_as = entry.get("AttributeName"), entry.get("DisplayName")
        if isinstance(name, str) and isinstance(shown_as, str) and 0 < len(shown_as) <= 200:
            found.setdefault(name, set()).add(shown_as)
    return {name: next(iter(names)) for name, names in found.items() if len(names) == 1}


def unread(known: BiosSettings, registry: BiosRegistry) -> Iterator[tuple[str, str, str]]:
    """Yield each (setting, attribute, value) that a registry allows but the table of settings does not list."""
    allowed = {e["AttributeName"]: e["Value"] for e in _entries(registry) if _is_choice(e)}
    spelt = spelled(allowed)
    for setting in known.values():
        for row in setting.rows:
            for attribute in row.among(spelt):
                for names in map(_names, allowed[attribute]):
                    if names and all(isinstance(setting.meaning(row, attribute, n), Unknown) for n in names):
                        yield setting.name, attribute, names[0]


def _names(value: object) -> list[str]:
    """Return the two names that a registry has for one allowed value of an attribute.

    On Supermicro, the first name is a number, and a Bios resource reports the second name as the attribute's value.
    """
    rows = [value.get(n) for n in ("ValueName", "ValueDisplayName")] if isinstance(value, Mapping) else []
    return [name for name in rows if isinstance(name, str)]


def _is_choice(entry: Mapping[str, Any]) -> bool:
    return isinstance(entry.get("AttributeName"), str) and isinstance(entry.get("Value"), list)


def _entries(registry: BiosRegistry) -> list[Mapping[str, Any]]:
    entries = registry.get("RegistryEntries")
    listed = entries.get("Attributes") if isinstance(entries, Mapping) else None
    whole = isinstance(listed, list) and len(listed) <= MOST
    return [e for e in listed if isinstance(e, Mapping)] if whole and isinstance(listed, list) else []


def _named(docs: Documents, bios: Resource) -> BiosRegistry | None:
    """Return the attribute registry that a BIOS names, or the only one with a similar name; None if there is neither.

    The registry is selected by its URI, because a BMC has dozens of registries of about a megabyte each.
    """
    collections, _ = gather(docs.at("Registries"))
    uris = [uri for each in collections for uri in _listed(docs, each)]
    wanted = bios.body.get("AttributeRegistry")
    own = [uri for uri in uris if isinstance(wanted, str) and _last(uri) == wanted.strip().casefold()]
    bare = _bare(wanted) if isinstance(wanted, str) and wanted.strip() else "biosattributeregistry"
    alike = [uri for uri in uris if _OURS.match(_last(uri)) and _bare(_last(uri)) == bare]
    chosen = own or alike
    if not collections or len(chosen) != 1:
        return None
    file = docs.fetched(chosen[0], collections[0])
    if file.unread is not None or not _is_meant(bios, file.body, by_name=bool(own)):
        return None
    if "RegistryEntries" in file.body:
        return _covering(bios, file.body)
    place = _english(file.body.get("Location"))
    return _covering(bios, docs.fetched(place, file).body) if place is not None else None


def _is_meant(bios: Resource, file: BiosRegistry, *, by_name: bool) -> bool:
    """Return whether a registry has the version that a BIOS names; other versions may number attributes differently."""
    wanted = bios.body.get("AttributeRegistry")
    if by_name or not isinstance(wanted, str) or not wanted.strip():
        return True
    rows = [name for name in (file.get("Registry"), file.get("Id")) if isinstance(name, str)]
    return _plain(wanted) in {_plain(name) for name in rows}


def _covering(bios: Resource, registry: BiosRegistry) -> BiosRegistry | None:
    """Return the registry if it lists every attribute of a BIOS; None if not: it is for another BIOS."""
    listed = {name for entry in _entries(registry) if isinstance(name := entry.get("AttributeName"), str)}
    return registry if listed >= set(attributes(bios)) else None


def _plain(name: str) -> str:
    """Normalize a registry's name to compare versions: `v1_0_0` and `1.0.0` become identical."""
    return re.sub(r"[^a-z0-9]|v(?=[0-9])", "", clean(name, 200).casefold().removesuffix(".json"))


def _listed(docs: Documents, collection: Resource) -> list[str]:
    try:
        return list(docs.listed(collection))
    except Unreadable:
        return []


def _english(locations: object) -> str | None:
    """Return the location of a registry's body, the English one if there are several languages."""
    found = [each for each in locations if isinstance(each, Mapping)] if isinstance(locations, list) else []
    english = [each for each in found if str(each.get("Language")).casefold().startswith("en")]
    place = (english or found)[0].get("Uri") if found else None
    return place if isinstance(place, str) else None


def _last(uri: str) -> str:
    return uri.rstrip("/").rpartition("/")[2].casefold()


def _bare(name: str) -> str:
    """Remove the version and the language from a registry's name.

    Names are compared without the version, because Dell's BIOS names v1_0_3 of a registry that is listed as v1_0_0.
    """
    return _VERSION.sub("", clean(name, 200).strip().casefold())
