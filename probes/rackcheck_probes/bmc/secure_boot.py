"""Secure Boot as the BMC reports it."""

from rackcheck import Documents, Facts, Reason, Redfish, Sourced, Unknown, Unreadable, probe
from rackcheck.model.fact import clean
from rackcheck.model.redfish_value import text_of, truth
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc import bios
from rackcheck.parse.bmc.host import CHOICE, machine
from rackcheck.parse.bmc.item import gather, not_there
from rackcheck.parse.bmc.several import of_hosts
from rackcheck_probes.bmc.bios import TABLE


@probe(
    Redfish("Systems/*/SecureBoot", "Systems/*/Bios", CHOICE),
    gives={"bios.secure_boot": TABLE["secure_boot"].kind},
)
def bmc_secure_boot(docs: Documents) -> Facts:
    """Whether the current boot used Secure Boot, from the SecureBoot resource, or else from the BIOS attributes."""
    held = machine(docs)
    found, trouble = gather(docs.at("Systems/*/SecureBoot"))
    found = of_hosts(held, found)
    if trouble is not None and not not_there(trouble):
        yield "bios.secure_boot", trouble
        return
    rows = [_running(resource) for resource in found]
    known = [t for t in rows if t is not None] or _attributes(docs)
    if held.several is not None and len(known) < len(held.hosts):
        yield "bios.secure_boot", held.several
    elif known:
        yield "bios.secure_boot", bios.agreed(known)
    elif found:
        yield "bios.secure_boot", found[0].read("SecureBootCurrentBoot", _word)
    else:
        yield "bios.secure_boot", trouble or Unknown(Reason.NOT_COLLECTED, "this BMC has no SecureBoot resource")


def _running(resource: Resource) -> Sourced | None:
    """Return SecureBootCurrentBoot, or without it SecureBootEnable; None if the resource is missing or has neither.

    If SecureBootCurrentBoot is present without a value, SecureBootEnable is not used, because the two differ while a
    change is pending.
    """
    if resource.unread is not None:
        return None if not_there(resource.unread) else Sourced(resource.unread, resource.uri)
    if "SecureBootCurrentBoot" in resource.body:
        return resource.read("SecureBootCurrentBoot", _word)
    return resource.read("SecureBootEnable", _switch) if "SecureBootEnable" in resource.body else None


def _word(value: object) -> str:
    word = text_of(value)
    if word not in {"Enabled", "Disabled"}:
        raise Unreadable(f"is neither Enabled nor Disabled: {clean(word)!r}")
    return word.casefold()


def _switch(value: object) -> str:
    return "enabled" if truth(value) else "disabled"


def _attributes(docs: Documents) -> list[Sourced]:
    try:
        found = bios.with_attributes(docs)
    except Unreadable:
        return []
    rows = [bios.read_setting(TABLE["secure_boot"], bios.attributes(b)).sourced(b) for b in found]
    return [t for t in rows if not isinstance(t.reading, Unknown)]
