"""A setting in which a part differs from most parts of its kind, with both values and their unit. Pure.

A join gives such a setting as a text without unit: `nic.interface/eth0.unlike/speed.value` is `25; most: 200`.
"""

from dataclasses import dataclass

from rackcheck.model import path as paths
from rackcheck.model import unit as units
from rackcheck.model.evidence import Evidence
from rackcheck.model.path import BadPath
from rackcheck.probe.registry import registry

UNLIKE = "unlike"
"""The end of the names of collections of such settings: `unlike`, `queues_unlike`."""

MOST = "; most: "
"""Stands between the value of the part and that of most parts."""


@dataclass(frozen=True, slots=True)
class DifferingSetting:
    """A setting of an item with the item's own value, and that of most items of its kind."""

    item: str
    setting: str
    own: str
    most: str

    def __str__(self) -> str:
        return f"{self.item}.{self.setting} is {self.own}, must be {self.most}, as most"


def differing_setting(evidence: Evidence) -> DifferingSetting | None:
    """Return the setting that a piece of evidence is about; None if it is about no setting that differs."""
    own, found, most = evidence.observed.partition(MOST)
    if not found:
        return None
    try:
        path = paths.parse(evidence.item)
    except BadPath:
        return None
    owner, setting = path.items[-1] if path.items else ("", "")
    item, _, word = owner.rpartition(".")
    if not item or not word.endswith(UNLIKE) or [each.key for each in path.segments[-2:]] != [setting, None]:
        return None
    unit = _unit(item, setting)
    return DifferingSetting(item, setting, _spelt(own, unit), _spelt(most, unit))


def _unit(item: str, setting: str) -> str:
    """Return the unit of a setting of an item; empty if it has none, or is a fact of another item."""
    try:
        entry = registry().catalogue.find(paths.parse(f"{item}.{setting}"))
    except BadPath:
        return ""
    return entry.kind.unit or "" if entry is not None else ""


def _spelt(value: str, unit: str) -> str:
    try:
        return units.spell(float(value), unit) if unit in units.UNITS else value
    except ValueError:
        return value
