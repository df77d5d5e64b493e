"""BIOS settings in vendor-neutral words: which attribute of this BIOS holds a setting, and what its value means."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.redfish_value import BROKEN
from rackcheck.model.resource import Resource, inside
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.bios_table import ELSEWHERE, MIXED, BiosSettings, Setting, spelled, spelling
from rackcheck.parse.bmc.bios_value import by_name, scalar
from rackcheck.parse.bmc.host import machine
from rackcheck.parse.bmc.item import gather, not_there
from rackcheck.parse.bmc.several import of_hosts

Attributes = Mapping[str, Any]

NOTHING: Mapping[str, str] = MappingProxyType({})
"""The empty mapping of attributes to displayed names, used for a BIOS whose registry was not read."""


@dataclass(frozen=True)
class SettingReport:
    """The reading of one setting, and the names of the BIOS attributes from which it comes."""

    reading: Reading
    attributes: tuple[str, ...] = ()

    def spelt(self, setting: Setting) -> Reading:
        """The reading of a setting, with a number formatted as text in the setting's unit."""
        return setting.spell(self.reading) if isinstance(self.reading, (str, float)) else self.reading

    def sourced(self, bios: Resource) -> Sourced:
        """Return the reading with its source: the attributes used, each with the value that the BIOS reports."""
        held = attributes(bios)
        values = {a: clean(str(scalar(held.get(a))), 60) for a in self.attributes}
        alike: dict[str, list[str]] = {}
        for attribute, value in values.items():
            alike.setdefault(value, []).append(attribute)
        shown = "; ".join(f"{_several(names)} = {value}" for value, names in alike.items())
        return Sourced(self.reading, inside(bios.uri, "Attributes", shown).rstrip("/"))


def _several(names: list[str]) -> str:
    """Join the names of attributes with the same value; if more than FAMILY, the first and the number of the others."""
    return ",".join(names) if len(names) <= FAMILY else f"{names[0]} and {len(names) - 1} more"


@dataclass(frozen=True)
class Waiting:
    """BIOS settings that the next boot changes, with their values after that boot, and why they may be incomplete."""

    changes: Mapping[str, SettingReport]
    doubt: Unknown | None = None


LONGEST = 200
"""Maximum length of an attribute name, in characters; recorded names have up to 61."""

FAMILY = 4
"""Maximum number of attributes that the source of a reading lists if several attributes have the same value.

If there are more, it lists only the first and the number of the others.
"""

MOST = 5_000
"""Maximum number of attributes of one BIOS; the recorded machines have up to 455."""


def with_attributes(docs: Documents) -> list[Resource]:
    """Return the Bios resource of every system whose Bios has attributes, which are then in an object by name.

    If the BMC has several systems, only the Bios of hosts count. Raises Unreadable if no host reports attributes, if a
    Bios resource that may have other values was not read, or if one of several hosts reports no attributes.
    """
    held = machine(docs)
    found, trouble = gather(docs.at("Systems/*/Bios"))
    found = of_hosts(held, found)
    telling = [replace(bios, body={**bios.body, "Attributes": own}) for bios in found if (own := attributes(bios))]
    unread = [Unknown(bios.unread.reason, f"{bios.uri}: {bios.unread.detail}") for bios in found if bios.unread]
    trouble = next((why for why in (trouble, *unread) if why is not None and not (telling and not_there(why))), None)
    if trouble is not None:
        raise Unreadable(trouble.detail, trouble.reason)
    if not telling:
        raise Unreadable(f"this BMC has no Bios resource{' with attributes' if found else ''}", Reason.NOT_COLLECTED)
    if held.several is not None and len(telling) < len(held.hosts):
        raise Unreadable(held.several.detail, held.several.reason)
    return telling


def attributes(bios: Resource) -> Attributes:
    """Return the attributes of a Bios resource or of its settings object; empty if `Attributes` is missing.

    Attributes that are listed as objects with an `AttributeName` are returned by this name.
    Raises Unreadable if the property `Attributes` is null or has another type, or if there are more than `MOST`
    attributes.
    """
    found = bios.body.get("Attributes", {})
    if isinstance(found, list) and len(found) <= MOST and (listed := by_name(found)):
        return listed
    if not isinstance(found, Mapping):
        why = Reason.NOT_COLLECTED if found is None else Reason.UNPARSABLE
        raise Unreadable(f"{bios.uri}: Attributes is not an object: {clean(repr(found), 60)}", why)
    if len(found) > MOST:
        raise Unreadable(f"{bios.uri}: {len(found)} attributes; the maximum is {MOST}", Reason.TOO_LARGE)
    return found


def agreed(readings: Iterable[Sourced]) -> Sourced:
    """Return the value that all systems of this BMC report; unknown if they differ."""
    first, *others = readings
    if all(other.reading == first.reading for other in others):
        return first
    shown = ", ".join(f"{clean(str(r.reading), 60)} ({r.source})" for r in (first, *others))
    return Sourced(
        Unknown(Reason.UNPARSABLE, f"the systems of this BMC report different values: {shown}"), first.source
    )


def read_setting(setting: Setting, given: Attributes, shown: Mapping[str, str] = NOTHING) -> SettingReport:
    """Read one setting from the first row of the settings table that applies to this BIOS.

    A row applies if the BIOS has attributes of the row, unless all their values mean `elsewhere` (other attributes
    decide). If no attribute matches by its own name, attributes are matched by the displayed names in `shown`.
    """
    found = _read_setting(setting, given, spelled(given))
    if found.attributes or not shown:
        return found
    by_screen = _read_setting(setting, given, _on_screen(given, shown))
    return by_screen if by_screen.attributes else found


def _on_screen(names: Iterable[str], shown: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        if name in shown:
            found.setdefault(spelling(shown[name]), []).append(name)
    return found


def read_settings(
    known: BiosSettings, given: Attributes, shown: Mapping[str, str] = NOTHING
) -> dict[str, SettingReport]:
    """Read all settings of a BIOS except those with their own probe; `shown` has the attributes' displayed names."""
    if shown:
        return {name: read_setting(setting, given, shown) for name, setting in known.items() if not setting.apart}
    spelt = spelled(given)
    return {name: _read_setting(setting, given, spelt) for name, setting in known.items() if not setting.apart}


def _read_setting(setting: Setting, given: Attributes, spelt: Mapping[str, list[str]]) -> SettingReport:
    for row in setting.rows:
        found = row.among(spelt)
        meant = [setting.meaning(row, a, given[a]) for a in found]
        rows = [m for m in meant if m != ELSEWHERE]
        if rows:
            unknown = next((m for m in rows if isinstance(m, Unknown)), None)
            return SettingReport(
                unknown or (rows[0] if len(set(rows)) == 1 else _differing(setting, rows)), tuple(found)
            )
    detail = f"none of {len(given)} attributes matches {setting.name}: {setting.sought}"
    return SettingReport(Unknown(Reason.NOT_COLLECTED, detail))


def _differing(setting: Setting, rows: list[Any]) -> Reading:
    """Return `mixed` for attributes with different values; unknown for a quantity, which cannot be `mixed`."""
    if setting.unit is None:
        return MIXED
    shown = ", ".join(sorted({setting.spell(m) for m in rows})[:3])
    return Unknown(Reason.UNPARSABLE, f"the attributes for {setting.name} have different values: {shown}")


def waiting(known: BiosSettings, now: Attributes, then: Attributes, shown: Mapping[str, str] = NOTHING) -> Waiting:
    """Return the BIOS settings that the next boot changes; a setting whose current value is unknown is left out.

    An attribute that belongs to no setting is listed under its own name.
    """
    changes: dict[str, SettingReport] = {}
    doubt: Unknown | None = None
    known_by: set[str] = set()
    spelt, on_screen = spelled(then), _on_screen(then, shown)
    for name, setting in known.items():
        mine = sorted({a for row in setting.rows for a in (*row.among(spelt), *row.among(on_screen))})
        known_by |= set(mine)
        differ = {a: _differ(now.get(a), then[a]) for a in mine}
        changed = [a for a in mine if differ[a]]
        if changed:
            later = {**now, **{a: then[a] for a in changed}}
            before, after = read_setting(setting, now, shown), read_setting(setting, later, shown)
            if isinstance(before.reading, Unknown):
                doubt = doubt or before.reading
                continue
            if before.reading != after.reading:
                changes[name] = SettingReport(after.spelt(setting), tuple(changed))
                continue
            changes |= {a: SettingReport(scalar(then[a]) or "", (a,)) for a in changed}  # a port of a mixed family
        if None in differ.values():
            unclear = next(a for a in mine if differ[a] is None)
            doubt = doubt or _valueless(unclear)
    for attribute in (a for a in then if a not in known_by and now.get(a) != then[a]):
        if not attribute.strip() or len(attribute) > LONGEST or BROKEN in attribute:
            doubt = doubt or Unknown(Reason.UNPARSABLE, f"invalid attribute name {clean(attribute, 60)!r}")
        elif _differ(now.get(attribute), then[attribute]) is None:
            doubt = doubt or _valueless(attribute)
        elif _differ(now.get(attribute), then[attribute]):
            changes.setdefault(attribute, SettingReport(scalar(then[attribute]) or "", (attribute,)))
    return Waiting(changes, doubt)


def _valueless(attribute: str) -> Unknown:
    return Unknown(Reason.NOT_COLLECTED, f"{clean(attribute)} has no value, now or for the next boot")


def _differ(now: object, then: object) -> bool | None:
    """Return whether two values differ; None if one of them is unknown."""
    before, after = scalar(now), scalar(then)
    return None if before is None or after is None else before != after
