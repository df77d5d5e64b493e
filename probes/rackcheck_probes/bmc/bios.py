"""BIOS settings as the BMC reports them: current, pending and raw."""

import json
from collections.abc import Mapping
from importlib.resources import files

from rackcheck import (
    Documents,
    Facts,
    Reason,
    Redfish,
    Sourced,
    Unknown,
    Unreadable,
    Walk,
    collection,
    probe,
    setting,
    spell_key,
    text,
)
from rackcheck.model.fact import clean
from rackcheck.model.redfish_value import BROKEN
from rackcheck.model.resource import Resource, inside
from rackcheck.parse.bmc import bios, bios_registry
from rackcheck.parse.bmc.bios_table import settings
from rackcheck.parse.bmc.bios_value import pending, scalar
from rackcheck.parse.bmc.host import CHOICE
from rackcheck.parse.bmc.item import gather
from rackcheck.parse.bmc.several import several

Screen = Mapping[str, str]

TABLE = settings(json.loads((files("rackcheck_probes") / "bios_settings.json").read_text("utf-8")))


def screens(docs: Documents) -> dict[str, Screen]:
    """Map the URI of each BIOS with too few known attribute names to the display names in its attribute registry."""
    found = [b for b in bios.with_attributes(docs) if bios_registry.needed(TABLE, bios.attributes(b))]
    return {b.uri: bios_registry.shown(docs, b) for b in found}


@probe(
    Redfish(
        "Systems/*/Bios",
        "Systems/*/Bios/@Redfish.Settings/SettingsObject",
        CHOICE,
        Walk("the attribute registry of a Bios whose attribute names are unknown", screens),
    ),
    gives={
        **{f"bios.{name}": known.kind for name, known in TABLE.items() if not known.apart},
        "bios.pending": collection(
            "changes at the next boot: vendor-neutral settings, and attributes without such a setting"
        ),
        "bios.pending/*": text("value after the next boot"),
        "bios.attribute": collection("every attribute that the BIOS reports to the BMC"),
        "bios.attribute/*": setting("value as the BIOS spells it"),
    },
)
def bmc_bios(docs: Documents) -> Facts:
    """BIOS settings in vendor-neutral words, and changes pending until a reboot."""
    found = bios.with_attributes(docs)
    shown = screens(docs)
    rows = [(b, bios.read_settings(TABLE, bios.attributes(b), shown.get(b.uri, bios.NOTHING))) for b in found]
    for name in rows[0][1]:
        yield f"bios.{name}", bios.agreed(of[name].sourced(b) for b, of in rows)
    many = several(docs)
    for resource in found if many is None else ():
        yield from _pending(docs, resource, shown.get(resource.uri, bios.NOTHING))
    if many is not None:
        yield "bios.pending", many
    names = dict.fromkeys(name for b in found for name in bios.attributes(b))
    odd = next((name for name in names if not name.strip() or len(name) > bios.LONGEST or BROKEN in name), None)
    if odd is not None:
        yield "bios.attribute", Unknown(Reason.UNPARSABLE, f"invalid attribute name {clean(odd, 60)!r}")
    for name in (n for n in names if n.strip() and len(n) <= bios.LONGEST and BROKEN not in n):
        raw = [_raw(b, name) for b in found if many is not None or name in bios.attributes(b)]
        yield f"bios.attribute/{spell_key(name)}", bios.agreed(raw)


def _raw(resource: Resource, name: str) -> Sourced:
    value = scalar(bios.attributes(resource).get(name))
    source = inside(resource.uri, "Attributes", name)
    return Sourced(Unknown(Reason.NOT_COLLECTED, "no value") if value is None else value, source)


def _own_pending(resource: Resource) -> dict[str, str]:
    """Return the values for the next boot that the attributes' own objects have beside the current ones."""
    return {name: later for name, held in bios.attributes(resource).items() if (later := pending(held)) is not None}


def _pending(docs: Documents, resource: Resource, shown: Screen) -> Facts:
    waiting, trouble = gather(docs.at("@Redfish.Settings/SettingsObject", resource))
    for later in waiting:
        if later.unread is not None:
            trouble = trouble or later.unread
            continue
        try:
            # If Attributes is missing (Supermicro) or empty (iDRAC), nothing is pending; null means not reported.
            value = bios.waiting(TABLE, bios.attributes(resource), bios.attributes(later), shown)
        except Unreadable as error:
            trouble = trouble or Unknown(error.reason, str(error))
            continue
        for name, change in value.changes.items():
            yield f"bios.pending/{spell_key(name)}", change.sourced(later)
        trouble = trouble or value.doubt
    inside_ = Resource(resource.uri, {"Attributes": {**_own_pending(resource)}})
    own = bios.waiting(TABLE, bios.attributes(resource), bios.attributes(inside_), shown)
    for name, change in own.changes.items():
        yield f"bios.pending/{spell_key(name)}", change.sourced(inside_)
    if not waiting and trouble is None:
        trouble = Unknown(Reason.NOT_COLLECTED, f"{resource.uri} has no link to a settings object")
    if trouble is not None:
        yield "bios.pending", trouble
