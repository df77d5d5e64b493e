"""Which devices the Container Device Interface offers, and for which driver they were written down."""

from rackcheck import Facts, Files, Read, Sourced, collection, integer, probe, spell_key, text, version
from rackcheck.parse.host.gpu import cdi as reader

GLOBS = tuple(f"{folder}/*.{ending}" for folder in ("/etc/cdi", "/var/run/cdi") for ending in ("yaml", "json"))


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
            offer = reader.offer(place, files.text(place))
            yield f"{item}.kind", Sourced(offer.kind, place)
            yield f"{item}.devices", Sourced(offer.devices, place)
            yield f"{item}.driver", Sourced(offer.driver, place)
