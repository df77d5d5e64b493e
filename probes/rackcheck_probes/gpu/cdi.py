"""The devices of the Container Device Interface (CDI), and the driver version that the CDI files were written for."""

from rackcheck import Facts, Files, Read, Sourced, collection, integer, probe, spell_key, text, version
from rackcheck.parse.host.gpu import cdi as reader

GLOBS = tuple(f"{folder}/*.{ending}" for folder in ("/etc/cdi", "/var/run/cdi") for ending in ("yaml", "json"))


@probe(
    Read(*GLOBS, cap=4 << 20),
    gives={
        "container.cdi": collection("CDI files by path, in /etc/cdi and /var/run/cdi."),
        "container.cdi/*.kind": text("The kind of device that the file provides: nvidia.com/gpu."),
        "container.cdi/*.devices": integer("Devices in the file: each GPU by number and by UUID, and `all` once."),
        "container.cdi/*.driver": version(
            "dotted",
            "The driver whose libcuda the file mounts; containers fail after an upgrade until the file is rewritten.",
        ),
    },
)
def cdi(files: Files) -> Facts:
    """Read the CDI files, which are JSON, or YAML in the format of nvidia-ctk: one key per line."""
    for glob in GLOBS:
        for (name,) in files.found(glob):
            place = glob.replace("*", name, 1)
            item = f"container.cdi/{spell_key(place)}"
            offer = reader.offer(place, files.text(place))
            yield f"{item}.kind", Sourced(offer.kind, place)
            yield f"{item}.devices", Sourced(offer.devices, place)
            yield f"{item}.driver", Sourced(offer.driver, place)
