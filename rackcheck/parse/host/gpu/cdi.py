"""Files of the Container Device Interface: JSON is parsed; YAML is searched for the lines that nvidia-ctk writes."""

import re
from dataclasses import dataclass
from typing import Any

from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.model.regex import regex
from rackcheck.model.text import json_text

_KIND = regex(r"""["']?\bkind["']? ?: ?["']?([\w.-]{1,100}/[\w.-]{1,100})""")
_DRIVER = regex(r"/libcuda\.so\.([0-9]{1,5}(?:\.[0-9]{1,5}){1,3})\b")
_DEVICE = regex(r"""^ {0,20}-? ?["']?name["']?: ?["']?[^"'\s,]{1,100}["']?,? *$""", re.MULTILINE)
_FLOWING = regex(r"^devices: *[^\s#]", re.MULTILINE)
"""Matches a YAML list of devices that begins on the line of `devices:`; devices in such a list are not counted."""


@dataclass(frozen=True)
class Offer:
    """Contents of one CDI file: its kind (nvidia.com/gpu), its number of devices, the driver version in libcuda's name.

    A value is absent if the CDI file does not contain it, and Unknown if the CDI file cannot be parsed.
    """

    kind: Reading
    devices: Reading
    driver: Reading


def offer(place: str, content: str) -> Offer:
    """Read one file as JSON if its name ends in `.json` or its content begins with a brace, otherwise as YAML."""
    match = _DRIVER.search(content)
    driver = match[1] if match else Absent("the file contains no path of libcuda.so")
    if place.endswith(".json") or content.lstrip().startswith("{"):
        return Offer(*_of_json(content), driver)
    return Offer(*_of_yaml(content), driver)


def _of_json(content: str) -> tuple[Reading, Reading]:
    match _document(content):
        case {"kind": str(kind), "devices": list(named)} if all(isinstance(one, dict) for one in named):
            return kind, len(named)
    odd = Unknown(Reason.UNPARSABLE, "not the JSON of a CDI file")
    return odd, odd


def _document(content: str) -> Any:
    """Parse a text as JSON; None if the text is not JSON."""
    try:
        return json_text.loaded(content)
    except (ValueError, RecursionError):
        return None


def _of_yaml(content: str) -> tuple[Reading, Reading]:
    found = _KIND.search(content)
    flowing = Unknown(Reason.UNPARSABLE, "its devices are not on separate lines")
    devices = flowing if _FLOWING.search(content) else len(_DEVICE.findall(content))
    return found[1] if found else Absent("the file has no kind"), devices
