"""Which devices the Container Device Interface offers, and for which driver they were written down."""

import re

from rackcheck import Absent, Facts, Files, Read, Sourced, collection, integer, probe, spell_key, text, version

GLOBS = tuple(f"{folder}/*.{ending}" for folder in ("/etc/cdi", "/var/run/cdi") for ending in ("yaml", "json"))
KIND = re.compile(r"""["']?\bkind["']? ?: ?["']?([\w.-]{1,100}/[\w.-]{1,100})""")
DRIVER = re.compile(r"/libcuda\.so\.([0-9]{1,5}(?:\.[0-9]{1,5}){1,3})\b")
DEVICE = re.compile(r"""^ {0,20}-? ?["']?name["']?: ?["']?[^"'\s,]{1,100}["']?,? *$""", re.MULTILINE)


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
    """Read the files' lines as nvidia-ctk writes them, one key a line."""
    for glob in GLOBS:
        for (name,) in files.found(glob):
            place = glob.replace("*", name, 1)
            item = f"container.cdi/{spell_key(place)}"
            content = files.text(place)
            kind, driver = KIND.search(content), DRIVER.search(content)
            yield f"{item}.kind", Sourced(kind[1] if kind else Absent("no kind"), place)
            yield f"{item}.devices", Sourced(len(DEVICE.findall(content)), place)
            yield f"{item}.driver", Sourced(driver[1] if driver else Absent("no libcuda in it"), place)
