"""Which devices the Container Device Interface offers, and for which driver they were written down."""

import json
import re
from typing import Any

from rackcheck import (
    Absent,
    Facts,
    Files,
    Read,
    Reason,
    Sourced,
    Unknown,
    collection,
    integer,
    probe,
    spell_key,
    text,
    version,
)
from rackcheck.core.fact import Reading

GLOBS = tuple(f"{folder}/*.{ending}" for folder in ("/etc/cdi", "/var/run/cdi") for ending in ("yaml", "json"))
KIND = re.compile(r"""["']?\bkind["']? ?: ?["']?([\w.-]{1,100}/[\w.-]{1,100})""")
DRIVER = re.compile(r"/libcuda\.so\.([0-9]{1,5}(?:\.[0-9]{1,5}){1,3})\b")
DEVICE = re.compile(r"""^ {0,20}-? ?["']?name["']?: ?["']?[^"'\s,]{1,100}["']?,? *$""", re.MULTILINE)
FLOWING = re.compile(r"^devices: *[^\s#]", re.MULTILINE)
"""A list that does not begin on a line of its own: such lines are not counted."""


def document(content: str) -> Any:
    """Take JSON apart; None for what is none."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def offered(place: str, content: str) -> tuple[Reading, Reading]:
    """Give the kind, and how many devices are named: of JSON as it stands, of YAML line by line."""
    if place.endswith(".json") or content.lstrip().startswith("{"):
        match document(content):
            case {"kind": str(kind), "devices": list(named)} if all(isinstance(one, dict) for one in named):
                return kind, len(named)
        odd = Unknown(Reason.UNPARSABLE, "not the JSON of a CDI file")
        return odd, odd
    found = KIND.search(content)
    flowing = Unknown(Reason.UNPARSABLE, "its devices do not stand on lines of their own")
    devices = flowing if FLOWING.search(content) else len(DEVICE.findall(content))
    return found[1] if found else Absent("no kind"), devices


@probe(
    Read(*GLOBS, cap=4 << 20),
    gives={
        "container.cdi": collection("The files of CDI by their place, in /etc/cdi and /var/run/cdi."),
        "container.cdi/*.kind": text("What the file offers: nvidia.com/gpu."),
        "container.cdi/*.devices": integer("The devices that it names; GPUs count by number, by UUID and once as all."),
        "container.cdi/*.driver": version(
            "dotted",
            "The driver whose libcuda it brings in: after an upgrade containers fail until it is written anew.",
        ),
    },
)
def cdi(files: Files) -> Facts:
    """Read the files: JSON, or YAML as nvidia-ctk writes it, one key a line."""
    for glob in GLOBS:
        for (name,) in files.found(glob):
            place = glob.replace("*", name, 1)
            item = f"container.cdi/{spell_key(place)}"
            content = files.text(place)
            driver = DRIVER.search(content)
            kind, devices = offered(place, content)
            yield f"{item}.kind", Sourced(kind, place)
            yield f"{item}.devices", Sourced(devices, place)
            yield f"{item}.driver", Sourced(driver[1] if driver else Absent("no libcuda in it"), place)
