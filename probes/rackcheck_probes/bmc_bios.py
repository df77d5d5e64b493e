"""BIOS settings as the BMC tells them: running, waiting, and raw."""

import json
from importlib.resources import files

from rackcheck import Documents, Facts, Reason, Redfish, Sourced, Unknown, collection, probe, setting, spell_key, text
from rackcheck.core import bios
from rackcheck.core.item import gather
from rackcheck.core.resource import Resource, inside

TABLE = bios.settings(json.loads((files(__package__) / "bios_settings.json").read_text("utf-8")))
ELSEWHERE = frozenset({"secure_boot"})
"""Settings that have a resource of their own."""


@probe(
    Redfish("Systems/*/Bios", "Systems/*/Bios/@Redfish.Settings/SettingsObject"),
    gives={
        "bios.smt": text("two threads on each core", words=bios.WORDS),
        "bios.virtualization": text("VT-x or AMD-V: virtual machines on the processor", words=bios.WORDS),
        "bios.sr_iov": text("devices may split into virtual functions", words=bios.WORDS),
        "bios.c_states": text("cores may sleep deeper than halt; waking costs latency", words=bios.WORDS),
        "bios.turbo": text("cores may run above their base clock", words=bios.WORDS),
        "bios.pcie_aspm": text("PCIe links may sleep; mixed where ports differ", words=bios.WORDS),
        "bios.pending": collection("of the settings above, those that the next boot changes"),
        "bios.pending/*": text("what the setting will be", words=bios.WORDS),
        "bios.attribute": collection("every attribute the BIOS tells the BMC"),
        "bios.attribute/*": setting("value as the BIOS spells it"),
    },
)
def bmc_bios(docs: Documents) -> Facts:
    """BIOS settings in vendor-neutral words, and those that wait for a reboot."""
    found = bios.with_attributes(docs)
    for name, candidates in TABLE.items():
        if name not in ELSEWHERE:
            told = (bios.tell(name, candidates, bios.attributes(b)).sourced(b) for b in found)
            yield f"bios.{name}", bios.agreed(told)
    for resource in found:
        yield from _pending(docs, resource)
    for name in dict.fromkeys(n for b in found for n in bios.attributes(b) if n.strip() and len(n) <= 200):
        raw = [_raw(b, name) for b in found if name in bios.attributes(b)]
        yield f"bios.attribute/{spell_key(name)}", bios.agreed(raw)


def _raw(resource: Resource, name: str) -> Sourced:
    value = bios.scalar(bios.attributes(resource)[name])
    source = inside(resource.uri, "Attributes", name)
    return Sourced(Unknown(Reason.NOT_COLLECTED, "no value") if value is None else value, source)


def _pending(docs: Documents, resource: Resource) -> Facts:
    waiting, trouble = gather(docs.at("@Redfish.Settings/SettingsObject", resource))
    for later in waiting:
        # Without Attributes (Supermicro), or with none (iDRAC), nothing waits; null says nothing.
        if later.trouble is None and isinstance(later.body.get("Attributes", {}), dict):
            for name, told in bios.waiting(TABLE, bios.attributes(resource), bios.attributes(later)):
                yield f"bios.pending/{name}", told.sourced(later)
        else:
            trouble = later.trouble or Unknown(Reason.UNPARSABLE, f"{later.uri}: its Attributes are none")
    if not waiting and trouble is None:
        trouble = Unknown(Reason.NOT_COLLECTED, f"{resource.uri} names no settings object")
    if trouble is not None:
        yield "bios.pending", trouble
