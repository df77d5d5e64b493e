"""Reads the table of BIOS settings from the installed package of probes."""

import json
from importlib.metadata import entry_points
from importlib.resources import files

from rackcheck.probe.registry import GROUP
from rackcheck.remedy.words import SettingTable, table


def settings() -> SettingTable:
    """Read the table of BIOS settings, which is stored beside the probe that uses it."""
    for point in entry_points(group=GROUP):
        place = files(point.value) / "bios_settings.json"
        if place.is_file():
            return table(json.loads(place.read_text("utf-8")))
    return SettingTable({}, {})
