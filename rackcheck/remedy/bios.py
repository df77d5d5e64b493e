"""Writes BIOS settings as the body of one PATCH per BIOS, with the attributes and values of this BIOS.

Three parts of the request come from the BMC: the attributes' names, values from its registry, and the URI of its
settings object. If an attribute's name, a value from the registry or the URI of the settings object contains an unusual
character, no request is written, and the finding is left to be fixed by hand.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rackcheck.model import operator
from rackcheck.model.documents import Documents, Missing
from rackcheck.model.fact import Unknown, Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc import bios, bios_registry
from rackcheck.parse.bmc.bios_table import MIXED, Setting, spelled, spelling
from rackcheck.remedy.fixes import Firmware
from rackcheck.remedy.words import RegistryAttribute, SettingTable, Spelt, registry, row_of, spelling_of

NAME = regex(r"[A-Za-z0-9_][A-Za-z0-9_ .,:+()\[\]/&#-]{0,119}\Z")
PLACE = regex(r"/redfish/v1(/[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,99}){1,20}/?\Z")

ON_RESET = {"@odata.type": "#Settings.v1_3_0.PreferredApplyTime", "ApplyTime": "OnReset"}
"""Property of a PATCH that makes some BMCs (iDRAC) apply it at the next reboot; sent only if the BMC supports it."""


@dataclass(frozen=True, slots=True)
class AttributeChange:
    """One attribute with its new value, the rule and the setting; `how` is the source of the value's spelling."""

    rule: str
    setting: str
    attribute: str
    value: Spelt
    how: str


@dataclass(frozen=True)
class Patch:
    """The request for one BIOS: its settings object and the changes."""

    place: str
    changes: tuple[AttributeChange, ...]
    on_reset: bool = False

    @property
    def body(self) -> dict[str, Any]:
        """The body of the PATCH."""
        values: dict[str, Any] = {"Attributes": {change.attribute: change.value for change in self.changes}}
        return values | ({"@Redfish.SettingsApplyTime": dict(ON_RESET)} if self.on_reset else {})


@dataclass(frozen=True, slots=True)
class NotFixable:
    """A BIOS setting that no PATCH can fix, and why."""

    rule: str
    why: str


def patches(docs: Documents, needs: Sequence[Firmware], table: SettingTable) -> tuple[list[Patch], list[NotFixable]]:
    """Return the requests for the BIOSes of one BMC, and the settings that no PATCH can fix."""
    try:
        found = bios.with_attributes(docs)
    except (Unreadable, Missing):
        return [], [NotFixable(need.rule, "the BIOS of this node was not read completely") for need in needs]
    made: list[Patch] = []
    left: dict[str, str] = {}
    for resource in found:
        place = _settings(resource)
        changes: dict[str, AttributeChange] = {}
        reader = _Reader.of(docs, resource, table)
        for need in needs:
            value = "this BMC reports no usable settings object" if place is None else reader.changes(need)
            if isinstance(value, str):
                left.setdefault(need.rule, value)
                continue
            clash = [c for c in value if c.attribute in changes and changes[c.attribute].value != c.value]
            if clash:
                left.setdefault(
                    need.rule, f"rule {changes[clash[0].attribute].rule} needs another value of the same attribute"
                )
            else:
                changes |= {c.attribute: changes.get(c.attribute, c) for c in value}
        if changes and place is not None:
            made.append(Patch(place, tuple(changes[a] for a in sorted(changes)), _knows_on_reset(resource)))
    return made, [NotFixable(rule, why) for rule, why in left.items()]


def _annotation(resource: Resource) -> Mapping[str, Any]:
    value = resource.body.get("@Redfish.Settings")
    return value if isinstance(value, Mapping) else {}


def _settings(resource: Resource) -> str | None:
    """Return the URI of the BIOS's settings object; None if it is missing or not a plain path on this BMC."""
    value = _annotation(resource).get("SettingsObject")
    place = value.get("@odata.id") if isinstance(value, Mapping) else None
    return place if isinstance(place, str) and PLACE.match(place) else None


def _knows_on_reset(resource: Resource) -> bool:
    times = _annotation(resource).get("SupportedApplyTimes")
    return isinstance(times, list) and "OnReset" in times


@dataclass(frozen=True)
class _Reader:
    """One BIOS: its attributes, the allowed values and display names in its registry, and the table of settings."""

    given: bios.Attributes
    shown: Mapping[str, str]
    allowed: Mapping[str, RegistryAttribute]
    table: SettingTable

    @classmethod
    def of(cls, docs: Documents, resource: Resource, table: SettingTable) -> "_Reader":
        given = bios.attributes(resource)
        ask = bios_registry.needed(table.settings, given)
        shown = bios_registry.shown(docs, resource) if ask else bios.NOTHING
        return cls(given, shown, registry(docs, frozenset(given)), table)

    def changes(self, need: Firmware) -> list[AttributeChange] | str:
        """Return the attribute changes that make a rule pass (empty if it already passes), or why it cannot pass."""
        name = need.fact.segments[1].word
        if name == "attribute":
            return self._raw(need)
        setting = self.table.settings.get(name)
        if setting is None or setting.apart or need.want.value is None:
            return f"bios.{name} does not depend on attributes alone"
        report = bios.read_setting(setting, self.given, self.shown)
        if _passes(need, report.reading):
            return []
        if not report.attributes:
            return f"no known attribute of this BIOS sets {need.fact}"
        found: list[AttributeChange] = []
        for attribute in report.attributes:
            one = self._change(need, setting, attribute)
            if isinstance(one, str):
                return one
            found += [one] if one is not None else []
        after = bios.read_setting(setting, {**self.given, **{c.attribute: c.value for c in found}}, self.shown)
        return (
            found if _passes(need, after.reading) else "changing its attributes would still not give the expected value"
        )

    def _raw(self, need: Firmware) -> list[AttributeChange] | str:
        """Return the change for a rule that names an attribute: name and value come from the profile."""
        attribute = need.fact.segments[1].key or ""
        if attribute not in self.given or not NAME.match(attribute):
            return "this BIOS has no attribute of this name, or the name is not valid in a request body"
        now, want = self.given[attribute], need.want.text
        if _passes(need, now):
            return []
        value: Spelt | None = want
        if isinstance(now, bool):
            value = {"true": True, "false": False}.get(want.casefold())
        elif isinstance(now, int):
            value = int(want) if re.fullmatch(r"-?[0-9]{1,18}", want) else None
        if value is None:
            return "the profile's value does not have the type of this attribute"
        return [AttributeChange(need.rule, str(need.fact), attribute, value, "the profile")]

    def _change(self, need: Firmware, setting: Setting, attribute: str) -> AttributeChange | str | None:
        if not NAME.match(attribute):
            return "the attribute's name is not valid in a request body"
        known = row_of(setting, attribute, spelled([attribute]))
        if known is None and attribute in self.shown:
            known = row_of(setting, attribute, {spelling(self.shown[attribute]): [attribute]})
        if known is None or need.want.value is None:
            return f"no known attribute of this BIOS sets {need.fact}"
        number, row = known
        if setting.meaning(row, attribute, self.given[attribute]) == need.want.value:
            return None
        spelt = spelling_of(
            setting, number, self.table.words[setting.name][number], attribute, self.given[attribute],
            need.want.value, self.allowed.get(attribute),
        )  # fmt: skip
        if isinstance(spelt, str):
            return spelt
        return AttributeChange(need.rule, f"bios.{setting.name}", attribute, *spelt)


def _passes(need: Firmware, reading: object) -> bool:
    if isinstance(reading, Unknown) or not isinstance(reading, (bool, int, float, str)):
        return False
    if isinstance(reading, str) and reading == MIXED:
        return False
    return all(operator.holds(t, reading, need.clause.kind) is True for t in need.clause.tests if t.op != "present")
