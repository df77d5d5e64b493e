"""Whether the host and the BMC of one inventory entry are the same machine, by identities that both report."""

from collections.abc import Iterator
from dataclasses import replace

from rackcheck import Class, Facts, Inputs, Unknown, join, listing
from rackcheck.model.fact import Reading, clean
from rackcheck.model.identity import (
    IdentityComparison,
    PlaneIdentities,
    Spell,
    between,
    common,
    differing,
    given,
    held,
    mac,
    serial,
    serials,
    settled_by,
    uuid,
)

SERIAL = "node.serial"
BMC_SERIAL, BMC_SKU, BMC_UUID = "bmc.host.serial", "bmc.host.sku", "bmc.host.uuid"
UUID, CHASSIS, BOARD = "node.uuid", "node.chassis_serial", "node.board_serial"
MACS = ("nic.interface/*.mac_permanent", "nic.interface/*.mac")
BMC_MACS = ("bmc.interface/*.mac",)
DIMMS, BMC_DIMMS = ("dimm/*.serial",), ("bmc.dimm/*.serial",)
GPUS: tuple[tuple[Spell, str, str], ...] = (
    (serial, "gpu/*.serial", "bmc.gpu/*.serial"),
    (uuid, "gpu/*.uuid", "bmc.gpu/*.uuid"),
)


@join(
    needs=(SERIAL, BMC_SERIAL, BMC_SKU, BMC_UUID),
    also=(
        *(UUID, CHASSIS, BOARD, "nic.interface", *MACS, "bmc.interface", *BMC_MACS),
        *("dimm", *DIMMS, "bmc.dimm", *BMC_DIMMS, "gpu", "bmc.gpu", *(path for _, *both in GPUS for path in both)),
    ),
    gives={
        "node.identity.common": listing(
            "Identities on which host and BMC agree: serial, uuid, macs, dimms, gpus.", Class.MEASUREMENT
        ),
        "node.identity.differs": listing(
            "Identities on which host and BMC differ; unknown if no identity is reported by both.",
            Class.MEASUREMENT,
        ),
    },
)
def identity_host(inputs: Inputs) -> Facts:
    """Compare the identities that this run collected from the host with those that it collected from the BMC."""
    kinds = tuple(_kinds(inputs))
    yield "node.identity.common", common(kinds)
    yield "node.identity.differs", differing(kinds)


def _kinds(inputs: Inputs) -> Iterator[IdentityComparison]:
    # All machines of a product have one order number: it is evidence only if it is the host's serial, as on Dell.
    host, known, order = _of_host(inputs), *(given([(p, inputs.reading(p))], serial) for p in (BMC_SERIAL, BMC_SKU))
    one = _one("serial", host, known)
    by_order = held(host, order)
    if by_order is True or (one.answer is False and isinstance(by_order, Unknown)):
        one = replace(one, answer=by_order)
    yield one
    yield _one("uuid", _single(inputs, UUID), _single(inputs, BMC_UUID))
    # A BMC may list ports without a driver, or other ports than the host; serials of modules have several spellings.
    for kind, ours, theirs, spell in (("macs", MACS, BMC_MACS, mac), ("dimms", DIMMS, BMC_DIMMS, serial)):
        yield IdentityComparison(kind, held(_every(inputs, ours, spell), _every(inputs, theirs, spell)), decides=False)
    gpus = [(_every(inputs, (ours,), spell), _every(inputs, (theirs,), spell)) for spell, ours, theirs in GPUS]
    says = next((_parts(*both) for both in gpus if both[0].keys and both[1].keys), "")
    yield IdentityComparison("gpus", settled_by(held(*both) for both in gpus), says)


def _of_host(inputs: Inputs) -> PlaneIdentities:
    """Return the serial numbers of host, chassis and board, because the BMC may report any of the three.

    Dell's board serial number contains the service tag.
    """
    read = [(path, inputs.reading(path)) for path in (SERIAL, CHASSIS, BOARD) if inputs.collected(path)]
    return given(read, serials)


def _single(inputs: Inputs, path: str) -> PlaneIdentities:
    return given([(path, inputs.reading(path))] if inputs.collected(path) else [], uuid)


def _every(inputs: Inputs, patterns: tuple[str, ...], spell: Spell) -> PlaneIdentities:
    """Return one kind of identity of all collected items; interfaces that connect host and BMC are left out."""
    read: list[tuple[str, Reading]] = []
    hidden = None
    for pattern in patterns:
        if inputs.collected(pattern):
            found, cut = inputs.every(pattern)
            hidden = hidden or cut
            inner = spell is mac
            read += [
                (path, r) for path, r in found.items() if not (inner and between(path.split("/")[1].split(".")[0]))
            ]
    return given(read, spell, hidden)


def _one(kind: str, host: PlaneIdentities, bmc: PlaneIdentities) -> IdentityComparison:
    """Compare one kind of identity, and describe the values as each plane spells them."""
    ours, theirs = (
        " or ".join(dict.fromkeys(clean(s.spelled, 80) for s in side.keys.values())) for side in (host, bmc)
    )
    return IdentityComparison(kind, held(host, bmc), f"{kind}: the host has {ours}, the BMC reports {theirs}")


def _parts(host: PlaneIdentities, bmc: PlaneIdentities) -> str:
    ours, theirs = (
        f"{len(side.keys)}, {clean(next(iter(side.keys.values())).spelled, 80)} first" for side in (host, bmc)
    )
    return f"gpus: the host has {ours}, the BMC reports {theirs}, no match"
