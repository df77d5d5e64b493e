"""Convert the XML of `nvidia-smi -q -x`, of any driver, to the values that NVML itself returns.

A value that the driver's nvidia-smi does not print is left out of the result. No driver's XML contains the NVLinks, the
clock event reasons that a GPU supports, NVML's version, the state of confidential computing, or whether the infoROM's
checksum is valid.
"""

from typing import Any

from rackcheck.model.fact import Reason, Unreadable
from rackcheck.model.text.elements import Element, elements
from rackcheck.parse.host.gpu.smi_fields import FIELDS
from rackcheck.parse.host.gpu.smi_values import Convert, SmiGpu, number, refusal, text, total, unknown, word
from rackcheck.parse.host.gpu.smi_values import converted as value_of

MOST_GPUS = 256

_REASONS = (
    "gpu_idle", "applications_clocks_setting", "sw_power_cap", "hw_slowdown", "sync_boost", "sw_thermal_slowdown",
    "hw_thermal_slowdown", "hw_power_brake_slowdown", "display_clocks_setting",
)  # fmt: skip
"""nvidia-smi's names of the clock event reasons, in the order of their bits in NVML's mask, lowest bit first."""

_TRUE = word(true=1, false=2)
_HEALTH: dict[str, tuple[int, Convert]] = {
    "bandwidth": (0, word(degraded=1, full=2)),
    "route_recovery_in_progress": (2, _TRUE),
    "route_unhealthy": (4, _TRUE),
    "access_timeout_recovery": (6, _TRUE),
    "incorrect_configuration": (8, word(none=1)),  # no recorded machine printed another word
    "partition_assigned": (12, _TRUE),
}
"""For each part of the fabric's health: its lowest bit in NVML's mask, and a function that parses nvidia-smi's text."""


def _instead(block: Element) -> SmiGpu:
    """Read a block that is only a text, such as N/A; the returned reading holds for every value of the block."""
    return refusal(block.text) or unknown(Reason.UNPARSABLE, f"{block.name}: {block.text or 'empty'}")


def _place(parent: Element, place: str, convert: Convert) -> SmiGpu | None:
    """Return the value at one path of XML elements; None if the XML has no element at this path."""
    here = parent
    for name in place.split("/"):
        found = here.only(name)
        if found is None:
            blocked = here is not parent and here.text and not here.children
            return _instead(here) if blocked else None
        here = found
    return (
        unknown(Reason.UNPARSABLE, f"{place} contains elements instead of a text")
        if here.children
        else value_of(here.text, convert)
    )


def _leaf(parent: Element, places: str, convert: Convert) -> SmiGpu | None:
    """Return the value of the first XML path that the output contains, or None; blanks separate paths in `places`."""
    try:
        found = (_place(parent, place, convert) for place in places.split())
        return next((one for one in found if one is not None), None)
    except Unreadable as error:
        return unknown(error.reason, str(error))


def _reasons(gpu: Element) -> SmiGpu | None:
    """Return NVML's mask of the active clock event reasons; None if nvidia-smi prints no reasons.

    NVML's mask is unknown if nvidia-smi does not print a clock event reason that has a bit in the mask, or if an active
    reason has no bit in the mask.
    """
    for kind in ("clocks_event_reason", "clocks_throttle_reason"):
        section = gpu.only(f"{kind}s")
        if section is None:
            continue
        if not section.children:
            return _instead(section)
        bits = {f"{kind}_{name}": 1 << bit for bit, name in enumerate(_REASONS)}
        parts = []
        for name in {**bits, **section.children}:
            one = _leaf(section, name, word(active=bits.get(name, -1), not_active=0))
            if one is None or one == {"value": -1}:
                one = unknown(Reason.UNPARSABLE, f"{name} {'is active' if one else 'is not printed'}")
            parts.append(one)
        gap = next((part for part in parts if "value" not in part), None)  # an incomplete mask is not used
        return gap or total(*parts)
    return None


def _mig_devices(gpu: Element) -> SmiGpu | None:
    """Count the GPU's MIG instances; if the MIG mode has no value, return the mode's reading instead of a count."""
    convert, places = FIELDS["mig"]
    mig = _leaf(gpu, places, convert)
    block = gpu.only("mig_devices")
    if block is None or mig is None or "value" not in mig:
        return mig
    if not block.children:
        return {"value": 0} if block.text == "None" else _instead(block)
    if set(block.children) != {"mig_device"}:
        return unknown(Reason.UNPARSABLE, "mig_devices contains elements other than mig_device")
    return {"value": len(block.every("mig_device"))}


def _processes(gpu: Element) -> SmiGpu | None:
    """Count the distinct processes on the GPU: a process may be printed for several MIG instances."""
    block = gpu.only("processes")
    if block is None:
        return None
    if block.text:
        return _instead(block)
    found = [process.only("pid") for process in block.every("process_info")]
    if set(block.children) - {"process_info"} or None in found:
        return unknown(Reason.UNPARSABLE, "processes contains an unknown element, or a process without a pid")
    return {"value": len({pid.text for pid in found if pid})}


def _ecc(gpu: Element) -> dict[str, SmiGpu | None]:
    """Return the counts of ECC errors from any of the three XML layouts that drivers print.

    The first layout counts ECC errors by single and double bits; the second by SRAM and DRAM; the third also counts the
    SRAM's parity errors separately.
    """
    count = number()
    given: dict[str, SmiGpu | None] = {}
    for span in ("volatile", "aggregate"):
        at = f"ecc_errors/{span}"
        parity = _leaf(gpu, f"{at}/sram_uncorrectable_parity", count)
        secded = _leaf(gpu, f"{at}/sram_uncorrectable_secded", count)
        sram = _leaf(gpu, f"{at}/sram_uncorrectable", count) or total(parity, secded)
        dram = _leaf(gpu, f"{at}/dram_uncorrectable {at}/double_bit/device_memory", count)
        given |= {
            f"ecc_sram_parity_{span}": parity,
            f"ecc_sram_secded_{span}": secded,
            f"ecc_{span}_sram_uncorrected": sram,
            f"ecc_{span}_dram_uncorrected": dram,
            f"ecc_{span}_sram_corrected": _leaf(gpu, f"{at}/sram_correctable", count),
            f"ecc_{span}_dram_corrected": _leaf(gpu, f"{at}/dram_correctable {at}/single_bit/device_memory", count),
        }
        if span == "volatile":  # NVML's total is the sum over the kinds of memory
            given["ecc_uncorrected"] = _leaf(gpu, f"{at}/double_bit/total", count) or total(sram, dram)
    return given


def _health(gpu: Element) -> SmiGpu | None:
    """Return NVML's mask of the fabric's health; a part that the GPU does not report is 0 in the mask."""
    printed = {name: _leaf(gpu, f"fabric/health/{name}", convert) for name, (_, convert) in _HEALTH.items()}
    parts = {name: part for name, part in printed.items() if part is not None}
    gap = next((part for part in parts.values() if "unknown" in part), None)
    return gap or ({"value": sum(p.get("value", 0) << _HEALTH[n][0] for n, p in parts.items())} if parts else None)


def _fabric(gpu: Element) -> dict[str, SmiGpu | None]:
    """Return the GPU's readings of the NVLink fabric; if the state has no value, the others repeat its reading."""
    state = _leaf(gpu, "fabric/state", word(not_started=1, in_progress=2, completed=3))
    names = ("state", "status", "clique", "cluster", "health", "summary")
    if state is None or "value" not in state:
        return {f"fabric_{name}": state for name in names}
    fabric = gpu.only("fabric")
    status = fabric and fabric.only("status")
    became = _leaf(gpu, "fabric/status", text)
    if status and became and "unknown" in became and refusal(status.text):
        became = {"value": status.text}  # here an error is a value: the result of joining the fabric
    summary = _leaf(gpu, "fabric/health/summary", word(healthy=1, unhealthy=2, limited_capacity=3))
    clique, cluster = _leaf(gpu, "fabric/cliqueId", number()), _leaf(gpu, "fabric/clusterUuid", text)
    if summary and "absent" in summary:
        summary = {"value": 0}
    values = (state, became, clique, cluster, _health(gpu), summary)
    return {f"fabric_{name}": value for name, value in zip(names, values, strict=True)}


def _gpu(gpu: Element) -> dict[str, SmiGpu]:
    """Return all values of one GPU; all are unknown if an XML block is printed twice, as either may be valid."""
    try:
        given = {key: _leaf(gpu, places, convert) for key, (convert, places) in FIELDS.items()}
        given |= {**_ecc(gpu), **_fabric(gpu), "reasons": _reasons(gpu)}
        given |= {"mig_devices": _mig_devices(gpu), "processes": _processes(gpu)}
    except Unreadable as error:
        return unknown(error.reason, str(error))
    if "value" in (given["gsp_version"] or {}):  # NVML reports a GSP version only if the GSP firmware runs
        given["gsp_mode"] = {"value": 1}
    return {key: one for key, one in given.items() if one is not None}


def _nameless(xml: str) -> str:
    """Return the XML document without the names of processes, which are private and may contain any text."""
    end, name, named = "</nvidia_smi_log>", "<process_name>", "</process_name>"
    begin, stop = max(xml.find("<?xml"), 0), xml.rfind(end)
    first, *rest = (xml[begin : stop + len(end)] if stop >= 0 else xml).split(name)
    return first + "".join(piece.rpartition(named)[2] if named in piece else name + piece for piece in rest)


def parse_xml(xml: str) -> dict[str, Any]:
    """Parse `nvidia-smi -q -x` to `{"driver": value, "cuda": value, "gpus": [{key: value}]}`, values as in smi_values.

    Raises Unreadable for incomplete output or other XML; text before and after the XML is ignored. If nvidia-smi prints
    fewer or more GPUs than its count `attached_gpus`, the result has as many GPUs as the count, all unknown, because
    the printed GPUs cannot be matched with the counted ones.
    """
    whole = elements(_nameless(xml))
    if whole.name != "nvidia_smi_log":
        raise Unreadable(f"not nvidia-smi's XML: {whole.name!r:.80}")
    found = whole.every("gpu")
    attached = _leaf(whole, "attached_gpus", number()) or {}
    count = attached.get("value", -1)
    if not 0 <= count <= MOST_GPUS or not len(found) <= (count and MOST_GPUS):
        raise Unreadable(f"{len(found)} GPUs printed, but attached_gpus is not a valid count: {attached!r:.80}")
    system = {key: _leaf(whole, f"{key}_version", text) for key in ("driver", "cuda")}
    gpus = [_gpu(gpu) for gpu in found]
    if len(gpus) != count:
        reason = _leaf(whole, "error_string", text) or {}
        why = unknown(
            Reason.NOT_READY, f"{len(gpus)} of {count} GPUs printed: {reason.get('value', 'no reason printed')}"
        )
        gpus = [why] * count
    return {key: one for key, one in system.items() if one is not None} | {"gpus": gpus}
