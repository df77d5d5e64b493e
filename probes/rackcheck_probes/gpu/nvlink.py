"""The NVLinks of each NVIDIA GPU: state, speed, error counters.

The counters from `replays` to `ecc_errors` are those of NVLink 1 to 4; the other counters were introduced with NVLink
5. A counter that the link's generation lacks is absent.
"""

from collections.abc import Mapping
from typing import Any

from rackcheck import (
    Absent,
    Class,
    Facts,
    Sourced,
    Unreadable,
    by_part,
    collection,
    integer,
    probe,
    quantity,
    text,
    version,
)
from rackcheck.model.fact import Reading
from rackcheck_probes.gpu.nvml import MOST, QUESTION, DriverReply, NvmlFact, answered, gives, reading
from rackcheck_probes.gpu.nvml_values import address, ber, ber_exponent, counted, one_of, scaled


def _count(key: str, what: str) -> NvmlFact:
    return NvmlFact(key, counted, integer(what, Class.COUNTER))


VERSIONS = one_of("", "1.0", "2.0", "2.2", "3.0", "3.1", "4.0", "5.0", "6.0")


def generation(value: Any) -> str:
    """Convert NVML's number to an NVLink version; raises Unreadable on 0, which is no version."""
    word = VERSIONS(value)
    if not word:
        raise Unreadable("NVML reports an invalid version")
    return str(word)


def remote(value: Any) -> str:
    """Read the type of the device at the other end of a link."""
    number = counted(value)
    return ("gpu", "npu", "switch")[number] if number < 3 else "unknown"


EXPONENT = "Exponent of the smallest power of ten that the bit error rate {} does not exceed: -12 for 1e-12."
LINK = {
    "state": NvmlFact("state", one_of("inactive", "active"), text("Whether the link is up: active, inactive.")),
    "version": NvmlFact("version", generation, version("dotted", "The NVLink version.")),
    "speed": NvmlFact("speed", scaled(1000), quantity("GB/s", "The link's speed in each direction.")),
    "remote": NvmlFact("remote", remote, text("What is at the other end: switch, gpu.")),
    "remote_pci": NvmlFact("remote_pci", address, text("The PCI address of the other end.")),
    "remote_link": NvmlFact("remote_link", counted, integer("The link's number at the other end.")),
    "replays": _count("replay", "Packets sent again."),
    "recoveries": _count("recovery", "How often the link recovered."),
    "crc_flit": _count("crc_flit", "Flow control units with a wrong checksum."),
    "crc_data": _count("crc_data", "Data with a wrong checksum."),
    "ecc_errors": _count("ecc_data", "Data with a wrong error correction code."),
    "malformed": _count("malformed", "Packets received that were malformed."),
    "rx_errors": _count("rx_errors", "Packets received with an error."),
    "dropped": _count("dropped", "Packets that were not sent because the link was down or too slow."),
    "integrity_errors": _count("integrity", "How often local errors exceeded the link's limit."),
    "link_recoveries.successful": _count("link_recovery_successful", "How often the link went down and came back."),
    "link_recoveries.failed": _count("link_recovery_failed", "How often the link went down and did not come back."),
    "link_recoveries.total": _count("link_recovery_total", "How often the link went down and tried to recover."),
    "effective_errors": _count("effective_errors", "Packets with errors left after correction."),
    "effective_ber": NvmlFact("effective_ber", ber, text("The bit error rate after correction.", Class.MEASUREMENT)),
    "effective_ber_exponent": NvmlFact(
        "effective_ber", ber_exponent, integer(EXPONENT.format("after correction"), Class.MEASUREMENT)
    ),
    "symbol_errors": _count("symbol_errors", "Symbols with uncorrectable errors."),
    "symbol_ber": NvmlFact("symbol_ber", ber, text("The bit error rate of symbols.", Class.MEASUREMENT)),
    "symbol_ber_exponent": NvmlFact(
        "symbol_ber", ber_exponent, integer(EXPONENT.format("of symbols"), Class.MEASUREMENT)
    ),
}


@probe(
    QUESTION,
    gives={
        "gpu/*.nvlink": collection("The GPU's NVLinks by their number; none if it has no NVLink."),
        **gives(LINK, "gpu/*.nvlink/*"),
        "gpu/*.nvlinks_active": integer("NVLinks that are up; absent if the GPU has none."),
    },
)
def gpu_nvlink(answer: str) -> Facts:
    """Read each GPU's NVLinks."""
    reply = answered(answer)
    for path, gpu, lost in reply.each():
        links = lost or gpu.get("nvlinks")
        match links:
            case {"value": list(found)} if len(found) <= MOST:
                active = _active(reply, found)
                for number, link in enumerate(found):
                    yield _link(reply.by, f"{path}.nvlink/{number}", link)
            case _:
                active = reply.reading(links, counted)
                yield f"{path}.nvlink", Sourced(() if isinstance(active, Absent) else active, reply.by)
        yield f"{path}.nvlinks_active", Sourced(active, reply.by)


def _active(reply: DriverReply, links: list[Any]) -> Reading:
    """Count the links that are up; unknown if the state of any link is unknown."""
    states = [reply.reading(_part(link, "state"), LINK["state"].convert) for link in links]
    unknown = next((state for state in states if not isinstance(state, str)), None)
    return states.count("active") if unknown is None else unknown


@by_part
def _link(by: str, path: str, link: Any) -> Facts:
    for leaf, asked in LINK.items():
        yield f"{path}.{leaf}", Sourced(reading(by, _part(link, asked.key), asked.convert), by)


def _part(link: Any, key: str) -> Any:
    return link.get(key) if isinstance(link, Mapping) else None
