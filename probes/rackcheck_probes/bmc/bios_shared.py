"""BIOS attributes that should be the same on all nodes of a role."""

from rackcheck import Facts, Inputs, collection, join, setting, spell_key
from rackcheck.model.catalogue import view
from rackcheck.parse.bmc.bios_shared import shared
from rackcheck_probes.bmc.bios import TABLE


@join(
    needs=("bios.attribute", "bios.attribute/*"),
    gives={
        "bios.shared": collection("BIOS attributes that hold a vendor-neutral setting that affects the node's speed."),
        "bios.shared/*": view(setting("The value as the BIOS spells it.")),
        "bios.shared_other": collection(
            "Other BIOS attributes, except those that differ between nodes by design: names, addresses, serials, boot "
            "lists."
        ),
        "bios.shared_other/*": view(setting("The value as the BIOS spells it.")),
    },
)
def bios_shared(inputs: Inputs) -> Facts:
    """Select the BIOS attributes that are compared between nodes."""
    names, hidden = inputs.items("bios.attribute")
    for word, some in zip(("bios.shared", "bios.shared_other"), shared(names, TABLE), strict=True):
        yield word, hidden or some
        for name in some:
            yield f"{word}/{spell_key(name)}", inputs.reading(f"bios.attribute/{spell_key(name)}")
