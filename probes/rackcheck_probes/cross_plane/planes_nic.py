"""Network adapters of the BMC compared with the interfaces of the operating system, matched by address."""

import re
from collections.abc import Iterator, Mapping

from rackcheck import Absent, Facts, Inputs, Reason, Unknown, join, listing, spell_key
from rackcheck.model.fact import Reading
from rackcheck.model.regex import regex
from rackcheck_probes.cross_plane.planes import differing, folded, whole

MAC = regex(r"(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}|[0-9a-f]{12}")
PARTED = regex(r"[\s/(),]+")
PLAIN = regex(r"\d+(?:\.\d+)+(?:\s*\([\w-]+\))?")
"""A single version, with or without the board's id that mlx5 appends: `28.39.1002 (MT_0000000838)`."""


def mac(text: object) -> str:
    """Return an Ethernet address as twelve hexadecimal digits; empty for other addresses, such as InfiniBand GUIDs."""
    line = str(text).strip().casefold()
    return re.sub("[:-]", "", line) if MAC.fullmatch(line) else ""


def same_firmware(left: Reading, right: Reading) -> bool | Unknown:
    """Whether the firmware text of a driver contains the version that the BMC reports.

    If the driver's text does not contain the BMC's version, the result is unknown unless each text is a single version.
    """
    if folded(right) in PARTED.split(folded(left)):
        return True
    if PLAIN.fullmatch(str(left).strip()) and PLAIN.fullmatch(str(right).strip()):
        return False
    return Unknown(Reason.NOT_COLLECTED, f"driver {left} and BMC {right} may be versions of different components")


@join(
    needs=(
        "nic.interface", "nic.interface/*.mac_permanent", "nic.interface/*.firmware",
        "bmc.nic", "bmc.nic/*.firmware", "bmc.nic/*.port", "bmc.nic/*.port/*.addresses",
    ),
    gives={
        "bmc.differs.nic.mac": listing("Ethernet addresses that the BMC lists for a port but that no interface has."),
        "bmc.differs.nic.firmware": listing("Interfaces whose firmware differs between driver and BMC."),
    },
)  # fmt: skip
def planes_nic(inputs: Inputs) -> Facts:
    """Match each Ethernet port that the BMC lists with an interface of the same address."""
    whole(inputs.items(plane)[1] for plane in ("bmc.nic", "nic.interface"))
    own = inputs.table("nic.interface", "mac_permanent")
    ports = dict(_ports(inputs))
    whole((*ports.values(), *own.values()))
    adapters = {
        mac(address): port.partition(".port/")[0]
        for port, reading in ports.items()
        for address in _addresses(reading)
        if mac(address)
    }
    at = {
        mac(address): f"nic.interface/{spell_key(name)}"
        for name, address in own.items()
        if not isinstance(address, Absent) and mac(address)
    }
    yield (
        "bmc.differs.nic.mac",
        tuple(
            f"{port} {a}" for port, reading in ports.items() for a in _addresses(reading) if mac(a) and mac(a) not in at
        ),
    )
    pairs = tuple((at[address], adapter) for address, adapter in adapters.items() if address in at)
    drivers = {place: inputs.reading(f"{place}.firmware") for place, _ in pairs}
    yield "bmc.differs.nic.firmware", differing(pairs, drivers, _firmware(inputs, pairs), same_firmware)


def _addresses(reading: Reading) -> tuple[str, ...]:
    return reading if isinstance(reading, tuple) else ()


def _ports(inputs: Inputs) -> Iterator[tuple[str, Reading]]:
    """Yield each port's path and addresses, of all adapters; raises Unreadable if a list of ports may be incomplete."""
    for name in inputs.items("bmc.nic")[0]:
        ports = f"bmc.nic/{spell_key(name)}.port"
        yield from ((f"{ports}/{spell_key(port)}", reading) for port, reading in _port_table(inputs, ports).items())


def _port_table(inputs: Inputs, ports: str) -> Mapping[str, Reading]:
    names, hidden = inputs.items(ports)
    whole((hidden,))
    return {name: inputs.reading(f"{ports}/{spell_key(name)}.addresses") for name in names}


def _firmware(inputs: Inputs, pairs: tuple[tuple[str, str], ...]) -> dict[str, Reading]:
    return {adapter: inputs.reading(f"{adapter}.firmware") for _, adapter in pairs}
